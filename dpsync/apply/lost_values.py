"""What the platform did not keep: a value that was sent and accepted, and reads back as another one.

Only told of fields that this apply wrote, when every request of their entry was answered with success. It
would be sent again by each apply and never stay, so it is named with the part of it that was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dpsync.model.journal import Outcome, Unkept
from dpsync.model.plan import Plan
from dpsync.model.text import command


def unkept(plan: Plan, remaining: Plan, outcomes: Iterable[Outcome]) -> Iterator[Unkept]:
    """What `remaining`, the plan after an apply of `plan`, would send once more."""
    failed = {outcome.address for outcome in outcomes if outcome.result not in ("done", "already")}
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
                for path, sent, live in _parts(item.field, item.after, item.before):
                    name = str(change.location.field(item.field))
                    yield Unkept(
                        address=change.address, field=item.field, path=path, sent=sent, live=live,
                        way_out=f'policy: {{ ignore: ["{name}"] }}, or {command("import", "--update", name)}',
                    )  # fmt: skip


def _parts(path: str, sent: Any, live: Any) -> Iterator[tuple[str, Any, Any]]:
    """The smallest parts of a value that were sent and are another one now."""
    if isinstance(sent, dict) and isinstance(live, dict) and sent:
        for name, part in sent.items():
            yield from _parts(f"{path}.{name}", part, live.get(name))
    elif sent != live:
        yield path, sent, live
