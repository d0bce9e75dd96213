"""Writes the first part of docs/soak.md, which says what holds each promise: `python -m tests.machine.page`.

The second part, about ordinary tasks, is written by `python -m tests.tasks.page`.
"""

from __future__ import annotations

from tests.docs.markdown import DOCS
from tests.docs.test_promises import PROMISES

from .checks import CHECKS, ELSEWHERE

_HEAD = """\
# The state machine

`make machine MINUTES=10` runs random everyday work with dpsync for ten minutes. After each step, the machine
checks every [promise](promises.md) ([tests/machine](../tests/machine)). `make soak` runs the machine, and
then every test with many more examples. A normal test run contains a short run of both.

A run starts with a random organization on the local server, which `dpsync import` writes into a git
repository. The following steps come in random order:

- edits of the files, with and without mistakes
- changes by hand on the platform
- commits, branches, merges with conflicts, reverted commits, full clones and shallow clones
- the commands `plan` (also with saved plans), `rehearse`, `drift`, `ids`, `import`, `doctor`, `apply` (also
  with `--select` and `--no-delete`), and `revert`

A second environment has its own platform. Two of five applies meet a fault: a lost response before or after
the write, an error of the platform, or a kill signal at a request or at a line of the journal. The command
line, git, HTTP, the local server and the signals are real. Each API version takes part.

The seed and the number of a step determine the step, so the same seed gives the same run. For a broken
promise, the machine prints the smallest number of steps that breaks the promise:
`make machine MACHINE="--seed 7 --steps 3,9"`.

More checks run with many examples:

- `DPSYNC_SEED=5000 DPSYNC_EXAMPLES=100 python -m pytest tests/properties/test_same_plan.py` checks 100
  organizations of each API version. `plan`, `plan --base`, a saved plan and the `apply` of the saved plan
  must agree.
- `DPSYNC_SEED=1 DPSYNC_EXAMPLES=200 python -m pytest tests/properties/test_deletes.py` damages the files of
  200 organizations and applies every plan that no question stops. No object may be lost or created twice.
- `python -m tests.properties.revert_rounds --seeds 0 50` reverts 200 applies. Half of the applies have
  faults, and half are followed by an edit by hand. Every GET response must be the same as before the
  apply. The command prints the seed of each round that breaks promise 43.
- `DPSYNC_SEED=1 DPSYNC_EXAMPLES=300 python -m pytest tests/properties/test_unattended.py` simulates 300
  unattended jobs. Each job runs `apply`, is killed at random moments, and runs `apply` again with the
  `--confirm` answers that the previous run printed, until the plan is empty.

| promise | check after each step |
|---|---|
"""


PAGE = DOCS / "soak.md"
NEXT = "\n## Ordinary tasks\n"
"""Where the second part begins."""


def page() -> str:
    """Return the first part of the page as it should be."""
    rows = []
    for number in range(1, len(PROMISES) + 1):
        names = [check.__name__.replace("_", " ") for check in CHECKS.get(number, ())]
        said = "; ".join(names) if names else f"none: {ELSEWHERE[number]}"
        rows.append(f"| {number} | {said} |")
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    _, heading, tasks = PAGE.read_text("utf-8").partition(NEXT)
    PAGE.write_text(page() + heading + tasks, "utf-8")
