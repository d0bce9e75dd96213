"""What pages link to, and what links to them."""

from typing import Any

import pytest
from companion_calls import Api
from content_calls import EITHER, GUIDES, OPEN, edited, written
from covers import covers

TARGETS = [
    ("[x](getting-started/first-steps.md)", "ok", "page"),
    ("[x](./getting-started/first-steps)", "ok", "page"),
    ("[x](/search)", "ok", "page"),
    ("[x](/pages/search)", "ok", "page"),
    ("[x](/pages/search#when-it-is-slow)", "ok", "page"),
    ("[x](/pages/search#nowhere)", "broken", "page"),
    ("[x](/pages/none)", "broken", "page"),
    ("[x](none.md)", "broken", "url"),
    ("[x](../../none)", "broken", "url"),
    ("## Here\n\n[x](#here)", "ok", "page"),
    ("[x](#there)", "broken", "page"),
    ("![x](/files/overview-png)", "ok", "file"),
    ("![x](assets/overview.png)", "ok", "file"),
    ("![x](/files/none)", "broken", "file"),
    ("[x](https://elsewhere.example/a)", "ok", "url"),
    ("[x](mailto:ada@acme.example)", "ok", "url"),
    ("[x](https://app.docs.example/s/guides)", "in-app", "url"),
    ("[x](https://app.docs.example.org/)", "ok", "url"),
    ("[x](/spaces/handbook)", "ok", "space"),
    ("[x](/spaces/none)", "broken", "space"),
    ("[x](/spaces/handbook/pages/values)", "ok", "page"),
    ("[x](/spaces/handbook/pages/none)", "broken", "page"),
    ("[x](/collections/api)", "ok", "collection"),
    ("[x](/users/ada)", "ok", "user"),
    ("[x](/users/none)", "broken", "user"),
    ("[x](/openapi/shop)", "ok", "openapi"),
    ("[x](/openapi/none)", "broken", "openapi"),
    ('{% include "help-note" %}', "ok", "reusable-content"),
    ('{% include "none" %}', "broken", "reusable-content"),
]


@pytest.mark.parametrize(
    ("markdown", "status", "kind"), TARGETS, ids=[markdown for markdown, _, _ in TARGETS]
)
def test_page_link_status_is_ok_or_broken(api: Api, markdown: str, status: str, kind: str) -> None:
    at = f"{written(api, markdown)}/content/page/welcome/links"
    answer = api.get(at)
    (link,) = answer["items"]
    assert (link["status"], link["targetReference"]["kind"], link["relation"]) == (status, kind, "reference")
    (location,) = link["locationReferences"]
    assert (location["kind"], location["page"]["id"], location["space"]["id"]) == (
        "page",
        "welcome",
        "guides",
    )
    broken = int(status == "broken")
    assert answer["stats"] == {"total": 1, "broken": {"total": broken, "changeRequest": broken}}


@covers("listPageLinksInSpace", 200, 404)
@covers("listPageLinksInChangeRequest", 200, 404)
@EITHER
def test_page_links_are_filtered_by_status(api: Api, at: str) -> None:
    at = f"{at}/content/page/payments/links"
    assert [link["status"] for link in api.items(at, limit=1)] == ["ok", "broken"]
    for status in ("ok", "broken", "in-app"):
        answer = api.get(at, status=status)
        assert answer["count"] == len(answer["items"]) == (status != "in-app")
        assert answer["stats"] == {"total": 2, "broken": {"total": 1, "changeRequest": 0}}
    api.refused(400, "GET", at, params={"status": "fine"})
    for place in (GUIDES, OPEN):
        api.get(f"{place}/content/page/payments/links")
        api.refused(404, "GET", f"{place}/content/page/none/links")


