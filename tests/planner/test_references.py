"""`{id: …}` in a field: what nothing live has is an error where it is written, as far as lists were read."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.model.diagnostic import RELATED_LABEL, DiagnosticError, Exit
from tests.by_hand import by_hand

from .lab import Lab

HOLDS: dict[str, Any] = {
    "collections": [{"id": "c1", "title": "One"}],
    "spaces": [{"id": "s1", "title": "Guide"}, {"id": "s2", "title": "Draft", "collection": "c1"}],
    "sites": [
        {
            "id": "w1",
            "title": "Docs",
            "basename": "docs",
            "structure": [{"type": "space", "id": "p1", "space": "s1", "path": "guide"}],
        }
    ],
    "teams": [{"id": "t1", "title": "Writers"}],
}
ONE = "collections: { one: { id: c1, title: One } }"
GUIDE = "spaces: { guide: { id: s1, title: Guide } }"
IN_GONE = "spaces: { guide: { title: Guide, collection: { id: gone } } }"
SHOWING = (
    "sites: {{ docs: {{ title: Docs, structure: [ {{ type: space, key: guide, space: {{ id: {} }} }} ] }} }}"
)
PLACE = "structure: [ { type: space, key: guide, space: { id: s1 }, path: guide } ]"


def errors(lab: Lab, body: str, policy: str = "{}") -> list[tuple[str, str | None, int]]:
    """Code, address and line of each; the organization begins in the sixth line."""
    with pytest.raises(DiagnosticError) as found:
        lab.plan(body, policy)
    assert found.value.exit_code == Exit.INVALID
    return [(item.code, item.address, item.span.line if item.span else 0) for item in found.value.diagnostics]


CASES = [
    ("collections: { new: { title: New, parent: { id: gone } } }", "acme/collections/new"),
    ("collections: { one: { id: c1, title: One, parent: { id: s1 } } }", "acme/collections/one"),
    (f"{ONE}\n{IN_GONE}", "acme/spaces/guide"),
    (f"{GUIDE}\n{SHOWING.format('gone')}", "acme/sites/docs/structure/guide"),
    (
        "sites: { docs: { title: Docs } }\ndefaultContent: { type: site, site: { id: gone } }",
        "acme",
    ),
    (
        f"sites: {{ docs: {{ title: Docs, {PLACE}, redirects: {{ /old: {{ destination:"
        " { kind: site-space, siteSpaceId: { id: gone } } } } } }",
        "acme/sites/docs/redirects//old",
    ),
    (  # a site space id where the field takes a section
        f"sites: {{ docs: {{ title: Docs, {PLACE}, redirects: {{ /old: {{ destination:"
        " { kind: site-section, siteSectionId: { id: p1 } } } } } }",
        "acme/sites/docs/redirects//old",
    ),
    (
        "members: { ada@acme.example: admin }\n"
        "mergeRules: { type: rules, rules: [ { rule: allow_bypass, users: [ { id: gone } ] } ] }",
        "acme",
    ),
    (
        "teams: { writers: { title: Writers } }\nsaml: { okta: { label: Okta, defaultTeam: { id: gone } } }",
        "acme/saml/okta",
    ),
]


@pytest.mark.parametrize(("body", "address"), CASES)
def test_unknown_id_reference_fails_at_its_line(lab: Lab, body: str, address: str) -> None:
    lab.holds(**HOLDS)
    [(code, named, line)] = errors(lab, body)
    assert (code, named) == ("DP306", address)
    assert line == 6 + body[: body.index("{ id: gone" if "gone" in body else "{ id: s1")].count("\n")
    assert [request for request in lab.server.app.requests if request[0] != "GET"] == []


def test_unknown_ids_are_reported_together(lab: Lab) -> None:
    lab.holds(**HOLDS)
    found = errors(
        lab,
        """
        collections:
          one: { id: c1, title: One, parent: { id: gone } }
        spaces:
          guide: { title: Guide, collection: { id: gone-too } }
        """,
    )
    assert found == [("DP306", "acme/collections/one", 7), ("DP306", "acme/spaces/guide", 9)]


def test_repeated_unknown_id_is_reported_once(lab: Lab) -> None:
    lab.holds(**HOLDS)
    body = f"{ONE}\nspaces:\n" + "".join(
        f"  s{n}: {{ title: S{n}, collection: {{ id: gone }} }}\n" for n in range(3)
    )
    with pytest.raises(DiagnosticError) as raised:
        lab.plan(body)
    (found,) = raised.value.diagnostics
    assert (found.code, [label for label, _ in found.related]) == ("DP306", [RELATED_LABEL, RELATED_LABEL])


@pytest.mark.parametrize(
    ("body", "policy"),
    [
        # The list of what is meant is read for nothing else.
        (IN_GONE, "{}"),
        ("defaultContent: { type: site, site: { id: gone } }", "{}"),
        # The policy leaves the field, or the entry, alone.
        (f"{ONE}\n{IN_GONE}", "{ ignore: ['spaces/guide#collection'] }"),
        (f"{ONE}\n{IN_GONE}", "{ ignore: [spaces/guide] }"),
        # It is there, though not declared.
        ("collections: { two: { title: Two, parent: { id: c1 } } }", "{}"),
        (f"{GUIDE}\n{SHOWING.format('s2')}", "{}"),
    ],
)  # fmt: skip
def test_unverifiable_id_references_are_accepted(lab: Lab, body: str, policy: str) -> None:
    """Otherwise, an id in a list that was not read is called wrong."""
    lab.holds(**HOLDS)
    assert lab.plan(body, policy).can_apply


def bypassing(entry: str, *users: str) -> str:
    """Return an entry whose merge rules name these users, with a list of members."""
    rules = f"{{ type: rules, rules: [ {{ rule: allow_bypass, users: [ {', '.join(users)} ] }} ] }}"
    return f"members: {{ ada@acme.example: admin }}\n{entry.replace('RULES', f'mergeRules: {rules}')}"


def test_unknown_id_equal_to_live_value_is_accepted(lab: Lab) -> None:
    """Otherwise, an id that the object has itself is called wrong."""
    guide = "spaces: { guide: { title: Guide, RULES } }"
    named = {"type": "rules", "rules": [{"rule": "allow_bypass", "users": ["left"]}]}
    lab.holds(**{**HOLDS, "spaces": [{"id": "s1", "title": "Guide", "mergeRules": named}]})
    assert lab.plan(bypassing(guide, "{ id: left }")).changes == ()
    lab.converges(bypassing(guide, "{ id: left }", "ada@acme.example"))
    assert [code for code, *_ in errors(lab, bypassing(guide, "{ id: left }", "{ id: gone }"))] == ["DP306"]
    assert [code for code, *_ in errors(lab, bypassing("RULES", "{ id: left }"))] == ["DP306"]


def test_space_being_restored_is_referable_by_id(lab: Lab) -> None:
    """Otherwise, an id in the files differs for ever from the entry that it means.

    Otherwise, what is brought back cannot be named by its id.
    """
    lab.holds(**HOLDS)
    by_hand(lab.server, "DELETE", "/spaces/s2", token="token")
    sites = SHOWING.format("s2")
    assert [code for code, *_ in errors(lab, f"{GUIDE}\n{sites}")] == ["DP306"]
    report = lab.converges(f"spaces: {{ draft: {{ id: s2, title: Draft }} }}\n{sites}")
    assert report.complete


def test_translation_output_space_is_referable_by_id(lab: Lab) -> None:
    """It stands for itself nowhere else: no entry of `spaces:` is ever it."""
    made = {"id": "made", "title": "Leitfaden"}
    source = {"space": "s1", "language": "en"}
    translation = {"id": "t", "source": source, "language": "de", "result": "made", "status": "completed"}
    lab.holds(**{**HOLDS, "spaces": [*HOLDS["spaces"], made]}, translations=[translation])
    assert lab.plan(f"{GUIDE}\n{SHOWING.format('made')}").can_apply
