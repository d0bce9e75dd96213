"""Describe each allowed value of a field in one sentence, for editors, docs/kinds/ and `dpsync explain`.

A table is found by the path of the field ("site.visibility"), else by the last name of the path ("role"). So
fields of several kinds can share a table. A test holds the tables complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

_ROLES: Final = {
    "admin": "The person can do everything, including managing members and settings.",
    "create": "The person can create, edit and merge content, and can create spaces and collections.",
    "review": "The person can read, comment, propose changes, and merge changes of other people.",
    "edit": "The person can read, comment and propose changes.",
    "comment": "The person can read and comment.",
    "read": "The person can read.",
    "guest": "The person can see only objects for which the person has a permission.",
}
_LEVELS: Final = {**_ROLES, "inherit": "The role from the parent collection or the organization applies."}
_MERGE: Final = {
    "rules": "A change request must meet all rules in `rules`.",
    "none": "No merge rules apply.",
    "inherit": "The merge rules of the organization apply.",
}
_SCOPES: Final = {
    "space:content:read": "The integration can read the content of spaces.",
    "space:content:write": "The integration can change the content of spaces.",
    "space:metadata:read": "The integration can read the settings of spaces.",
    "space:metadata:write": "The integration can change the settings of spaces.",
    "space:git:sync": "The integration can sync spaces with a repository.",
    "page:feedback:read": "The integration can read page feedback.",
    "site:metadata:read": "The integration can read the settings of sites.",
    "site:views:read": "The integration can read page views.",
    "site:script:inject": "The integration can add a script to the pages of sites.",
    "site:script:cookies": "The script of the integration can set cookies.",
    "site:visitor:auth": "The integration can sign visitors in.",
    "site:visitor:claims": "The integration can set visitor claims.",
    "site:adaptive:read": "The integration can read the adaptive schema of sites.",
    "site:adaptive:write": "The integration can change the adaptive schema of sites.",
    "conversations:ingest": "The integration can submit customer conversations.",
    "openapi:read": "The integration can read OpenAPI specifications.",
    "openapi:write": "The integration can change OpenAPI specifications.",
}
_CATEGORIES: Final = {
    "analytics": "Integrations for analytics.",
    "collaboration": "Integrations for collaboration.",
    "content": "Integrations that add content to pages.",
    "gitsync": "Integrations for Git Sync.",
    "marketing": "Integrations for marketing.",
    "visitor-auth": "Integrations that sign visitors in.",
    "other": "Integrations for any other purpose.",
}
_RULES: Final = {
    "require_specific_reviewers": "All listed members must review the change request.",
    "require_one_of_specific_reviewers": "One of the listed members must review the change request.",
    "allow_bypass": "The listed members can merge even if a change request breaks other rules.",
    "require_at_least_one_review": "At least one person must review the change request.",
    "require_at_least_one_approved_review": "At least one person must approve the change request.",
    "require_all_reviews_approved": "Every reviewer must approve the change request.",
    "require_agent_review": "GitBook's AI agent must review the change request.",
    "require_up_to_date_change_request": "The change request must contain all changes that were merged in "
    "the meantime.",
    "require_change_request_subject": "The change request must have a subject.",
    "require_change_request_description": "The change request must have a description.",
    "require_author_to_merge": "Only the author can merge the change request.",
    "custom": "The expression in `expression` must be true.",
}
_LANGUAGES: Final = {
    "en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
    "pt-br": "Brazilian Portuguese", "ru": "Russian", "ja": "Japanese", "zh": "Chinese",
    "zh-tw": "Chinese (Taiwan)",
    "yue": "Cantonese", "ko": "Korean", "ar": "Arabic", "hi": "Hindi", "nl": "Dutch", "pl": "Polish",
    "tr": "Turkish", "sv": "Swedish", "no": "Norwegian", "da": "Danish", "fi": "Finnish",
    "el": "Greek", "cs": "Czech",
    "hu": "Hungarian", "ro": "Romanian", "th": "Thai", "vi": "Vietnamese", "id": "Indonesian", "ms": "Malay",
    "he": "Hebrew", "uk": "Ukrainian", "sk": "Slovak", "bg": "Bulgarian", "hr": "Croatian",
    "lt": "Lithuanian", "lv": "Latvian", "et": "Estonian", "sl": "Slovenian",
}  # fmt: skip
_LANGUAGE: Final = {code: f"{name}." for code, name in _LANGUAGES.items()}

VALUE_DESCRIPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "policy.protect.skip": {"True": "dpsync keeps the protected object and carries out all other changes."},
    "policy.watch": {"access": "All lists and fields that give access, such as roles and share links."},
    "role": _ROLES,
    "defaultRole": _ROLES,
    "defaultLevel": _LEVELS,
    "mergeRules.type": _MERGE,
    "mergeRules.rules.rule": _RULES,
    "language": _LANGUAGE,
    "localizedTitle": _LANGUAGE,
    "localizedDescription": _LANGUAGE,
    "glossary_term.translations": _LANGUAGE,
    "agent_settings.scans.topics": {
        "auto": "Agents search for new topics by themselves.",
        "never": "Agents do not search for new topics.",
    },
    "agent_settings.findings.changeRequests": {
        "never": "Agents open no change requests by themselves.",
        "auto-fixable": "Agents open a change request for each problem that they can fix.",
        "always": "Agents open a change request for every problem.",
    },
    "channel.type": {
        "builtin:slack": "People ask the agent in Slack.",
        "builtin:linear": "People ask the agent in Linear.",
        "builtin:github": "People ask the agent in GitHub.",
        "builtin:discord": "People ask the agent in Discord.",
    },
    "channel.role": {
        "support": "The agent answers questions from the docs.",
        "collaborator": "The agent answers questions and opens change requests.",
    },
    "context_connection.setupSettings.statusMapping": {
        "draft": "The Jira status for a draft.",
        "open": "The Jira status for an open change request.",
        "archived": "The Jira status for an archived change request.",
        "merged": "The Jira status for a merged change request.",
    },
    "context_connection.usageSettings.searchBoost": {
        "x0.8": "Search ranks the connected content below the content of the site.",
        "x1.0": "Search ranks the connected content like the content of the site.",
        "x1.2": "Search ranks the connected content above the content of the site.",
    },
    "installation.space_selection": {
        "all": "The integration is active in all spaces.",
        "selected": "The integration is active only in the spaces under `spaces`.",
    },
    "installation.site_selection": {
        "all": "The integration is active on all sites.",
        "selected": "The integration is active only on the sites under `sites`.",
    },
    "mcp_server.transport": {
        "sse": "GitBook uses server-sent events.",
        "http": "GitBook uses streamable HTTP.",
    },
    "openapi.visibility": {
        "private": "Only members of the organization can read the specification.",
        "public": "Everyone can read the specification.",
    },
    "organization.defaultContent.type": {"site": "Visitors see a site."},
    "published_integration.runtime": {
        "v1": "The first version of the runtime.",
        "v2": "The current version of the runtime.",
    },
    "published_integration.visibility": {
        "public": "Everyone can find and install the integration.",
        "private": "Only your organization can install the integration.",
        "unlisted": "Everyone who has the link can install the integration.",
    },
    "published_integration.target": {
        "all": "People install the integration for an organization, including all its sites and spaces.",
        "site": "People install the integration on a site.",
        "space": "People install the integration in a space.",
        "organization": "People install the integration for an organization.",
    },
    "published_integration.scopes": _SCOPES,
    "published_integration.categories": _CATEGORIES,
    "redirect.destination.kind": {
        "site-section": "The redirect leads to a section of the site.",
        "site-space": "The redirect leads to a space of the site.",
        "site-page": "The redirect leads to a page in a space of the site.",
        "external": "The redirect leads to a URL.",
    },
    "site.type": {
        "basic": "The free plan.",
        "premium": "The premium plan.",
        "ultimate": "The ultimate plan.",
        "sponsored": "The plan for projects that GitBook sponsors.",
        "legacy-basic": "A basic plan that GitBook no longer sells.",
        "legacy-premium": "A premium plan that GitBook no longer sells.",
    },
    "site.visibility": {
        "public": "Everyone can read the site, and search engines can index it.",
        "unlisted": "Everyone who has the URL can read the site. "
        "GitBook asks search engines not to index the site.",
        "share-link": "Everyone who has a share link can read the site.",
        "visitor-auth": "Only visitors who sign in can read the site.",
    },
    "site.agentsContext": {
        "included": "Agents use the content of the site.",
        "excluded": "Agents do not use the content of the site.",
    },
    "site.styleguide": {
        "own": "The agent follows the site's own style guide, which GitBook creates if necessary."
    },
    "space.editMode": {
        "live": "People can edit pages directly, and readers see the edits at once.",
        "locked": "People can change pages only with change requests.",
    },
    "team_member.role": {
        "owner": "The member can also manage the members of the team.",
        "member": "The member belongs to the team, but cannot manage the team.",
    },
    "visitor_auth.backend": {
        "custom": "Your own server signs visitors in.",
        "integration": "An integration signs visitors in.",
    },
    "type": {
        "section": "The entry is a section: a part of the site with one or more spaces.",
        "section-group": "The entry is a section group: a menu that contains sections.",
        "external-link": "The entry is a link to another website.",
        "space": "The entry is a space that the site publishes.",
    },
    "dpsync": {"1": "The only version of the format of the configuration files."},
    "environments.profile": {
        "full": "All operations of the local GitBook server that dpsync contains (`dpsync serve`).",
        "reference": "The operations of GitBook's older API.",
        "published": "The operations of GitBook's current API.",
    },
}
"""The sentences by the path below the kind, or by the name of a field that several kinds have."""


def value_description(path: str, value: object) -> str:
    """Return the sentence about a value of a field, given the path with its kind; "" if there is none."""
    return value_descriptions(path).get(str(value), "")


def value_descriptions(path: str) -> Mapping[str, str]:
    """Return the sentences about the values of a field, given the path with its kind."""
    return next((VALUE_DESCRIPTIONS[name] for name in _path_suffixes(path) if name in VALUE_DESCRIPTIONS), {})


def _path_suffixes(path: str) -> Iterator[str]:
    """Yield the path, then the path without its first part, and so on."""
    while path:
        yield path
        path = path.partition(".")[2]
