"""Conversations, issues and clusters."""

from typing import Any

IDS = {"clusterId": "slow-search", "conversationId": "mail-1", "issueId": "search-is-down"}
BODIES: dict[str, Any] = {
    "conversation_cluster_update": {"muted": True},
    "ingestConversation": {"id": "new", "parts": [{"type": "message", "role": "user", "body": "Why?"}]},
}
