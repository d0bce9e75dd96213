"""Every flag of a `permissions` object says what the caller may do: on each kind, in each way."""

from typing import Any

import pytest
from companion_calls import Api
from platform_of_roles import NEEDED, ROLES, WAYS, Role, reaches, world

from tests.soak import slice_of

ORG = "/orgs/o"
TEXT = {"body": {"markdown": "Hello again"}}
PERMITTED = {"users": ["other"], "role": "read"}
EMPTY_SCHEMA = {"jsonSchema": {"type": "object", "properties": {}}}
WHERE = {
    "space": "/spaces/space",
    "collection": "/collections/inner",
    "site": f"{ORG}/sites/site",
    "organization": ORG,
    "openapi": f"{ORG}/openapi/spec",
    "translation": f"{ORG}/translations/translation",
}
SITE = WHERE["site"]
FIRST_REQUEST = "/spaces/space/change-requests/1"
Call = tuple[str, str, Any]

DONE_BY: dict[str, dict[str, list[Call]]] = {
    "space": {
        "view": [("GET", "/spaces/space", None), ("GET", "/spaces/space/comments", None)],
        "access": [("GET", "/spaces/space/content", None), ("GET", f"{FIRST_REQUEST}/content", None)],
        "comment": [
            ("POST", "/spaces/space/comments", TEXT),
            ("POST", "/spaces/space/comments/of-root/replies", TEXT),
        ],
        "edit": [
            ("POST", "/spaces/space/change-requests", {"subject": "New"}),
            ("PATCH", FIRST_REQUEST, {"subject": "Changed"}),
            ("POST", f"{FIRST_REQUEST}/update", None),
        ],
        "merge": [("POST", f"{FIRST_REQUEST}/merge", None)],
        "installIntegration": [
            ("POST", "/integrations/tools/installations/tools-in-o/spaces", {"space": "space"}),
            ("DELETE", "/integrations/tools/installations/tools-in-o/spaces/space", None),
        ],
        "viewInviteLinks": [
            ("GET", f"{ORG}/link-invites/to-space", None),
            ("PATCH", f"{ORG}/link-invites/to-space", {"level": "edit"}),
            ("POST", f"{ORG}/link-invites", {"level": "read", "space": "space"}),
        ],
        "admin": [
            ("PATCH", "/spaces/space", {"title": "Changed"}),
            ("POST", "/spaces/space/permissions", PERMITTED),
            ("PATCH", "/spaces/space/permissions/users/other", {"role": "edit"}),
            ("DELETE", "/spaces/space/permissions/users/other", None),
            ("POST", "/spaces/space/restore", None),
        ],
    },
    "collection": {
        "view": [("GET", "/collections/inner", None), ("GET", "/collections/inner/spaces", None)],
        "create": [
            ("POST", f"{ORG}/spaces", {"parent": "inner"}),
            ("POST", f"{ORG}/collections", {"parent": "inner"}),
        ],
        "viewInviteLinks": [
            ("GET", f"{ORG}/link-invites/to-inner", None),
            ("PATCH", f"{ORG}/link-invites/to-inner", {"level": "edit"}),
            ("POST", f"{ORG}/link-invites", {"level": "read", "collection": "inner"}),
        ],
        "admin": [
            ("PATCH", "/collections/inner", {"title": "Changed"}),
            ("POST", "/collections/inner/permissions", PERMITTED),
            ("DELETE", "/collections/inner/permissions/users/other", None),
        ],
    },
    "site": {
        "view": [("GET", SITE, None), ("GET", f"{SITE}/structure", None), ("GET", f"{SITE}/sections", None)],
        "access": [("GET", f"{SITE}/site-spaces", None)],
        "viewAdaptiveSchema": [("GET", f"{SITE}/adaptive-schema", None)],
        "edit": [
            ("PATCH", f"{SITE}/sections/section", {"title": "Changed"}),
            ("PATCH", f"{SITE}/section-groups/group", {"title": "Changed"}),
            ("PATCH", f"{SITE}/site-spaces/place", {"path": "changed"}),
            ("POST", f"{SITE}/section-groups/group/sections", {"sectionId": "section"}),
        ],
        "create": [
            ("POST", f"{SITE}/section-groups", {"title": "New"}),
            ("DELETE", f"{SITE}/section-groups/none", None),
            ("DELETE", f"{SITE}/sections/none", None),
            ("DELETE", f"{SITE}/site-spaces/none", None),
        ],
        "editAdaptiveSchema": [("PUT", f"{SITE}/adaptive-schema", EMPTY_SCHEMA)],
        "installIntegration": [
            ("POST", "/integrations/tools/installations/tools-in-o/sites", {"siteId": "site"}),
        ],
        "admin": [
            ("PATCH", SITE, {"title": "Changed"}),
            ("POST", f"{SITE}/permissions", PERMITTED),
            ("POST", f"{SITE}/publish", None),
            ("GET", f"{SITE}/share-links", None),
        ],
    },
    "organization": {
        "view": [("GET", ORG, None), ("GET", f"{ORG}/spaces", None), ("GET", f"{ORG}/sso", None)],
        "access": [("GET", ORG, None), ("GET", f"{ORG}/sites", None)],
        "listMembers": [("GET", f"{ORG}/members", None), ("GET", f"{ORG}/members/root", None)],
        "listTeams": [("GET", f"{ORG}/teams", None), ("GET", f"{ORG}/teams/spare", None)],
        "listInstallations": [("GET", f"{ORG}/installations", None)],
        "createContent": [
            ("POST", f"{ORG}/spaces", {}),
            ("POST", f"{ORG}/collections", {}),
            ("POST", f"{ORG}/sites", {}),
        ],
        "createOpenAPISpec": [("POST", f"{ORG}/openapi", {"slug": "new", "source": {"text": "{}"}})],
        "ingestConversations": [("POST", f"{ORG}/conversations", {"id": "new", "parts": []})],
        "installIntegration": [("POST", "/integrations/tools/installations", {"organization": "o"})],
        "ownTeam": [("PATCH", f"{ORG}/teams/team", {"title": "Changed"})],
        "admin": [
            ("PATCH", ORG, {"title": "Changed"}),
            ("PATCH", f"{ORG}/members/other", {"role": "edit"}),
            ("PUT", f"{ORG}/teams", {"title": "New"}),
            ("POST", f"{ORG}/invites", {"emails": ["new@o.example"]}),
            ("POST", f"{ORG}/link-invites", {"role": "read"}),
            ("GET", f"{ORG}/saml", None),
        ],
    },
    "openapi": {
        "view": [("GET", f"{ORG}/openapi/spec", None)],
        "edit": [
            ("PATCH", f"{ORG}/openapi/spec", {"visibility": "public"}),
            ("DELETE", f"{ORG}/openapi/spec", None),
        ],
    },
    "translation": {
        "view": [("GET", f"{ORG}/translations/translation", None)],
        "edit": [
            ("POST", f"{ORG}/translations/translation/run", None),
            ("DELETE", f"{ORG}/translations/translation", None),
        ],
    },
}
"""What each flag stands for. To some no operation is served: triggerGitSync, review, listIntegrations,
viewBilling.
"""

