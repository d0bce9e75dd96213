"""Find values that GitBook accepted but did not keep: the plan after the apply would send them again.

Only fields count that this apply wrote and whose requests all succeeded. The report names the lost part and a
way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpsync.model.journal import APPLIED, Outcome, Unkept
from dpsync.model.plan import Plan
from dpsync.model.text import format_command


def find_lost_values(plan: Plan, remaining: Plan, outcomes: Iterable[Outcome]) -> Iterator[Unkept]:
    """Yield the values that were sent with success, but that the platform shows differently now.

    Args:
        plan: The plan that was applied.
        remaining: The plan after the apply, which would send these values again.
        outcomes: The outcomes of all steps.
    """
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
    """Yield path, sent value and live value of the smallest parts in which a live value differs.

    The path begins with the field name, as `settings.theme.color`.
    """
    if isinstance(sent, dict) and isinstance(live, dict) and sent:
        for name, part in sent.items():
            yield from _differing_parts(f"{path}.{name}", part, live.get(name))
    elif sent != live:
        yield path, sent, live
