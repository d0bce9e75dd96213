"""Give an example of each kind and each field, as a person might write it: for editors, docs and `explain`.

If `_VALUES` has no example of a field, the example follows from the type of the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpsync.kinds.kind import EntryMapping, Field, Kind, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import (
    Enum,
    Flag,
    Json,
    List,
    Object,
    OneOf,
    OwnReference,
    Reference,
    Table,
    Text,
    Type,
)
from dpsync.kinds.types.scalars import OWN
from dpsync.kinds.types.texts import Certificate, LongText, Markdown

_KEYS: Final[Mapping[str, str]] = {
    "organization": "acme", "collection": "product", "glossary_term": "change-request",
    "installation": "slack", "mcp_server": "tools", "topic": "billing",
    "member": "ada@acme.example", "openapi": "petstore",
    "published_integration": "acme-bot", "redirect": "/old-guides", "saml": "okta", "section": "guides",
    "section_group": "more", "share_link": "partners", "site": "docs", "site_space": "en",
    "space": "guides-en", "team": "writers", "translation": "guides-fr", "external_link": "status",
}  # fmt: skip
"""The key of the example of each kind. Any other kind has its noun as the key."""
_VALUES: Final[Mapping[str, Any]] = {
    "organization.title": "Acme",
    "organization.emailDomains": ["acme.example"],
    "organization.hostname": "acme",
    "organization.logo": "https://acme.example/logo.png",
    "organization.ai": True,
    "collection.title": "Product",
    "collection.parent": "handbook",
    "collection.collectionOrder": ["handbook"],
    "collection.description": "What we sell",
    "glossary_term.translations": {"en": "change request", "fr": "demande de modification"},
    "openapi.slug": "petstore",
    "openapi.source": {"url": "https://api.acme.example/openapi.yaml"},
    "published_integration.title": "Acme bot",
    "published_integration.blocks": [{"id": "bot", "title": "Bot"}],
    "published_integration.contentSources": [{"id": "issues", "title": "Issues"}],
    "published_integration.externalLinks": [{"url": "https://acme.example/bot", "label": "About the bot"}],
    "published_integration.previewImages": ["data:image/png;base64,iVBORw0KGgo="],
    "published_integration.configurations": {"properties": {}},
    "published_integration.contentSecurityPolicy": {"connect-src": "https://acme.example"},
    "published_integration.secrets": {"API_KEY": {"env": "BOT_API_KEY"}},
    "saml.label": "Okta",
    "saml.entityID": "https://okta.example/entity",
    "saml.ssoURL": "https://okta.example/sso",
    "site.title": "Acme Docs",
    "site.basename": "docs",
    "site.proxy": "www.acme.example/docs",
    "adaptive_schema.jsonSchema": {
        "type": "object",
        "properties": {"isBeta": {"type": "boolean", "description": "In the beta."}},
        "additionalProperties": False,
    },
    "share_link.name": "partners",
    "agent_settings.editing": {"customInstructions": "Write short sentences."},
    "channel.type": "builtin:slack",
    "channel.role": "support",
    "channel.setupSettings": {"allowedChannels": ["docs-*"]},
    "context_connection.connector": "builtin:github-issues",
    "context_connection.setupSettings": {"repository": "acme/shop", "token": {"env": "GITHUB_TOKEN"}},
    "context_connection.filter": "label:docs",
    "topic.label": "Billing",
    "context_connection.label": "Issues of the shop",
    "mcp_server.name": "Acme tools",
    "mcp_server.url": "https://mcp.acme.example",
    "mcp_server.headers": {"Authorization": {"env": "ACME_TOOLS_AUTHORIZATION"}},
    "team_member.role": "member",
    "section_group.title": "More",
    "external_link.title": "Status",
    "external_link.url": "https://status.acme.example",
    "site_space.path": "en",
    "site_space.pageId": "page-1",
    "space.emoji": "1f4d8",
    "space.icon": "https://acme.example/guides.svg",
    "space.language": "en",
    "team.title": "Technical writers",
    "translation.source": {"space": "guides-en", "language": "en"},
    "translation.language": "fr",
    "visitor_auth.fallbackURL": "https://login.acme.example",
    "visitor_auth.logoutURL": "https://login.acme.example/logout",
    "published_integration.script": {"file": "bot.js"},
    "customization.title": "Acme Docs",
    "context_connection.setupSettings.url": "https://acme.example",
    "context_connection.setupSettings.channelId": "@acme",
    "context_connection.setupSettings.subdomain": "acme",
    "context_connection.setupSettings.email": "ada@acme.example",
    "context_connection.setupSettings.apiToken": {"env": "ZENDESK_TOKEN"},
    "context_connection.setupSettings.dataCenter": "eu",
    "context_connection.setupSettings.orgId": "20061234",
    "context_connection.setupSettings.clientId": "1000.ACME",
    "context_connection.setupSettings.clientSecret": {"env": "ZOHO_SECRET"},
    "context_connection.setupSettings.refreshToken": {"env": "ZOHO_TOKEN"},
    "context_connection.setupSettings.domain": "acme.freshdesk.com",
    "context_connection.setupSettings.apiKey": {"env": "FRESHDESK_KEY"},
    "context_connection.setupSettings.baseUrl": "https://acme.atlassian.net",
    "context_connection.setupSettings.statusMapping": {"open": "In review", "merged": "Done"},
    "context_connection.usageSettings": {"changeRequests": False, "search": True, "searchBoost": "x1.0"},
    "context_connection.usageSettings.sync": True,
    "redirect.destination.section": "guides",
    "redirect.destination.space": "guides/en",
    "redirect.destination.page": "guides/en/install",
    "openapi.source.text": {"file": "petstore.yaml"},
    "channel.setupSettings.allowedTeams": ["docs"],
    "channel.setupSettings.allowedRepositories": ["acme/*"],
    "published_integration.description": "Answers questions about Acme.",
    "published_integration.scopes": ["space:content:read"],
    "published_integration.categories": ["content"],
    "published_integration.icon": {"file": "icon.png.txt"},
    "published_integration.summary": "Acme bot answers questions about Acme.",
    # The examples for all kinds without an example of their own.
    "mergeRules.rules.expression": 'subject.startsWith("Docs: ")',
    "mergeRules.rules.message": "Begin the subject with Docs.",
    "mergeRules": {"type": "rules", "rules": [{"rule": "require_at_least_one_review"}]},
    "role": "create",
    "defaultRole": "read",
    "defaultLevel": "read",
    "title": "Guides",
    "path": "guides",
    "icon": "book",
    "description": "How things are done",
    "condition": "visitor.claims.isBeta",
    "destination": {"url": "https://acme.example/guides"},
    "localizedTitle": {"fr": "Guides"},
    "localizedDescription": {"fr": "Comment faire"},
    "externalIds": ["T0123"],
    "configuration": {"channel": "docs"},
    "styling": {"theme": "clean", "font": "Inter"},
    "internationalization": {"locale": "en"},
    "favicon": {"emoji": "1f4d8"},
    "header": {"preset": "bold"},
    "footer": {"copyright": "© Acme"},
    "announcement": {"enabled": True, "message": "Version 2 is out", "style": "info"},
    "themes": {"default": "dark"},
    "feedback": {"enabled": True},
    "ai": {"mode": "assistant"},
    "advancedCustomization": {"enabled": True},
    "pageActions": {"items": []},
    "externalLinks": {"target": "blank"},
    "pagination": {"enabled": False},
    "trademark": {"enabled": False},
    "privacyPolicy": {"url": "https://acme.example/privacy"},
    "socialPreview": {"url": "https://acme.example/preview.png"},
    "insights": {"trackingCookie": False},
    "socialAccounts": [{"platform": "github", "handle": "acme"}],
}
"""The examples by kind and field, or by the name of the field alone."""


_EXTRA_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "collection": ("description", "defaultLevel"),
    "member": ("role",),
    "openapi": ("visibility",),
    "published_integration": ("description", "scopes", "categories", "target", "visibility"),
    "saml": ("entityID", "ssoURL", "certificate", "defaultRole"),
    "site": ("basename", "visibility", "published"),
    "agent_settings": ("findings", "editing"),
    "channel": ("setupSettings",),
    "context_connection": ("usageSettings",),
    "customization": ("styling", "header", "favicon"),
    "site_space_customization": ("title", "favicon"),
    "mcp_server": ("headers",),
    "section": ("path", "icon"),
    "site_space": ("path", "default"),
    "space": ("language", "editMode", "defaultLevel"),
    "translation_access": ("defaultLevel",),
    "topic": ("usageSettings",),
    "visitor_auth": ("fallbackURL",),
    "installation": ("space_selection",),
    "installation_site": ("configuration",),
    "installation_space": ("configuration",),
}
"""The fields that the example of a kind shows besides the required ones."""
FILE_EXAMPLES: Final[Mapping[str, Any]] = {
    "dpsync": 1,
    "include": ["teams.yaml", "sites/*.yaml"],
    "policy": {"prune": ["teams"]},
    "policy.prune": ["teams", "sites/*/structure"],
    "policy.protect": ["sites/*"],
    "policy.protect.address": "sites/*",
    "policy.protect.skip": True,
    "policy.ignore": ["spaces/*#emoji"],
    "policy.forget": ["acme/teams/writers"],
    "policy.watch": ["members"],
    "policy.removed": ["acme/spaces/old-guides"],
    "policy.accept": ["acme/saml/okta#status"],
    "policy.limits": {"deletes": 5},
    "policy.limits.deletes": 5,
    "policy.limits.percent": 20,
    "policy.limits.exposures": 0,
    "environments": {"production": {"url": "https://api.acme.example", "token": {"env": "DPSYNC_TOKEN"}}},
    "environments.url": "https://api.acme.example",
    "environments.token": {"env": "DPSYNC_TOKEN"},
    "environments.token.env": "DPSYNC_TOKEN",
    "environments.limits": {"rate": "5/s"},
    "environments.limits.rate": "5/s",
    "environments.profile": "published",
    "environments.overlay": "production.yaml",
    "environments.organizations": {"acme": {"id": "acme-production"}},
    "environments.organizations.id": "acme-production",
    "environments.organizations.hostname": "acme",
    "organization": "acme",
    "organizations": {"acme": {"id": "acme", "title": "Acme"}},
}
"""The examples of root-file keys, by their paths."""
_PARENT_KEYS: Final[Mapping[str, str]] = {"environments": "production", "environments.organizations": "acme"}
"""The keys of the user's choice that are between two keys of a path."""