CASES = [(kind, way, role) for kind, ways in WAYS.items() for way in ways for role in ROLES]
LOOKED_AT = 60
"""How many of these a normal run looks at."""


def allowed(api: Api, call: Call) -> bool:
    method, path, body = call
    return api.call(method, path, body).status_code not in (403, 404)


@pytest.mark.parametrize(("kind", "way", "role"), slice_of(CASES, LOOKED_AT), ids=lambda value: str(value))
def test_permission_flag_matches_allowed_requests(api: Api, kind: str, way: str, role: Role) -> None:
    api.server.reset(WAYS[kind][way](role))
    api.as_("root-token").make("/spaces/space/change-requests", {"subject": "First"})
    sub = api.as_("sub-token")
    flags = {flag: reaches(role, needed) for flag, needed in NEEDED[kind].items()}
    if flags["view"]:
        assert sub.get(WHERE[kind])["permissions"] == flags
    else:
        by_roles_alone = kind in ("openapi", "translation")
        sub.refused(403 if by_roles_alone else 404, "GET", WHERE[kind])
    for flag, calls in DONE_BY[kind].items():
        for call in calls:
            assert allowed(sub, call) == flags[flag], (flag, call)


@pytest.mark.parametrize("kind", ["space", "collection", "site"])
def test_forbidden_object_writes_return_404_without_view_access(api: Api, kind: str) -> None:
    api.server.reset(world("create", **{{"collection": "inner"}.get(kind, kind): {"defaultLevel": None}}))
    sub = api.as_("sub-token")
    for calls in DONE_BY[kind].values():
        for method, path, body in calls:
            sub.refused(404, method, path, body)


# --- teams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("owns", [False, True])
@pytest.mark.parametrize("role", ROLES)
def test_team_permissions_belong_to_owners_and_admins(api: Api, role: Role, owns: bool) -> None:
    api.server.reset(world(role, owns=owns))
    sub, team = api.as_("sub-token"), f"{ORG}/teams/team"
    flags = {"view": owns or role is not None, "admin": owns or role == "admin"}
    if flags["view"]:
        assert sub.get(team)["permissions"] == flags
    assert sub.get(ORG)["permissions"]["ownTeam"] == flags["admin"]
    assert allowed(sub, ("GET", f"{ORG}/teams/spare", None)) == (role is not None)
    assert allowed(sub, ("DELETE", f"{ORG}/teams/spare", None)) == (role == "admin")
    for flag, calls in {
        "view": [("GET", team, None), ("GET", f"{team}/members", None)],
        "admin": [
            ("PATCH", team, {"title": "Changed"}),
            ("PUT", f"{team}/members", {"add": ["other"]}),
            ("PUT", f"{team}/members/other", {"role": "member"}),
            ("DELETE", f"{team}/members/other", None),
            ("DELETE", team, None),
        ],
    }.items():
        for call in calls:
            assert allowed(sub, call) == flags[flag], call


# --- comments and integrations ----------------------------------------------------------------------


@pytest.mark.parametrize("author", ["sub", "root"])
@pytest.mark.parametrize("role", ROLES[1:])
def test_comment_permissions_belong_to_author_and_admins(api: Api, role: Role, author: str) -> None:
    api.server.reset(WAYS["space"]["user"](role))
    sub, comment = api.as_("sub-token"), f"/spaces/space/comments/of-{author}"
    flags = {
        "view": True,
        "edit": author == "sub",
        "delete": author == "sub" or role == "admin",
        "reply": reaches(role, "comment"),
    }
    assert sub.get(comment)["permissions"] == flags
    assert allowed(sub, ("PUT", comment, TEXT)) == flags["edit"]
    assert allowed(sub, ("POST", f"{comment}/replies", TEXT)) == flags["reply"]
    assert allowed(sub, ("DELETE", comment, None)) == flags["delete"]


@pytest.mark.parametrize("role", ROLES)
def test_integration_permissions_belong_to_owner_admins(api: Api, role: Role) -> None:
    api.server.reset(world(role))
    sub = api.as_("sub-token")
    assert sub.get("/integrations/tools")["permissions"] == {"admin": role == "admin"}
    for call in [("GET", "/integrations/tools/events", None), ("DELETE", "/integrations/tools/dev", None)]:
        assert allowed(sub, call) == (role == "admin")
