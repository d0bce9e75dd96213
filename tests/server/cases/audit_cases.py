"""An event of the built-in world's organization, in today's edition alone."""

from typing import Any

IDS = {"auditEventId": "5f0c2f9e-3c1d-5f7b-9f3e-2d1f5a6b7c8d"}
AUDIT: dict[str, Any] = {
    "auditEvents": [
        {
            "id": IDS["auditEventId"],
            "action": "updateSiteById",
            "actor": {"type": "user", "id": "grace", "label": "Grace"},
            "target": {"type": "site", "id": "docs"},
        }
    ]
}
"""Of an organization, by the keys of a world."""
