"""The answers of the reference's 145 operations, written once more and by hand.

They state every member of every resource, its type, whether it is always present, and whether it may be null.

The companion's models are derived from the same description; this is the second opinion on them. It is for
the profile of the reference: additions are no part of it. A member is needed where the interface says so, or
where a caller could not do without it.
"""

from typing import Any

from shapes import (
    ANY,
    COUNT,
    FLAG,
    FREE,
    ID,
    INTEGER,
    MOMENT,
    NUMBER,
    TEXT,
    URL,
    Shape,
    either,
    lazily,
    many,
    mapped,
    members,
    nullable,
    one_of,
    page,
    text,
    thing,
)

# --- shared -----------------------------------------------------------------------------------------------

ROLE = one_of("admin", "create", "review", "edit", "comment", "read")
GUEST_OR_ROLE = nullable(ROLE)
LEVEL = nullable(one_of("admin", "create", "review", "edit", "comment", "read", "inherit"))
LOCATION = members({"location": URL})
NODE_MEMBERS: dict[str, Shape] = {
    "type": TEXT,
    "key": TEXT,
    "isVoid": FLAG,
    "data": FREE,
    "nodes": many(lazily(lambda: NODE)),
    "fragments": many(lazily(lambda: NODE)),
    "leaves": many(members({"object": one_of("leaf"), "text": TEXT, "marks": many(FREE)})),
}
NODE = members({"object": one_of("block", "inline", "text", "fragment")}, NODE_MEMBERS)
DOCUMENT = thing(
    "document",
    {
        "data": members({"schemaVersion": INTEGER}),
        "nodes": many(members({"object": one_of("block"), "type": TEXT, "key": TEXT}, NODE_MEMBERS)),
        "meta": members({"token": TEXT}),
    },
)
USER = thing("user", {"id": ID, "displayName": TEXT, "urls": LOCATION}, {"email": TEXT, "photoURL": TEXT})


def permissions(*flags: str) -> Shape:
    return members(dict.fromkeys(flags, FLAG))


def _rules(*types: str) -> Shape:
    rule = members({"rule": TEXT}, {"users": many(ID), "expression": text(0, 1024), "message": TEXT})
    chosen = {"inherit": members({"type": one_of("inherit")}), "none": members({"type": one_of("none")})}
    with_rules = members({"type": one_of("rules"), "rules": many(rule)})
    return either(with_rules, *(chosen[name] for name in types))


# --- organizations, members, teams, SSO -------------------------------------------------------------------

ORGANIZATION = thing(
    "organization",
    {
        "id": ID,
        "title": text(2, 255),
        "createdAt": MOMENT,
        "emailDomains": many(TEXT),
        "type": one_of("business", "community"),
        "defaultRole": GUEST_OR_ROLE,
        "defaultContent": nullable(members({"type": one_of("site"), "site": ID})),
        "inviteLinks": FLAG,
        "plan": TEXT,
        "mergeRules": _rules("none"),
        "trial": members({"status": TEXT, "count": INTEGER}, {"endDate": MOMENT, "decision": TEXT}),
        "urls": members({"location": URL, "app": URL}, {"logo": URL}),
        "permissions": permissions(
            "view", "admin", "ownTeam", "createContent", "createOpenAPISpec", "ingestConversations",
            "viewBilling", "listMembers", "listTeams", "listIntegrations", "listInstallations",
            "installIntegration",
        ),
    },
    {
        "hostname": text(3, 32),
        "useCase": TEXT,
        "communityType": TEXT,
        "sso": FLAG,
        "ai": FLAG,
        "customHostname": TEXT,
    },
)  # fmt: skip
MEMBER = thing(
    "member",
    {
        "id": ID, "role": GUEST_OR_ROLE, "user": USER, "disabled": FLAG, "joinedAt": MOMENT, "sso": FLAG,
        "spaces": COUNT, "teams": COUNT,
    },
    {"lastSeenAt": MOMENT},
)  # fmt: skip
TEAM = thing(
    "team",
    {
        "id": ID, "title": text(1, 64), "members": COUNT, "spaces": COUNT, "createdAt": MOMENT,
        "permissions": permissions("admin", "view"),
    },
)  # fmt: skip
IN_TEAM = members({"role": one_of("owner", "member")})
TEAM_MEMBER = members({"organization": MEMBER, "team": IN_TEAM, "permissions": permissions("view")})
SAML_PROVIDER = thing(
    "saml-provider",
    {
        "id": ID,
        "label": text(1, 30),
        "entityID": text(0, 1024),
        "certificate": text(0, 10_000),
        "defaultRole": GUEST_OR_ROLE,
        "createdAt": MOMENT,
        "status": one_of("active", "pending"),
        "service": members({"acsURL": URL, "startURL": URL, "entityID": TEXT}),
        "urls": LOCATION,
    },
    {"defaultTeam": TEAM, "ssoURL": URL},
)
AGENT_INSTRUCTIONS = thing(
    "agent-instructions",
    {"instructions": DOCUMENT, "updatedAt": MOMENT, "updatedBy": ID, "urls": LOCATION},
)

