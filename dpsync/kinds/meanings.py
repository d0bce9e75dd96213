"""What each field means, in one sentence: for editors, docs/kinds.md and `dpsync explain`.

The declarations say what a field may hold and how it is written. A plan needs none of these sentences, so
they are in a file of their own, which only those commands import that show them. A kind's sentences are under
its name; a member of a field has its path ("source.url"). A test holds the tables complete: a field without a
sentence fails it, and so does a sentence without a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ROLE: Final = "What the role allows: admin, create, review, edit, comment or read."
_LEVEL: Final = "What all members of the organization may do here; `inherit` takes the level above."
_ICON: Final = "The name of the icon that the navigation shows."
_CONDITION: Final = "Shows it only to visitors for whom this expression over their claims is true."
_DRAFT: Final = "Hides it from readers while it is being prepared."
_TITLES: Final = "The title in other languages, by language code."
_DESCRIPTIONS: Final = "The description in other languages, by language code."
_SETTINGS: Final = "Settings of the integration, in the form that the integration asks for."
_EXTERNAL_IDS: Final = "Ids by which the integration's own service finds this installation."

_CONNECTORS: Final = {
    "url": "The address of the website.",
    "channelId": "The id or handle of the video channel.",
    "repository": "The repository, as owner and name.",
    "token": "The access token.",
    "subdomain": "The subdomain of the help desk.",
    "email": "The e-mail address of the help desk's user.",
    "apiToken": "The token of that user.",
    "dataCenter": "Where the help desk is hosted, as the end of its domain.",
    "orgId": "The help desk's id of the organization.",
    "clientId": "The id of the client that reads.",
    "clientSecret": "The secret of that client.",
    "refreshToken": "The token that it gets new tokens with.",
    "domain": "The domain of the help desk.",
    "apiKey": "The key that may read tickets.",
    "baseUrl": "The address of the issue tracker.",
    "apiEmail": "The e-mail address of the tracker's user.",
    "statusMapping": "Which status an issue gets when a change request gets one.",
}
_RULES: Final = {
    "mergeRules": "What must be true before a change request may be merged.",
    "mergeRules.type": "`rules` lists rules, `none` lets everybody merge; a space may `inherit`.",
    "mergeRules.rules": "The rules; all of them must be met.",
    "mergeRules.rules.rule": "Which rule this is.",
    "mergeRules.rules.users": "The members whom the rule names.",
    "mergeRules.rules.expression": "The expression that must be true.",
    "mergeRules.rules.message": "What people read when the expression is not true.",
}
_SPACE_ACCESS: Final = {"defaultLevel": _LEVEL, **_RULES}
_LOOKS: Final = {
    "title": "The title that the site shows in place of its own.",
    "localizedTitle": _TITLES,
    "styling": "Theme, colours, fonts, corners and icons.",
    "internationalization": "The language of the site's own words.",
    "favicon": "The small picture in the tab of a browser.",
    "header": "The bar at the top: its logo, colours and links.",
    "footer": "The bar at the bottom: its logo, groups of links and copyright.",
    "announcement": "A banner above every page.",
    "themes": "Whether the site is light or dark at first, and whether readers may switch.",
    "feedback": "Whether readers may rate a page.",
    "ai": "The assistant that answers readers' questions.",
    "advancedCustomization": "Whether further settings of the looks count.",
    "pageActions": "What readers may do with a page: copy it, open it elsewhere.",
    "externalLinks": "Whether links to other sites open in a new tab.",
    "pagination": "Whether a page links to the one before and the one after.",
    "trademark": "Whether the site shows the platform's name.",
    "privacyPolicy": "The link to the privacy policy in the cookie banner.",
    "socialPreview": "The picture of a link that is shared.",
    "insights": "How readers are counted, and whether a cookie does that.",
    "socialAccounts": "Accounts on social networks that the site links to.",
}

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "organization": {
        "title": "The name of the organization.",
        "emailDomains": "People whose e-mail address is in one of these domains may join by themselves.",
        "hostname": "The first part of the organization's own host name.",
        "defaultRole": "The role of everybody who joins.",
        "defaultContent": "What the organization's own host name shows.",
        "defaultContent.type": "Which kind of thing it shows.",
        "defaultContent.site": "The site that it shows.",
        "logo": "The URL of the organization's logo.",
        "sso": "Whether members must sign in by a SAML provider.",
        "ai": "Whether the platform's assistants may be used.",
        "inviteLinks": "Whether people may join by a link.",
        "collectionOrder": "The collections at the top level, in the order in which people see them.",
        "blocked": "Why the platform has blocked the organization.",
        "type": "Whether it is a business or a community organization.",
        **_RULES,
    },
    "agent_instructions": {"instructions": "What the platform's agents are told, as Markdown."},
    "collection": {
        "title": "The name of the collection.",
        "parent": "The collection that this one is in; null puts it at the top level.",
        "description": "A sentence or two about what the collection holds.",
        "defaultLevel": _LEVEL,
        "order": "The spaces of the collection, in the order in which people see them.",
        "collectionOrder": "The collections in this one, in the order in which people see them.",
    },
    "glossary_term": {"translations": "The term in each language, by language code."},
    "installation": {
        "integration": "The name of the integration.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
        "space_selection": "Whether the integration is at work in all spaces or in selected ones.",
        "site_selection": "Whether the integration is at work on all sites or on selected ones.",
        "status": "Whether the integration is active.",
    },
    "installation_site": {
        "site": "The site on which the integration is at work.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
    },
    "installation_space": {
        "space": "The space in which the integration is at work.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
    },
    "member": {
        "email": "The e-mail address of the member's account.",
        "role": "What the member may do everywhere in the organization; `guest` gives nothing by itself.",
        "sso": "Whether the member signs in by a SAML provider; no request takes that back.",
    },
    "member_permission": {"user": "The member.", "role": _ROLE},
    "team_permission": {"team": "The team.", "role": _ROLE},
    "openapi": {
        "slug": "The name of the specification in URLs and in pages that show it.",
        "source": "Where the specification comes from: a URL or its text.",
        "source.url": "The URL from which the platform fetches the specification.",
        "source.text": "The text of the specification itself.",
        "visibility": "Whether people without an account may read the specification.",
        "processingState": "How far the platform has read the specification.",
        "lastProcessErrorCode": "Why the platform could not read it.",
        "lastProcessError": "The same in the platform's words.",
    },
    "published_integration": {
        "name": "The name of the integration, unique on the platform.",
        "runtime": "The version of the platform that runs the script.",
        "title": "The name that people see.",
        "description": "One sentence about what the integration does.",
        "summary": "A longer text about the integration, as Markdown.",
        "icon": "The icon, as a file or as text.",
        "previewImages": "Pictures that show the integration at work.",
        "visibility": "Who may find and install the integration.",
        "target": "Where it can be installed.",
        "scopes": "What the integration may read and write.",
        "categories": "Under which headings people find it.",
        "blocks": "The blocks that it adds to the editor.",
        "contentSources": "The sources of content that it offers.",
        "externalLinks": "Links on the page of the integration.",
        "externalLinks.url": "Where the link leads.",
        "externalLinks.label": "The text of the link.",
        "configurations": "The form by which people set it up, as JSON Schema.",
        "contentSecurityPolicy": "What browsers may load for its pages.",
        "script": "The program of the integration.",
        "secrets": "Secrets that the script can read, by name.",
    },
    "saml": {
        "label": "The name of the provider.",
        "entityID": "The id by which the provider names itself.",
        "ssoURL": "The URL to which people are sent to sign in.",
        "certificate": "The certificate with which the provider signs, as PEM.",
        "defaultTeam": "The team of everybody who signs in by this provider for the first time.",
        "defaultRole": "The role of everybody who signs in by this provider for the first time.",
        "status": "Whether people can sign in by this provider.",
    },
    "site": {
        "title": "The name of the site.",
        "type": "The plan that the site is on; it is set when the site is created.",
        "visibility": "Who may read the site once it is published.",
        "basename": "The part of the site's URL that names it.",
        "hostname": "The custom host name of the site.",
        "proxy": "The host and path at which another server shows the site.",
        "adaptiveContent": "Whether the site shows different content to different visitors.",
        "adaptiveContent.enabled": "Whether conditions count.",
        "defaultLevel": _LEVEL,
        "agentsContext": "Whether the platform's agents may use the content of the site.",
        "styleguide": "The style guide that the editor's agent goes by on this site.",
        "published": "Whether the site is online.",
    },
    "adaptive_schema": {"jsonSchema": "Which claims a visitor may have, as JSON Schema."},
    "customization": _LOOKS,
    "site_space_customization": _LOOKS,
    "agent_settings": {
        "scans": "What agents look for by themselves.",
        "scans.topics": "Whether they look through topics for findings: `auto` or `never`.",
        "findings": "What becomes of what they find.",
        "findings.changeRequests": "For which findings they make change requests.",
        "editing": "How the editor's agent works on this site.",
        "editing.customInstructions": "What it is told, in Markdown.",
    },
    "channel": {
        "type": "The service in which people write to the agent.",
        "setupSettings": "Where in that service the agent answers.",
        "setupSettings.allowedChannels": "The channels of Slack or Discord; none: all of them.",
        "setupSettings.allowedTeams": "The teams of Linear; none: all of them.",
        "setupSettings.allowedRepositories": "The repositories of GitHub; none: all of them.",
        "role": "`support` answers from the docs, `collaborator` also makes change requests.",
        "status": "Whether a person has let the agent in.",
    },
    "context_connection": {
        "connector": "The service that is read.",
        "setupSettings": "How it is reached; which members there are goes by the connector.",
        **{f"setupSettings.{name}": text for name, text in _CONNECTORS.items()},
        "usageSettings": "What becomes of what is read.",
        "usageSettings.changeRequests": "Whether agents propose changes because of it.",
        "usageSettings.search": "Whether visitors find it when they search.",
        "usageSettings.sync": "Whether the state of change requests is written back to the service.",
        "usageSettings.searchBoost": "How much it counts in a search.",
        "filter": "Which items are read, in the connector's own words.",
        "label": "The name that people know the connection by.",
        "status": "How the last synchronization went.",
        "failureReason": "Why it failed.",
    },
    "topic": {
        "label": "The name that the platform has given the topic.",
        "usageSettings": "What becomes of what people ask.",
        "usageSettings.changeRequests": "Whether agents propose changes because of it.",
    },
    "mcp_server": {
        "name": "The name by which the assistant's makers know the server.",
        "url": "Where the server answers.",
        "transport": "The protocol by which it is asked.",
        "headers": "Headers that are sent to it with every request, each from a variable.",
        "condition": _CONDITION,
    },
    "redirect": {
        "source": "The path on the site from which it leads.",
        "destination": "Where it leads.",
        "destination.kind": "What it leads to.",
        "destination.siteSectionId": "The section that it leads to.",
        "destination.siteSpaceId": "The site space that it leads to, or that holds the page.",
        "destination.pageId": "The page that it leads to: the page's id, or the page's path in the space.",
        "destination.url": "The URL that it leads to.",
        "captureWildcard": "Whether every path below the source is redirected, too.",
        "permanent": "Whether browsers and search engines are told that it stays so.",
        "draft": _DRAFT,
    },
    "share_link": {
        "name": "The name of the link; readers do not see it.",
        "active": "Whether the link lets people in.",
    },
    "visitor_auth": {
        "backend": "Who signs visitors in: your own server (`custom`) or an integration.",
        "fallbackURL": "Where visitors are sent to sign in.",
        "logoutURL": "Where visitors are sent after they have signed out.",
    },
    "section": {
        "title": "The name of the section in the navigation.",
        "path": "The part of the URL that names the section.",
        "icon": _ICON,
        "description": "A short text about the section in the navigation.",
        "condition": _CONDITION,
        "localizedTitle": _TITLES,
        "localizedDescription": _DESCRIPTIONS,
        "draft": _DRAFT,
        "default": "Whether the site's own URL shows this section.",
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
        "space": "The space that is shown, or the translation whose space it is.",
        "path": "The part of the URL that names the space.",
        "condition": _CONDITION,
        "hidden": "Leaves it out of the navigation; its URL still works.",
        "pageId": "The id of the page that opens first.",
        "draft": _DRAFT,
        "default": "Whether the URL of its section, or of the site, shows this space.",
    },
    "space": {
        "title": "The name of the space.",
        "collection": "The collection that the space is in; null puts it at the top level.",
        "emoji": "The emoji beside the name; there is one or an icon.",
        "icon": "The URL of the picture beside the name, in place of an emoji.",
        "editMode": "`live` accepts direct edits; `locked` accepts only change requests, or, with the "
        "profiles `full` and `reference`, no edits at all.",
        "language": "The language of the content, as a code.",
        **_SPACE_ACCESS,
    },
    "translation_access": _SPACE_ACCESS,
    "team": {"title": "The name of the team."},
    "team_member": {
        "user": "The member who is in the team.",
        "role": "`owner` may also change the team.",
    },
    "translation": {
        "source": "What is translated.",
        "source.space": "The space that is translated.",
        "source.language": "The language of that space, as a code.",
        "language": "The language into which the space is translated, as a code.",
        "instructions": "What the translator is told about tone and terms, as Markdown.",
        "result": "The space that holds the translation.",
        "status": "How far the translation is.",
    },
}  # fmt: skip

EVERY_ENTRY: Final[Mapping[str, str]] = {
    "id": "The platform's id of the object that this entry is.",
    "previously": "The former key, address or title of the object, so that a rename creates nothing.",
    "new": "Says that this is a new thing, although something like it is there.",
    "takeover": "Says that it is written, although the platform syncs it with a repository.",
    "type": "Which kind of node this is.",
    "key": "The local name of the node; it is never sent to the platform.",
    "children": "What is inside, in the order in which readers see it.",
}
"""The keys that belong to no field: an entry may have them by its shape."""

OF_THE_FILE: Final[Mapping[str, str]] = {
    "dpsync": "The version of this format.",
    "include": "Files that belong to the configuration, as paths or patterns.",
    "policy": "What a plan may delete, and what it leaves alone.",
    "policy.prune": "Places where things that no entry names are deleted; elsewhere they are kept.",
    "policy.protect": "Things that are never deleted or replaced.",
    "policy.ignore": "Things and fields that are left alone on purpose.",
    "policy.forget": "Entries that were removed while their object stays on the platform.",
    "policy.watch": "Places where `drift` also tells of what no entry names; a plan leaves it alone.",
    "policy.removed": "Things with content that may be deleted.",
    "policy.accept": "Known problems on the platform's side: a plan counts them and does not list them.",
    "policy.limits": "How much a plan may do before it is refused.",
    "policy.limits.deletes": "The most things that a plan may delete.",
    "policy.limits.percent": "The largest percentage of 20 or more managed objects that a plan may delete.",
    "policy.limits.exposures": "The most changes that open something up.",
    "environments": "The platforms to which these files are applied, by name.",
    "environments.url": "The address of the platform, without /v1.",
    "environments.token": "The variable that holds the access token.",
    "environments.token.env": "The name of the variable, which begins with DPSYNC_TOKEN.",
    "environments.limits": "How fast dpsync asks the platform.",
    "environments.limits.rate": "The most requests in a second, minute or hour, such as 5/s.",
    "environments.profile": "Which operations the platform has, by the name of a profile.",
    "environments.overlay": "A file that goes over the root file in this environment.",
    "environments.organizations": "Which organization an entry is in this environment, by its key.",
    "environments.organizations.id": "The platform's id of the organization.",
    "environments.organizations.hostname": "The first part of the organization's own host name.",
    "organizations": "The organizations, by a local name.",
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
}
"""Where the docs say more of a key of the root file; one that is not here is on the page of what it is in."""


def page_of_kind(noun: str) -> str:
    """Where the docs say more of a kind, by its noun."""
    return f"docs/kinds.md#{noun.lower().replace(' ', '-')}"


def meaning(kind: str, field: str, member: str = "") -> str:
    """The sentence about a field of a kind, or about a member of it; empty where there is none."""
    return MEANINGS.get(kind, {}).get(f"{field}.{member}" if member else field, "")
