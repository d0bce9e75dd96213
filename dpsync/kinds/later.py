"""Words of the format that have no effect yet: known, so that they are refused and never passed over."""

ROOT = frozenset({"environments"})
ENTRY = frozenset({"previously", "new"})
"""Words of any entry."""
BELOW: dict[str, frozenset[str]] = {
    "organization": frozenset(
        {"agentInstructions", "glossary", "integrations", "openapi", "saml", "translations", "permissions"}
    ),
    "site": frozenset({"customization", "permissions", "redirects", "shareLinks", "visitorAuth"}),
    "space": frozenset({"permissions"}),
    "collection": frozenset({"permissions"}),
    "site_space": frozenset({"customization"}),
}
NODES = frozenset({"external-link"})
