"""Map the path of each recorded response to the function that converts it."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from dpsync.client.recording import RecordedAnswer
from dpsync.rehearse import responses as integrations
from dpsync.rehearse import responses as jobs
from dpsync.rehearse import responses as navigation
from dpsync.rehearse import responses as people
from dpsync.rehearse import responses as sites
from dpsync.rehearse import responses as spaces
from dpsync.rehearse.draft import WorldDraft

_ORG, _SITE = "/orgs/([^/]+)", "/orgs/([^/]+)/sites/([^/]+)"
Row = Callable[..., None]
"""Takes what was answered, with what the path names."""


def _row(path: str, row: Row, *filters: str) -> tuple[re.Pattern[str], set[str], Row]:
    return re.compile(path), set(filters), row


_ROWS = (
    _row("/user", people.take_caller),
    _row("/orgs", people.take_organizations),
    _row(_ORG, people.take_organization),
    _row(f"{_ORG}/members", people.take_members),
    _row(f"{_ORG}/teams", people.take_teams),
    _row(f"{_ORG}/teams/([^/]+)/members", people.take_team),
    _row(f"{_ORG}/saml", people.take_saml),
    _row(f"{_ORG}/agent-instructions", people.take_instructions),
    _row(f"{_ORG}/translations-glossary", people.take_glossary),
    _row(f"{_ORG}/openapi", jobs.take_specifications),
    _row(f"{_ORG}/openapi/([^/]+)/versions/latest/content/raw", jobs.take_text),
    _row(f"{_ORG}/translations", jobs.take_translations),
    _row(f"{_ORG}/collections", spaces.take_collections),
    _row(f"{_ORG}/spaces", spaces.take_spaces),
    _row("/spaces/([^/]+)", spaces.take_space),
    _row("/spaces/([^/]+)/content/pages", spaces.take_pages),
    _row("/collections/([^/]+)/spaces", spaces.take_order),
    _row("/(collections|spaces|orgs/[^/]+/sites)/([^/]+)/permissions/(users|teams)", people.take_grants),
    _row(f"{_ORG}/sites", sites.take_sites),
    _row(_SITE, sites.take_site),
    _row(f"{_SITE}/structure", navigation.take_structure),
    _row(f"{_SITE}/(section-groups|sections|site-spaces)", navigation.take_nodes),
    _row(f"{_SITE}/customization", navigation.take_looks),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", navigation.take_own_looks),
    _row(f"{_SITE}/customization", navigation.take_looks, "unmasked"),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", navigation.take_whole_looks, "unmasked"),
    _row(f"{_SITE}/agent-settings", sites.take_agent_settings),
    _row(f"{_SITE}/mcp-servers", sites.take_mcp_servers),
    _row(f"{_SITE}/channels", sites.take_channels),
    _row(f"{_SITE}/context-connections", sites.take_connections),
    _row(f"{_SITE}/redirects", navigation.take_redirects),
    _row(f"{_SITE}/share-links", sites.take_share_links),
    _row(f"{_SITE}/publishing/auth", sites.take_access),
    _row(f"{_SITE}/adaptive-schema", sites.take_claims),
    _row(f"{_SITE}/topics", sites.take_topics),
    _row(f"{_ORG}/installations", integrations.take_installations),
    _row("/integrations", integrations.take_integrations, "owner"),
    _row("/integrations/([^/]+)/installations/([^/]+)/(spaces|sites)", integrations.take_placed),
)  # fmt: skip
_DERIVED = re.compile(f"{_ORG}/sites")
"""Answers that follow from others: the sites that show a space."""


def take(draft: WorldDraft, reading: RecordedAnswer) -> None:
    """Convert one response. A response that is refused or missing is skipped."""
    if reading.status != 200:
        return
    for pattern, filters, row in _ROWS:
        found = pattern.fullmatch(reading.path)
        if found is not None and {name for name, _ in reading.filters} == filters:
            row(draft, reading.content, *map(unquote, found.groups()))
            return
    if not _DERIVED.fullmatch(reading.path):
        draft.unknown.append(reading)
