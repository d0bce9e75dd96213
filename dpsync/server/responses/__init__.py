"""Make the body of a response from a record. The functions change no state.

Input: the `Context` of a request, and a record from the store.
Output: the stored document with its computed members: counts, URLs, visibility, permissions.
"""

from .agents import agent_settings, channel, connection, mcp_server, topic
from .audit import audit_event, audit_event_details
from .comments import comment, comment_reply, has_same_body
from .content import collection, space
from .conversations import conversation, conversation_detail, issue_detail, issues_cluster
from .git_sync import SETTING_FIELDS, git_installation, git_state
from .integrations import event, installation, integration, placement
from .invites import link_invite
from .people import member, organization, saml_provider, team, user
from .publishing import published_site, redirect, share_link, visitor_auth
from .shared import without_none
from .sites import site
from .specifications import glossary_entry, openapi_spec, openapi_version, translation
from .structure import external_link, group, node, section, site_space, structure

__all__ = [
    "SETTING_FIELDS",
    "agent_settings",
    "audit_event",
    "audit_event_details",
    "channel",
    "collection",
    "comment",
    "comment_reply",
    "connection",
    "conversation",
    "conversation_detail",
    "event",
    "external_link",
    "git_installation",
    "git_state",
    "glossary_entry",
    "group",
    "has_same_body",
    "installation",
    "integration",
    "issue_detail",
    "issues_cluster",
    "link_invite",
    "mcp_server",
    "member",
    "node",
    "openapi_spec",
    "openapi_version",
    "organization",
    "placement",
    "published_site",
    "redirect",
    "saml_provider",
    "section",
    "share_link",
    "site",
    "site_space",
    "space",
    "structure",
    "team",
    "topic",
    "translation",
    "user",
    "visitor_auth",
    "without_none",
]
