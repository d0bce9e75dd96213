"""From stored documents to answers: adds what is computed (counts, URLs, visibility, permissions)."""

from .content import collection, space
from .organizations import link_invite, organization, saml_provider
from .people import member, team, user
from .shared import set_only
from .sites import group, node, section, site, site_space, structure
from .specifications import openapi_spec, translation

__all__ = [
    "collection",
    "group",
    "link_invite",
    "member",
    "node",
    "openapi_spec",
    "organization",
    "saml_provider",
    "section",
    "set_only",
    "site",
    "site_space",
    "space",
    "structure",
    "team",
    "translation",
    "user",
]
