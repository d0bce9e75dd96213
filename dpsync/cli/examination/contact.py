"""What `doctor --contact` says of the answers of a platform, and the report for an issue."""

from __future__ import annotations

from collections.abc import Iterator

from dpsync import __version__
from dpsync.kinds.editions import PROFILES
from dpsync.kinds.types.base import MISSING
from dpsync.live.contact import Contact, Difference
from dpsync.model.text import counted, json_text
from dpsync.render.documents import Check

_TOPIC = "contact"
FORMAT = "dpsync.contact-report/1"


def checks(found: Contact, profile: str, requests: int) -> Iterator[Check]:
    """Yield what was compared, what differs, what could not be read, and what a first plan costs."""
    operations = counted(len(found.answers), "API operation")
    asked = f"dpsync checked {operations} with {counted(requests, 'GET request')}"
    differences = found.differences
    if differences:
        mend = "to get help, write a report with --report FILE, and attach the report to an issue"
        differing = counted(len(differences), "difference")
        said = f"{asked}, and found {differing} between the responses and the API version {profile}"
        yield Check(topic=_TOPIC, level="problem", said=said, mend=mend)
    else:
        said = f"{asked}. Every response fits the API version {profile}"
        yield Check(topic=_TOPIC, level="ok", said=said)
    for one in differences:
        yield Check(topic=_TOPIC, level="problem", said=_in_words(one))
    if found.refused:
        said = f"this token cannot read objects of these types: {', '.join(found.refused)}"
        yield Check(topic=_TOPIC, level="note", said=said, mend="dpsync skips these objects in plans")
    if found.untried:
        said = f"the organization has no objects of these types: {', '.join(found.untried)}"
        yield Check(topic=_TOPIC, level="ok", said=said)
    said = f"dpsync import and the first dpsync plan will send about {counted(found.requests, 'request')}"
    yield Check(topic="first plan", level="ok", said=said)


def report(found: Contact, profile: str, served: str | None) -> bytes:
    """Return the report: statuses, names of members, and JSON types. No value of the platform is in it."""
    return (
        json_text(
            {
                "format": FORMAT,
                "dpsync": __version__,
                "profile": profile,
                "served": served if served in PROFILES or served is None else "another",
                "refused": list(found.refused),
                "not_compared": list(found.untried),
                "operations": [
                    {
                        "operation": f"GET {answer.operation}",
                        "status": answer.status,
                        "kinds": list(answer.kinds),
                        "members": {name: list(types) for name, types in answer.members.items()},
                        "more_members": list(answer.more),
                        "differences": [
                            {"member": one.member, "expected": one.expected, "found": one.found}
                            for one in answer.differences
                        ],
                    }
                    for answer in found.answers
                ],
            },
            indent=1,
        )
        + "\n"
    ).encode()


def _in_words(one: Difference) -> str:
    at = f"{one.member}: " if one.member else ""
    found = "nothing" if one.found == MISSING else one.found
    return f"GET {one.operation}: {at}expected {one.expected}, found {found}"
