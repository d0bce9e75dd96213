"""For every kind where one of it stands and what it needs, and for every field two values that it may have.

Nothing here is derived from the declarations: it says in YAML's own values what they have to accept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.certificates import AZURE, OKTA

NOTHING: Any = object()
Json = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """`second` is another value; without one the field is first left out and then set to `first`."""

    first: Any
    second: Any = NOTHING
    also: Json = field(default_factory=dict)
    """Other fields of the entry that this one needs."""


@dataclass(frozen=True)
class Place:
    """Where an entry stands below its organization, what stands around it, and what it must have."""

    path: tuple[str | int, ...]
    needs: Json = field(default_factory=dict)
    around: Json = field(default_factory=dict)
    """What else the organization declares."""


SPACES = {"one": {"title": "One"}, "two": {"title": "Two"}}
MAIN = {"type": "space", "key": "main", "space": "one", "path": "main"}
FIRST = {"type": "section", "key": "first", "title": "First", "path": "first", "children": [MAIN]}
SECOND = {"type": "space", "key": "it", "space": "two"}
SITE = {"title": "Docs", "basename": "docs"}
SECTIONS = {"spaces": SPACES, "sites": {"docs": {**SITE, "structure": [FIRST]}}}
SCHEMA = {
    "type": "object",
    "properties": {"isBeta": {"type": "boolean", "description": "In the beta."}},
    "additionalProperties": False,
}
AWARE = {
    "spaces": SPACES,
    "sites": {"docs": {**SITE, "adaptiveSchema": SCHEMA, "structure": [FIRST]}},
}
TEAMS = {"writers": {"title": "Writers"}, "readers": {"title": "Readers"}}
INSTALLED = {"integrations": {"tools": {}}, "spaces": SPACES, "sites": {"docs": SITE}}

PLACES: dict[str, Place] = {
    "organization": Place(
        (), around={
            "sites": {"docs": SITE, "help": {"title": "Help"}}, "saml": {"okta": {"label": "Okta"}},
            "collections": {"one": {"title": "One", "parent": None}, "two": {"title": "Two", "parent": None}},
        },
    ),
    "agent_instructions": Place(("agentInstructions",)),
    "collection": Place(
        ("collections", "it"), {"title": "It"},
        {"collections": {"one": {"title": "One"}, "two": {"title": "Two"},
                         "c": {"title": "C", "parent": "it"}, "d": {"title": "D", "parent": "it"}},
         "spaces": {"a": {"title": "A", "collection": "it"}, "b": {"title": "B", "collection": "it"}}},
    ),
    "glossary_term": Place(("glossary", "it")),
    "installation": Place(("integrations", "tools")),
    "installation_site": Place(("integrations", "tools", "sites", "docs"), around=INSTALLED),
    "installation_space": Place(("integrations", "tools", "spaces", "one"), around=INSTALLED),
    "published_integration": Place(
        ("publishedIntegrations", "acme-bot"), {"title": "Bot", "script": "export default {}"}
    ),
    "member": Place(("members", "bo@acme.example"), {"role": "create"}),
    "openapi": Place(("openapi", "it"), {"source": {"url": "https://acme.example/api.yaml"}}),
    "saml": Place(("saml", "it"), {"label": "It"}, {"teams": TEAMS}),
    "site": Place(("sites", "it"), {"title": "It"}),
    "team": Place(("teams", "it"), {"title": "It"}),
    "space": Place(
        ("spaces", "it"), {"title": "It"},
        {"collections": {"one": {"title": "One"}, "two": {"title": "Two"}}},
    ),
    "adaptive_schema": Place(("sites", "docs", "adaptiveSchema"), around={"sites": {"docs": SITE}}),
    "customization": Place(("sites", "docs", "customization"), around={"sites": {"docs": SITE}}),
    "agent_settings": Place(("sites", "docs", "agentSettings"), around={"sites": {"docs": SITE}}),
    "channel": Place(
        ("sites", "docs", "channels", "it"), {"type": "builtin:slack"}, {"sites": {"docs": SITE}}
    ),
    "context_connection": Place(
        ("sites", "docs", "contextConnections", "it"),
        {
            "connector": "builtin:github-issues",
            "setupSettings": {"repository": "a/b", "token": {"env": "BOT_KEY"}},
        },
        {"sites": {"docs": SITE}},
    ),
    "topic": Place(
        ("sites", "talk", "topics", "it"), {"label": "Billing"}, {"sites": {"talk": {"title": "Talk"}}}
    ),
    "mcp_server": Place(
        ("sites", "docs", "mcpServers", "it"), {"name": "It", "url": "https://mcp.example"}, AWARE
    ),
    "redirect": Place(
        ("sites", "docs", "redirects", "/old"), {"destination": {"kind": "external", "url": "https://a.example"}},
        SECTIONS,
    ),
    "section": Place(
        ("sites", "docs", "structure", 1),
        {"type": "section", "key": "it", "title": "It", "children": [{**MAIN, "space": "two"}]}, AWARE,
    ),
    "section_group": Place(
        ("sites", "docs", "structure", 1), {"type": "section-group", "key": "it", "title": "It"}, SECTIONS
    ),
    "external_link": Place(
        ("sites", "docs", "structure", 1),
        {"type": "external-link", "key": "it", "title": "It", "url": "https://a.example"}, AWARE,
    ),
    "site_space": Place(
        ("sites", "docs", "structure", 0, "children", 1), {**SECOND, "path": "it"}, AWARE
    ),
    "site_space_customization": Place(
        ("sites", "docs", "structure", 0, "children", 0, "customization"), around=SECTIONS
    ),
    "share_link": Place(("sites", "docs", "shareLinks", "partners"), around={"sites": {"docs": SITE}}),
    "visitor_auth": Place(
        ("sites", "docs", "visitorAuth"), {"backend": "custom"}, {"sites": {"docs": SITE}}
    ),
    "team_member": Place(
        ("teams", "writers", "members", "bo@acme.example"), {"role": "member"}, {"teams": TEAMS}
    ),
    "team_permission": Place(
        ("spaces", "one", "permissions", "teams", "writers"), {"role": "read"},
        {"spaces": SPACES, "teams": TEAMS},
    ),
    "member_permission": Place(
        ("spaces", "one", "permissions", "members", "bo@acme.example"), {"role": "read"},
        {"spaces": SPACES},
    ),
    "translation": Place(
        ("translations", "it"), {"source": {"space": "one", "language": "en"}, "language": "fr"},
        {"spaces": SPACES},
    ),
}  # fmt: skip

LOOKS: dict[str, Sample] = {
    "title": Sample("Docs", "Manuals"),
    "localizedTitle": Sample({"de": "Handbuch"}, {"de": "Handbuch", "fr": "Manuel"}),
    "styling": Sample({"corners": "straight"}, {"primaryColor": {"light": "#ff0000", "dark": "#00ff00"}}),
    "internationalization": Sample({"locale": "de"}, {"locale": "fr"}),
    "favicon": Sample({"emoji": "1f4d6"}, {"icon": {"light": "https://a.example/i.png"}}),
    "header": Sample({"preset": "bold"}, {"links": [{"title": "Shop", "links": []}]}),
    "footer": Sample({"copyright": "Acme"}, {"groups": [{"title": "More", "links": []}]}),
    "announcement": Sample({"enabled": True, "message": "New"}, {"enabled": False}),
    "themes": Sample({"default": "dark"}, {"default": "light", "toggeable": False}),
    "feedback": Sample({"enabled": True}, {"enabled": False}),
    "ai": Sample({"mode": "search"}, {"mode": "assistant"}),
    "advancedCustomization": Sample({"enabled": False}, {"enabled": True}),
    "pageActions": Sample({"items": [{"type": "markdown"}]}, {"items": []}),
    "externalLinks": Sample({"target": "blank"}, {"target": "self"}),
    "pagination": Sample({"enabled": False}, {"enabled": True}),
    "trademark": Sample({"enabled": False}, {"enabled": True}),
    "privacyPolicy": Sample({"url": "https://a.example/p"}, {"url": "https://a.example/q"}),
    "socialPreview": Sample({"url": "https://a.example/p.png"}, {"url": "https://a.example/q.png"}),
    "socialAccounts": Sample([{"platform": "x", "handle": "acme"}], [{"platform": "y", "handle": "acme"}]),
    "insights": Sample({"trackingCookie": False}, {"trackingCookie": True}),
}
CONFIGURATION = Sample(
    {"server": "https://a.example", "depth": {"most": 3}}, {"depth": {"most": 4, "least": 1}}
)
EXTERNAL_IDS = Sample(["a", "b"], ["c"])
RULES = Sample(
    {"type": "rules", "rules": [{"rule": "allow_bypass", "users": ["bo@acme.example"]}]}, {"type": "none"}
)

SAMPLES: dict[str, dict[str, Sample]] = {
    "organization": {
        "title": Sample("Acme", "Acme Corp"),
        "emailDomains": Sample(["acme.example"], ["acme.test", "acme.example"]),
        "hostname": Sample("acme-docs", "acme-help"),
        "defaultRole": Sample("read", "guest"),
        "defaultContent": Sample({"type": "site", "site": "docs"}, {"type": "site", "site": "help"}),
        "logo": Sample("https://a.example/a.png", "https://a.example/b.png"),
        "sso": Sample(True, False),
        "ai": Sample(True, False),
        "inviteLinks": Sample(False, True),
        "mergeRules": RULES,
        "type": Sample("business"),
        "blocked": Sample("unpaid"),
        "collectionOrder": Sample(["one", "two"], ["two", "one"]),
    },
    "agent_instructions": {"instructions": Sample("# How\n\nBriefly.\n", "Not at *all*.\n")},
    "collection": {
        "title": Sample("It", "That"),
        "parent": Sample("one", "two"),
        "description": Sample("What it is", "What it was"),
        "defaultLevel": Sample("read", "inherit"),
        "order": Sample(["a", "b"], ["b", "a"]),
        "collectionOrder": Sample(["c", "d"], ["d", "c"]),
    },
    "glossary_term": {"translations": Sample({"en": "rod", "de": "Stab"}, {"en": "rod", "de": "Steuerstab"})},
    "installation": {
        "integration": Sample("tools"),
        "configuration": CONFIGURATION,
        "externalIds": EXTERNAL_IDS,
        "space_selection": Sample("selected", "all"),
        "site_selection": Sample("selected", "all"),
        "status": Sample("active"),
    },
    "installation_site": {
        "site": Sample("docs"),
        "configuration": CONFIGURATION,
        "externalIds": EXTERNAL_IDS,
    },
    "installation_space": {
        "space": Sample("one"),
        "configuration": CONFIGURATION,
        "externalIds": EXTERNAL_IDS,
    },
    "published_integration": {
        "name": Sample("acme-bot"),
        "runtime": Sample("v1", "v2"),
        "title": Sample("Bot", "Robot"),
        "description": Sample("Answers", "Asks"),
        "summary": Sample("It answers.", "It asks."),
        "icon": Sample("iVBORw0KGgo=", "R0lGODlhAQABAAAAACw="),
        "previewImages": Sample(["iVBORw0KGgo="], []),
        "visibility": Sample("private", "unlisted"),
        "target": Sample("site", "space"),
        "scopes": Sample(["openapi:read", "space:git:sync"], ["openapi:write"]),
        "categories": Sample(["content"], ["other", "content"]),
        "blocks": Sample([{"id": "b", "title": "Block"}], []),
        "contentSources": Sample([{"id": "s", "title": "Source"}], []),
        "externalLinks": Sample([{"url": "https://a.example", "label": "A"}], []),
        "configurations": Sample({"account": {"properties": {"x": {"type": "string"}}}}, {}),
        "contentSecurityPolicy": Sample("default-src 'self'", "default-src 'none'"),
        "script": Sample("export default {}", "export default []"),
        "secrets": Sample({"KEY": {"env": "BOT_KEY"}}, {"KEY": {"env": "OTHER_KEY"}}),
    },
    "member": {"email": Sample("bo@acme.example"), "role": Sample("edit", "guest"), "sso": Sample(True)},
    "openapi": {
        "slug": Sample("It", "that"),
        "source": Sample({"url": "https://acme.example/1.yaml"}, {"url": "https://acme.example/2.yaml"}),
        "visibility": Sample("public", "private"),
        "processingState": Sample("complete"),
        "lastProcessErrorCode": Sample("PARSE_ERROR"),
        "lastProcessError": Sample("it is no JSON"),
    },
    "saml": {
        "label": Sample("It", "That"),
        "entityID": Sample("https://a.example/e", "urn:other"),
        "ssoURL": Sample("https://a.example/s", "https://a.example/t"),
        "certificate": Sample(OKTA, AZURE),
        "defaultTeam": Sample("writers", "readers"),
        "defaultRole": Sample("read", "guest"),
        "status": Sample("active"),
    },
    "site": {
        "title": Sample("It", "That"),
        "type": Sample("premium", "basic"),
        "visibility": Sample("unlisted", "public"),
        "basename": Sample("it", "that"),
        "hostname": Sample("docs.acme.example"),
        "proxy": Sample("acme.example/docs", "intranet/docs/v1.2"),
        "adaptiveContent": Sample({"enabled": True}, {"enabled": False}),
        "defaultLevel": Sample("read", "guest"),
        "styleguide": Sample("own"),
        "agentsContext": Sample("excluded", "included"),
        "published": Sample(True, False),
    },
    "team": {"title": Sample("It", "That")},
    "space": {
        "title": Sample("It", "That"),
        "collection": Sample("one", "two"),
        "emoji": Sample("1f4d6", "1f4d7"),
        "icon": Sample("https://acme.example/a.svg", "https://acme.example/b.svg"),
        "editMode": Sample("locked", "live"),
        "language": Sample("fr", "de"),
        "defaultLevel": Sample("read", "guest"),
        "mergeRules": RULES,
    },
    "adaptive_schema": {"jsonSchema": Sample(SCHEMA, {**SCHEMA, "properties": {}})},
    "customization": LOOKS,
    "agent_settings": {
        "scans": Sample({"topics": "auto"}, {"topics": "never"}),
        "findings": Sample({"changeRequests": "auto-fixable"}, {"changeRequests": "always"}),
        "editing": Sample(
            {"customInstructions": "Be brief.\n"}, {"customInstructions": "# Tone\n\n*Warm*.\n"}
        ),
    },
    "channel": {
        "type": Sample("builtin:slack", "builtin:discord"),
        "setupSettings": Sample({"allowedChannels": ["docs"]}, {"allowedChannels": ["help-*", "docs"]}),
        "role": Sample("support", "collaborator"),
        "status": Sample("active"),
    },
    "context_connection": {
        "connector": Sample("builtin:github-issues", "builtin:github-discussions"),
        "setupSettings": Sample(
            {"repository": "a/b", "token": {"env": "BOT_KEY"}},
            {"repository": "a/c", "token": {"env": "OTHER_KEY"}},
        ),
        "usageSettings": Sample(
            {"changeRequests": True, "search": False, "searchBoost": "x1.0"},
            {"changeRequests": True, "search": True, "sync": True, "searchBoost": "x1.2"},
        ),
        "filter": Sample("label:docs", "label:help"),
        "label": Sample("It", "That"),
        "status": Sample("succeeded"),
        "failureReason": Sample("authentication"),
    },
    "topic": {
        "label": Sample("Billing", "Refunds"),
        "usageSettings": Sample({"changeRequests": True}, {"changeRequests": False}),
    },
    "mcp_server": {
        "name": Sample("It", "That"),
        "url": Sample("https://mcp.example", "https://tools.example"),
        "transport": Sample("http", "sse"),
        "headers": Sample(
            {"Authorization": {"env": "BOT_KEY"}},
            {"Authorization": {"env": "OTHER_KEY"}, "X-Key": {"env": "BOT_KEY"}},
        ),
        "condition": Sample("visitor.claims.isBeta", "!visitor.claims.isBeta"),
    },
    "redirect": {
        "source": Sample("/old"),
        "destination": Sample(
            {"kind": "site-section", "siteSectionId": "first"},
            {"kind": "site-space", "siteSpaceId": "first/main"},
        ),
        "captureWildcard": Sample(True, False),
        "permanent": Sample(True, False),
        "draft": Sample(True, False),
    },
    "section": {
        "title": Sample("It", "That"),
        "path": Sample("it", "that"),
        "icon": Sample("book", "code"),
        "description": Sample("What it is", "What it was"),
        "condition": Sample("visitor.claims.isBeta", "!visitor.claims.isBeta"),
        "localizedTitle": Sample({"de": "Es"}, {"de": "Das", "fr": "Ceci"}),
        "localizedDescription": Sample({"de": "Was es ist"}, {"fr": "Ce que c'est"}),
        "draft": Sample(True, False),
        "default": Sample(True),
    },
    "section_group": {
        "title": Sample("It", "That"),
        "icon": Sample("book", "code"),
        "localizedTitle": Sample({"de": "Es"}, {"de": "Das", "fr": "Ceci"}),
        "draft": Sample(True, False),
    },
    "external_link": {
        "title": Sample("It", "That"),
        "url": Sample("https://a.example/1", "https://a.example/2"),
        "icon": Sample("book", "code"),
        "description": Sample("What it is", "What it was"),
        "condition": Sample("visitor.claims.isBeta", "!visitor.claims.isBeta"),
        "localizedTitle": Sample({"de": "Es"}, {"de": "Das", "fr": "Ceci"}),
        "localizedDescription": Sample({"de": "Was es ist"}, {"fr": "Ce que c'est"}),
        "draft": Sample(True, False),
    },
    "site_space": {
        "space": Sample("two", "one"),
        "path": Sample("it", "that"),
        "condition": Sample("visitor.claims.isBeta", "!visitor.claims.isBeta"),
        "hidden": Sample(True, False),
        "pageId": Sample("page-1", "page-2"),
        "draft": Sample(True, False),
        "default": Sample(True),
    },
    "site_space_customization": LOOKS,
    "share_link": {"name": Sample("partners"), "active": Sample(False, True)},
    "visitor_auth": {
        "backend": Sample("integration", "custom"),
        "fallbackURL": Sample("https://a.example/f", "https://a.example/g"),
        "logoutURL": Sample("https://a.example/l", "https://a.example/m"),
    },
    "team_member": {"user": Sample("bo@acme.example"), "role": Sample("member", "owner")},
    "team_permission": {"team": Sample("writers"), "role": Sample("read", "admin")},
    "member_permission": {"user": Sample("bo@acme.example"), "role": Sample("edit", "admin")},
    "translation": {
        "source": Sample({"space": "two", "language": "en"}, {"space": "one", "language": "de"}),
        "language": Sample("de", "fr"),
        "instructions": Sample("Be brief.\n", "Be *polite*.\n"),
        "result": Sample("one"),
        "status": Sample("pending"),
    },
}


# On the edition that the vendor publishes today, which is stricter.

_BOT = {"title": "Bot", "description": "Answers", "scopes": [], "script": "export default {}"}
PLACES_TODAY: dict[str, Place] = PLACES | {
    "published_integration": Place(("publishedIntegrations", "acme-bot"), _BOT),
}
_LINK = {"title": "Shop", "to": {"kind": "url", "url": "https://a.example"}, "links": []}
_ANNOUNCEMENT = {"enabled": True, "message": "New", "style": "info"}
_SHOWN = {"footer": True, "header": False}
_LOOKS_TODAY: dict[str, Sample] = LOOKS | {
    "styling": Sample(
        {"corners": "straight", "codeTheme": {"default": {"light": "nord", "dark": "red"}}},
        {"primaryColor": {"light": "#ff0000", "dark": "#00ff00"}, "headingFont": "Lato"},
    ),
    "favicon": Sample(
        {"emoji": "1f4d6"}, {"icon": {"light": "https://a.example/i.png", "dark": "https://a.example/j.png"}}
    ),
    "header": Sample({"preset": "bold", "primaryLink": _LINK["to"]}, {"links": [_LINK]}),
    "announcement": Sample(
        {**_ANNOUNCEMENT, "localizedMessage": {"de": "Neu"}}, {**_ANNOUNCEMENT, "enabled": False}
    ),
    "themes": Sample({"default": "system"}, {"default": "dark", "toggeable": False}),
    "ai": Sample({"mode": "search", "greeting": "Ask"}, {"mode": "assistant", "suggestions": ["How?"]}),
    "pageActions": Sample({"items": ["markdown", "mcp"]}, {"items": []}),
    "socialAccounts": Sample(
        [{"platform": "github", "handle": "acme", "display": _SHOWN}],
        [{"platform": "mastodon", "handle": "acme", "display": _SHOWN}],
    ),
}
SAMPLES_TODAY: dict[str, dict[str, Sample]] = SAMPLES | {
    "customization": _LOOKS_TODAY,
    "site_space_customization": _LOOKS_TODAY
    | {
        "styling": Sample(
            {"corners": "straight", "codeTheme": {"default": {"light": "nord", "dark": "red"}}},
            {"primaryColor": {"light": "#ff0000", "dark": "#00ff00"}},
        ),
    },
    "site": SAMPLES["site"] | {"proxy": Sample("acme.example/docs", "intranet.example/docs/v1")},
    "published_integration": SAMPLES["published_integration"]
    | {
        "contentSources": Sample([{"id": "s", "title": "Source", "configuration": {"componentId": "c"}}], []),
    },
}