# --- spaces and collections -------------------------------------------------------------------------------

OPENNESS = ("public", "unlisted", "share-link", "visitor-auth")
SPACE = thing(
    "space",
    {
        "id": ID,
        "title": text(0, 50),
        "visibility": one_of(*OPENNESS, "in-collection", "private"),
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "editMode": one_of("live", "locked"),
        "mergeRules": _rules("inherit", "none"),
        "organization": ID,
        "revision": ID,
        "defaultLevel": LEVEL,
        "comments": COUNT,
        "changeRequests": COUNT,
        "changeRequestsOpen": COUNT,
        "changeRequestsDraft": COUNT,
        "urls": members({"location": URL, "app": URL}, {"published": URL, "public": URL, "icon": URL}),
        "permissions": permissions(
            "view", "access", "admin", "viewInviteLinks", "edit", "triggerGitSync", "comment", "merge",
            "review", "installIntegration",
        ),
    },
    {
        "emoji": text(0, 50), "deletedAt": MOMENT, "parent": ID, "language": TEXT,
        "gitSync": members(
            {},
            {
                "repoName": TEXT, "installationProvider": TEXT, "integration": TEXT, "url": URL,
                "updatedAt": MOMENT,
            },
        ),
    },
)  # fmt: skip
COLLECTION = thing(
    "collection",
    {
        "id": ID,
        "title": text(0, 50),
        "organization": ID,
        "defaultLevel": LEVEL,
        "urls": members({"location": URL, "app": URL}),
        "permissions": permissions("view", "admin", "viewInviteLinks", "create"),
    },
    {"description": text(0, 100), "parent": ID},
)

# --- sites and their navigation ---------------------------------------------------------------------------

