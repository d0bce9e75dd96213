"""Writes the first part of docs/soak.md, which says what holds each promise: `python -m tests.machine.page`.

The second part, about ordinary tasks, is written by `python -m tests.tasks.page`.
"""

from __future__ import annotations

from tests.docs.markdown import DOCS
from tests.docs.test_promises import PROMISES

from .checks import CHECKS, ELSEWHERE

_HEAD = """\
# The state machine

`make machine MINUTES=10` does for ten minutes what people do with dpsync, one step after the other, and
holds every [promise](promises.md) against what came of it, after each step
([tests/machine](../tests/machine)). `make soak` does that, too, and then runs every test for a long time.
A normal test run has a slice of both.

A history begins with a random organization on a companion, which `dpsync import` takes over into a git
repository. Then come, in any order: edits of the files, mistakes among them; changes by hand on the
platform; commits, branches, merges with conflicts, commits that are taken back, and clones of the whole
history or of the last commit. A second environment has a platform of its own. The commands are `plan`,
saved plans, `rehearse`, `drift`, `ids`, `import`, `doctor`, `apply` with `--select` and `--no-delete`,
and `revert`. Two of five applies meet a fault: an answer is lost before or after the write, the platform
refuses or breaks down, or the process is killed at a request or a line of the journal. All of it is real:
the command line, git, HTTP, the companion of each profile, and the signal that kills.

A step is drawn from the seed and its number alone. So the same seed is the same history, and what breaks
a promise is printed with as few steps as still break it: `make machine MACHINE="--seed 7 --steps 3,9"`.

`DPSYNC_SEED=5000 DPSYNC_EXAMPLES=100 python -m pytest tests/properties/test_same_plan.py` checks, for 100
more organizations of each profile, that `plan`, `plan --base`, a saved plan and the `apply` of that saved
plan agree.

`DPSYNC_SEED=1 DPSYNC_EXAMPLES=200 python -m pytest tests/properties/test_deletes.py` damages the files of 200
organizations, applies what no question stops, and checks that nothing is lost or made twice.

`python -m tests.properties.revert_rounds --seeds 0 50` reverts 200 applies, half of them disturbed and half
of them followed by an edit by hand. It compares every GET response with the one before the apply, and prints
the rounds that break promise 43 with their seeds.

`DPSYNC_SEED=1 DPSYNC_EXAMPLES=300 python -m pytest tests/properties/test_unattended.py` simulates 300
unattended jobs. Each job runs `apply`, is killed at random moments, and runs `apply` again with the
`--confirm` answers that the previous run printed, until the plan is empty.

| promise | what is looked at after each step |
|---|---|
"""


PAGE = DOCS / "soak.md"
NEXT = "\n## Ordinary tasks\n"
"""Where the second part begins."""


def page() -> str:
    """The first part of the page as it should be."""
    rows = []
    for number in range(1, len(PROMISES) + 1):
        names = [check.__name__.replace("_", " ") for check in CHECKS.get(number, ())]
        said = "; ".join(names) if names else f"nothing: {ELSEWHERE[number]}"
        rows.append(f"| {number} | {said} |")
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    _, heading, tasks = PAGE.read_text("utf-8").partition(NEXT)
    PAGE.write_text(page() + heading + tasks, "utf-8")