_ENTRIES: Final[Mapping[str, Any]] = {
    "redirect": {"section": "guides", "permanent": True},
    "organization": {"id": "acme", "title": "Acme", "defaultRole": "read", "ai": True},
    "team": {"title": "Technical writers", "members": {"ada@acme.example": "owner"}},
    "translation": {
        "source": {"space": "guides-en", "language": "en"},
        "language": "fr",
        "instructions": {"file": "french.md"},
    },
    "section_group": {
        "type": "section-group", "key": "more", "title": "More", "icon": "ellipsis",
        "children": [
            {"type": "external-link", "key": "status", "title": "Status",
             "url": "https://status.acme.example"},
        ],
    },
}  # fmt: skip
"""The entries of kinds whose example does not follow from their fields."""


def file_example(path: str) -> dict[str, Any]:
    """Return a root file (`dpsync.yaml`) with an example of the YAML key that has this dotted path.

    The example value is in `FILE_EXAMPLES`. It is wrapped in its parent keys from the inside out; parents in
    `_PARENT_KEYS` are mappings with keys that users choose.
    """
    names = path.split(".")
    value: Any = FILE_EXAMPLES[path]
    for depth in range(len(names), 0, -1):
        parent_path = ".".join(names[:depth])
        if depth < len(names) and parent_path in _PARENT_KEYS:
            value = {_PARENT_KEYS[parent_path]: value}
        elif depth < len(names) and parent_path == "policy.protect":
            value = [{"address": FILE_EXAMPLES["policy.protect.address"]} | value]
        value = {names[depth - 1]: value}
    return {"dpsync": 1, **value}