HOSTNAME = text(1, 512, r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.]){2,}[a-z0-9][a-z0-9-]{0,61}[a-z0-9]")
SITE = thing(
    "site",
    {
        "id": ID,
        "type": TEXT,
        "title": text(2, 128),
        "visibility": one_of(*OPENNESS),
        "published": FLAG,
        "siteSpaces": COUNT,
        "createdAt": MOMENT,
        "agentsContext": one_of("excluded", "included"),
        "features": many(members({"id": TEXT, "plan": TEXT, "frozen": FLAG}, {"customizations": many(TEXT)})),
        "urls": members({"location": URL, "app": URL}, {"published": URL}),
    },
    {
        "icon": nullable(either(members({"icon": members({"light": URL, "dark": URL})}), FREE, TEXT)),
        "hostname": HOSTNAME,
        "basename": text(1, 100),
        "proxy": members({"origin": TEXT, "target": URL}),
        "adaptiveContent": members({"enabled": FLAG}),
        "ads": FREE,
    },
)
SITE_SPACE = thing(
    "site-space",
    {
        "id": ID,
        "path": text(1, 100),
        "space": SPACE,
        "title": TEXT,
        "default": FLAG,
        "hasAdvancedCustomizationFeature": FLAG,
        "urls": members({}, {"published": URL}),
        "hidden": FLAG,
    },
    {"section": ID, "condition": text(0, 1024)},
)
SECTION = thing(
    "site-section",
    {
        "id": ID,
        "title": text(2, 128),
        "default": FLAG,
        "path": text(1, 100),
        "siteSpaces": many(SITE_SPACE),
        "urls": members({}, {"published": URL}),
    },
    {
        "description": text(0, 256),
        "condition": text(0, 1024),
        "sectionGroup": ID,
        "icon": text(0, 50),
    },
)
GROUP = thing(
    "site-section-group",
    {"id": ID, "title": TEXT, "children": many(SECTION)},
    {"sectionGroup": ID, "icon": text(0, 50)},
)


def _claims(*more: str) -> Shape:
    """Return the shape of an object of boolean claims."""
    claim = members({"type": one_of("boolean")}, {"description": TEXT})
    nested = {name: lazily(lambda: _claims()) for name in more}

    def properties(value: Any, at: str) -> Any:
        for name, found in value.items():
            yield from nested.get(name, claim)(found, f"{at}.{name}")

    return members(
        {"type": one_of("object"), "properties": properties, "additionalProperties": FLAG},
        {"description": TEXT, "$schema": URL},
    )


ADAPTIVE_SCHEMA = thing("site-adaptive-schema", {"jsonSchema": _claims("unsigned"), "updatedAt": MOMENT})
TEMPLATE_CONDITIONS = members({"items": many(members({"description": TEXT, "condition": text(1, 1024)}))})
PUBLISHED_SITE = thing(
    "published-content-site",
    {
        "site": SITE,
        "structure": either(
            members({"type": one_of("sections"), "structure": many(SECTION)}),
            members({"type": one_of("siteSpaces"), "structure": many(SITE_SPACE)}),
        ),
        "customizations": members({"site": FREE, "siteSpaces": mapped(FREE)}),
        "scripts": many(members({"script": URL, "cookies": FLAG}, {"contentSecurityPolicy": ANY})),
    },
)

# --- content ----------------------------------------------------------------------------------------------

REF = members(
    {"kind": TEXT},
    dict.fromkeys(
        ("file", "url", "page", "anchor", "user", "collection", "space", "reusableContent", "tag", "spec"),
        TEXT,
    ),
)
GIT = members({"oid": TEXT, "path": TEXT})
FILE = members(
    {"id": ID, "name": TEXT, "contentType": TEXT, "size": NUMBER, "downloadURL": URL},
    {"dimensions": members({"width": NUMBER, "height": NUMBER}), "git": GIT},
)
COMPUTED = members(
    {
        "type": text(1, pattern=r"builtin:openapi|builtin:translation|integration:[^:]+:[^:]+"),
        "dependencies": mapped(members({"ref": REF})),
        "props": mapped(ANY),
    }
)
_PAGE_NEEDED: dict[str, Shape] = {
    "id": ID,
    "title": TEXT,
    "type": one_of("document", "group", "link", "computed"),
    "slug": TEXT,
    "path": TEXT,
    "createdAt": MOMENT,
    "updatedAt": MOMENT,
    "urls": members({"app": URL}, {"published": URL}),
    "pages": many(lazily(lambda: page_shape)),
}
_LAYOUT_FLAGS = ("cover", "title", "description", "tableOfContents", "outline", "pagination", "metadata")
_PAGE_OTHER: dict[str, Shape] = {
    "emoji": TEXT,
    "icon": TEXT,
    "description": TEXT,
    "git": GIT,
    "layout": members({"width": TEXT, "coverSize": TEXT, **dict.fromkeys(_LAYOUT_FLAGS, FLAG)}),
    "cover": members({"ref": REF, "yPos": NUMBER, "height": NUMBER}, {"refDark": REF}),
    "variables": mapped(TEXT),
    "hidden": FLAG,
    "noIndex": FLAG,
    "noRobotsIndex": FLAG,
    "metaLinks": members({}, {"canonical": REF, "alternates": many(REF)}),
    "markdown": TEXT,
}
PLAIN_PAGE = members(
    {**_PAGE_NEEDED, "type": one_of("document", "group", "link")},
    {**_PAGE_OTHER, "document": DOCUMENT, "target": REF, "href": URL},
)
COMPUTED_PAGE = members(
    {**_PAGE_NEEDED, "type": one_of("computed"), "computed": COMPUTED, "computedSeed": TEXT}, _PAGE_OTHER
)


