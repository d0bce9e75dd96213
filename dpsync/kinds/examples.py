"""An example for each field and each kind, as a person might write it: for editors, docs and `explain`.

A value follows from the type of the field where that says enough; else it is in `_VALUES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpsync.kinds.kind import Entries, Field, Kind, Node
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, Flag, Json, Many, Object, OneOf, Own, Reference, Table, Text, Type
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
"""How the examples name one of each kind; a kind that is not here is named like its noun."""
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
    # Of every kind that says nothing else.
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
"""By kind and field, else by the field's name alone."""


def key_example(registry: Registry, kind: Kind) -> str:
    """A key as the examples name one of this kind: a local name, or what the key refers to."""
    refers = kind.field(kind.natural).type.refers if kind.natural else ()
    if refers and refers[0] in registry:
        return key_example(registry, registry[refers[0]])
    return _KEYS.get(kind.name, kind.noun.lower().replace(" ", "-"))


def value_example(registry: Registry, kind: Kind, field: Field) -> Any:
    """A value that the field may have, as YAML's own values."""
    for name in (f"{kind.name}.{field.name}", field.name):
        if name in _VALUES:
            return _VALUES[name]
    return _of_type(registry, field.type)


def entry_example(registry: Registry, kind: Kind) -> dict[str, Any]:
    """A file with one entry of this kind where it belongs, with what such an entry must have."""
    return _around(registry, kind, bare_example(registry, kind))


def field_example(registry: Registry, kind: Kind, field: Field) -> dict[str, Any]:
    """The same with a value for this field."""
    whole = bare_example(registry, kind) | {field.name: value_example(registry, kind, field)}
    return _around(registry, kind, whole[field.name] if _is_whole(kind, field) else whole)


def _is_whole(kind: Kind, field: Field) -> bool:
    return kind.only_short and field.name == kind.shorthand


def bare_example(registry: Registry, kind: Kind) -> Any:
    """An entry alone: what it must have, else its first field; of one that is only ever short its value."""
    if kind.only_short and kind.shorthand is not None:
        return value_example(registry, kind, kind.field(kind.shorthand))
    may = [
        field
        for field in kind.fields
        if field.declarable and not field.nest and field.name not in (kind.natural, kind.default)
    ]
    wanted = [field for field in may if field.required or field.formed_by] or may[:1]
    entry = {field.name: value_example(registry, kind, field) for field in wanted}
    if isinstance(kind.shape, Node):
        entry = {"type": kind.shape.type, "key": key_example(registry, kind)} | entry
        if kind.shape.least:
            entry["children"] = [bare_example(registry, registry[kind.shape.holds[0]])]
    if kind.parent is None:
        entry = {"id": key_example(registry, kind)} | entry
    return entry


def _around(registry: Registry, kind: Kind, entry: Any) -> dict[str, Any]:
    """The entry below what it belongs to, each of which has what it must have."""
    while True:
        holder = next((registry[name] for name in reversed(kind.parents) if name in registry), None)
        place: Any = entry
        if isinstance(kind.shape, Entries):
            place = {key_example(registry, kind): entry}
        elif isinstance(kind.shape, Node):
            place = [entry]
        for part in reversed(kind.key.split(".")):
            place = {part: place}
        if holder is None:
            return {"dpsync": 1, **place}
        own = (
            {"id": key_example(registry, holder)} if holder.parent is None else bare_example(registry, holder)
        )
        kind, entry = holder, own | place


def _of_type(registry: Registry, type_: Type) -> Any:
    match type_:
        case Flag():
            return True
        case Enum(words=words):
            return words[0]
        case Own():
            return OWN
        case Reference(kinds=kinds):
            return key_example(registry, registry[kinds[0]]) if kinds[0] in registry else {"id": "id-1"}
        case Object(parts=parts, required=required):
            names = required or tuple(parts)[:1]
            return {name: _of_type(registry, parts[name]) for name in names}
        case OneOf(tag=tag, forms=forms):
            word, form = next(iter(forms.items()))
            return {tag: word, **_of_type(registry, form)}
        case Many(of=of):
            return [_of_type(registry, of)]
        case Table(keys=keys, values=values):
            return {_of_type(registry, keys): _of_type(registry, values)}
        case Certificate():
            return {"file": "certs/okta.pem"}
        case Markdown():
            return {"file": "instructions.md"}
        case LongText():
            return {"file": "text.txt"}
        case Json(shape=shape):
            return [] if shape.get("type") == "array" else {}
        case Text(secret=True):
            return {"env": "NAME"}
        case Text(form=form):
            return {"email": "ada@acme.example", "url": "https://acme.example"}.get(form or "", "text")
    return "text"
