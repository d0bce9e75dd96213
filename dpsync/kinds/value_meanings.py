"""What each value of a field means that takes one of a few words: one sentence for each, for editors.

They are found by the field's path ("site.visibility"), else by its last name ("role"), so that a field which
several kinds have is said once. A test holds the tables complete, as it does those of the fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

_ROLES: Final = {
    "admin": "May do everything, including managing members and settings.",
    "create": "May create, edit and merge, and create spaces and collections.",
    "review": "May read, comment, propose changes, and review and merge others' changes.",
    "edit": "May read, comment, and propose changes.",
    "comment": "May read and comment.",
    "read": "May read.",
    "guest": "May see nothing without a permission of their own.",
}
_LEVELS: Final = {**_ROLES, "inherit": "Takes the parent's level."}
_MERGE: Final = {
    "rules": "A merge must meet all listed rules.",
    "none": "No rules: everybody with merge permission may merge.",
    "inherit": "The parent's rules apply.",
}
_SCOPES: Final = {
    "space:content:read": "May read the content of spaces.",
    "space:content:write": "May change the content of spaces.",
    "space:metadata:read": "May read the settings of spaces.",
    "space:metadata:write": "May change the settings of spaces.",
    "space:git:sync": "May sync spaces with a repository.",
    "page:feedback:read": "May read page feedback.",
    "site:metadata:read": "May read the settings of sites.",
    "site:views:read": "May read page views.",
    "site:script:inject": "May put a script into the pages of sites.",
    "site:script:cookies": "May set cookies by that script.",
    "site:visitor:auth": "May sign visitors in.",
    "site:visitor:claims": "May set visitor claims.",
    "site:adaptive:read": "May read the adaptive schema of sites.",
    "site:adaptive:write": "May change the adaptive schema of sites.",
    "conversations:ingest": "May submit customer conversations.",
    "openapi:read": "May read the OpenAPI specifications.",
    "openapi:write": "May change the OpenAPI specifications.",
}
_CATEGORIES: Final = {
    "analytics": "Analytics.",
    "collaboration": "Collaboration.",
    "content": "Content for pages.",
    "gitsync": "Git Sync.",
    "marketing": "Marketing.",
    "visitor-auth": "Visitor authentication.",
    "other": "Any other category.",
}
_RULES: Final = {
    "require_specific_reviewers": "All the listed members must have reviewed it.",
    "require_one_of_specific_reviewers": "One of the listed members must have reviewed it.",
    "allow_bypass": "The listed members may merge although other rules are not met.",
    "require_at_least_one_review": "Somebody must have reviewed it.",
    "require_at_least_one_approved_review": "Somebody must have approved it.",
    "require_all_reviews_approved": "Everybody who has reviewed it must have approved it.",
    "require_agent_review": "The platform's agent must have reviewed it.",
    "require_up_to_date_change_request": "It must include all changes merged in the meantime.",
    "require_change_request_subject": "It must have a subject.",
    "require_change_request_description": "It must have a description.",
    "require_author_to_merge": "Only its author may merge it.",
    "custom": "The expression must be true.",
}
_LANGUAGES: Final = {
    "en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
    "pt-br": "Portuguese of Brazil", "ru": "Russian", "ja": "Japanese", "zh": "Chinese",
    "zh-tw": "Chinese of Taiwan",
    "yue": "Cantonese", "ko": "Korean", "ar": "Arabic", "hi": "Hindi", "nl": "Dutch", "pl": "Polish",
    "tr": "Turkish", "sv": "Swedish", "no": "Norwegian", "da": "Danish", "fi": "Finnish",
    "el": "Greek", "cs": "Czech",
    "hu": "Hungarian", "ro": "Romanian", "th": "Thai", "vi": "Vietnamese", "id": "Indonesian", "ms": "Malay",
    "he": "Hebrew", "uk": "Ukrainian", "sk": "Slovak", "bg": "Bulgarian", "hr": "Croatian",
    "lt": "Lithuanian", "lv": "Latvian", "et": "Estonian", "sl": "Slovenian",
}  # fmt: skip
_LANGUAGE: Final = {code: f"{name}." for code, name in _LANGUAGES.items()}

VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "policy.protect.skip": {"True": "A plan keeps the object and continues."},
    "policy.watch": {"access": "All places and fields that give access: roles, visibility, sign-in, links."},
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
        "auto": "The agent looks for topics by itself.",
        "never": "The agent looks for no topics.",
    },
    "agent_settings.findings.changeRequests": {
        "never": "The agent proposes no changes by itself.",
        "auto-fixable": "The agent proposes a change where it can mend what it found.",
        "always": "The agent proposes a change for all that it finds.",
    },
    "channel.type": {
        "builtin:slack": "A workspace of Slack.",
        "builtin:linear": "A workspace of Linear.",
        "builtin:github": "An account of GitHub.",
        "builtin:discord": "A server of Discord.",
    },
    "channel.role": {
        "support": "The agent answers questions there.",
        "collaborator": "The agent works with the team there.",
    },
    "context_connection.setupSettings.statusMapping": {
        "draft": "The status that an issue gets with a draft.",
        "open": "The status that an issue gets when the change request is opened.",
        "archived": "The status that an issue gets when the change request is archived.",
        "merged": "The status that an issue gets when the change request is merged.",
    },
    "context_connection.usageSettings.searchBoost": {
        "x0.8": "It counts less than the content of the site.",
        "x1.0": "It counts as much as the content of the site.",
        "x1.2": "It counts more than the content of the site.",
    },
    "installation.space_selection": {
        "all": "The integration is in every space.",
        "selected": "The integration is in the spaces that are listed.",
    },
    "installation.site_selection": {
        "all": "The integration is on every site.",
        "selected": "The integration is on the sites that are listed.",
    },
    "mcp_server.transport": {"sse": "Server-sent events.", "http": "Streamable HTTP."},
    "openapi.visibility": {
        "private": "Only members of the organization can read it.",
        "public": "Everybody can read it.",
    },
    "organization.defaultContent.type": {"site": "A site."},
    "published_integration.runtime": {"v1": "The first runtime.", "v2": "The current runtime."},
    "published_integration.visibility": {
        "public": "Everybody finds it and can install it.",
        "private": "Only its own organization can install it.",
        "unlisted": "Anybody with the link can install it.",
    },
    "published_integration.target": {
        "all": "It is installed for a whole organization, its sites and its spaces.",
        "site": "It is installed on a site.",
        "space": "It is installed in a space.",
        "organization": "It is installed for an organization.",
    },
    "published_integration.scopes": _SCOPES,
    "published_integration.categories": _CATEGORIES,
    "redirect.destination.kind": {
        "site-section": "To a section of the site.",
        "site-space": "To a space of the site.",
        "site-page": "To a page of a space of the site.",
        "external": "To a URL outside the site.",
    },
    "site.type": {
        "basic": "The free plan.",
        "premium": "The premium plan.",
        "ultimate": "The ultimate plan.",
        "sponsored": "The plan for projects that the platform sponsors.",
        "legacy-basic": "A basic plan that is no longer sold.",
        "legacy-premium": "A premium plan that is no longer sold.",
    },
    "site.visibility": {
        "public": "Everybody can read it, and search engines can index it.",
        "unlisted": "Anybody with the URL can read it. Search engines are asked not to index it.",
        "share-link": "Anybody with a share link can read it.",
        "visitor-auth": "Signed-in visitors can read it.",
    },
    "site.agentsContext": {
        "included": "The platform's agents use its content.",
        "excluded": "The platform's agents leave its content out.",
    },
    "site.styleguide": {"own": "The style guide of the site itself."},
    "space.editMode": {
        "live": "Accepts direct edits, which are visible at once, and change requests.",
        "locked": "Accepts only change requests; with the profiles `full` and `reference` no edits at all.",
    },
    "team_member.role": {
        "owner": "Belongs to the team, and manages its members.",
        "member": "Belongs to the team.",
    },
    "visitor_auth.backend": {
        "custom": "A server of your own signs visitors in.",
        "integration": "An integration signs visitors in.",
    },
    "type": {
        "section": "A section: a part of the site with spaces of its own.",
        "section-group": "A section group: sections under one title.",
        "external-link": "A link that leads away from the site.",
        "space": "A space that the site shows.",
    },
    "dpsync": {"1": "The first version, and the only one."},
    "environments.profile": {
        "full": "All operations that dpsync supports, including those that only the companion has.",
        "reference": "The operations of the older API reference.",
        "published": "The operations that GitBook documents today.",
    },
}
"""By path below the kind, or by a name that many have."""


def value_meaning(path: str, value: object) -> str:
    """The sentence about a value of a field, given the path with its kind; empty where there is none."""
    for name in _shorter(path):
        if (found := VALUES.get(name, {}).get(str(value))) is not None:
            return found
    return ""


def _shorter(path: str) -> Iterator[str]:
    """The path, then without its first part, and so on."""
    while path:
        yield path
        path = path.partition(".")[2]