def page_shape(value: Any, at: str) -> Any:
    shape = COMPUTED_PAGE if isinstance(value, dict) and value.get("type") == "computed" else PLAIN_PAGE
    return shape(value, at)


BARE_PAGE = members(_PAGE_NEEDED, {**_PAGE_OTHER, "target": REF, "href": URL})
"""As a link shows one: neither its text nor what it is computed from."""
REUSABLE = members({"id": ID, "title": TEXT}, {"git": GIT})
REVISION = thing(
    "revision",
    {
        "id": ID,
        "parents": many(ID),
        "pages": many(page_shape),
        "files": many(FILE),
        "reusableContents": many(REUSABLE),
        "variables": mapped(TEXT),
        "createdAt": MOMENT,
        "urls": members({"app": URL}, {"published": URL, "public": URL}),
        "type": one_of("edits", "merge", "rollback", "update", "computed"),
    },
    {
        "mergedFrom": lazily(lambda: CHANGE_REQUEST),
        "git": members({"oid": TEXT, "message": TEXT, "createdByService": FLAG}, {"url": URL, "ref": TEXT}),
    },
)
HIT = members(
    {
        "id": ID,
        "title": TEXT,
        "path": TEXT,
        "sections": many(
            members({"id": ID, "title": TEXT, "path": TEXT, "body": TEXT, "urls": members({"app": URL})})
        ),
        "ancestors": many(members({"title": TEXT})),
        "urls": members({"app": URL}),
    }
)
_WHERE: dict[str, Shape] = {
    "organization": ORGANIZATION,
    "space": SPACE,
    "versionContext": members({"type": one_of("revision"), "revision": REVISION}),
}
TARGET = members(
    {"kind": one_of("file", "url", "page", "user", "collection", "space", "reusable-content", "openapi")},
    {
        **_WHERE,
        "page": BARE_PAGE,
        "file": FILE,
        "reusableContent": REUSABLE,
        "collection": COLLECTION,
        "user": USER,
        "openapi": TEXT,
        "url": TEXT,
    },
)
LINK = members(
    {
        "status": one_of("ok", "broken", "in-app"),
        "relation": one_of("reference", "dependsOn"),
        "targetReference": TARGET,
        "locationReferences": many(TARGET),
    }
)
LINKS = page(
    LINK,
    stats=members({"total": COUNT, "broken": members({"total": COUNT, "changeRequest": COUNT})}),
)

# --- change requests and comments -------------------------------------------------------------------------

