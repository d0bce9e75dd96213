"""SAML providers of an organization, for its admins, and the links that start a login, for its members.

The default team is the `ref` of a provider's record: it goes when the team goes.
"""

from typing import Any

from ... import answers
from ...errors import missing
from ...request.context import Context
from ...store import Record

Json = dict[str, Any]
KIND = "saml-provider"


def begin(ctx: Context, provider: Record) -> None:
    """Labels are not unique. It is pending until entityID, certificate and ssoURL are set."""
    provider.doc = {"label": ctx.body.label, "createdAt": ctx.stamp}


def write(ctx: Context, provider: Record, given: Json) -> None:
    team = given.pop("defaultTeam", None)
    if team is not None and team != provider.ref:
        found = ctx.load("team", team)
        if found is None or found.organization != provider.organization:
            raise missing("body.defaultTeam: team", team)
        provider.ref = team
    provider.doc.update(given)


def list_logins(ctx: Context) -> Json:
    """Of active providers only: with another one nobody can log in."""
    organization = ctx.organization()
    providers = [
        answers.saml_provider(ctx, found) for found in ctx.store.find(KIND, organization=organization.id)
    ]
    return {
        "items": [
            {"id": found["id"], "label": found["label"], "startURL": found["service"]["startURL"]}
            for found in providers
            if found["status"] == "active"
        ]
    }
