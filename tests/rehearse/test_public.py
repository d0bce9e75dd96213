"""What is public on the way alone is found, whoever could see it and however it went away again."""

from __future__ import annotations

from typing import Any

import pytest

from dpsync.rehearse.findings import PublicHistory, facts_of_site, facts_of_specifications

PLACE = {"type": "space", "id": "p1", "space": "s1"}


def site(**fields: Any) -> dict[str, Any]:
    return {"id": "docs", "published": True, "visibility": "public", "structure": [PLACE], **fields}


def seen(*, by: str = "everyone", **fields: Any) -> set[str]:
    return {what for who, what in facts_of_site(site(**fields), {"l1"}) if who == by}


def test_a_public_site_shows_its_spaces() -> None:
    assert "the space s1" in seen()


def test_an_unpublished_site_shows_nothing() -> None:
    """Otherwise, a site that nobody sees counts as public, and no moment is found on it."""
    assert seen(published=False) == set()


def test_a_draft_is_seen_by_nobody_nor_what_is_in_it() -> None:
    """Otherwise, drafts count as public from the start, and their publication for a moment is not found."""
    section = {"type": "section", "id": "x", "draft": True, "children": [PLACE]}
    assert seen(structure=[section], by="anyone who signs in") == {"the site docs"}


def test_what_is_hidden_is_found_by_its_address_alone() -> None:
    """Otherwise, drafts count as public from the start, and their publication for a moment is not found, also
    of what is not listed.
    """
    assert "the space s1" not in seen(structure=[{**PLACE, "hidden": True}])
    assert "the space s1" in seen(structure=[{**PLACE, "hidden": True}], by="anyone who has the URL")


def test_a_condition_keeps_out_who_does_not_fulfil_it() -> None:
    """Otherwise, drafts count as public from the start, and their publication for a moment is not found, also
    of what a condition keeps people out of.
    """
    assert "the space s1" not in seen(structure=[{**PLACE, "condition": "true"}])
    assert "the space s1" in seen(structure=[{**PLACE, "condition": "true"}], by="anyone who signs in")


def test_a_site_shared_by_link_is_open_to_who_has_had_an_active_one() -> None:
    """Otherwise, a link that does not work counts as one that leads people in.

    Otherwise, a link that nobody has yet counts as known, and each new one is a moment.
    """

    def by_link(id: str, active: bool) -> set[str]:
        links = [{"id": id, "active": active}]
        return seen(visibility="share-link", shareLinks=links, by="anyone who has a share link")

    assert by_link("l1", True)
    assert not by_link("l1", False)
    assert not by_link("new", True)


def test_a_redirect_into_what_is_hidden_shows_nothing() -> None:
    """Otherwise, a redirect into what is hidden counts as seen."""
    redirect = {"source": "/a", "draft": False, "destination": {"kind": "site-space", "siteSpaceId": "p1"}}
    assert any("/a" in what for what in seen(redirects=[redirect]))
    assert not any("/a" in what for what in seen(redirects=[redirect], structure=[{**PLACE, "draft": True}]))


def test_a_redirect_that_is_a_draft_leads_nobody_anywhere() -> None:
    """Otherwise, a redirect that is a draft counts as one that leads people."""
    redirect = {"source": "/a", "destination": {"kind": "external", "url": "https://x.example"}}
    assert any("/a" in what for what in seen(redirects=[redirect]))
    assert not any("/a" in what for what in seen(redirects=[{**redirect, "draft": True}]))


@pytest.mark.parametrize(
    ("visibility", "by"),
    [
        (
            "public",
            {"everyone", "anyone who has the URL", "anyone who has a share link", "anyone who signs in"},
        ),
        ("unlisted", {"anyone who has the URL", "anyone who has a share link", "anyone who signs in"}),
        ("visitor-auth", {"anyone who signs in"}),
    ],
)
def test_a_site_is_open_to_those_whom_its_visibility_lets_in(visibility: str, by: set[str]) -> None:
    """Otherwise, what only some may see counts as seen by everybody before, and that it is public for a
    moment is not found.
    """
    assert {who for who, _ in facts_of_site(site(visibility=visibility), set())} == by


def test_a_specification_is_seen_with_where_it_comes_from() -> None:
    """Otherwise, a private specification counts as public."""
    one = {"slug": "shop", "visibility": "public", "sourceURL": "https://x.example"}
    assert facts_of_specifications([one]) != facts_of_specifications(
        [{**one, "sourceURL": "https://y.example"}]
    )
    assert facts_of_specifications([{**one, "visibility": "private"}]) == set()


A, B = ("everyone", "a"), ("everyone", "b")


def test_what_comes_and_goes_is_a_moment_and_names_its_write() -> None:
    watch = PublicHistory()
    watch.begin({"docs": set()})
    watch.after("POST one", {"docs": {A}})
    watch.after("PATCH two", {"docs": set()})
    assert watch.moments() == [("POST one", A)]


def test_what_stays_is_none_and_what_was_there_may_come_and_go() -> None:
    """Otherwise, what was public before is told as public for a moment."""
    watch = PublicHistory()
    watch.begin({"docs": {A}})
    watch.after("1", {"docs": set()})
    watch.after("2", {"docs": {A}})
    watch.after("3", {"docs": {B}})
    assert watch.moments() == []


def test_what_moves_from_one_site_to_another_is_none() -> None:
    watch = PublicHistory()
    watch.begin({"docs": {A}, "help": set()})
    watch.after("1", {"docs": set()})
    watch.after("2", {"help": {A}})
    assert watch.moments() == []