CHANGE_REQUEST = thing(
    "change-request",
    {
        "id": ID,
        "number": INTEGER,
        "status": one_of("draft", "open", "archived", "merged"),
        "subject": text(0, 100),
        "createdBy": USER,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "space": ID,
        "revision": ID,
        "revisionInitial": ID,
        "comments": COUNT,
        "outdated": FLAG,
        "urls": members({"app": URL, "location": URL}),
    },
    {
        "description": DOCUMENT,
        "revisionMergedAncestor": ID,
        "revisionMerged": ID,
        "conversationsIssuesCluster": ID,
    },
)
_POSTED: dict[str, Shape] = {
    "id": ID,
    "postedBy": USER,
    "postedAt": MOMENT,
    "reactions": many(
        members(
            {
                "emoji": TEXT,
                "count": COUNT,
                "users": many(members({"user": USER, "reactedAt": MOMENT})),
            }
        )
    ),
    "body": either(members({"markdown": TEXT}), members({"document": DOCUMENT})),
    "urls": LOCATION,
    "permissions": permissions("view", "edit", "reply", "delete"),
}
REPLY = thing("comment-reply", _POSTED, {"editedAt": MOMENT})
COMMENT = thing(
    "comment",
    {
        **_POSTED,
        "replies": COUNT,
        "repliers": many(members({"updatedAt": MOMENT, "count": COUNT, "user": USER})),
        "target": members(
            {"space": ID, "revision": ID},
            {
                "node": members({"id": TEXT}),
                "tableCell": members({"record": TEXT, "definition": TEXT}),
                "changeRequest": ID,
                "review": ID,
                "page": members({"id": ID}),
            },
        ),
        "status": one_of("open", "resolved"),
    },
    {"editedAt": MOMENT, "resolvedAt": MOMENT, "resolvedBy": USER},
)

# --- integrations -----------------------------------------------------------------------------------------

NAME = text(1, 100, r"[a-zA-Z0-9\-_.]+")
SETTINGS = members(
    {},
    {
        "properties": mapped(
            members(
                {"type": one_of("string", "number", "boolean", "button")},
                {
                    "title": TEXT,
                    "description": TEXT,
                    "default": ANY,
                    "completion_url": TEXT,
                    "enum": many(TEXT),
                    "callback_url": TEXT,
                    "button_text": TEXT,
                },
            )
        ),
        "required": many(TEXT),
        "componentId": TEXT,
    },
)
INTEGRATION = thing(
    "integration",
    {
        "name": NAME,
        "version": INTEGER,
        "title": text(2, 30),
        "previewImages": many(URL),
        "target": one_of("all", "site", "space", "organization"),
        "verified": FLAG,
        "visibility": one_of("public", "private", "unlisted"),
        "scopes": many(TEXT),
        "categories": many(TEXT),
        "externalLinks": many(members({"url": URL, "label": TEXT})),
        "owner": ORGANIZATION,
        "urls": members({"location": URL, "app": URL, "assets": URL, "publicEndpoint": URL}, {"icon": URL}),
        "permissions": permissions("admin"),
    },
    {
        "description": TEXT,
        "summary": TEXT,
        "blocks": many(
            members(
                {"id": TEXT, "title": TEXT},
                {
                    "description": TEXT,
                    "icon": TEXT,
                    "urlUnfurl": many(TEXT),
                    "markdown": members({"codeblock": TEXT, "body": TEXT}),
                },
            )
        ),
        "contentSources": many(
            members(
                {"id": TEXT, "title": TEXT},
                {"description": TEXT, "icon": TEXT, "configuration": members({"componentId": TEXT})},
            )
        ),
        "configurations": members({}, {"account": SETTINGS, "space": SETTINGS, "site": SETTINGS}),
        "contentSecurityPolicy": ANY,
    },
)
STATUS = one_of("active", "pending", "paused")
SELECTION = one_of("all", "selected")
EXTERNAL_IDS = many(TEXT)
INSTALLATION = members(
    {
        "id": ID,
        "status": STATUS,
        "space_selection": SELECTION,
        "site_selection": SELECTION,
        "spaces": COUNT,
        "configuration": FREE,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "urls": members({"location": URL, "app": URL, "publicEndpoint": URL}),
        "externalIds": EXTERNAL_IDS,
        "target": members({"organization": ID}),
    }
)
_PLACED: dict[str, Shape] = {
    "integration": NAME,
    "installation": ID,
    "status": STATUS,
    "configuration": FREE,
    "externalIds": EXTERNAL_IDS,
    "urls": members({"location": URL, "publicEndpoint": URL}),
}
ON_SPACE = members({**_PLACED, "space": either(ID, SPACE)})
ON_SITE = members({**_PLACED, "site": either(ID, SITE)})
EVENT = members(
    {
        "id": ID,
        "integrationId": NAME,
        "installationId": ID,
        "createdAt": MOMENT,
        "status": one_of("success", "failed"),
        "payload": members(
            {"eventId": ID, "type": TEXT, "installationId": ID},
            {
                "status": STATUS,
                "previous": members({"configuration": FREE}, {"status": STATUS}),
                "spaceId": ID,
                "siteId": ID,
            },
        ),
    }
)
EVENT_DETAIL = members(
    {
        "event": EVENT,
        "trace": members(
            {
                "logs": many(
                    members(
                        {
                            "message": TEXT,
                            "timestamp": MOMENT,
                            "level": one_of("debug", "info", "warn", "error"),
                        }
                    )
                )
            }
        ),
    }
)

