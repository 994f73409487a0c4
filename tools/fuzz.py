"""`make fuzz`: random programs through the interpreters and every build, random texts through the front end.

Ends after `--minutes`, or `--rounds`; exit status 1 if anything failed. What failed is shrunk and kept in
`build/fuzz/`, each with the command that runs it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "property"))

from fuzzing.agreement import Failure  # noqa: E402
from fuzzing.campaign import Campaign, replay  # noqa: E402

TEXTS = 150
"""Texts for the front end after each program."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to run (default: 10)")
    parser.add_argument("--rounds", type=int, help="at most this many rounds")
    parser.add_argument("--seed", default=time.strftime("%Y%m%d-%H%M%S"), help="default: the time")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check one kept file again")
    parser.add_argument("--directory", type=Path, default=ROOT / "build" / "fuzz", help="where failures go")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    if options.replay is not None:
        return _replay(options.replay, options.directory)
    print(f"fuzz: seed {options.seed}, {options.minutes:g} minutes", flush=True)
    campaign = Campaign(options.seed, options.directory, lambda line: print(line, flush=True), TEXTS)
    try:
        campaign.run(time.monotonic() + 60 * options.minutes, options.rounds)
    except KeyboardInterrupt:
        print("fuzz: interrupted")
    counts = campaign.counts
    print(
        f"fuzz: {campaign.texts} texts, {campaign.programs} programs, {counts.kernels} kernels, "
        f"{counts.calls} calls, {counts.comparisons} comparisons, {len(campaign.failures)} failures"
    )
    return 1 if campaign.failures else 0


def _replay(file: Path, directory: Path) -> int:
    found = replay(file, directory)
    if isinstance(found, Failure):
        print(f"{file}: {found.step} {found.kernel}: {found.how}\n{found.message}")
        return 1
    print(f"{file}: agrees, {found.comparisons} comparisons")
    return 0


if __name__ == "__main__":
    sys.exit(main())
