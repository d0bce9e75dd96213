"""The companion's limits are those of the vendor's documents, wherever both state one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from pydantic_core import from_json

from dpsync.server.http.app import build_companion
from dpsync.server.store import open_store
from tests import openapi_limits as limits

from . import editions

ANSWERS = "answers are the same on every profile; what is sent is held to the document"
OPEN = "the reference has no such limit"
OTHERWISE = {
    "0.146.0": {
        "copyright": OPEN,
        "message": OPEN,
        "name": "a share link has a name, of up to 100 characters",
    },
    "0.202.0": dict.fromkeys(("copyright", "message", "localizedTitle.*", "title", "name"), ANSWERS),
}
"""By the ends of members: of which the two say otherwise, and why that stays."""
FEWEST = 800
"""At least so many limits are stated by both: a law about nothing would hold, too."""


def stated(document: Any) -> dict[tuple[str, str, str], set[object]]:
    """Return the limits that a document states per operation and member. A minLength of 0 is no limit."""
    found: dict[tuple[str, str, str], set[object]] = defaultdict(set)
    for operation, (member, word, value) in limits.of_operations(document):
        if word != "default" and (word, value) != ("minLength", 0):
            found[operation, member, word].add(value)
    return found


@pytest.mark.parametrize(("profile", "edition"), [("full", "0.146.0"), ("published", "0.202.0")])
def test_local_server_limits_match_openapi_except_known_differences(profile: str, edition: str) -> None:
    if not editions.is_here(edition):
        pytest.skip("the vendor's documents are not here (make contract)")
    store = open_store(":memory:")
    ours = stated(from_json(build_companion(store, profile=profile).openapi_json()))
    store.close()
    theirs = stated(editions.document(edition))
    both = ours.keys() & theirs.keys()
    assert len(both) > FEWEST
    other = {one for one in both if ours[one] != theirs[one]}
    ends = {member: end for _, member, _ in other for end in OTHERWISE[edition] if member.endswith(f".{end}")}
    assert not [one for one in other if one[1] not in ends]
    assert {*ends.values()} == OTHERWISE[edition].keys()
    sent = {member for _, member, _ in other if not member.startswith("answer")}
    assert edition == "0.146.0" or sent == {"body.configurations.account.properties.*.title"}
