"""Print, in one line, the C++ compilers the tests will use; fail when there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys

NAMES = ("g++", "clang++")


def describe_compiler(name: str) -> str | None:
    """`g++ 12.2.0`, or None when it is not installed or does not answer."""
    path = shutil.which(name)
    if path is None:
        return None
    answer = subprocess.run([path, "-dumpversion"], capture_output=True, text=True, check=False)
    return f"{name} {answer.stdout.strip()}" if answer.returncode == 0 else None


def main() -> int:
    found = [d for d in map(describe_compiler, NAMES) if d is not None]
    if not found:
        print(f"no C++ compiler: none of {', '.join(NAMES)} on PATH", file=sys.stderr)
        return 1
    print(f"compilers under test: {', '.join(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
