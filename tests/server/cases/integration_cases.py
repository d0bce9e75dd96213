"""Integrations and their installations."""

from typing import Any

IDS = {
    "integrationName": "acme-tools",
    "installationId": "acme-tools-in-acme",
    "eventId": "acme-tools-configured",
}
BODIES: dict[str, Any] = {
    "publishIntegration": {
        "organization": "acme",
        "title": "Changed",
        "description": "Changed",
        "scopes": ["space:content:read"],
        "script": "export default {}",
    },
    "installIntegration": {"organization": "acme"},
    "setIntegrationDevelopmentMode": {"tunnelUrl": "http://127.0.0.1:1/", "all": True},
    "updateIntegrationInstallation": {"configuration": {"server": "https://other.acme.example"}},
    "installIntegrationOnSpace": {"space": "guides"},
    "updateIntegrationSpaceInstallation": {"configuration": {"label": "Changed"}},
    "installIntegrationOnSite": {"siteId": "help"},
    "updateIntegrationSiteInstallation": {"externalIds": ["changed"]},
}
