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


def test_exposure_check_lists_spaces_of_public_site() -> None:
    assert "the space s1" in seen()


def test_exposure_check_omits_unpublished_site() -> None:
    """Otherwise, a site that nobody sees counts as public, and no moment is found on it."""
    assert seen(published=False) == set()


def test_exposure_check_omits_spaces_of_draft_section() -> None:
    """Otherwise, drafts count as public from the start, and their publication for a moment is not found."""
    section = {"type": "section", "id": "x", "draft": True, "children": [PLACE]}
    assert seen(structure=[section], by="anyone who signs in") == {"the site docs"}


def test_exposure_check_lists_hidden_space_by_url_only() -> None:
    """Otherwise, hidden content counts as public from the start, and its brief exposure is not found."""
    assert "the space s1" not in seen(structure=[{**PLACE, "hidden": True}])
    assert "the space s1" in seen(structure=[{**PLACE, "hidden": True}], by="anyone who has the URL")


def test_conditional_space_is_visible_only_after_sign_in() -> None:
    """Otherwise, conditional content counts as public from the start, and its exposure is not found."""
    assert "the space s1" not in seen(structure=[{**PLACE, "condition": "true"}])
    assert "the space s1" in seen(structure=[{**PLACE, "condition": "true"}], by="anyone who signs in")


def test_share_link_site_requires_known_active_link() -> None:
    """Otherwise, a link that does not work counts as one that leads people in.

    Otherwise, a link that nobody has yet counts as known, and each new one is a moment.
    """

    def by_link(id: str, active: bool) -> set[str]:
        links = [{"id": id, "active": active}]
        return seen(visibility="share-link", shareLinks=links, by="anyone who has a share link")

    assert by_link("l1", True)
    assert not by_link("l1", False)
    assert not by_link("new", True)


def test_exposure_check_omits_redirect_into_draft() -> None:
    """Otherwise, a redirect into what is hidden counts as seen."""
    redirect = {"source": "/a", "draft": False, "destination": {"kind": "site-space", "siteSpaceId": "p1"}}
    assert any("/a" in what for what in seen(redirects=[redirect]))
    assert not any("/a" in what for what in seen(redirects=[redirect], structure=[{**PLACE, "draft": True}]))


def test_exposure_check_omits_draft_redirect() -> None:
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
def test_site_visibility_determines_audience_of_its_spaces(visibility: str, by: set[str]) -> None:
    """Otherwise, what only some people see counts as public, and its brief exposure is not found."""
    assert {who for who, _ in facts_of_site(site(visibility=visibility), set())} == by


def test_public_specification_exposes_its_source() -> None:
    """Otherwise, a private specification counts as public."""
    one = {"slug": "shop", "visibility": "public", "sourceURL": "https://x.example"}
    assert facts_of_specifications([one]) != facts_of_specifications(
        [{**one, "sourceURL": "https://y.example"}]
    )
    assert facts_of_specifications([{**one, "visibility": "private"}]) == set()


A, B = ("everyone", "a"), ("everyone", "b")


def test_transient_exposure_is_reported_with_its_write() -> None:
    watch = PublicHistory()
    watch.set_start({"docs": set()})
    watch.record_write("POST one", {"docs": {A}})
    watch.record_write("PATCH two", {"docs": set()})
    assert watch.short_exposures() == [("POST one", A)]


def test_lasting_or_previous_exposure_is_not_transient() -> None:
    """Otherwise, what was public before is told as public for a moment."""
    watch = PublicHistory()
    watch.set_start({"docs": {A}})
    watch.record_write("1", {"docs": set()})
    watch.record_write("2", {"docs": {A}})
    watch.record_write("3", {"docs": {B}})
    assert watch.short_exposures() == []


def test_exposure_moving_between_sites_is_not_transient() -> None:
    watch = PublicHistory()
    watch.set_start({"docs": {A}, "help": set()})
    watch.record_write("1", {"docs": set()})
    watch.record_write("2", {"help": {A}})
    assert watch.short_exposures() == []
