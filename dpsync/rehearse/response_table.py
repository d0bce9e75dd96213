"""Convert a recorded response of GitBook by the function of `responses.py` that its path and filters select.

Input: one response. Output: none; the function adds its objects to a `WorldDraft` (data of a local server).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import unquote

from dpsync.client.recording import RecordedAnswer
from dpsync.rehearse import responses
from dpsync.rehearse.world_draft import WorldDraft

_ORGANIZATION_PATH, _SITE_PATH = "/orgs/([^/]+)", "/orgs/([^/]+)/sites/([^/]+)"
ConvertResponse = Callable[..., None]
"""Takes what was answered, with what the path names."""


def _conversion(
    path: str, row: ConvertResponse, *filters: str
) -> tuple[re.Pattern[str], set[str], ConvertResponse]:
    """Return a row of `_CONVERSIONS`: path pattern, names of the query filters, converting function."""
    return re.compile(path), set(filters), row


_CONVERSIONS = (
    _conversion("/user", responses.take_caller), _conversion("/orgs", responses.take_organizations),
    _conversion(_ORGANIZATION_PATH, responses.take_organization),
    _conversion(f"{_ORGANIZATION_PATH}/members", responses.take_members),
    _conversion(f"{_ORGANIZATION_PATH}/teams", responses.take_teams),
    _conversion(f"{_ORGANIZATION_PATH}/teams/([^/]+)/members", responses.take_team),
    _conversion(f"{_ORGANIZATION_PATH}/saml", responses.take_saml),
    _conversion(f"{_ORGANIZATION_PATH}/agent-instructions", responses.take_instructions),
    _conversion(f"{_ORGANIZATION_PATH}/translations-glossary", responses.take_glossary),
    _conversion(f"{_ORGANIZATION_PATH}/openapi", responses.take_specifications),
    _conversion(f"{_ORGANIZATION_PATH}/openapi/([^/]+)/versions/latest/content/raw", responses.take_text),
    _conversion(f"{_ORGANIZATION_PATH}/translations", responses.take_translations),
    _conversion(f"{_ORGANIZATION_PATH}/collections", responses.take_collections),
    _conversion(f"{_ORGANIZATION_PATH}/spaces", responses.take_spaces),
    _conversion("/spaces/([^/]+)", responses.take_space),
    _conversion("/spaces/([^/]+)/content/pages", responses.take_pages),
    _conversion("/collections/([^/]+)/spaces", responses.take_order),
    _conversion(
        "/(collections|spaces|orgs/[^/]+/sites)/([^/]+)/permissions/(users|teams)", responses.take_grants
    ),
    _conversion(f"{_ORGANIZATION_PATH}/sites", responses.take_sites),
    _conversion(_SITE_PATH, responses.take_site),
    _conversion(f"{_SITE_PATH}/structure", responses.take_structure),
    _conversion(f"{_SITE_PATH}/(section-groups|sections|site-spaces)", responses.take_nodes),
    _conversion(f"{_SITE_PATH}/customization", responses.take_customization),
    _conversion(f"{_SITE_PATH}/site-spaces/([^/]+)/customization", responses.take_own_customization),
    _conversion(f"{_SITE_PATH}/customization", responses.take_customization, "unmasked"),
    _conversion(
        f"{_SITE_PATH}/site-spaces/([^/]+)/customization", responses.take_whole_customization, "unmasked"
    ),
    _conversion(f"{_SITE_PATH}/agent-settings", responses.take_agent_settings),
    _conversion(f"{_SITE_PATH}/mcp-servers", responses.take_mcp_servers),
    _conversion(f"{_SITE_PATH}/channels", responses.take_channels),
    _conversion(f"{_SITE_PATH}/context-connections", responses.take_connections),
    _conversion(f"{_SITE_PATH}/redirects", responses.take_redirects),
    _conversion(f"{_SITE_PATH}/share-links", responses.take_share_links),
    _conversion(f"{_SITE_PATH}/publishing/auth", responses.take_access),
    _conversion(f"{_SITE_PATH}/adaptive-schema", responses.take_claims),
    _conversion(f"{_SITE_PATH}/topics", responses.take_topics),
    _conversion(f"{_ORGANIZATION_PATH}/installations", responses.take_installations),
    _conversion("/integrations", responses.take_integrations, "owner"),
    _conversion(
        "/integrations/([^/]+)/installations/([^/]+)/(spaces|sites)", responses.take_installation_places
    ),
)  # fmt: skip
_DERIVED_PATHS = re.compile(f"{_ORGANIZATION_PATH}/sites")
"""Answers that follow from others: the sites that show a space."""


def convert_response(draft: WorldDraft, reading: RecordedAnswer) -> None:
    """Convert one recorded response into the draft.

    A response with an error status is skipped. A response without a function is noted as unknown.
    """
    if reading.status != 200:
        return
    for pattern, filters, convert in _CONVERSIONS:
        match = pattern.fullmatch(reading.path)
        if match is not None and {name for name, _ in reading.filters} == filters:
            convert(draft, reading.content, *map(unquote, match.groups()))
            return
    if not _DERIVED_PATHS.fullmatch(reading.path):
        draft.unknown.append(reading)
