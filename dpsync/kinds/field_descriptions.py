"""Describe each object type (kind) and each field, for editors, docs/kinds/ and `dpsync explain`.

The declarations say what a field may hold and how dpsync writes it. A plan needs none of these sentences.
They are in a module of their own, so that only commands that print them import them. The sentences of a kind
are under its name. A part of a value has its path ("source.url"). A test holds the tables complete: a field
without a sentence fails the test, and so does a sentence without a field.

Each sentence must be understood alone, because an editor shows it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dpsync.model.urls import DOCS_URL

_SETTINGS: Final = "The settings of the integration. The integration defines which settings exist."
_CLAIMS: Final = "An expression about visitor claims (facts about the visitor)."
_EXTERNAL_IDS: Final = "The ids by which the integration's service recognizes this installation."


def _level(noun: str, inherited_from: str = "parent collection or the organization") -> str:
    """Return the sentence about the default role of all organization members."""
    role = f"The role that every organization member has in the {noun}."
    return f"{role} `inherit` uses the role from the {inherited_from}."


def _icon(noun: str) -> str:
    """Return the sentence about the icon in the navigation."""
    return f"The name of the icon that the navigation shows for the {noun}."


def _condition(noun: str) -> str:
    """Return the sentence about the condition that selects visitors."""
    return f"{_CLAIMS} Only visitors for whom the expression is true see the {noun}."


def _draft(noun: str) -> str:
    """Return the sentence about the draft flag."""
    return f"`true` makes the {noun} a draft, which readers cannot see."


def _titles(noun: str) -> str:
    """Return the sentence about titles in other languages."""
    return f"The title of the {noun} in other languages. Each key is a language code."


def _descriptions(noun: str) -> str:
    """Return the sentence about descriptions in other languages."""
    return f"The description of the {noun} in other languages. Each key is a language code."


_CONNECTORS: Final = {
    "url": "The URL of the connected website.",
    "channelId": "The id or the handle of the connected YouTube channel.",
    "repository": "The connected GitHub repository, as owner and name.",
    "token": "The access token for the connected service.",
    "subdomain": "The subdomain of the Zendesk account.",
    "email": "The email address of the Zendesk user.",
    "apiToken": "The API token of the Zendesk or Jira user.",
    "dataCenter": "The domain ending of the Zoho data center, such as `eu`.",
    "orgId": "The id of the organization in Zoho Desk.",
    "clientId": "The OAuth client id for Zoho Desk.",
    "clientSecret": "The OAuth client secret for Zoho Desk.",
    "refreshToken": "The OAuth refresh token for Zoho Desk.",
    "domain": "The domain of the Freshdesk account.",
    "apiKey": "The Freshdesk API key, which must be allowed to read tickets.",
    "baseUrl": "The URL of the Jira server.",
    "apiEmail": "The email address of the Jira user.",
    "statusMapping": "The Jira status for each status of a change request.",
}


def _rules(noun: str) -> dict[str, str]:
    """Return the sentences about merge rules and their parts, by path."""
    return {
        "mergeRules": f"The rules that change requests in the {noun} must meet before a merge.",
        "mergeRules.type": f"Which merge rules apply to change requests in the {noun}.",
        "mergeRules.rules": "The list of merge rules. A change request must meet all rules.",
        "mergeRules.rules.rule": "The type of the merge rule.",
        "mergeRules.rules.users": "The members for a rule of the type `require_specific_reviewers`, "
        "`require_one_of_specific_reviewers` or `allow_bypass`.",
        "mergeRules.rules.expression": "The expression of a `custom` rule. People can merge only if the "
        "expression is true.",
        "mergeRules.rules.message": "The message that people see if the expression of a `custom` rule "
        "is false.",
    }


def _appearance_fields(noun: str) -> dict[str, str]:
    """Return the sentences about the fields of a customization, by path."""
    return {
        "title": f"The title that readers see, instead of the title of the {noun}.",
        "localizedTitle": "The title that readers see, in other languages. Each key is a language code.",
        "styling": "The theme, colors, fonts, corners and icons of the pages.",
        "internationalization": "The language of buttons and labels on the pages.",
        "favicon": "The icon in browser tabs.",
        "header": "The page header: its logo, colors and links.",
        "footer": "The page footer: its logo, link groups and copyright notice.",
        "announcement": "The banner above every page.",
        "themes": "The default theme (light or dark), and the setting that lets readers switch the theme.",
        "feedback": "The setting that lets readers rate pages.",
        "ai": "The settings of the AI assistant for readers.",
        "advancedCustomization": "The setting that turns on GitBook's advanced customization.",
        "pageActions": "The actions that readers can choose on a page, such as copying the page.",
        "externalLinks": "Where links to other websites open: in the same browser tab or in a new tab.",
        "pagination": "The setting that shows links to the previous and the next page.",
        "trademark": 'The setting that shows the notice "Powered by GitBook" on the site.',
        "privacyPolicy": "The link to the privacy policy in the cookie banner.",
        "socialPreview": "The preview image that social networks show for links to the site.",
        "insights": "The settings of the site's analytics, such as cookies.",
        "socialAccounts": "The social network accounts to which the site links.",
    }


KIND_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "organization": "An organization is the GitBook account that contains your sites, spaces, members and "
    "teams.",
    "agent_instructions": "Agent instructions tell GitBook's AI agents how to work in the whole "
    "organization.",
    "collection": "A collection is a folder for spaces and for other collections.",
    "glossary_term": "A glossary term says how GitBook translates a word or phrase.",
    "installation": "An integration connects GitBook with another service, such as Slack.",
    "installation_site": "An integration on a site is an installed integration that works on the site.",
    "installation_space": "An integration on a space is an installed integration that works in the space.",
    "member": "A member is a person who belongs to the organization. The key of the entry is the person's "
    "email address.",
    "member_permission": "A member permission gives one member a role in one space, collection or site.",
    "team_permission": "A team permission gives all members of a team a role in one space, collection or "
    "site.",
    "openapi": "An OpenAPI specification describes an API that GitBook shows on pages.",
    "published_integration": "A published integration is an integration that your organization develops and "
    "publishes in GitBook.",
    "saml": "A SAML provider lets members sign in through your company's single sign-on.",
    "site": "A site publishes one or more spaces as a documentation website.",
    "adaptive_schema": "The adaptive schema lists the facts (claims) that a site can know about a visitor.",
    "agent_settings": "Agent settings control the work that GitBook's AI agents do by themselves on a site.",
    "channel": "A channel lets people ask a site's AI agent questions in Slack, Linear, GitHub or Discord.",
    "context_connection": "A context connection lets a site's AI agents read another service, such as a "
    "ticket system or a website.",
    "customization": "The customization controls how a site looks.",
    "site_space_customization": "The customization of a site space controls how one space of a site looks. "
    "For this space, the customization replaces parts of the site's customization.",
    "topic": "A topic is a subject about which readers of a site ask questions.",
    "mcp_server": "An MCP server offers tools that the site's AI assistant can use.",
    "redirect": "A redirect leads readers from an old path of a site to another page, section, space or URL.",
    "share_link": "A share link is a secret URL that opens a site with the visibility `share-link`.",
    "visitor_auth": "Visitor access controls how visitors sign in to a site with the visibility "
    "`visitor-auth`.",
    "section": "A section is a part of a site with a tab in the navigation and one or more spaces.",
    "section_group": "A section group is a menu in a site's navigation. A section group contains "
    "sections, links and other groups.",
    "external_link": "An external link is a link in a site's navigation that leads to another website.",
    "site_space": "A site space publishes a space in a site, or in a section of a site.",
    "space": "A space contains pages. Sites publish spaces.",
    "translation_access": "The access to a translation controls who can read and edit the translated space.",
    "team": "A team is a group of members.",
    "team_member": "A team member entry puts one member into a team.",
    "translation": "A translation tells GitBook to keep a translated copy of a space.",
}  # fmt: skip
"""The sentences about each kind."""

KIND_NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "organization": ("dpsync cannot create an organization. Create the organization in GitBook.",),
    "member": (
        "dpsync cannot invite people. Invite a new member in GitBook. Until the member joins, the plan shows "
        "the member's entry as blocked. After the member has joined, run `dpsync plan` again.",
        "If `prune` covers `members`, a plan removes each person without an entry, and needs no `--confirm` "
        "within the `limits`.",
        "If the entry has `id` (the person's GitBook user id) and `sso: true`, dpsync adds the person "
        "without an invitation. The person then signs in through a SAML provider.",
    ),
    "collection": (
        "To move a space out of the collection, write `collection: null` in the entry of the space.",
    ),
    "topic": ("GitBook creates topics by itself. dpsync cannot create a topic.",),
    "published_integration": (
        "Each change publishes the integration again and replaces the whole integration in GitBook.",
        "GitBook does not return the fields `runtime`, `icon`, `previewImages`, `script` and `secrets`. If "
        "the entry leaves out one of these five fields, the next change deletes the value in GitBook.",
    ),
    "openapi": ("GitBook processes the specification again if `source` changes.",),
    "visitor_auth": ("dpsync never reads the key that signs visitor tokens.",),
    "context_connection": ("dpsync never prints the secrets of a context connection.",),
    "mcp_server": ("dpsync never prints the values of HTTP headers.",),
    "channel": (
        "dpsync cannot activate a new channel. A person must open the channel in GitBook and allow the agent "
        "in Slack, Linear, GitHub or Discord.",
    ),
    "share_link": (
        "dpsync never prints the URL of a share link, because the URL contains a secret. Copy the URL "
        "from the audience settings of the site in GitBook. `GET "
        "/v1/orgs/ORGANIZATION_ID/sites/SITE_ID/share-links` also returns the URL (`urls.published`).",
    ),
    "site_space": ("dpsync cannot move a site space to another section.",),
    "section_group": ("A section group has no URL.",),
    "redirect": ("To keep redirects in a CSV file, write `redirects: { file: redirects.csv }`.",),
    "site_space_customization": (
        "If the customization of a site space has no value for a field, the site's customization applies.",
        "Each field has the same keys as in the site's customization.",
    ),
}
"""What users must know about a kind and no declaration says."""

FIELD_DESCRIPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "organization": {
        "title": "The name of the organization.",
        "emailDomains": "The email domains whose users can join the organization without an invitation.",
        "hostname": "The first part of the organization's GitBook host name.",
        "defaultRole": "The role that new members of the organization get.",
        "defaultContent": "The content that visitors see at the organization's host name.",
        "defaultContent.type": "The type of the default content.",
        "defaultContent.site": "The site that visitors see at the organization's host name.",
        "logo": "The URL of the organization's logo.",
        "sso": "`true` requires all members to sign in through a SAML provider.",
        "ai": "`true` turns on AI features in the organization.",
        "inviteLinks": "`true` allows people to join the organization with an invite link.",
        "collectionOrder": "The collections at the top level, in the order in which GitBook shows the "
        "collections. dpsync does not move unlisted collections.",
        "blocked": "The reason why GitBook has blocked the organization.",
        "type": "The type of the organization: `business` or `community`.",
        **_rules("organization"),
    },
    "agent_instructions": {
        "instructions": "The instructions for GitBook's AI agents.",
    },
    "collection": {
        "title": "The name of the collection.",
        "parent": "The collection that contains this collection. `null` moves the collection to the top "
        "level.",
        "description": "A short description of the collection.",
        "defaultLevel": _level("collection"),
        "order": "The spaces of the collection, in the order in which GitBook shows the spaces. dpsync does "
        "not move unlisted spaces.",
        "collectionOrder": "The child collections, in the order in which GitBook shows the collections. "
        "dpsync does not move unlisted collections.",
    },
    "glossary_term": {
        "translations": "The term in each language. Each key is a language code.",
    },
    "installation": {
        "integration": "The name of the integration in GitBook.",
        "configuration": _SETTINGS,
        "externalIds": _EXTERNAL_IDS,
        "space_selection": "The spaces in which the integration is active: all spaces or selected spaces.",
        "site_selection": "The sites on which the integration is active: all sites or selected sites.",
        "status": "The status of the installation. Only `active` installations work.",
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
        "role": "The member's role in the organization. A `guest` sees only objects for which the "
        "guest has a permission.",
        "sso": "`true` makes the member sign in through a SAML provider. The API cannot set `sso` back to "
        "`false`.",
    },
    "member_permission": {
        "user": "The member who gets the role.",
        "role": "The member's role in the space, collection or site.",
    },
    "team_permission": {
        "team": "The team whose members get the role.",
        "role": "The role of the team's members in the space, collection or site.",
    },
    "openapi": {
        "slug": "The name of the specification in URLs and on pages.",
        "source": "The source of the specification: either a URL or a text.",
        "source.url": "The URL from which GitBook fetches the specification.",
        "source.text": "The text of the specification.",
        "visibility": "The people who can read the specification.",
        "processingState": "The processing state of the specification.",
        "lastProcessErrorCode": "The code of the last processing error.",
        "lastProcessError": "The message of the last processing error.",
    },
    "published_integration": {
        "name": "The name of the integration. Each name exists only once in GitBook.",
        "runtime": "The version of GitBook's runtime that runs the script.",
        "title": "The title that people see in the integration directory.",
        "description": "One sentence about the purpose of the integration.",
        "summary": "A detailed description of the integration, as Markdown.",
        "icon": "The icon of the integration: a picture as Base64 text.",
        "previewImages": "Screenshots of the integration.",
        "visibility": "The people who can find and install the integration.",
        "target": "The type of object on which people install the integration.",
        "scopes": "The permissions that the integration gets.",
        "categories": "The categories of the integration in the directory.",
        "blocks": "The blocks that the integration adds to GitBook's editor.",
        "contentSources": "The content sources that the integration provides.",
        "externalLinks": "The links on the integration's page in the directory.",
        "externalLinks.url": "The URL of the link.",
        "externalLinks.label": "The text of the link.",
        "configurations": "The settings that users of the integration can fill in, as a JSON Schema.",
        "contentSecurityPolicy": "The Content-Security-Policy header for the integration's pages.",
        "script": "The program code of the integration.",
        "secrets": "The secrets that the integration's script can read. Each key is the name of a secret.",
    },
    "saml": {
        "label": "The name of the SAML provider.",
        "entityID": "The SAML entity ID of the provider.",
        "ssoURL": "The URL at which members sign in to the provider.",
        "certificate": "The certificate with which the provider signs, in PEM format.",
        "defaultTeam": "The team that members join when they sign in through the provider for the first "
        "time.",
        "defaultRole": "The role that members get when they sign in through the provider for the first time.",
        "status": "The status of the provider. Members can sign in only through an `active` provider.",
    },
    "site": {
        "title": "The name of the site.",
        "type": "The pricing plan of the site in GitBook.",
        "visibility": "The people who can read the published site.",
        "basename": "The part of the site's URL that names the site.",
        "hostname": "The custom host name of the site.",
        "proxy": "The host and path of the reverse proxy that serves the site.",
        "adaptiveContent": "The setting that shows different content to different visitors.",
        "adaptiveContent.enabled": "`true` turns on the field `condition` of sections and other parts of the "
        "site.",
        "defaultLevel": _level("site", "organization"),
        "agentsContext": "The setting that lets GitBook's AI agents use the content of the site.",
        "styleguide": "The style guide that GitBook's editing agent follows on the site.",
        "published": "`true` publishes the site. `false` takes the site offline.",
    },
    "adaptive_schema": {
        "jsonSchema": "The facts (claims) that the site can know about a visitor, as a JSON Schema.",
    },
    "customization": _appearance_fields("site"),
    "site_space_customization": _appearance_fields("space"),
    "agent_settings": {
        "scans": "The settings for searches that GitBook's AI agents start by themselves.",
        "scans.topics": "The setting for automatic searches for new topics in readers' questions.",
        "findings": "The settings for problems that GitBook's AI agents find.",
        "findings.changeRequests": "The problems for which agents open change requests by themselves.",
        "editing": "The settings of GitBook's editing agent on the site.",
        "editing.customInstructions": "The instructions for GitBook's editing agent.",
    },
    "channel": {
        "type": "The service in which people ask the agent.",
        "setupSettings": "The channels, teams or repositories in which the agent answers.",
        "setupSettings.allowedChannels": "The Slack or Discord channels in which the agent answers. "
        "An empty list allows all channels.",
        "setupSettings.allowedTeams": "The Linear teams for which the agent answers. "
        "An empty list allows all teams.",
        "setupSettings.allowedRepositories": "The GitHub repositories in which the agent answers. "
        "An empty list allows all repositories.",
        "role": "The tasks that people can give the agent in the channel.",
        "status": "The status of the channel. A person must allow the agent in the service.",
    },
    "context_connection": {
        "connector": "The type of the connected service.",
        "setupSettings": "The access data for the connected service. The keys depend on the field "
        "`connector`.",
        **{f"setupSettings.{name}": text for name, text in _CONNECTORS.items()},
        "usageSettings": "The settings for the use of the connected content in GitBook.",
        "usageSettings.changeRequests": "`true` lets agents open change requests that use the connected "
        "content.",
        "usageSettings.search": "`true` lets readers find the connected content by search.",
        "usageSettings.sync": "`true` sends the status of change requests back to the connected service.",
        "usageSettings.searchBoost": "The weight of the connected content in search results.",
        "filter": "A filter for the items that agents read from the service, in the query language of the "
        "service.",
        "label": "The name of the connection in GitBook.",
        "status": "The status of the last synchronization.",
        "failureReason": "The reason why the last synchronization failed.",
    },
    "topic": {
        "label": "The name that GitBook has given to the topic.",
        "usageSettings": "The settings that control what agents do with the questions about the topic.",
        "usageSettings.changeRequests": "`true` lets agents open change requests about the topic.",
    },
    "mcp_server": {
        "name": "The name of the MCP server.",
        "url": "The URL of the MCP server.",
        "transport": "The transport protocol of the MCP server.",
        "headers": "The HTTP headers that GitBook sends to the MCP server. Each value is a secret from an "
        "environment variable.",
        "condition": f"{_CLAIMS} Only visitors for whom the expression is true can use the MCP server.",
    },
    "redirect": {
        "source": "The old path on the site.",
        "destination": "The target of the redirect.",
        "destination.section": "The key of the target section.",
        "destination.space": "The key of the target site space. For a site space in a section, write both "
        "keys: `SECTION/SPACE`.",
        "destination.page": "The target page: the key of a site space, a slash, and the path of the page.",
        "destination.kind": "The type of the target. You need `kind` only with `siteSectionId`, "
        "`siteSpaceId`, `pageId` or `url` under `destination`.",
        "destination.siteSectionId": "The target section, for `kind: site-section`.",
        "destination.siteSpaceId": "The target site space, for `kind: site-space`, or the site space of the "
        "target page, for `kind: site-page`.",
        "destination.pageId": "The id or the path of the target page, for `kind: site-page`.",
        "destination.url": "The target URL.",
        "captureWildcard": "`true` also redirects all paths below the source.",
        "permanent": "`true` tells browsers and search engines that the redirect is permanent.",
        "draft": "`true` makes the redirect a draft, which does not redirect readers.",
    },
    "share_link": {
        "name": "The name of the share link. Readers do not see the name.",
        "active": "`true` lets people open the site with the share link.",
    },
    "visitor_auth": {
        "backend": "The service that signs visitors in: your own server or an integration.",
        "fallbackURL": "The URL at which visitors sign in.",
        "logoutURL": "The URL that visitors see after they sign out.",
    },
    "section": {
        "title": "The name of the section in the navigation.",
        "path": "The part of the URL that names the section.",
        "icon": _icon("section"),
        "description": "A short description of the section, which the navigation shows.",
        "condition": _condition("section"),
        "localizedTitle": _titles("section"),
        "localizedDescription": _descriptions("section"),
        "draft": _draft("section"),
        "default": "With `true`, the URL of the site opens this section.",
    },
    "section_group": {
        "title": "The name of the section group in the navigation.",
        "icon": _icon("section group"),
        "localizedTitle": _titles("section group"),
        "draft": _draft("section group"),
    },
    "external_link": {
        "title": "The text of the link in the navigation.",
        "url": "The URL to which the link leads.",
        "icon": _icon("link"),
        "description": "A short description of the link, which the navigation shows.",
        "condition": _condition("link"),
        "localizedTitle": _titles("link"),
        "localizedDescription": _descriptions("link"),
        "draft": _draft("link"),
    },
    "site_space": {
        "space": "The space that the site publishes. To publish a translated space, write the key of the "
        "translation.",
        "path": "The part of the URL that names the space.",
        "condition": _condition("space"),
        "hidden": "`true` leaves the space out of the navigation. The URL of the space still works.",
        "pageId": "The id of the page that opens first.",
        "draft": _draft("space"),
        "default": "With `true`, the URL of the section or site that contains the space opens this space.",
    },
    "space": {
        "title": "The name of the space.",
        "collection": "The collection that contains the space. `null` moves the space to the top level.",
        "emoji": "The emoji of the space, as a hexadecimal code.",
        "icon": "The URL of the space's icon.",
        "editMode": "The way in which people edit the space.",
        "language": "The language of the pages.",
        "defaultLevel": _level("space"), **_rules("space"),
    },
    "translation_access": {"defaultLevel": _level("translated space"), **_rules("translated space")},
    "team": {
        "title": "The name of the team.",
    },
    "team_member": {
        "user": "The member who belongs to the team.",
        "role": "The member's role in the team.",
    },
    "translation": {
        "source": "The space that GitBook translates, and the language of the space.",
        "source.space": "The space that GitBook translates.",
        "source.language": "The language of the space that GitBook translates.",
        "language": "The language of the translated space.",
        "instructions": "The instructions for the translation, such as tone and terms.",
        "result": "The translated space.",
        "status": "The status of the translation.",
    },
}  # fmt: skip
"""The sentences about each field."""

ENTRY_KEYWORD_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "id": "The GitBook id of the object that the entry manages.",
    "previously": "The former key, address or title of the object. With `previously`, dpsync renames the "
    "object instead of creating a second object.",
    "new": "`true` creates a new object, even if a similar object exists.",
    "takeover": "`true` lets dpsync change the object, even while Git Sync connects the object to a "
    "repository.",
    "type": "The type of an entry in the site's navigation.",
    "key": "The name of the entry in your files. dpsync never sends the key to GitBook.",
    "children": "The entries below this entry, in the order that readers see.",
}
"""The keys that belong to no field: an entry may have them by its shape."""

ROOT_KEY_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "dpsync": "The version of the format of the configuration files. The only version is `1`.",
    "include": "The other files of the configuration, as paths or patterns.",
    "policy": "Rules that say which objects dpsync may delete, must keep or must ignore.",
    "policy.prune": "The lists of objects, such as `teams`, in which dpsync deletes objects that have no "
    "entry. In all other lists, dpsync keeps objects without an entry.",
    "policy.protect": "Objects that dpsync never deletes or re-creates.",
    "policy.protect.address": "The address of a protected object, or a pattern for addresses.",
    "policy.protect.skip": "If a plan would delete the protected object, `true` makes dpsync keep the object "
    "and carry out the rest of the plan. Without `skip: true`, dpsync refuses the whole plan.",
    "policy.ignore": "Objects and fields that dpsync never compares or changes.",
    "policy.forget": "Addresses of removed entries whose objects dpsync keeps in GitBook.",
    "policy.watch": "Fields, and lists of objects. `dpsync drift` reports these fields also if an entry does "
    "not contain them. `dpsync drift --everything` also reports objects without an entry in these lists.",
    "policy.removed": "The addresses of objects that dpsync is allowed to delete although they have content.",
    "policy.accept": "Known problems in GitBook. A plan counts accepted problems and does not list them.",
    "policy.limits": "The limits for deletes, and for changes that open access (that let people see or do "
    "more), in one plan.",
    "policy.limits.deletes": "The largest number of objects that a plan may delete without your "
    "confirmation.",
    "policy.limits.percent": "The largest percentage of the objects in GitBook that a plan may delete "
    "without confirmation. dpsync counts the objects in the lists that your files contain. The limit applies "
    "only to an organization with 20 or more such objects.",
    "policy.limits.exposures": "The largest number of ways in which a plan may open access (let people see "
    "or do more) without your confirmation.",
    "environments": "The environments that use these files, such as `staging` and `production`.",
    "environments.url": "The URL of the environment's API server, without `/v1`.",
    "environments.token": "The environment variable that contains the access token.",
    "environments.token.env": "The name of the environment variable. The name must begin with "
    "`DPSYNC_TOKEN`.",
    "environments.limits": "The limits for requests to the environment's server.",
    "environments.limits.rate": "The largest number of requests per second, minute or hour, such as `5/s`.",
    "environments.profile": "The API version of the environment's server.",
    "environments.overlay": "The file whose values replace values of the root file in this environment.",
    "environments.organizations": "The organizations of the environment, by key.",
    "environments.organizations.id": "The GitBook id of the organization in the environment.",
    "environments.organizations.hostname": "The first part of the organization's GitBook host name in the "
    "environment.",
    "organizations": "The organizations that your files manage. Each key is a name of your choice.",
    "organization": "The key of the organization to which all objects in this file belong.",
}
"""The keys of the root file that belong to no kind."""


def field_description(kind: str, field: str, member: str = "") -> str:
    """Return the sentence about a field of a kind, or about a part of its value; "" if there is none."""
    return FIELD_DESCRIPTIONS.get(kind, {}).get(f"{field}.{member}" if member else field, "")


def kind_page_url(noun: str) -> str:
    """Return the address of the docs page about a kind, given its noun."""
    return f"{DOCS_URL}/kinds/{kind_page_file_name(noun)}"


def kind_page_file_name(noun: str) -> str:
    """Return the file name of the docs page about a kind, given its noun."""
    return f"{noun.lower().replace(' ', '-')}.md"


def root_key_page_url(path: str) -> str:
    """Return the address of the docs page about a key of the root file."""
    top = path.partition(".")[0]
    if top == "organizations":
        return kind_page_url("organization")
    heading = f"#{top}" if top in ("policy", "environments", "include") else ""
    return f"{DOCS_URL}/configuration.md{heading}"
