"""Map the path of each recorded response to the function that converts it."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from dpsync.client.recording import RecordedAnswer
from dpsync.rehearse import responses
from dpsync.rehearse.draft import WorldDraft

_ORG, _SITE = "/orgs/([^/]+)", "/orgs/([^/]+)/sites/([^/]+)"
Row = Callable[..., None]
"""Takes what was answered, with what the path names."""


def _row(path: str, row: Row, *filters: str) -> tuple[re.Pattern[str], set[str], Row]:
    return re.compile(path), set(filters), row


_ROWS = (
    _row("/user", responses.take_caller),
    _row("/orgs", responses.take_organizations),
    _row(_ORG, responses.take_organization),
    _row(f"{_ORG}/members", responses.take_members),
    _row(f"{_ORG}/teams", responses.take_teams),
    _row(f"{_ORG}/teams/([^/]+)/members", responses.take_team),
    _row(f"{_ORG}/saml", responses.take_saml),
    _row(f"{_ORG}/agent-instructions", responses.take_instructions),
    _row(f"{_ORG}/translations-glossary", responses.take_glossary),
    _row(f"{_ORG}/openapi", responses.take_specifications),
    _row(f"{_ORG}/openapi/([^/]+)/versions/latest/content/raw", responses.take_text),
    _row(f"{_ORG}/translations", responses.take_translations),
    _row(f"{_ORG}/collections", responses.take_collections),
    _row(f"{_ORG}/spaces", responses.take_spaces),
    _row("/spaces/([^/]+)", responses.take_space),
    _row("/spaces/([^/]+)/content/pages", responses.take_pages),
    _row("/collections/([^/]+)/spaces", responses.take_order),
    _row("/(collections|spaces|orgs/[^/]+/sites)/([^/]+)/permissions/(users|teams)", responses.take_grants),
    _row(f"{_ORG}/sites", responses.take_sites),
    _row(_SITE, responses.take_site),
    _row(f"{_SITE}/structure", responses.take_structure),
    _row(f"{_SITE}/(section-groups|sections|site-spaces)", responses.take_nodes),
    _row(f"{_SITE}/customization", responses.take_looks),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", responses.take_own_looks),
    _row(f"{_SITE}/customization", responses.take_looks, "unmasked"),
    _row(f"{_SITE}/site-spaces/([^/]+)/customization", responses.take_whole_looks, "unmasked"),
    _row(f"{_SITE}/agent-settings", responses.take_agent_settings),
    _row(f"{_SITE}/mcp-servers", responses.take_mcp_servers),
    _row(f"{_SITE}/channels", responses.take_channels),
    _row(f"{_SITE}/context-connections", responses.take_connections),
    _row(f"{_SITE}/redirects", responses.take_redirects),
    _row(f"{_SITE}/share-links", responses.take_share_links),
    _row(f"{_SITE}/publishing/auth", responses.take_access),
    _row(f"{_SITE}/adaptive-schema", responses.take_claims),
    _row(f"{_SITE}/topics", responses.take_topics),
    _row(f"{_ORG}/installations", responses.take_installations),
    _row("/integrations", responses.take_integrations, "owner"),
    _row("/integrations/([^/]+)/installations/([^/]+)/(spaces|sites)", responses.take_placed),
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
