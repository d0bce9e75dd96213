"""Describe each field in one sentence, for editors, docs/kinds.md and `dpsync explain`.

The declarations say what a field may hold and how it is written. A plan needs none of these sentences, so
they are in a file of their own, which only those commands import that show them. A kind's sentences are under
its name; a member of a field has its path ("source.url"). A test holds the tables complete: a field without a
sentence fails it, and so does a sentence without a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ROLE: Final = "What the role allows: admin, create, review, edit, comment or read."
_LEVEL: Final = (
    "The role of all organization members here. `inherit` takes the level of the "
    "parent collection, or the organization role at the top."
)
_ICON: Final = "The name of the icon that the navigation shows."
_CONDITION: Final = "An expression about visitor claims. Only visitors for whom it is true see the object."
_DRAFT: Final = "Whether the object is hidden from readers as a draft."
_TITLES: Final = "The title in other languages, by language code."
_DESCRIPTIONS: Final = "The description in other languages, by language code."
_SETTINGS: Final = "The integration's settings, in the form that the integration defines."
_EXTERNAL_IDS: Final = "Ids by which the integration's service finds this installation."

_CONNECTORS: Final = {
    "url": "The address of the website.",
    "channelId": "The id or handle of the video channel.",
    "repository": "The repository, as owner and name.",
    "token": "The access token.",
    "subdomain": "The subdomain of the help desk.",
    "email": "The email address of the help desk user.",
    "apiToken": "The API token of the help desk user.",
    "dataCenter": "The help desk's data center, as the end of its domain.",
    "orgId": "The organization's id in the help desk.",
    "clientId": "The OAuth client id.",
    "clientSecret": "The OAuth client secret.",
    "refreshToken": "The OAuth refresh token.",
    "domain": "The domain of the help desk.",
    "apiKey": "The API key that may read tickets.",
    "baseUrl": "The address of the issue tracker.",
    "apiEmail": "The email address of the issue tracker's user.",
    "statusMapping": "The issue status for each change request status.",
}
_RULES: Final = {
    "mergeRules": "The conditions for merging a change request.",
    "mergeRules.type": "`rules`: the listed rules apply. `none`: no rule applies. `inherit` (spaces "
    "only): the organization's rules apply.",
    "mergeRules.rules": "The rules. A merge must meet all of them.",
    "mergeRules.rules.rule": "The type of the rule.",
    "mergeRules.rules.users": "The members to whom the rule applies.",
    "mergeRules.rules.expression": "The expression that must be true for a merge.",
    "mergeRules.rules.message": "The message shown if the expression is false.",
}
_SPACE_ACCESS: Final = {"defaultLevel": _LEVEL, **_RULES}
_LOOKS: Final = {
    "title": "The title shown on the site instead of its own title.",
    "localizedTitle": _TITLES,
    "styling": "Theme, colors, fonts, corners and icons.",
    "internationalization": "The language of the site's interface.",
    "favicon": "The icon in browser tabs.",
    "header": "The header: logo, colors and links.",
    "footer": "The footer: logo, link groups and copyright notice.",
    "announcement": "A banner above every page.",
    "themes": "The default theme (light or dark), and whether readers may switch.",
    "feedback": "Whether readers may rate a page.",
    "ai": "The AI assistant for readers.",
    "advancedCustomization": "Whether advanced customization settings apply.",
    "pageActions": "The actions that readers get on a page, such as copying it.",
    "externalLinks": "Whether links to other sites open in a new tab.",
    "pagination": "Whether a page links to the previous and next page.",
    "trademark": "Whether the site shows GitBook's name.",
    "privacyPolicy": "The link to the privacy policy in the cookie banner.",
    "socialPreview": "The preview image of shared links.",
    "insights": "Analytics, and whether they use cookies.",
    "socialAccounts": "The social network accounts that the site links to.",
}

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "organization": {
        "title": "The name of the organization.",
        "emailDomains": "Email domains whose users may join without an invitation.",
        "hostname": "The first label of the organization's own host name.",
        "defaultRole": "The role of new members.",
        "defaultContent": "The content shown at the organization's host name.",
        "defaultContent.type": "The type of that content.",
        "defaultContent.site": "The site shown at the organization's host name.",
        "logo": "The URL of the organization's logo.",
        "sso": "Whether members must sign in by a SAML provider.",
        "ai": "Whether AI features are available.",
        "inviteLinks": "Whether people may join by a link.",
        "collectionOrder": "The top-level collections, in their order in GitBook.",
        "blocked": "The reason why GitBook has blocked the organization.",
        "type": "Whether the organization is a business or a community.",
        **_RULES,
    },
    "agent_instructions": {"instructions": "Instructions for GitBook's agents, as Markdown."},
    "collection": {
        "title": "The name of the collection.",
        "parent": "The parent collection. null: the top level.",
        "description": "A short description of the collection.",
        "defaultLevel": _LEVEL,
        "order": "The spaces of the collection, in their order in GitBook.",
        "collectionOrder": "The child collections, in their order in GitBook.",
    },
    "glossary_term": {"translations": "The term in each language, by language code."},
    "installation": {
        "integration": "The name of the integration.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
        "space_selection": "Whether the integration is active in all spaces or in selected spaces.",
        "site_selection": "Whether the integration is active on all sites or on selected sites.",
        "status": "Whether the integration is active.",
    },
    "installation_site": {
        "site": "The site on which the integration is active.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
    },
    "installation_space": {
        "space": "The space in which the integration is active.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
    },
    "member": {
        "email": "The member's email address.",
        "role": "The member's role in the organization. `guest` gives no access by itself.",
        "sso": "Whether the member signs in with a SAML provider. The API cannot turn it off again.",
    },
    "member_permission": {"user": "The member.", "role": _ROLE},
    "team_permission": {"team": "The team.", "role": _ROLE},
    "openapi": {
        "slug": "The specification's name in URLs and on pages.",
        "source": "The source of the specification: a URL or its text.",
        "source.url": "The URL from which GitBook fetches the specification.",
        "source.text": "The text of the specification.",
        "visibility": "Whether people without an account may read the specification.",
        "processingState": "The processing state of the specification.",
        "lastProcessErrorCode": "The error code of the last failed processing.",
        "lastProcessError": "The error message of the last failed processing.",
    },
    "published_integration": {
        "name": "The name of the integration, unique in GitBook.",
        "runtime": "The runtime version that runs the script.",
        "title": "The displayed name.",
        "description": "One sentence about what the integration does.",
        "summary": "A longer text about the integration, as Markdown.",
        "icon": "The icon, as a file or as text.",
        "previewImages": "Screenshots of the integration.",
        "visibility": "Who can find and install the integration.",
        "target": "Where it can be installed.",
        "scopes": "The permission scopes of the integration.",
        "categories": "The categories in the integration directory.",
        "blocks": "The blocks that the integration adds to the editor.",
        "contentSources": "The content sources that the integration provides.",
        "externalLinks": "Links on the page of the integration.",
        "externalLinks.url": "Where the link leads.",
        "externalLinks.label": "The text of the link.",
        "configurations": "The configuration form, as JSON Schema.",
        "contentSecurityPolicy": "The Content-Security-Policy of the integration's pages.",
        "script": "The integration's script.",
        "secrets": "Secrets that the script can read, by name.",
    },
    "saml": {
        "label": "The name of the provider.",
        "entityID": "The provider's SAML entity ID.",
        "ssoURL": "The provider's sign-in URL.",
        "certificate": "The provider's signing certificate, as PEM.",
        "defaultTeam": "The team of members who sign in with this provider for the first time.",
        "defaultRole": "The role of members who sign in with this provider for the first time.",
        "status": "Whether the provider is active.",
    },
    "site": {
        "title": "The name of the site.",
        "type": "The site's plan, set when the site is created.",
        "visibility": "Who can read the published site.",
        "basename": "The site's part of its URL.",
        "hostname": "The custom host name of the site.",
        "proxy": "The host and path of a reverse proxy that serves the site.",
        "adaptiveContent": "Whether the site shows different content to different visitors.",
        "adaptiveContent.enabled": "Whether conditions apply.",
        "defaultLevel": _LEVEL,
        "agentsContext": "Whether GitBook's agents may use the site's content.",
        "styleguide": "The style guide for the editing agent on this site.",
        "published": "Whether the site is online.",
    },
    "adaptive_schema": {"jsonSchema": "The visitor claims, as JSON Schema."},
    "customization": _LOOKS,
    "site_space_customization": _LOOKS,
    "agent_settings": {
        "scans": "What agents scan for automatically.",
        "scans.topics": "Whether agents scan topics for findings: `auto` or `never`.",
        "findings": "What agents do with their findings.",
        "findings.changeRequests": "The findings for which agents open change requests.",
        "editing": "Settings of the editing agent on this site.",
        "editing.customInstructions": "Instructions for the editing agent, as Markdown.",
    },
    "channel": {
        "type": "The service in which people message the agent.",
        "setupSettings": "The places in the service where the agent answers.",
        "setupSettings.allowedChannels": "The allowed Slack or Discord channels. Empty: all.",
        "setupSettings.allowedTeams": "The allowed Linear teams. Empty: all.",
        "setupSettings.allowedRepositories": "The allowed GitHub repositories. Empty: all.",
        "role": "`support` answers from the docs. `collaborator` also opens change requests.",
        "status": "Whether somebody has authorized the agent in the service.",
    },
    "context_connection": {
        "connector": "The connected service.",
        "setupSettings": "The connection settings. The keys depend on the connector.",
        **{f"setupSettings.{name}": text for name, text in _CONNECTORS.items()},
        "usageSettings": "How GitBook uses the connected content.",
        "usageSettings.changeRequests": "Whether agents open change requests based on it.",
        "usageSettings.search": "Whether visitors can find the content by search.",
        "usageSettings.sync": "Whether change request states are synced back to the service.",
        "usageSettings.searchBoost": "The weight of the content in search results.",
        "filter": "A filter for the items to read, in the connector's syntax.",
        "label": "The displayed name of the connection.",
        "status": "The status of the last synchronization.",
        "failureReason": "The reason for a failed synchronization.",
    },
    "topic": {
        "label": "The topic's name, assigned by GitBook.",
        "usageSettings": "How GitBook uses the questions about the topic.",
        "usageSettings.changeRequests": "Whether agents open change requests based on it.",
    },
    "mcp_server": {
        "name": "The name of the MCP server.",
        "url": "The URL of the MCP server.",
        "transport": "The transport protocol of the MCP server.",
        "headers": "HTTP headers sent to the MCP server with each request. Each value is read from a "
        "variable.",
        "condition": _CONDITION,
    },
    "redirect": {
        "source": "The path on the site that is redirected.",
        "destination": "The target of the redirect.",
        "destination.section": "The key of the target section.",
        "destination.space": "The key of the target site space.",
        "destination.page": "The target page: the key of its site space, a slash, and the page's path.",
        "destination.kind": "The type of the target.",
        "destination.siteSectionId": "The target section.",
        "destination.siteSpaceId": "The target site space, or the site space of the target page.",
        "destination.pageId": "The target page: its id, or its path in the space.",
        "destination.url": "The target URL.",
        "captureWildcard": "Whether all paths below the source are redirected, too.",
        "permanent": "Whether the redirect is permanent for browsers and search engines.",
        "draft": _DRAFT,
    },
    "share_link": {
        "name": "The name of the link. Readers do not see it.",
        "active": "Whether the link gives access.",
    },
    "visitor_auth": {
        "backend": "Who authenticates visitors: your own server (`custom`) or an integration.",
        "fallbackURL": "The sign-in URL for visitors.",
        "logoutURL": "The URL for visitors who have signed out.",
    },
    "section": {
        "title": "The name of the section in the navigation.",
        "path": "The section's part of the URL.",
        "icon": _ICON,
        "description": "A short text about the section in the navigation.",
        "condition": _CONDITION,
        "localizedTitle": _TITLES,
        "localizedDescription": _DESCRIPTIONS,
        "draft": _DRAFT,
        "default": "Whether the site's URL opens this section.",
    },
    "section_group": {
        "title": "The name of the group in the navigation.",
        "icon": _ICON,
        "localizedTitle": _TITLES,
        "draft": _DRAFT,
    },
    "external_link": {
        "title": "The text of the link in the navigation.",
        "url": "Where the link leads.",
        "icon": _ICON,
        "description": "A short text about the link in the navigation.",
        "condition": _CONDITION,
        "localizedTitle": _TITLES,
        "localizedDescription": _DESCRIPTIONS,
        "draft": _DRAFT,
    },
    "site_space": {
        "space": "The space to show, or the translation whose space to show.",
        "path": "The space's part of the URL.",
        "condition": _CONDITION,
        "hidden": "Whether the space is left out of the navigation. Its URL still works.",
        "pageId": "The id of the first page to open.",
        "draft": _DRAFT,
        "default": "Whether the URL of its section, or of the site, opens this space.",
    },
    "space": {
        "title": "The name of the space.",
        "collection": "The parent collection. null: the top level.",
        "emoji": "The emoji of the space. A space has an emoji or an icon.",
        "icon": "The URL of the space's icon, instead of an emoji.",
        "editMode": "`live` accepts direct edits; `locked` accepts only change requests, or, with the "
        "profiles `full` and `reference`, no edits at all.",
        "language": "The language code of the content.",
        **_SPACE_ACCESS,
    },
    "translation_access": _SPACE_ACCESS,
    "team": {"title": "The name of the team."},
    "team_member": {
        "user": "The member of the team.",
        "role": "The role in the team. An `owner` may also change the team.",
    },
    "translation": {
        "source": "The space to translate.",
        "source.space": "The space to translate.",
        "source.language": "The language code of the space to translate.",
        "language": "The language code of the translation.",
        "instructions": "Instructions for the translation (tone, terms), as Markdown.",
        "result": "The translated space.",
        "status": "The state of the translation.",
    },
}  # fmt: skip

EVERY_ENTRY: Final[Mapping[str, str]] = {
    "id": "The GitBook id of the object that this entry manages.",
    "previously": "The former key, address or title of the object, so that a rename creates nothing.",
    "new": "true: this is a new object, although a similar object exists.",
    "takeover": "true: dpsync changes the object although Git Sync connects it to a repository.",
    "type": "The type of the navigation entry.",
    "key": "The entry's name in your files. It is never sent to GitBook.",
    "children": "The child entries, in the order that readers see.",
}
"""The keys that belong to no field: an entry may have them by its shape."""

OF_THE_FILE: Final[Mapping[str, str]] = {
    "dpsync": "The version of this format.",
    "include": "Further files of the configuration, as paths or patterns.",
    "policy": "Rules for what a plan may delete or must ignore.",
    "policy.prune": "The places where unmanaged objects are deleted. Elsewhere they are kept.",
    "policy.protect": "Objects that are never deleted or re-created.",
    "policy.protect.address": "The address of a protected object, or a pattern.",
    "policy.protect.skip": "true: a plan keeps the object and continues, instead of being refused.",
    "policy.ignore": "Objects and fields that dpsync does not manage.",
    "policy.forget": "Removed entries whose objects stay in GitBook.",
    "policy.watch": "Places and fields that `drift` compares without an entry. `access` stands for all that "
    "open access.",
    "policy.removed": "Objects with content that may be deleted.",
    "policy.accept": "Known problems on GitBook's side. A plan counts them and does not list them.",
    "policy.limits": "Limits for the number of deletes and exposures in a plan.",
    "policy.limits.deletes": "The largest number of objects that a plan may delete without confirmation.",
    "policy.limits.percent": "The largest percentage of managed objects that a plan may delete without "
    "confirmation. Applies from 20 managed objects.",
    "policy.limits.exposures": "The largest number of changes that open access, without confirmation.",
    "environments": "The environments to which these files are applied, by name.",
    "environments.url": "The server's address, without /v1.",
    "environments.token": "The environment variable with the access token.",
    "environments.token.env": "The name of the variable, which begins with DPSYNC_TOKEN.",
    "environments.limits": "Limits for requests to the server.",
    "environments.limits.rate": "The largest number of requests per second, minute or hour, such as 5/s.",
    "environments.profile": "The API profile of the server: `full`, `reference` or `published`.",
    "environments.overlay": "An overlay file, merged into the root file in this environment.",
    "environments.organizations": "The organizations in this environment, by their keys.",
    "environments.organizations.id": "The GitBook id of the organization.",
    "environments.organizations.hostname": "The first label of the organization's own host name.",
    "organizations": "The organizations, by names of your choice.",
    "organization": "The key of the organization to which all other keys of the file belong.",
}
"""The keys of the root file that belong to no kind."""
PAGES: Final[Mapping[str, str]] = {
    "dpsync": "docs/configuration.md#the-root-file",
    "include": "docs/configuration.md#include",
    "policy": "docs/configuration.md#policy",
    "policy.removed": "docs/configuration.md#content-goes-by-its-name",
    "policy.forget": "docs/configuration.md#forgetting",
    "policy.accept": "docs/configuration.md#accepted-problems",
    "environments": "docs/configuration.md#environments",
    "environments.url": "docs/configuration.md#address-and-token",
    "environments.token": "docs/configuration.md#address-and-token",
    "environments.overlay": "docs/configuration.md#overlays",
    "environments.limits": "docs/configuration.md#how-fast-dpsync-asks",
    "organizations": "docs/kinds.md#organization",
    "organization": "docs/configuration.md#one-organization-in-a-file",
}
"""Where the docs say more of a key of the root file; one that is not here is on the page of what it is in."""


def page_of_kind(noun: str) -> str:
    """Where the docs say more of a kind, by its noun."""
    return f"docs/kinds.md#{noun.lower().replace(' ', '-')}"


def meaning(kind: str, field: str, member: str = "") -> str:
    """The sentence about a field of a kind, or about a member of it; empty where there is none."""
    return MEANINGS.get(kind, {}).get(f"{field}.{member}" if member else field, "")
