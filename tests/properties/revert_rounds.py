"""Rounds of apply and revert with counts: `python -m tests.properties.revert_rounds --seeds 0 50`.

Each seed is one round for each of four kinds of organizations. A round is left out if a limit refuses its
apply or revert, or if its files are ambiguous. It is broken if the revert changes a GET response in a way
that its plan did not announce.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from hypothesis.errors import UnsatisfiedAssumption

from dpsync.kinds.registry import build_registry
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store

from . import others
from .organizations import Draw
from .platform import Platform, case
from .test_other_kinds import applied
from .test_revert import planned_with_answers, unrestored_values

Round = Callable[[Platform, Draw], list[str]]


def documentation_round(platform: Platform, draw: Draw) -> list[str]:
    """Return what differs after a round with sites, spaces, teams and members."""
    made = case(draw, size=draw.number(1, 4))
    platform.start(made)
    session = platform.session(made.configuration)
    return unrestored_values(platform, session, planned_with_answers(platform, session), draw)


def other_kinds_round(platform: Platform, draw: Draw) -> list[str]:
    """Return what differs after a round with integrations, translations, SAML providers and the like."""
    platform.server.reset(others.world())
    applied(platform, others.document(others.organization(draw)))
    platform.server.wait_for_jobs(include_abandoned=True)
    session = platform.session(others.document(others.organization(draw)))
    return unrestored_values(platform, session, planned_with_answers(platform, session), draw)


ROUNDS: dict[str, tuple[str, Round]] = {
    "full": ("full", documentation_round),
    "reference": ("reference", documentation_round),
    "published": ("published", documentation_round),
    "other kinds on full": ("full", other_kinds_round),
}


def main() -> int:
    """Run the rounds, print the broken ones and the counts. Return 1 if a round is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 50), metavar=("FIRST", "END"))
    seeds = range(*parser.parse_args().seeds)
    warnings.simplefilter("ignore")
    broken = 0
    for name, (profile, play) in ROUNDS.items():
        counts: Counter[str] = Counter()
        app = build_companion(open_store(":memory:"), profile=profile, check_responses=True)
        with tempfile.TemporaryDirectory() as directory, ThreadedServer(app) as server:
            platform = Platform(server, Path(directory), build_registry(profile))
            for seed in seeds:
                try:
                    differing = play(platform, Draw(Random(seed)))
                except UnsatisfiedAssumption:
                    counts["left out"] += 1
                    continue
                counts["broken" if differing else "held"] += 1
                for line in differing:
                    print(f"broken: {name}, seed {seed}: {line}")
        broken += counts["broken"]
        print(f"{name}: {counts['held']} held, {counts['left out']} left out, {counts['broken']} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