def key_example(registry: Registry, kind: Kind) -> str:
    """Return the key of the example of a kind: a local name, or the key of the object to which it refers."""
    refers = kind.field(kind.key_field).type.referenced_kinds if kind.key_field else ()
    if refers and refers[0] in registry:
        return key_example(registry, registry[refers[0]])
    return _KEYS.get(kind.name, kind.noun.lower().replace(" ", "-"))


def value_example(registry: Registry, kind: Kind, field: Field) -> Any:
    """Return a value that the field may have, as YAML data."""
    for name in (f"{kind.name}.{field.name}", field.name):
        if name in _VALUES:
            return _VALUES[name]
    return (
        key_example(registry, kind)
        if field.name == kind.key_field
        else _example_of_type(registry, field.type)
    )


def part_example(registry: Registry, kind: Kind, field: Field, path: str, type_: Type | None) -> Any:
    """Return an example of the part at a dotted path in a field's value, as YAML data.

    It is the part of the field's own example, or else an example of the part's type (`type_`).
    """
    for name in (f"{kind.name}.{field.name}.{path}", f"{field.name}.{path}"):
        if name in _VALUES:
            return _VALUES[name]
    value = value_example(registry, kind, field)
    for name in path.split("."):
        value = value[0] if isinstance(value, list) and value else value
        value = value.get(name) if isinstance(value, dict) else None
    return _example_of_type(registry, type_) if value is None and type_ is not None else value


