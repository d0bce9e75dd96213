"""Find values that the platform accepted but did not keep.

Only fields count that this apply wrote and whose requests all succeeded. Each apply would send such a value
again, so the report names the lost part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpsync.model.journal import APPLIED, Outcome, Unkept
from dpsync.model.plan import Plan
from dpsync.model.text import format_command


def find_lost_values(plan: Plan, remaining: Plan, outcomes: Iterable[Outcome]) -> Iterator[Unkept]:
    """Yield the values that `remaining`, the plan after an apply of `plan`, would send again."""
    failed = {outcome.address for outcome in outcomes if outcome.result not in APPLIED}
    written = {
        (change.address, item.field)
        for change in plan.changes
        if change.address not in failed
        for item in change.differences
    }
    # A value that the platform could not process is a problem on its side, accepted or not, and not lost.
    problems = (*remaining.trouble, *remaining.accepted)
    written -= {(item.address, item.field) for item in problems if item.field is not None}
    for change in remaining.changes:
        for item in change.differences:
            if change.action == "update" and item.known and (change.address, item.field) in written:
                for path, sent, live in _differing_parts(item.field, item.after, item.before):
                    name = str(change.location.field(item.field))
                    yield Unkept(
                        address=change.address, field=item.field, path=path, sent=sent, live=live,
                        way_out=f'policy: {{ ignore: ["{name}"] }}, or '
                        f"{format_command('import', '--update', name)}",
                    )  # fmt: skip


def _differing_parts(path: str, sent: Any, live: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the smallest parts of a value that differ from what was sent: path, sent value, live value."""
    if isinstance(sent, dict) and isinstance(live, dict) and sent:
        for name, part in sent.items():
            yield from _differing_parts(f"{path}.{name}", part, live.get(name))
    elif sent != live:
        yield path, sent, live