@covers("listSpaceLinks", 200)
def test_space_links_are_grouped_by_target(api: Api) -> None:
    answer = api.get(f"{GUIDES}/links")
    targets = [link["targetReference"] for link in answer["items"]]
    assert len(targets) == answer["count"] == answer["stats"]["total"]
    note = next(found for found in targets if found["kind"] == "reusable-content")
    assert note["reusableContent"]["id"] == "help-note"
    (broken,) = api.items(f"{GUIDES}/links", status="broken")
    assert broken["targetReference"] == {"kind": "url", "url": "fees.md"}
    assert [found["page"]["id"] for found in broken["locationReferences"]] == ["payments"]
    (in_app,) = api.items(f"{GUIDES}/links", status="in-app")
    assert in_app["targetReference"]["url"] == "https://app.docs.example/s/guides/settings"
    depends = [link for link in answer["items"] if link["relation"] == "dependsOn"]
    assert [link["targetReference"]["openapi"] for link in depends] == ["shop"]


def test_change_request_counts_links_broken_by_its_changes(api: Api) -> None:
    made = edited(api, {"operation": "delete_page", "page": "search"})
    stats = api.get(f"{made}/content/page/welcome/links")["stats"]
    assert stats == {"total": 4, "broken": {"total": 1, "changeRequest": 1}}
    api.post(f"{made}/merge")
    assert api.get(f"{GUIDES}/content/page/welcome/links")["stats"]["broken"] == {
        "total": 1,
        "changeRequest": 0,
    }


def test_link_to_invisible_space_is_broken_for_caller(api: Api) -> None:
    api.patch("/spaces/api-reference", {"defaultLevel": None})
    at = f"{GUIDES}/content/page/search/links"
    assert [link["status"] for link in api.items(at)] == ["ok", "in-app", "ok"]
    assert [link["status"] for link in api.as_("lin-token").items(at)] == ["broken", "in-app", "ok"]


def located(items: list[Any]) -> list[tuple[str, str]]:
    return [(found["space"]["id"], (found.get("page") or found["reusableContent"])["id"]) for found in items]


@covers("listSpacePageBacklinks", 200, 404)
@covers("listChangeRequestPageBacklinks", 200, 404)
def test_page_backlinks_list_linking_pages(api: Api) -> None:
    def backlinks(at: str, page: str) -> list[tuple[str, str]]:
        return located(api.items(f"{at}/content/page/{page}/backlinks", limit=1))

    assert backlinks(GUIDES, "welcome") == [("guides", "search"), ("handbook", "people")]
    assert backlinks(GUIDES, "payments") == [("guides", "first-steps")]
    assert backlinks(OPEN, "payments") == [("guides", "welcome"), ("guides", "first-steps")]
    assert backlinks(OPEN, "search") == []
    for at in (GUIDES, OPEN):
        api.refused(404, "GET", f"{at}/content/page/none/backlinks")


@covers("listSpaceFileBacklinks", 200, 404)
@covers("listChangeRequestFileBacklinks", 200, 404)
def test_file_backlinks_list_pages_showing_file(api: Api) -> None:
    at = "content/files/overview-png/backlinks"
    (found,) = api.items(f"{GUIDES}/{at}")
    assert (found["page"]["id"], found["versionContext"]["revision"]["id"]) == ("welcome", "rev-guides")
    assert api.items(f"{OPEN}/{at}") == []
    for place in (GUIDES, OPEN):
        api.refused(404, "GET", f"{place}/content/files/none/backlinks")


@pytest.mark.parametrize("at", ["/spaces/guides", "/spaces/guides/change-requests/better-welcome"])
def test_link_location_shows_revision_without_page_text(api: Api, at: str) -> None:
    def bare(pages: list[Any]) -> list[Any]:
        return [
            {
                **{name: value for name, value in page.items() if name != "markdown"},
                "pages": bare(page["pages"]),
            }
            for page in pages
        ]

    revision = api.get(f"{at}/content")
    location = api.items(f"{at}/content/page/welcome/links")[0]["locationReferences"][0]
    shown = {**revision, "pages": bare(revision["pages"])}
    assert location["versionContext"] == {"type": "revision", "revision": shown}