# --- specifications, translations, conversations ----------------------------------------------------------

OPENAPI_SPEC = thing(
    "openapi-spec",
    {
        "id": ID,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "slug": text(1, 100, r"[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*"),
        "processingState": one_of("pending", "progress", "complete"),
        "visibility": one_of("private", "public"),
        "permissions": permissions("view", "edit"),
        "urls": members({"location": URL, "app": URL}, {"published": URL}),
    },
    {
        "sourceURL": URL,
        "lastVersion": ID,
        "lastProcessedAt": MOMENT,
        "lastProcessErrorCode": TEXT,
        "lastProcessedErrors": many(members({"message": TEXT, "code": TEXT})),
    },
)
TRANSLATION = thing(
    "translation",
    {
        "id": ID,
        "status": one_of("pending", "running", "completed"),
        "source": members({"space": ID, "language": TEXT}),
        "language": TEXT,
        "instructions": DOCUMENT,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "stats": members(
            dict.fromkeys(
                (
                    "runs", "totalWords", "totalPages", "totalDuration", "latestRunDuration", "latestPages",
                    "latestWords",
                ),
                COUNT,
            )
        ),
        "permissions": permissions("view", "edit"),
        "urls": LOCATION,
    },
    {"result": members({"space": ID, "revision": ID})},
)  # fmt: skip
IMPACT = one_of("low", "medium", "high")
CONVERSATION = thing(
    "conversation",
    {
        "id": text(1, 255),
        "createdAt": MOMENT,
        "source": TEXT,
        "urls": members({"location": URL}, {"source": URL}),
    },
    {"subject": text(0, 512), "processedAt": MOMENT, "impact": IMPACT},
)
CONVERSATION_DETAIL = members(
    {
        "conversation": CONVERSATION,
        "parts": many(
            members(
                {
                    "type": one_of("message"),
                    "role": one_of("user", "assistant", "team-member"),
                    "body": TEXT,
                }
            )
        ),
        "metadata": members({"attributes": mapped(TEXT), "createdAt": MOMENT}, {"url": URL}),
    }
)
CLUSTER = thing(
    "issues-cluster",
    {
        "id": ID,
        "label": TEXT,
        "createdAt": MOMENT,
        "updatedAt": MOMENT,
        "icon": TEXT,
        "summary": DOCUMENT,
        "muted": FLAG,
        "weeklyPulse": many(COUNT),
        "sources": mapped(COUNT),
        "stats": members({"issues": COUNT, "conversations": COUNT}),
        "urls": LOCATION,
    },
    {"impact": IMPACT},
)
ISSUE = members(
    {
        "issue": thing(
            "conversation-issue",
            {
                "id": ID,
                "title": TEXT,
                "details": DOCUMENT,
                "impact": IMPACT,
                "createdAt": MOMENT,
                "ingestedAt": MOMENT,
                "conversation": text(1, 255),
                "cluster": ID,
                "urls": LOCATION,
            },
            {"summary": TEXT},
        ),
        "conversation": CONVERSATION,
    }
)

