"""An unattended job runs `apply` with the answers that dpsync suggests, although `apply` is killed at random.

`DPSYNC_SEED=1 DPSYNC_EXAMPLES=300 python -m pytest tests/properties/test_unattended.py` runs 300 rounds.
"""

from __future__ import annotations

import pytest

from dpsync.model.diagnostic import Exit
from tests.machine.command import KILLED, Disturbance
from tests.soak import seeds

from .platform import Platform
from .test_same_plan import make_scene, read_plan

STARTS = 12
"""The maximum number of starts of `apply` in one round."""
KILLS = 3
"""The maximum number of killed starts."""


@pytest.mark.parametrize("seed", seeds(4, 300))
def test_apply_killed_repeatedly_reaches_empty_plan(platform: Platform, seed: int) -> None:
    """Otherwise, dpsync refuses the job each time, although the job gives every requested answer.

    An answer that is not needed any more is an error; the job then starts with no answer.
    """
    with make_scene(platform, seed) as made:
        answers: list[str] = []
        kills = 0
        for _ in range(STARTS):
            kill = Disturbance("kill", made.draw.number(0, 12)) if kills < KILLS else None
            flags = [word for answer in answers for word in ("--confirm", answer)]
            ended = made.checkout.dpsync(
                "apply", *made.flags, *flags, "--yes", "--format", "json", disturbed=kill
            )
            if ended.code == KILLED:
                kills += 1
                continue
            if ended.code == Exit.USAGE:  # less is left than before: the job gives the answers of now
                answers.clear()
                continue
            found, asked = read_plan(ended)
            if "findings" in found:
                return  # only a person can say which object an entry means
            more = [answer for answer in asked if answer not in answers]
            if not found["refusals"]:
                break
            answers += more
            if not more:
                assert {code for code, _ in found["refusals"]} <= {
                    "protected",
                    "unclear",
                    "create-only",
                    "last-owner",  # the files leave a team without an owner
                }, ended
                return
        assert not found["refusals"], ended
        left, _ = read_plan(made.run("plan", *made.flags, *flags, "--format", "json"))
        assert left["changes"] == [], ended