def entry_example(registry: Registry, kind: Kind) -> dict[str, Any]:
    """Return a file, as YAML data, with one entry of this kind, for the documentation.

    The entry has the required fields and some that many people need (`_EXTRA_FIELDS`), in its short form if
    possible.
    """
    if kind.name in _ENTRIES:
        return _file_with_entry(registry, kind, _ENTRIES[kind.name])
    entry = minimal_entry_example(registry, kind)
    if not kind.is_always_shorthand:
        extra_fields = [kind.field(name) for name in _EXTRA_FIELDS.get(kind.name, ())]
        fields = {field.name: value_example(registry, kind, field) for field in extra_fields}
        children = {"children": entry.pop("children")} if "children" in entry else {}
        entry = entry | fields | children
    if kind.shorthand_field is not None and [*entry] == [kind.shorthand_field]:
        entry = entry[kind.shorthand_field]
    return _file_with_entry(registry, kind, entry)


def field_example(registry: Registry, kind: Kind, field: Field, word: str = "") -> dict[str, Any]:
    """Return a file, as YAML data, with one entry of this kind that shows how to write a field.

    With `word`, the entry has this part of the field's value as a key of its own (`inline_words`).
    """
    value = value_example(registry, kind, field)
    if word in kind.inline_words:
        return _file_with_entry(registry, kind, {word: part_example(registry, kind, field, word, None)})
    if kind.is_always_shorthand and field.name == kind.shorthand_field:
        return _file_with_entry(registry, kind, value)
    entry = minimal_entry_example(registry, kind)
    children = {"children": entry.pop("children")} if "children" in entry else {}
    return _file_with_entry(registry, kind, entry | {field.name: value} | children)


def minimal_entry_example(registry: Registry, kind: Kind) -> Any:
    """Return an entry with its required fields, or else with the first field that an entry may have.

    A node of a navigation also has its type, key and at least one child, if it needs children.
    """
    if kind.is_always_shorthand and kind.shorthand_field is not None:
        return value_example(registry, kind, kind.field(kind.shorthand_field))
    declarable = [
        field
        for field in kind.fields
        if field.is_declarable
        and not field.is_parent_reference
        and field.name not in (kind.key_field, kind.default_key_field)
    ]
    example_fields = [field for field in declarable if field.required or field.form_selector] or declarable[
        :1
    ]
    entry = {field.name: value_example(registry, kind, field) for field in example_fields}
    if isinstance(kind.shape, TreeNode):
        entry = {"type": kind.shape.yaml_type, "key": key_example(registry, kind)} | entry
        if kind.shape.min_children:
            entry["children"] = [minimal_entry_example(registry, registry[kind.shape.child_kinds[0]])]
    if kind.parent is None:
        entry = {"id": key_example(registry, kind)} | entry
    return entry


def _file_with_entry(registry: Registry, kind: Kind, entry: Any) -> dict[str, Any]:
    """Return a file with an entry inside entries of its parent kinds, each with its required fields.

    Wraps the entry in its list or mapping, then in its parent entry, up to the organization.
    """
    while True:
        parent = next((registry[name] for name in reversed(kind.parents) if name in registry), None)
        content: Any = entry
        if isinstance(kind.shape, EntryMapping):
            content = {key_example(registry, kind): entry}
        elif isinstance(kind.shape, TreeNode):
            content = [entry]
        for part in reversed(kind.key.split(".")):
            content = {part: content}
        if parent is None:
            return {"dpsync": 1, **content}
        if parent.parent is None:
            return {parent.name: key_example(registry, parent), **content}
        kind, entry = parent, minimal_entry_example(registry, parent) | content


def _example_of_type(registry: Registry, type_: Type) -> Any:
    """Return an example of a value of a type, as YAML data."""
    match type_:
        case Flag():
            return True
        case Enum(words=words):
            return words[0]
        case OwnReference():
            return OWN
        case Reference(kinds=kinds):
            return key_example(registry, registry[kinds[0]]) if kinds[0] in registry else {"id": "id-1"}
        case Object(parts=parts, required=required):
            names = required or tuple(parts)[:1]
            return {name: _example_of_type(registry, parts[name]) for name in names}
        case OneOf(tag=tag, forms=forms):
            word, form = next(iter(forms.items()))
            return {tag: word, **_example_of_type(registry, form)}
        case List(item_type=of):
            return [_example_of_type(registry, of)]
        case Table(key_type=keys, value_type=values):
            return {_example_of_type(registry, keys): _example_of_type(registry, values)}
        case Certificate():
            return {"file": "certs/okta.pem"}
        case Markdown():
            return {"file": "instructions.md"}
        case LongText():
            return {"file": "text.txt"}
        case Json(json_schema=shape):
            return [] if shape.get("type") == "array" else {}
        case Text(secret=True):
            return {"env": "NAME"}
        case Text(format=form):
            return {"email": "ada@acme.example", "url": "https://acme.example"}.get(form or "", "text")
    return "text"