# --- operations -------------------------------------------------------------------------------------------

_ORG = "/orgs/{organizationId}"
_SITE = _ORG + "/sites/{siteId}"
_SP = "/spaces/{spaceId}"
_CR = _SP + "/change-requests/{changeRequestId}"
_COLLECTION = "/collections/{collectionId}"
_SECTION = _SITE + "/sections/{siteSectionId}"
_GROUP = _SITE + "/section-groups/{siteSectionGroupId}"
_PLACE = _SITE + "/site-spaces/{siteSpaceId}"
_TEAM = _ORG + "/teams/{teamId}"
_NAMED = "/integrations/{integrationName}"


def _crud(path: str, one: str, shape: Shape, *methods: str, create: str = "POST") -> dict[str, Shape]:
    """Return the shapes of a list, of creating an item, and of these methods of an item."""
    return {
        f"GET {path}": page(shape),
        f"{create} {path}": shape,
        **{f"{method} {one}": shape for method in methods},
    }


def _comments(at: str) -> dict[str, Shape]:
    one = at + "/comments/{commentId}"
    return {
        **_crud(at + "/comments", one, COMMENT, "GET", "PUT"),
        f"POST {one}/replies": REPLY,
    }


def _content(at: str) -> dict[str, Shape]:
    file, one = at + "/content/files/{fileId}", at + "/content/page/{pageId}"
    return {
        f"GET {at}/content": REVISION,
        f"GET {at}/content/pages": members({"pages": many(page_shape)}),
        f"GET {at}/content/files": page(FILE),
        f"GET {file}": FILE,
        f"GET {file}/backlinks": page(TARGET),
        f"GET {one}": page_shape,
        f"GET {one}/links": LINKS,
        f"GET {one}/backlinks": page(TARGET),
    }


def _result(word: str) -> Shape:
    return members({"revision": ID, "result": one_of(word, "conflicts")})


