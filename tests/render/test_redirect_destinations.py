"""Every output but JSON prints the destination of a redirect as a file has it: `{ section: guides }`."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest

from dpsync.model.change import Change, Difference
from dpsync.model.drift import Drift, Drifted, Edit, EditedField, Edits, FieldDrift
from dpsync.model.plan import Plan
from dpsync.render.drift_layout import edit_blocks
from dpsync.render.formats import render
from dpsync.render.json_conversion import drift_document, plan_document
from dpsync.render.view import body_lines

SECTION = {"dpsync:ref": "acme/sites/docs/structure/guides"}
SPACE = {"dpsync:ref": "acme/sites/docs/structure/guides/en"}
LIVE = {"dpsync:id": "ss-7"}
DESTINATIONS = {
    "section": ({"kind": "site-section", "siteSectionId": SECTION}, "{ section: guides }"),
    "space": ({"kind": "site-space", "siteSpaceId": SPACE}, "{ space: guides/en }"),
    "page": (
        {"kind": "site-page", "siteSpaceId": SPACE, "pageId": "install/linux"},
        "{ page: guides/en/install/linux }",
    ),
    "page in a space without entry": (
        {"kind": "site-page", "siteSpaceId": LIVE, "pageId": "install"},
        "{ space: id ss-7, page: install }",
    ),
    "URL": ({"kind": "external", "url": "https://a.example/b"}, "{ url: https://a.example/b }"),
    "URL with a space": ({"kind": "external", "url": "https://a b"}, '{ url: "https://a b" }'),
    "unknown form": ({"kind": "new", "x": "y"}, '{ kind: "new", x: "y" }'),
}
ADDRESS = "acme/sites/docs/redirects//old"
CASES = pytest.mark.parametrize(("value", "written"), DESTINATIONS.values(), ids=list(DESTINATIONS))


def documents(value: Any) -> list[Any]:
    """Return a plan that changes a redirect's destination, and a drift of the destination."""
    changed = Change(
        address=ADDRESS,
        kind="redirect",
        action="update",
        differences=(Difference(field="destination", before=None, after=value),),
    )
    drifted = Drifted(
        address=ADDRESS,
        kind="redirect",
        what="different",
        fields=(FieldDrift(field="destination", live=value, file=None),),
    )
    return [plan_document(Plan(changes=(changed,))), drift_document(Drift(found=(drifted,)))]


@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
@CASES
def test_redirect_destination_is_printed_in_short_form(value: Any, written: str, format_name: str) -> None:
    for document in documents(value):
        text = render(document, format_name)
        assert written in html.unescape(text).replace('\\"', '"')


@CASES
@pytest.mark.usefixtures("written")
def test_json_keeps_redirect_destination_of_api(value: Any) -> None:
    for document in documents(value):
        assert json.dumps(value, sort_keys=True) in json.dumps(
            json.loads(render(document, "json")), sort_keys=True
        )


@CASES
def test_edits_print_redirect_destination_in_short_form(value: Any, written: str) -> None:
    field = EditedField(field="destination", after=value, declared="after")
    edit = Edit(address=ADDRESS, what="changed", kind="redirect", fields=(field,))
    [block] = edit_blocks(Edits(base="0" * 40, base_from="HEAD", found=(edit,)))
    assert any(written in line for line in body_lines(block.entries[0]))


def test_changed_long_redirect_destination_has_no_marker() -> None:
    before, after = ({"kind": "external", "url": f"https://a.example/{'a' * 80}/{end}"} for end in "xy")
    changed = Change(
        address=ADDRESS,
        kind="redirect",
        action="update",
        differences=(Difference(field="destination", before=before, after=after),),
    )
    text = render(plan_document(Plan(changes=(changed,))), "text")
    assert "      ~ url: https://a.example/" in text
    assert "dpsync:" not in text
