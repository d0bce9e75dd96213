"""What becomes more visible or more powerful: every field that can do it, as its declaration says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from dpsync.kinds.kind import Field, Kind, Restriction, TreeNode
from dpsync.kinds.types import Json
from dpsync.model.change import Exposure
from dpsync.model.desired import Limits
from dpsync.model.plan import Plan
from dpsync.model.values import LiveId, Ref
from dpsync.planner.compare import widens_access
from dpsync.planner.plan import make_plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_plan

from .lab import REGISTRY
from .stages import NO_ROLES, Case, Things

PLAIN = Paint(False)


def plan(case: Case) -> Plan:
    return make_plan(case.sides())


def exposed(case: Case) -> list[tuple[str, str]]:
    return [(item.address, item.field) for item in plan(case).exposures]


# Every field.


def around(kind: Kind) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    """Return the path of an object and its parents, for the first kind that can be its parent."""
    if kind.parent is None:
        return "", {}
    owner = REGISTRY[kind.parents[0]]
    if owner.parent is None:
        return "x", {}
    above, things = around(owner)
    return f"{above}/x", {**things, owner.name: {above: {}}}


def holds(kind: Kind) -> bool:
    """Whether one needs something in it."""
    return isinstance(kind.shape, TreeNode) and kind.shape.min_children > 0


def values(field: Field) -> tuple[Any, Any]:
    """One value, and another one that is more."""
    match field.widening_rule:
        case "added":
            return ["one"], ["one", "two"]
        case Restriction():
            return "only some", None
        case "changed" if field.type.referenced_kinds:
            return LiveId("one"), LiveId("two")
        case "changed":
            return "one", "two"
        case "set" if isinstance(field.type, Json):
            return {}, {"one": 1}
        case "set":
            return None, "two"
        case "linked":
            return None, {"url": "https://one.example"}
        case "hosts":
            return {"url": "https://one.example"}, {"url": "https://two.example"}
    raise AssertionError(field.widening_rule)


def changes_of(kind: Kind) -> Iterator[Any]:
    for field in kind.fields:
        if isinstance(field.widening_rule, tuple):
            pairs = list(zip(field.widening_rule, field.widening_rule[1:], strict=False))
        else:
            pairs = [values(field)] if field.widening_rule else []
        for less, more in pairs:
            yield pytest.param(kind, field, less, more, id=f"{kind.name}.{field.name}: {less} → {more}")


ALL = [
    one
    for kind in REGISTRY.in_dependency_order
    if kind.parent is not None and kind.redirects is None
    for one in changes_of(kind)
]


def update(kind: Kind, field: Field, before: Any, after: Any) -> list[tuple[str, str]]:
    path, things = around(kind)
    wanted, live = {**things, kind.name: {path: {field.name: after}}}, {
        **things, kind.name: {path: {field.name: before}}
    }  # fmt: skip
    return [name for name in exposed(Case(wanted, live)) if name[1] == field.name]


@pytest.mark.parametrize(("kind", "field", "less", "more"), ALL)
def test_widening_field_change_is_exposure_unlike_narrowing_change(
    kind: Kind, field: Field, less: Any, more: Any
) -> None:
    """Otherwise, a less visible object counts as exposed, and the user confirms a meaningless number."""
    readable = field.response_path is not None  # what is not is compared with a git base
    if readable and (field.call_for_value(more) is not None or field.own_call is None):
        path, _ = around(kind)
        case = Case({**around(kind)[1], kind.name: {path: {}}})
        assert update(kind, field, less, more) == [(str(case.address(kind.name, path)), field.name)]
    if field.widening_rule not in ("changed", "set", "hosts"):
        assert update(kind, field, more, less) == []
    assert update(kind, field, more, more) == []


def test_every_security_field_defines_its_exposure() -> None:
    silent = [
        f"{kind.name}.{field.name}"
        for kind in REGISTRY.in_dependency_order
        for field in kind.fields
        if kind.redirects is None
        and field.can_widen_access
        and field.widening_rule is None
        and not kind.follows_from_roles(field)
    ]
    assert silent == []


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in REGISTRY.in_dependency_order
        if kind.parent and not holds(kind) and not kind.gives_access and kind.redirects is None
    ],
    ids=lambda kind: kind.name,
)
def test_creating_security_relevant_object_is_one_exposure(kind: Kind) -> None:
    path, things = around(kind)
    key = {kind.default_key_field: "x"} if kind.default_key_field else {}
    found = exposed(Case({**things, kind.name: {path: key}}, dict(things)))
    blocked = kind.create is None or not hasattr(kind.create, "path") or kind.exists_with_parent
    assert len(found) == (1 if kind.creation_widens_access and not blocked else 0), found


@pytest.mark.parametrize(
    "kind",
    [kind for kind in REGISTRY.in_dependency_order if kind.deletion_widens_access],
    ids=lambda kind: kind.name,
)
def test_saml_provider_deletion_is_exposure(kind: Kind) -> None:
    """Otherwise, that nobody signs in by it any more is not told."""
    path, things = around(kind)
    case = Case({**things, kind.name: {}}, {**things, kind.name: {path: {"label": "Okta"}}}, prune=["**"])
    [found] = plan(case).exposures
    assert (found.field, found.words) == (
        "",
        ("a SAML provider is deleted, so members no longer need to sign in with a SAML provider"),
    )


# What a scale does not tell.


def field(kind: str, name: str) -> Field:
    return REGISTRY[kind].field(name)


RULES = {"type": "rules", "rules": [{"rule": "require_agent_review"}]}
MORE_RULES = {"type": "rules", "rules": [*RULES["rules"], {"rule": "require_author_to_merge"}]}
BYPASS = {"type": "rules", "rules": [*RULES["rules"], {"rule": "allow_bypass", "users": []}]}


AWAY = {"kind": "external", "url": "https://a.example"}
LINKED = {"title": "L", "to": {"kind": "url", "url": "https://a.example"}}


@pytest.mark.parametrize(
    ("of", "before", "after", "more"),
    [
        # What is inherited may be anything: more than the least, less than the most.
        (field("space", "defaultLevel"), "inherit", "read", True),
        (field("space", "defaultLevel"), "inherit", "guest", False),
        (field("space", "defaultLevel"), "read", "inherit", True),
        (field("space", "defaultLevel"), "admin", "inherit", False),
        # A null role is that of a guest.
        (field("member", "role"), None, "read", True),
        (field("member", "role"), "read", None, False),
        (field("organization", "sso"), True, False, True),
        (field("organization", "sso"), False, True, False),
        (field("organization", "inviteLinks"), False, True, True),
        (field("organization", "defaultRole"), "guest", "read", True),
        (field("organization", "emailDomains"), ["a"], ["b"], True),
        (field("organization", "emailDomains"), ["a", "b"], ["b"], False),
        (field("organization", "title"), "A", "B", False),
        (field("organization", "ai"), False, True, True),
        # Who may edit without a change request.
        (field("space", "editMode"), "locked", "live", True),
        (field("space", "editMode"), "live", "locked", False),
        # Where a site is served, and where it leads people.
        (field("site", "proxy"), None, "a.example/docs", True),
        (field("site", "proxy"), "a.example/docs", "b.example/docs", True),
        (field("site", "proxy"), "a.example/docs", None, False),
        (field("customization", "header"), {"links": []}, {"links": [LINKED]}, True),
        (field("customization", "header"), {"links": [LINKED]}, {"links": []}, False),
        (field("customization", "header"), {"preset": "a"}, {"preset": "b"}, False),
        (
            field("customization", "footer"),
            {"groups": []},
            {"groups": [{"title": "T", "links": [LINKED]}]},
            True,
        ),
        (field("customization", "privacyPolicy"), {"url": AWAY["url"]}, {"url": "https://b.example"}, True),
        (field("site_space_customization", "privacyPolicy"), None, {"url": AWAY["url"]}, True),
        # From where a specification is fetched.
        (field("openapi", "source"), {"url": "https://a.example/1"}, {"url": "https://a.example/2"}, False),
        (field("openapi", "source"), {"url": "https://a.example/1"}, {"url": "https://b.example/1"}, True),
        (field("openapi", "source"), {"text": "openapi: 3.1.0"}, {"url": "https://b.example/1"}, True),
        (field("openapi", "source"), {"url": "https://b.example/1"}, {"text": "openapi: 3.1.0"}, False),
        # What an integration may do, and what its script reaches.
        (field("installation", "configuration"), {"all": False}, {"all": True}, True),
        (field("installation_site", "configuration"), {"all": False}, {"all": True}, True),
        (field("installation_space", "configuration"), {}, {"all": True}, True),
        (field("installation", "externalIds"), ["a"], ["a", "b"], True),
        (field("published_integration", "script"), None, "another", True),
        (field("published_integration", "contentSecurityPolicy"), "a", "b", True),
        # Merge rules bind: fewer are more, and so is who may pass them by.
        (field("space", "mergeRules"), {"type": "none"}, RULES, False),
        (field("space", "mergeRules"), RULES, {"type": "none"}, True),
        (field("space", "mergeRules"), RULES, MORE_RULES, False),
        (field("space", "mergeRules"), MORE_RULES, RULES, True),
        (field("space", "mergeRules"), RULES, BYPASS, True),
        (field("space", "mergeRules"), BYPASS, BYPASS, False),
        (field("space", "mergeRules"), {"type": "none"}, BYPASS, False),
        (field("section", "condition"), None, "visitor.is_admin", False),
        (field("section", "condition"), "visitor.is_admin", "true", True),
    ],
)
def test_field_change_widening_access_is_exposure(of: Field, before: Any, after: Any, more: bool) -> None:
    """Otherwise, an inherited level that may be more is told as none.

    Otherwise, a condition that lets everybody in is no exposure.
    Otherwise, a condition that is taken away is no exposure.
    Otherwise, a script of another host is no exposure.
    """
    assert widens_access(of, before, after) is more


@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize(
    ("url", "listed"),
    [("https://b.example/", True), ("https://docs.example/terms", False), ("https://[broken", True)],
)
def test_customization_links_to_foreign_hosts_are_exposures(new: bool, url: str, listed: bool) -> None:
    """Otherwise, a public page leads people to a foreign host, and no plan lists it.

    Otherwise, a link to one's own site is counted as exposed.
    Otherwise, an address that is none counts as one of the own sites, and nobody lists where it leads.
    """

    def led(to: str) -> Things:
        return {"customization": {"d": {"privacyPolicy": {"url": to}}}}

    site: Things = {"site": {"d": {"title": "D", "basename": "d"}}}
    live = site if new else {**site, **led("https://docs.example/privacy")}
    case = Case({**site, **led(url)}, live, urls={("site", "d"): "https://docs.example/d/"})
    assert [item.address for item in plan(case).exposures] == ["acme/customization/d"] * listed


# Redirects.


def to(host: str) -> dict[str, Any]:
    return {"kind": "external", "url": f"https://{host}/x"}


FIRST = "acme/sites/d/redirects/0"
LEADS_TO_A = "1 redirect leads to hosts outside your sites: a.example"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        pytest.param({}, {"old": {"destination": to("a.example")}}, LEADS_TO_A, id="new"),
        pytest.param(
            {"old": {"destination": to("b.example")}}, {"old": {"destination": to("a.example")}}, LEADS_TO_A,
            id="another destination",
        ),
        pytest.param(
            {"old": {"destination": to("a.example"), "draft": True}},
            {"old": {"destination": to("a.example"), "draft": False}}, LEADS_TO_A,
            id="no draft any more",
        ),
        pytest.param(
            {}, {str(number): {"destination": to(f"{number}.example")} for number in range(5)},
            "5 redirects lead to hosts outside your sites: 0.example, 1.example, 2.example and 2 more",
            id="several",
        ),
        pytest.param({}, {"old": {"destination": to("docs.example")}}, "", id="to a host of one's own"),
        pytest.param({}, {"old": {"destination": to("a.example"), "draft": True}}, "", id="draft"),
        pytest.param(
            {"old": {"destination": to("a.example")}},
            {"old": {"destination": to("a.example"), "permanent": True}}, "",
            id="same destination",
        ),
        pytest.param({"old": {"destination": to("a.example")}}, {}, "", id="deleted"),
    ],
)  # fmt: skip
def test_redirects_to_foreign_hosts_share_note(before: Any, after: Any, text: str) -> None:
    """A redirect opens nothing: a line for each of many hides the changes that do."""
    site: Things = {"site": {"d": {"title": "D", "basename": "d"}}}
    case = Case(
        {**site, "redirect": {f"d/{key}": fields for key, fields in after.items()}},
        {**site, "redirect": {f"d/{key}": fields for key, fields in before.items()}},
        prune=["**"],
        urls={("site", "d"): "https://docs.example/d/"},
    )
    made = plan(case)
    assert made.exposures == ()
    assert [note.text for note in made.notes if "redirect" in note.text] == [text] * bool(text)


@pytest.mark.parametrize("number", [1, 3], ids=["one redirect", "several redirects"])
def test_redirect_note_addresses_first_foreign_redirect(number: int) -> None:
    """Otherwise, the note points at the line of the organization, where nothing is to be checked."""
    site: Things = {"site": {"d": {"title": "D", "basename": "d"}}}
    redirects = {f"d/{key}": {"destination": to("a.example")} for key in range(number)}
    made = plan(Case({**site, "redirect": redirects}, site))
    assert [note.address for note in made.notes if "outside your sites" in note.text] == [FIRST]


# New things.

LONG = f"https://{'a' * 60}.example"


@pytest.mark.parametrize(
    ("kind", "fields", "listed"),
    [
        ("site", {"visibility": "public", "published": True}, ["visibility", "published"]),
        ("site", {"visibility": "visitor-auth"}, []),
        ("site", {}, []),
        ("openapi", {"visibility": "private"}, []),
        ("openapi", {"visibility": "public"}, ["visibility"]),
        ("space", {"defaultLevel": "read"}, []),
        ("space", {"defaultLevel": "edit"}, ["defaultLevel"]),
        ("space", {"defaultLevel": "guest"}, []),
        ("space", {"defaultLevel": "inherit"}, []),
    ],
)
def test_new_object_lists_access_widening_fields_as_exposures(
    kind: str, fields: dict[str, Any], listed: list[str]
) -> None:
    """Otherwise, what is new and powerful is not told, or what is harmless is."""
    key = {"slug" if kind == "openapi" else "title": "x"}
    case = Case({kind: {"x": {**key, **fields}}}, {kind: {}})
    assert sorted(item.field for item in plan(case).exposures) == sorted(listed)


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            Case({"site": {"d": {"visibility": "public"}}}, {"site": {"d": {"visibility": "share-link"}}}),
            "visibility raised: share-link → public",
        ),
        (
            Case({"member": {"a@b": {"role": "admin"}}}, {"member": {"a@b": {"role": "read"}}}),
            "role raised: read → admin, a new admin",
        ),
        (
            Case({"site": {"d": {}}, "share_link": {"d/l": {"active": True}}}, {"site": {"d": {}}}),
            "a new share link: active true",
        ),
        (
            Case(
                {"site": {"d": {}}, "external_link": {"d/l": {"url": "https://b.example"}}},
                {"site": {"d": {}}, "external_link": {"d/l": {"url": "https://a.example"}}},
            ),
            "url changed: https://a.example → https://b.example",
        ),
        (
            Case({"site": {"d": {}}, "external_link": {"d/l": {"url": LONG}}}, {"site": {"d": {}}}),
            f"a new external link: url {LONG[:59]}…",
        ),
        (
            Case({"space": {"s": {"mergeRules": BYPASS}}}, {"space": {"s": {"mergeRules": RULES}}}),
            "mergeRules: allow_bypass added",
        ),
        (
            Case({"space": {"s": {"mergeRules": RULES}}}, {"space": {"s": {"mergeRules": MORE_RULES}}}),
            "mergeRules: require_author_to_merge removed",
        ),
        (
            Case({"installation": {"bot": {}}}, {"installation": {}}),
            "a new integration: space_selection all, site_selection all",
        ),
        (
            Case({"saml": {"o": {"certificate": "a\nb\n"}}}, {"saml": {"o": {"certificate": None}}}),
            "certificate changed: nothing → set",
        ),
        (
            Case({"saml": {"o": {"entityID": None}}}, {"saml": {"o": {"entityID": "urn:a"}}}),
            "entityID removed",
        ),
    ],
)  # fmt: skip
def test_exposure_text_describes_change(case: Case, words: str) -> None:
    """Otherwise, what the platform gives a new thing is not listed.

    Otherwise, a new admin is listed as any new member.
    """
    assert [item.words for item in plan(case).exposures] == [words]


def test_exposure_skips_ignored_and_blocked_changes() -> None:
    """Otherwise, a new member is listed as an admin, whom no request makes one."""
    wanted, live = {"site": {"d": {"visibility": "public"}}}, {"site": {"d": {"visibility": "unlisted"}}}
    assert exposed(Case(wanted, live, ignore=["sites/*#visibility"])) == []
    assert exposed(Case({"member": {"new@b.example": {"role": "admin"}}}, {"member": {}})) == []
    added: Things = {"member": {"bo": {"role": "admin", "id": "bo", "sso": True}}}
    case = Case(added, {"member": {"ada": {"role": "admin"}}}, registry=NO_ROLES, user="ada")
    assert [item.words for item in plan(case).exposures] == ["a new member: sso true"]


# Where something is.


def test_new_empty_space_is_no_exposure() -> None:
    held: Things = {"collection": {"a": {"title": "A"}}}
    wanted = {**held, "space": {"s": {"title": "S", "collection": Case(held).ref("collection", "a")}}}
    assert exposed(Case(wanted, held)) == []


def test_disabling_adaptive_content_is_exposure() -> None:
    on, off = ({"site": {"d": {"adaptiveContent": {"enabled": enabled}}}} for enabled in (True, False))
    assert exposed(Case(off, on)) == [("acme/sites/d", "adaptiveContent")]
    assert exposed(Case(on, off)) == []


# What a published site begins to show.

OPEN = {"published": True, "visibility": "public"}
SPACES = {"s": {"title": "S"}, "t": {"title": "T"}}
PLACE = "acme/sites/d/structure/a/p"


def shows(
    place: Mapping[str, Any] | None,
    *,
    section: Mapping[str, Any] | None = None,
    group: Mapping[str, Any] | None = None,
    site: Mapping[str, Any] = OPEN,
    others: Mapping[str, Mapping[str, Any]] | None = None,
    elsewhere: Mapping[str, Any] | None = None,
    live: bool = False,
) -> dict[str, Any]:
    """One side: a site `d` whose section `a` shows a space at a place `p`; another site may, too."""
    del others

    def given(fields: Mapping[str, Any]) -> dict[str, Any]:
        key = fields.get("space", "s")
        at = LiveId(f"space-{key}") if live else Ref(Case({"space": SPACES}).address("space", key))
        return {"path": "p", "draft": False, **fields, "space": at}

    things: dict[str, Any] = {
        "space": SPACES,
        "site": {"d": dict(site)},
        "section": {"d/a": {"title": "A", "path": "a", "draft": False, **(section or {})}},
        "site_space": {"d/a/t": {**given({"space": "t"}), "path": "t"}},
    }
    if group is not None:
        things["section_group"] = {"d/g": {"title": "G", "draft": False, **group}}
        wanted = Ref(Case({"site": {"d": {}}}).address("site", "d").child("structure", "g"))
        things["section"]["d/a"]["group"] = LiveId("section_group-d-g") if live else wanted
    if place is not None:
        things["site_space"]["d/a/p"] = given(place)
    if elsewhere is not None:
        things["site"]["e"] = dict(elsewhere)
        things["section"]["e/b"] = {"title": "B", "path": "b", "draft": False}
        things["site_space"]["e/b/p"] = given({})
    return things


@pytest.mark.parametrize(
    ("after", "before", "listed"),
    [
        # A space that nobody could read comes into a public site.
        (shows({}), shows(None, live=True), [PLACE]),
        (shows({}, site={"published": True, "visibility": "share-link"}),
         shows(None, site={"published": True, "visibility": "share-link"}, live=True), [PLACE]),
        (shows({"hidden": True}), shows(None, live=True), [PLACE]),
        # It takes the place of another one.
        (shows({}), shows({"space": "t"}, live=True), [PLACE]),
        # The site is published in this very plan: that is listed, and not each space of it.
        (shows({}), shows({}, site={**OPEN, "published": False}, live=True), ["acme/sites/d"]),
        # What comes onto it in that plan is listed, too.
        (shows({}), shows(None, site={**OPEN, "published": False}, live=True), ["acme/sites/d", PLACE]),
        # Nobody sees it then.
        (shows({}, site={**OPEN, "published": False}),
         shows(None, site={**OPEN, "published": False}, live=True), []),
        (shows({"draft": True}), shows(None, live=True), []),
        (shows({}, section={"draft": True}), shows(None, section={"draft": True}, live=True), []),
        (shows({}, group={"draft": True}), shows(None, group={"draft": True}, live=True), []),
        # What lets it be seen is listed itself.
        (shows({}), shows({"draft": True}, live=True), [PLACE]),
        (shows({}, group={}), shows({}, group={"draft": True}, live=True), ["acme/sites/d/structure/g"]),
        # So is what lets more people see it.
        (shows({}), shows({}, site={**OPEN, "visibility": "visitor-auth"}, live=True), ["acme/sites/d"]),
        (shows({"condition": None}), shows({"condition": "x"}, live=True), [PLACE]),
        (shows({}, section={"condition": None}), shows({}, section={"condition": "x"}, live=True),
         ["acme/sites/d/structure/a"]),
        (shows({"condition": None}), shows({"space": "t", "condition": "x"}, live=True), [PLACE, PLACE]),
        # It was published as openly elsewhere, or was not.
        (shows({}, elsewhere=OPEN), shows(None, elsewhere=OPEN, live=True), []),
        (shows({}, elsewhere={**OPEN, "visibility": "visitor-auth"}),
         shows(None, elsewhere={**OPEN, "visibility": "visitor-auth"}, live=True), [PLACE]),
        (shows({}, elsewhere={**OPEN, "published": False}),
         shows(None, elsewhere={**OPEN, "published": False}, live=True), [PLACE]),
        (shows({"condition": "x"}, elsewhere=OPEN), shows(None, elsewhere=OPEN, live=True), []),
    ],
)  # fmt: skip
def test_adding_live_space_to_published_site_is_exposure(
    after: dict[str, Any], before: dict[str, Any], listed: list[str]
) -> None:
    """Otherwise, a place that shows another thing now publishes it untold.

    Otherwise, what is in a draft counts as public already, so that publishing it is not told.
    Otherwise, content that comes onto a public site counts as published before, because something else was.
    """
    assert [item.address for item in plan(Case(after, before)).exposures] == listed


def test_new_public_site_lists_live_spaces_as_exposed() -> None:
    found = exposed(Case(shows({}), {"space": SPACES}))
    fields = [("acme/sites/d", "visibility"), ("acme/sites/d", "published")]
    assert found == [*fields, (PLACE.replace("/p", "/t"), "space"), (PLACE, "space")]


def test_unpublished_new_site_exposes_no_spaces() -> None:
    hidden = {"visibility": "public", "published": False}
    assert exposed(Case(shows({}, site=hidden), {"space": SPACES})) == [("acme/sites/d", "visibility")]


def test_weakened_site_space_condition_is_exposure() -> None:
    """Otherwise, content that was shown to a few is shown to all, untold."""
    behind = {"d/a": {"title": "A", "path": "a", "draft": False, "condition": "visitor.is_admin"}}
    before, after = shows({}, live=True, elsewhere=OPEN), shows({}, elsewhere=OPEN)
    for side in (before, after):
        side["section"] = {**side["section"], **behind}
    del before["site_space"]["e/b/p"]
    assert exposed(Case(after, before)) == [("acme/sites/e/structure/b/p", "space")]


@pytest.mark.parametrize("proxy", [False, True], ids=["alone", "while the site is exposed otherwise"])
def test_moving_section_out_of_draft_group_is_exposure(proxy: bool) -> None:
    """Otherwise, where a site is exposed otherwise in the same plan, its new public places are not listed."""
    after, before = shows({}, group={"draft": True}), shows({}, group={"draft": True}, live=True)
    after["section"]["d/a"]["group"] = None
    if proxy:
        after["site"]["d"] = {**after["site"]["d"], "proxy": "b.example/docs"}
    found = [item for item in plan(Case(after, before)).exposures if item.field != "proxy"]
    assert [item.address for item in found] == [PLACE.replace("/p", "/t"), PLACE]
    assert {item.words for item in found} == {'publishes the space "S"', 'publishes the space "T"'}


def test_publishing_new_space_is_no_exposure() -> None:
    """Otherwise, a space that is new and empty is listed as published."""
    before = shows(None, live=True)
    before["space"] = {"t": SPACES["t"]}
    assert exposed(Case(shows({}), before)) == []


# Limits.

TWO = (
    {"site": {"d": {"visibility": "public", "published": True}}},
    {"site": {"d": {"visibility": "unlisted", "published": False}}},
)


@pytest.mark.parametrize(
    ("limit", "confirm", "refused"),
    [
        (None, (), False),
        (2, (), False),
        (1, (), True),
        (0, (), True),
        (0, ("expose 2",), False),
        (0, ("expose 1",), True),
        (0, ("expose 3",), True),
        (0, ("delete 2",), True),
        (1, ("expose 0002",), False),
    ],
)
def test_more_exposures_than_limit_need_confirmed_count(
    limit: int | None, confirm: tuple[str, ...], refused: bool
) -> None:
    """Otherwise, any number of things becomes public."""
    found = plan(Case(*TWO, limits=Limits(9, 100, limit), confirm=confirm))
    assert [item.code for item in found.refusals] == ["exposures"] * refused
    if refused:
        [refusal] = found.refusals
        assert refusal.message == (
            "the plan would open access (let people see or do more) in 2 ways, and policy.limits.exposures "
            f"allows {limit}"
        )
        assert '--confirm "expose 2"' in refusal.way_out
        assert [answer.add for answer in refusal.answers] == ['--confirm "expose 2"']


def test_unneeded_expose_answer_is_noted() -> None:
    found = plan(Case({"site": {"d": {}}}, {"site": {"d": {}}}, confirm=("expose 2",)))
    assert [note.address for note in found.notes] == ['--confirm "expose 2"']


# In text.


def test_plan_text_counts_access_widening_changes() -> None:
    text = render_plan(plan(Case(*TWO)), PLAIN)
    assert text.count("  opens access\n") == 2
    assert " 1 change opens access in 2 ways." in text.splitlines()[-1]


def test_plan_summary_counts_two_access_widening_changes() -> None:
    """Lines are not counted: otherwise, a plan with one change ends with "2 changes open access"."""
    private, public = {"visibility": "private"}, {"visibility": "public"}
    sides = ({"openapi": dict.fromkeys("ab", value)} for value in (public, private))
    assert render_plan(plan(Case(*sides)), PLAIN).splitlines()[-1].endswith(" 2 changes open access.")


def test_plan_text_has_no_access_count_without_exposures() -> None:
    assert "access" not in render_plan(plan(Case(TWO[1], TWO[0])), PLAIN)


def test_exposure_text_escapes_control_characters() -> None:
    hostile = "x\x1b]0;title\x07\n  ! acme/forged"
    shown = plan(Case(*TWO)).model_copy(
        update={"exposures": (Exposure(address="acme/a", field="url", after=hostile, words=hostile),)}
    )
    text = render_plan(shown, PLAIN)
    assert "\x1b" not in text
    assert "\n  ! acme/forged" not in text


def test_publishing_undeclared_space_is_exposure() -> None:
    """Otherwise, a space that is in no file is published untold."""
    undeclared = {kind: things for kind, things in shows({}, live=True).items() if kind != "space"}
    assert [item.address for item in plan(Case(undeclared, shows(None, live=True))).exposures] == [PLACE]