ANSWERS: dict[str, Shape] = {
    **_comments(_SP),
    f"GET {_SP}/comments/{{commentId}}/replies/{{commentReplyId}}": REPLY,
    f"PUT {_SP}/comments/{{commentId}}/replies/{{commentReplyId}}": REPLY,
    **_comments(_CR),
    f"GET {_CR}/comments/{{commentId}}/replies": page(REPLY),
    **_crud(_ORG + "/sites", _SITE, SITE, "GET", "PATCH"),
    f"GET {_SITE}/adaptive-schema": ADAPTIVE_SCHEMA,
    f"PUT {_SITE}/adaptive-schema": ADAPTIVE_SCHEMA,
    f"GET {_SITE}/adaptive-schema/template-conditions": TEMPLATE_CONDITIONS,
    f"GET {_SITE}/published": PUBLISHED_SITE,
    **_crud(_SITE + "/sections", _SECTION, SECTION, "PATCH"),
    f"POST {_SECTION}/move": SECTION,
    **_crud(_SITE + "/section-groups", _GROUP, GROUP, "PATCH"),
    f"POST {_GROUP}/sections": GROUP,
    f"POST {_GROUP}/move": GROUP,
    **_crud(_SITE + "/site-spaces", _PLACE, SITE_SPACE, "PATCH"),
    f"POST {_PLACE}/move": SITE_SPACE,
    f"GET {_ORG}/spaces": page(SPACE),
    f"GET {_SP}": SPACE,
    f"PATCH {_SP}": SPACE,
    **{f"POST {_SP}/{act}": SPACE for act in ("duplicate", "restore", "move", "transfer")},
    f"GET {_SP}/links": LINKS,
    **_crud(_ORG + "/collections", _COLLECTION, COLLECTION, "GET", "PATCH"),
    f"GET {_COLLECTION}/spaces": page(SPACE),
    **{f"POST {_COLLECTION}/{act}": COLLECTION for act in ("move", "transfer")},
    **_crud(_SP + "/change-requests", _CR, CHANGE_REQUEST, "GET", "PATCH"),
    f"POST {_CR}/merge": _result("merge"),
    f"POST {_CR}/update": _result("update"),
    f"GET {_CR}/pdf": members({"url": URL}),
    f"GET {_ORG}/change-requests": page(CHANGE_REQUEST),
    f"GET {_SP}/search": page(HIT),
    **_content(_SP),
    **_content(_CR),
    "GET /orgs": page(ORGANIZATION),
    f"GET {_ORG}": ORGANIZATION,
    f"PATCH {_ORG}": ORGANIZATION,
    f"GET {_ORG}/search": page(members({"id": ID, "title": TEXT, "pages": many(HIT)})),
    f"GET {_ORG}/agent-instructions": AGENT_INSTRUCTIONS,
    f"PUT {_ORG}/agent-instructions": AGENT_INSTRUCTIONS,
    f"GET {_ORG}/members": page(MEMBER),
    f"GET {_ORG}/members/{{userId}}": MEMBER,
    f"PATCH {_ORG}/members/{{userId}}": MEMBER,
    f"POST {_ORG}/ping": members({}, {"serviceVisitorClaims": TEXT}),
    f"POST {_ORG}/members/{{userId}}/sso": MEMBER,
    f"GET {_ORG}/members/{{userId}}/spaces": page(members({"permission": ROLE, "space": SPACE})),
    f"GET {_ORG}/members/{{userId}}/teams": page(members({"team": TEAM, "member": IN_TEAM})),
    **_crud(_ORG + "/teams", _TEAM, TEAM, "GET", "PATCH", create="PUT"),
    f"GET {_TEAM}/members": page(TEAM_MEMBER),
    **_crud(_ORG + "/saml", _ORG + "/saml/{samlProviderId}", SAML_PROVIDER, "GET", "PATCH"),
    f"GET {_ORG}/sso": members({"items": many(members({"id": ID, "label": TEXT, "startURL": URL}))}),
    "GET /integrations": page(INTEGRATION),
    f"GET {_NAMED}": INTEGRATION,
    f"POST {_NAMED}": INTEGRATION,
    f"GET {_NAMED}/installations": page(INSTALLATION),
    f"POST {_NAMED}/installations": INSTALLATION,
    f"GET {_NAMED}/events": page(EVENT),
    f"GET {_NAMED}/events/{{eventId}}": EVENT_DETAIL,
    f"GET {_NAMED}/spaces": page(ON_SPACE),
    f"GET {_NAMED}/sites": page(ON_SITE),
    **_crud(_ORG + "/openapi", _ORG + "/openapi/{specSlug}", OPENAPI_SPEC, "GET", "PUT", "PATCH"),
    **_crud(_ORG + "/translations", _ORG + "/translations/{translationId}", TRANSLATION, "GET", "PUT"),
    f"GET {_ORG}/conversations-clusters": page(CLUSTER),
    f"GET {_ORG}/conversations-clusters/{{clusterId}}": CLUSTER,
    f"PATCH {_ORG}/conversations-clusters/{{clusterId}}": CLUSTER,
    f"GET {_ORG}/conversations": page(CONVERSATION),
    f"GET {_ORG}/conversations/{{conversationId}}": CONVERSATION_DETAIL,
    f"GET {_ORG}/conversations-issues": page(ISSUE),
    f"GET {_ORG}/conversations-issues/{{issueId}}": ISSUE,
}
"""By method and path. An operation that is not here answers without content."""
