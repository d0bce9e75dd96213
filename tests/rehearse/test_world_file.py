"""A world that is saved has nothing secret in it, and an anonymous one nobody who can be recognised."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.model.mask import Mask
from dpsync.rehearse.replica import check_world
from dpsync.rehearse.world import SavedFrom, World, world_file
from dpsync.rehearse.world_draft import HIDDEN_TEXT
from dpsync.server import world as worlds

Json = dict[str, Any]
ORIGIN = SavedFrom("https://api.acme.example", "2026-01-31T09:30:00Z", "full", ("/orgs/acme/saml",))
ADA = {"id": "u7Gx2kQ9", "displayName": "Zyxada Qwertova", "email": "z.qwertova@acme.example",
       "photoURL": "https://faces.example/zyxada.png", "emailVerified": True}  # fmt: skip


def organization(**parts: Any) -> Json:
    return {"id": "acme", "title": "Acme", "members": [{"user": ADA["id"], "role": "admin"}], **parts}


def saved(
    *organizations: Json, users: tuple[Json, ...] = (ADA,), anonymous: bool = False, mask: str = ""
) -> Json:
    data = {"users": list(users), "tokens": {"made-up": users[0]["id"]}, "organizations": list(organizations)}
    return world_file(World(deepcopy(data)), ORIGIN, Mask([mask]), anonymous=anonymous)


def text_of(made: Json) -> str:
    return json.dumps(made, ensure_ascii=False)


# --- what is secret -----------------------------------------------------------------------------------


def test_saved_copy_names_platform_but_no_token() -> None:
    """Otherwise, the token of the world is in the file."""
    made = saved(organization())
    assert made["format"] == "dpsync.world/1"
    assert made["origin"] == {
        "platform": "https://api.acme.example", "readAt": "2026-01-31T09:30:00Z", "profile": "full",
        "anonymous": False, "caller": ADA["id"], "notRead": ["/orgs/acme/saml"],
    }  # fmt: skip
    assert "tokens" not in made
    assert "made-up" not in text_of(made)


SECRET = "s3cret-Value-4711"
BOT = {"id": "i1", "integration": "bot"}
SECRETS: dict[str, Json] = {
    "configuration": {"installations": [{**BOT, "configuration": {"any": SECRET, "deep": [{"x": SECRET}]}}]},
    "on a space": {"installations": [{**BOT, "spaces": [{"space": "s", "configuration": {"a": SECRET}}]}]},
    "on a site": {"installations": [{**BOT, "sites": [{"site": "d", "configuration": {"a": [SECRET]}}]}]},
    "undeclared setting": {"sites": [{"contextConnections": [{"setupSettings": {"hook": {"x": SECRET}}}]}]},
    "password in an address": {"sites": [{"proxy": f"https://ada:{SECRET}@docs.example/a"}]},
    "key in a query": {"records": [{"doc": {"sourceURL": f"https://x.example/a?v=1&api_key={SECRET}"}}]},
    "key in a fragment": {"sites": [{"structure": [{"url": f"https://x.example/#access_token={SECRET}"}]}]},
    "path of a server of tools": {"sites": [{"mcpServers": [{"url": f"https://x.example/s/{SECRET}/mcp"}]}]},
}  # fmt: skip


@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("where", SECRETS)
def test_saved_copy_contains_no_secrets(where: str, anonymous: bool) -> None:
    """Otherwise, the settings of an integration, with its secrets, are in the file.

    Otherwise, a key in the query of an address is in the file.
    Otherwise, a password in an address is in the file.
    Otherwise, the address of a server of tools, which may be a key, is in the file.
    Otherwise, what a connection is set up with is in the file.
    """
    assert SECRET not in text_of(saved(organization(**SECRETS[where]), anonymous=anonymous))


@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize(
    "key",
    [
        "ghp_a1B2c3D4e5F6g7H8i9J0k1L2",
        "xoxb-123456789012-abcdefABCDEF",
        "sk-a1B2c3D4e5F6g7H8i9J0",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123",
        "AKIAIOSFODNN7EXAMPLE",
        "gb_api_0123456789abcdefghij",
        "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
    ],
)
def test_saved_copy_hides_texts_resembling_api_keys(key: str, anonymous: bool) -> None:
    """Otherwise, what looks like a key is in the file."""
    title = f"Guides {key} for all"
    made = saved(organization(spaces=[{"id": "s", "title": title}]), anonymous=anonymous)
    assert made["organizations"][0]["spaces"][0]["title"] == f"Guides {HIDDEN_TEXT} for all"


def test_saved_copy_masks_known_secrets() -> None:
    """Otherwise, a secret that the platform repeats is in the file."""
    made = saved(organization(spaces=[{"id": "s", "title": "it is tok3n-of-mine"}]), mask="tok3n-of-mine")
    assert "tok3n-of-mine" not in text_of(made)


@pytest.mark.parametrize("anonymous", [False, True])
def test_saved_copy_hides_api_keys_in_field_names(anonymous: bool) -> None:
    """Otherwise, a key in the name of a member is in a file that is sent along with a bug."""
    key = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2"
    assert key not in text_of(saved(organization(spaces=[{"id": "s", key: 1}]), anonymous=anonymous))


def test_saved_copy_redacts_configuration_values_by_type() -> None:
    given = {"on": True, "number": 4711, "text": "a", "empty": "", "nothing": None, "list": ["a"]}
    made = saved(organization(installations=[{**BOT, "configuration": given}]))
    assert made["organizations"][0]["installations"][0]["configuration"] == {
        "on": True, "number": 0, "text": HIDDEN_TEXT, "empty": "", "nothing": None, "list": [HIDDEN_TEXT],
    }  # fmt: skip


@pytest.mark.parametrize("title", ["Keys and tokens", "sk-learn for everybody here", "code=4", "pk-11"])
def test_saved_copy_keeps_ordinary_texts(title: str) -> None:
    assert saved(organization(title=title))["organizations"][0]["title"] == title


# --- who is named -------------------------------------------------------------------------------------

FORM = (
    "type", "kind", "object", "role", "visibility", "status", "plan", "backend", "defaultLevel",
    "defaultRole", "editMode", "processingState", "rule", "locale", "language", "key", "user",
    "space", "site", "team", "ref", "integration", "parent", "scope", "organization",
    "siteSpaceId", "siteSectionId", "defaultTeam", "createdAt", "updatedAt", "lastSeenAt",
    "joinedAt", "occurredAt",
)  # fmt: skip
"""Members that name another thing, a moment, or one of few words: they cannot name a person."""


def planted(given: Any, change: Callable[[str], str], ids: frozenset[str], path: tuple[str, ...] = ()) -> Any:
    """Return the same data with a change to each text that could identify a person."""
    if isinstance(given, dict):
        return {name: planted(value, change, ids, (*path, name)) for name, value in given.items()}
    if isinstance(given, list):
        return [planted(value, change, ids, path) for value in given]
    if not isinstance(given, str) or given in ids or path[-1] in (*FORM, "id"):
        return given
    return change(given)


def ids_in(given: Any) -> frozenset[str]:
    if isinstance(given, list):
        return frozenset().union(*map(ids_in, given))
    if not isinstance(given, dict):
        return frozenset()
    own = {given["id"]} if isinstance(given.get("id"), str) else set()
    return frozenset(own).union(*map(ids_in, given.values()))


AGENTS: Json = {
    "mcpServers": [{"id": "m1", "name": "tools", "url": "https://x.example/mcp", "headers": {"X-Key": "k"}}],
    "channels": [{"id": "c1", "type": "builtin:slack", "setupSettings": {"allowedChannels": ["docs"]}}],
    "contextConnections": [{"id": "k1", "connector": "builtin:zendesk", "label": "tickets",
                            "setupSettings": {"subdomain": "acme", "email": "x@acme.example"}}],
    "topics": [{"id": "t1", "label": "Billing"}],
    "gitSync": {"repoName": "acme/docs", "url": "https://git.example/acme/docs", "author": "someone",
                "commitMessage": "Fix", "installationStatus": "active"},
}  # fmt: skip


def every_kind() -> Json:
    """Return a world with an object of every kind: the built-in world and the agents of a site."""
    world = deepcopy(worlds.load_builtin_world())
    world.pop("records", None)
    world["organizations"][0]["sites"][0].update(deepcopy(AGENTS))
    return world


NAMED = [
    "Zyxada", "zyxada qwertova", "Qwertova, Zyxada", "ZYXADA.QWERTOVA", "zyxada-qwertova", "zyxadaQwertova",
    "Zyxada%20Qwertova", "z.qwertova@acme.example", "Z.Qwertova%40acme.example", "z.qwertova", "u7Gx2kQ9",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_anonymized_copy_names_no_person(name: str) -> None:
    world = every_kind()
    organizations = planted(world["organizations"], lambda text: f"{text} ({name})", ids_in(world))
    organizations[0]["members"].append(
        {"user": ADA["id"], "role": "edit", "lastSeenAt": "2026-01-31T09:30:00Z"}
    )
    made = text_of(saved(*organizations, users=(*world["users"], ADA), anonymous=True)).casefold()
    for part in ("zyxada", "qwertova", "u7gx2kq9"):
        assert part not in made


STRANGER = "Qqstranger"
PROSE = ("description", "message", "commitMessage", "author", "instructions", "text", "customInstructions",
         "photoURL", "displayName", "externalIds")  # fmt: skip


def test_anonymized_copy_omits_unknown_names_in_prose() -> None:
    world = every_kind()

    def change(given: Any, inside: bool = False) -> Any:
        if isinstance(given, dict):
            return {name: change(value, inside or name in PROSE) for name, value in given.items()}
        if isinstance(given, list):
            return [change(value, inside) for value in given]
        return (
            f"{given} {STRANGER}"
            if inside and isinstance(given, str) and given not in ids_in(world)
            else given
        )

    found = {name: change(value) for name, value in world.items()}
    records = [{"kind": "openapi-version", "id": "v", "doc": {"text": f"contact: {STRANGER}"}}]
    data = {**found, "records": records, "tokens": {"made-up": "ada"}}
    made = world_file(World(data), ORIGIN, Mask(), anonymous=True)
    kept = deepcopy(made)
    for one in kept["organizations"]:  # pages and comments are in no world that was read
        for name in ("spaces", "changeRequests", "conversations"):
            one.pop(name, None)
    assert STRANGER not in text_of(kept)


def test_anonymized_copy_replaces_email_addresses_consistently() -> None:
    made = saved(
        organization(
            spaces=[{"id": "a", "title": "ask Bob@Else.example"}, {"id": "b", "title": "bob@else.example!"}]
        ),
        anonymous=True,
    )
    assert [one["title"] for one in made["organizations"][0]["spaces"]] == [
        "ask address-1@company-2.example", "address-1@company-2.example!",
    ]  # fmt: skip


def test_anonymized_copy_replaces_each_person_consistently() -> None:
    made = saved(
        organization(
            teams=[{"id": "t", "title": "Team of Zyxada", "members": [{"user": ADA["id"], "role": "owner"}]}],
            spaces=[{"id": "s", "permissions": {"users": {ADA["id"]: "edit"}}}],
        ),
        anonymous=True,
    )
    (one,) = made["organizations"]
    assert made["users"] == [
        {
            "id": "person-1",
            "displayName": "Person 1",
            "email": "person-1@company-1.example",
            "emailVerified": True,
        }
    ]
    assert one["members"] == [{"user": "person-1", "role": "admin"}]
    assert one["teams"][0] == {
        "id": "t", "title": "Team of person-1", "members": [{"user": "person-1", "role": "member"}],
    }  # fmt: skip
    assert one["spaces"][0]["permissions"] == {"users": {"person-1": "read"}}
    assert made["origin"]["caller"] == "person-1"


def test_anonymized_copy_equalizes_all_roles_except_admin() -> None:
    members = [
        {"user": ADA["id"], "role": "admin"},
        {"user": "b", "role": "admin"},
        {"user": "c", "role": None},
    ]
    users = (ADA, {"id": "b", "displayName": "Bob"}, {"id": "c", "displayName": "Cleo"})
    made = saved(organization(members=members), users=users, anonymous=True)
    assert [one["role"] for one in made["organizations"][0]["members"]] == ["admin", "read", "read"]


@pytest.mark.parametrize("name", ["Public", "Read Admin", "Docs", "Team", "Site Space", "An", "2026"])
def test_anonymized_copy_is_valid_if_names_are_words(name: str) -> None:
    world = every_kind()
    users = (*world["users"], {"id": "x1", "displayName": name, "email": "read@acme.example"})
    made = saved(*world["organizations"], users=users, anonymous=True)
    assert [one["visibility"] for one in made["organizations"][0]["sites"]] == [
        one["visibility"] for one in world["organizations"][0]["sites"]
    ]
    check_world(made)


def test_anonymized_copy_replaces_names_in_any_script() -> None:
    users = (ADA, {"id": "y1", "displayName": "山田太郎"}, {"id": "y2", "displayName": "Zoë Weiß"})
    made = saved(organization(title="会社山田太郎の文書 by ZOE WEISS"), users=users, anonymous=True)
    assert made["organizations"][0]["title"] == "会社person-2の文書 by person-3"


def test_anonymized_copy_replaces_saml_certificate() -> None:
    provider = {"id": "p", "label": "Login", "certificate": "-----BEGIN CERTIFICATE-----\nzyxada\n"}
    made = saved(organization(samlProviders=[provider]), anonymous=True)
    assert "zyxada" not in text_of(made)
    assert made["organizations"][0]["samlProviders"][0]["certificate"].startswith(
        "-----BEGIN CERTIFICATE-----"
    )


REPLACED: dict[str, tuple[Json, Json]] = {
    "e-mail domains": (
        {"emailDomains": ["acme.example", "eu.acme.example", "Other.co.uk"]},
        {"emailDomains": ["company-1.example", "host-1.company-1.example", "company-2.example"]},
    ),
    "custom hostname": (
        {"customHostname": "docs.acme.example", "hostname": "acme"},
        {"customHostname": "host-1.company-1.example", "hostname": "acme"},
    ),
    "sign-in": (
        {"samlProviders": [{"ssoURL": "https://login.okta.com/app/acme?x=1", "entityID": "acme.example"}]},
        {"samlProviders": [{"ssoURL": "https://host-1.company-2.example/path-1",
                            "entityID": "company-1.example"}]},
    ),
    "redirect": (
        {"sites": [{"redirects": [{"source": "/v1.2/a.b", "destination": {"url": "https://acme.example/a"}}]}]},
        {"sites": [{"redirects": [{"source": "/v1.2/a.b",
                                   "destination": {"url": "https://company-1.example/path-1"}}]}]},
    ),
    "external links": (
        {"sites": [{"structure": [{"url": "HTTPS://GitHub.com/acme/docs#top"}, {"url": "https://github.com/"}]}]},
        {"sites": [{"structure": [{"url": "HTTPS://company-2.example/path-1"},
                                  {"url": "https://company-2.example/"}]}]},
    ),
    "same URL": (
        {"sites": [{"structure": [{"url": "https://b.example/x"}, {"url": "https://b.example/x"}]}]},
        {"sites": [{"structure": [{"url": "https://company-2.example/path-1"},
                                  {"url": "https://company-2.example/path-1"}]}]},
    ),
    "specification": (
        {"openapi": [{"sourceURL": "https://api.acme.example:8443/v1/openapi.yaml"}]},
        {"openapi": [{"sourceURL": "https://host-1.company-1.example/path-1"}]},
    ),
    "host in a network": (
        {"sites": [{"mcpServers": [{"url": "http://intranet/tools"}, {"url": "http://10.1.2.3:80/x"}]}]},
        {"sites": [{"mcpServers": [{"url": "http://company-2.example/path-1"},
                                   {"url": "http://company-3.example/path-2"}]}]},
    ),
    "this machine": (
        {"sites": [{"mcpServers": [{"url": "http://localhost:3000/"}]}]},
        {"sites": [{"mcpServers": [{"url": "http://localhost/"}]}]},
    ),
    "title": (
        {"spaces": [{"title": "About Acme.Example, and (https://acme.example/x)."}]},
        {"spaces": [{"title": "About company-1.example, and (https://company-1.example/path-1)."}]},
    ),
    "title with a file": (
        {"spaces": [{"title": "README.md of node.js 1.2"}]},
        {"spaces": [{"title": "README.md of node.js 1.2"}]},
    ),
    "encoded": (
        {"sites": [{"proxy": "acme.example/docs"}], "title": "to=https%3A%2F%2Facme.example"},
        {"sites": [{"proxy": "company-1.example/path-1"}], "title": "to=https%3A%2F%2Fcompany-1.example"},
    ),
    "condition": (
        {"sites": [{"condition": "visitor.claims.plan == 'x' && visitor.claims.of == 'acme.example'"}]},
        {"sites": [{"condition": "visitor.claims.plan == 'x' && visitor.claims.of == 'company-1.example'"}]},
    ),
    "name of a replacement": (
        {"spaces": [{"title": "https://company-1.example/"}, {"title": "https://a.example"}]},
        {"spaces": [{"title": "https://company-3.example/"}, {"title": "https://company-4.example"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REPLACED)
def test_anonymized_copy_replaces_domains_consistently(case: str) -> None:
    """Whose organization it is would be in a file that somebody attaches to a public issue."""
    given, expected = REPLACED[case]
    (made,) = saved(organization(**given), anonymous=True)["organizations"]
    assert {name: made[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("platform", "saved_as"),
    [
        ("https://api.gitbook.com", "https://api.gitbook.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("https://gitbook.acme.example", "https://host-1.company-1.example"),
    ],
    ids=["gitbook", "this machine", "another"],
)
def test_anonymized_copy_hides_private_platform_url(platform: str, saved_as: str) -> None:
    data = {"users": [ADA], "tokens": {"t": ADA["id"]}, "organizations": [organization()]}
    made = world_file(World(data), replace(ORIGIN, platform=platform), Mask(), anonymous=True)
    assert made["origin"]["platform"] == saved_as


@pytest.mark.parametrize("anonymous", [False, True])
def test_saved_copy_can_be_loaded_by_local_server(anonymous: bool) -> None:
    world = every_kind()
    check_world(saved(*world["organizations"], users=tuple(world["users"]), anonymous=anonymous))
