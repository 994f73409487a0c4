"""Check one file in a process of its own: `worker.py FILE SEED BUILDS SCRATCH CACHE`, with builds joined by
commas, built in `SCRATCH`; `CACHE` holds what every check needs.

A line of JSON before each step tells whoever reads what the process was doing when it died; the last line is
the verdict.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzzing.agreement import Disagreement, check_agreement
from tensorc.interp.elementary_library import ElementaryLibrary


def say(step: str, kernel: str) -> None:
    print(json.dumps({"step": step, "kernel": kernel}), flush=True)


def main(file: str, seed: str, builds: str, scratch: str, cache: str) -> None:
    os.environ.pop("LD_PRELOAD", None)  # was meant for this process, not for the compilers it starts
    elementary = ElementaryLibrary.build(Path(cache))
    text = Path(file).read_text(encoding="utf-8")
    names = tuple(name for name in builds.split(",") if name)
    try:
        counts = check_agreement(text, seed, names, elementary, Path(scratch), say)
    except Disagreement as found:
        print(json.dumps({"failure": asdict(found.failure)}))
    else:
        print(json.dumps({"counts": asdict(counts)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
