"""A world is made of answers: what is secret stays out, and what nobody has read is named."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_core import to_json

from dpsync.client.recording import RecordedAnswer
from dpsync.rehearse.world import World, make_world

ORGANIZATION = {"id": "acme", "object": "organization", "title": "Acme", "urls": {}, "permissions": {}}


def world(*answers: tuple[str, Any], named: tuple[str, ...] = (), spared: tuple[str, ...] = ()) -> World:
    readings = [
        RecordedAnswer("/orgs/acme", (), 200, ORGANIZATION),
        *(RecordedAnswer(p, (), 200, c) for p, c in answers),
    ]
    return make_world(readings, "made-up", spared, [("acme", path) for path in named])


def acme(made: World) -> dict[str, Any]:
    return next(one for one in made.data["organizations"] if one["id"] == "acme")


def member(id: str, role: str | None) -> dict[str, Any]:
    return {"id": id, "role": role, "user": {"id": id, "email": f"{id}@acme.example"}, "disabled": False}


SECRETS = [
    ("/orgs/acme/sites/docs/share-links",
     [{"id": "l1", "name": "press", "urls": {"published": "https://docs.example/?t=s3cret"}}]),
    ("/orgs/acme/sites/docs/publishing/auth", {"backend": "custom", "privateKey": "s3cret"}),
    ("/orgs/acme/sites/docs/mcp-servers", [{"id": "m1", "name": "tools", "headers": {"X-Key": "s3cret"}}]),
    ("/orgs/acme/sites/docs/context-connections",
     [{"id": "c1", "connector": "builtin:linear", "setupSettings": {"token": "s3cret", "url": "https://x.example"}}]),
    ("/orgs/acme/sites/docs/context-connections",
     [{"id": "c1", "connector": "builtin:linear", "setupSettings": {"hooks": [{"api_key": "s3cret"}]}}]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "content"), SECRETS)
def test_rehearsal_copy_omits_secrets(path: str, content: Any) -> None:
    """Otherwise, a key of the platform is in the world of a rehearsal.

    Otherwise, the headers of a server of tools, with their keys, are in a world.
    Otherwise, what a connection is set up with is in a world.
    Otherwise, the token of a link by which a site is shared is in a world.
    Otherwise, a key in a list of settings is in a world.
    Otherwise, a key in settings is in a world.
    """
    assert b"s3cret" not in to_json(world((path, content)).data)


def test_rehearsal_copy_includes_agent_settings_of_site() -> None:
    docs = "/orgs/acme/sites/docs"
    inner = {"id": "cards", "label": "Cards", "parent": {"id": "billing", "label": "Billing"}}
    made = world(
        (docs, {"id": "docs", "title": "Docs", "styleguide": {"kind": "space", "space": "guide"}}),
        (f"{docs}/mcp-servers", [{"id": "t", "name": "T", "headers": {"X-Key": "k"}}]),
        (f"{docs}/topics", [inner, {"id": "billing", "label": "Billing"}]),
        (f"{docs}/channels", [{"id": "s", "type": "builtin:slack"}]),
    )
    (site,), (guide,) = acme(made)["sites"], acme(made)["spaces"]
    assert guide == {"id": "guide", "type": "styleguide", "position": guide["position"]}
    assert site["styleguide"] == "guide"
    assert list(site["mcpServers"][0]["headers"]) == ["X-Key"]
    assert [topic.get("parent") for topic in site["topics"]] == [None, "billing"]
    assert site["channels"] == [{"id": "s", "type": "builtin:slack"}]


def test_rehearsal_copy_uses_only_generated_token() -> None:
    assert list(world(("/user", {"id": "ada"})).data["tokens"]) == ["made-up"]


def test_rehearsal_runs_as_token_owner_with_admin_role() -> None:
    people = ("/orgs/acme/members", [member("ada", "admin"), member("bob", "admin")])
    assert world(people, ("/user", {"id": "bob"})).data["tokens"] == {"made-up": "bob"}


def test_rehearsal_for_reader_runs_as_another_admin() -> None:
    """Otherwise, a reader carries the rehearsal out, or becomes an administrator in it."""
    people = ("/orgs/acme/members", [member("ada", "admin"), member("bob", "read")])
    made = world(people, ("/user", {"id": "bob"}))
    assert made.data["tokens"] == {"made-up": "ada"}
    assert [one["role"] for one in acme(made)["members"]] == ["admin", "read"]


def test_rehearsal_avoids_admin_changed_by_plan() -> None:
    """Otherwise, the plan takes away the role of who carries it out, and a good plan is not fit."""
    people = ("/orgs/acme/members", [member("ada", "admin"), member("bob", "admin")])
    assert world(people, spared=("ada",)).data["tokens"] == {"made-up": "bob"}
    assert world(people, spared=("ada", "bob")).data["tokens"] == {"made-up": "ada"}


def test_rehearsal_assumes_and_reports_unlisted_space_member() -> None:
    made = world(
        ("/orgs/acme/spaces", [{"id": "s1", "title": "One"}]),
        (
            "/spaces/s1/permissions/users",
            [{"permission": "edit", "user": {"id": "bob", "email": "b@x.example"}}],
        ),
    )
    assert made.assumed == ["the role of b@x.example in the organization acme"]
    assert acme(made)["spaces"][0]["permissions"] == {"users": {"bob": "edit"}}


def test_rehearsal_assumes_and_reports_objects_not_read() -> None:
    made = world(named=("/collections/c9", "/integrations/slack/installations", "/orgs/acme/teams/t1"))
    assert made.assumed == ["the collection c9", "the integration slack", "the team t1"]


def test_rehearsal_does_not_assume_objects_planned_for_creation() -> None:
    assert world(named=("/spaces/{acme/spaces/new}/move",)).assumed == []


def test_rehearsal_copy_omits_page_descriptions() -> None:
    page = {"id": "p1", "title": "Start", "type": "document", "slug": "start", "path": "start"}
    pages = {"pages": [{**page, "description": "s3cret", "pages": [{**page, "id": "p2", "pages": []}]}]}
    made = world(("/orgs/acme/spaces", [{"id": "s1", "title": "S"}]), ("/spaces/s1/content/pages", pages))
    kept = {"id": "p1", "title": "Start", "type": "document", "slug": "start"}
    assert acme(made)["spaces"][0]["content"] == {
        "pages": [{**kept, "pages": [{**kept, "id": "p2", "pages": []}]}]
    }


def test_rehearsal_reports_response_its_copy_cannot_represent() -> None:
    """Otherwise, what no world can hold is told by nobody."""
    assert [one.path for one in world(("/spaces/s1/content/files", {"files": []})).unknown] == [
        "/spaces/s1/content/files"
    ]


def test_refused_read_is_absent_from_rehearsal_copy() -> None:
    """Otherwise, what was refused ends the rehearsal, or is taken for something."""
    made = make_world([RecordedAnswer("/orgs/acme/saml", (), 403, None)], "made-up")
    assert (made.unknown, made.assumed) == ([], [])


def test_rehearsal_copy_ignores_filtered_list_responses() -> None:
    """Otherwise, a part of a list is taken for all of it: what it lacks looks free to be made.

    Otherwise, what follows from other answers is told as not rehearsed.
    """
    teams = RecordedAnswer("/orgs/acme/teams", (("title", "A"),), 200, [{"id": "t", "title": "A"}])
    showing = RecordedAnswer("/orgs/acme/sites", (("space", "s"),), 200, [{"id": "docs"}])
    made = make_world([RecordedAnswer("/orgs/acme", (), 200, ORGANIZATION), teams, showing], "made-up")
    assert "teams" not in acme(made)
    assert made.unknown == [teams], "the sites that show a space follow from others"


def test_listed_members_keep_roles_in_rehearsal_copy() -> None:
    """Otherwise, whoever has a role in a space loses the one in the organization.

    Otherwise, somebody who is no member is one in the rehearsal: what must fail goes well.
    """
    made = world(
        ("/orgs/acme/members", [member("ada", "admin"), member("bob", "read")]),
        ("/orgs/acme/spaces", [{"id": "s1", "title": "One"}]),
        ("/spaces/s1/permissions/users", [{"permission": "edit", "user": {"id": "bob"}}]),
        named=("/orgs/acme/members/zoe",),
    )
    assert [one.get("role") for one in acme(made)["members"]] == ["admin", "read"]
    assert made.assumed == []


def test_rehearsal_copy_keeps_redirect_to_unread_destination() -> None:
    to = {"kind": "site-section", "siteSectionId": "sect-9"}
    made = world(("/orgs/acme/sites/docs/redirects", [{"id": "r1", "source": "/a", "destination": to}]))
    assert [one["id"] for one in made.data["records"]] == ["r1"]
    assert made.assumed == ["the destination of the redirect /a of the site docs"]


def test_rehearsal_never_runs_as_disabled_admin() -> None:
    """Otherwise, somebody who may do nothing carries the rehearsal out: a good plan is not fit."""
    people = [{**member("ada", "admin"), "disabled": True}, member("bob", "admin")]
    assert world(("/orgs/acme/members", people)).data["tokens"] == {"made-up": "bob"}


def test_rehearsal_copy_keeps_git_sync() -> None:
    synced = {"gitSync": {"repoName": "acme/docs"}}
    made = world(
        ("/orgs/acme/sites", [{"id": "docs", "title": "Docs", **synced}]),
        ("/orgs/acme/spaces", [{"id": "news", "title": "News", **synced}]),
    )
    assert [one["gitSync"] for kind in ("sites", "spaces") for one in acme(made)[kind]] == [
        synced["gitSync"]
    ] * 2


def test_rehearsal_copy_keeps_space_icon() -> None:
    body = {"id": "news", "title": "News", "emoji": "", "urls": {"icon": "https://a.example/i.svg"}}
    [space] = acme(world(("/orgs/acme/spaces", [body])))["spaces"]
    assert space["icon"] == "https://a.example/i.svg"
