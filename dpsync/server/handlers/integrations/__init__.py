"""Integrations, and their installations in organizations, on spaces and on sites."""
