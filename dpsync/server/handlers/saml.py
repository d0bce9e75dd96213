"""SAML providers of an organization, for its admins, and the links that start a login, for its members.

The default team is the `ref` of a provider's record: it goes when the team goes.
"""

from typing import Any

from .. import answers
from ..context import Context
from ..errors import missing
from ..paging import created_page
from ..store import Record

Json = dict[str, Any]
KIND = "saml-provider"


def _find(ctx: Context) -> tuple[Record, Record | None]:
    organization = ctx.organization()
    found = ctx.store.get(KIND, ctx.params["samlProviderId"])
    return organization, found if found and found.organization == organization.id else None


def _provider(ctx: Context) -> Record:
    _, found = _find(ctx)
    if found is None:
        raise missing("SAML provider", ctx.params["samlProviderId"])
    return found


def list_providers(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query
    items, envelope = created_page(
        ctx.store, KIND, limit=query.limit, cursor=query.page, organization=organization.id
    )
    return {**envelope, "items": [answers.saml_provider(ctx, provider) for provider in items]}


def create_provider(ctx: Context) -> Json:
    """Labels are not unique. It is pending until entityID, certificate and ssoURL are set."""
    organization, given = ctx.organization(), ctx.body.given()
    doc = {"label": ctx.body.label, "createdAt": ctx.stamp}
    provider = Record(KIND, ctx.new_id(KIND), doc, organization.id, organization.id)
    _write(ctx, provider, given)
    return answers.saml_provider(ctx, provider)


def get_provider(ctx: Context) -> Json:
    return answers.saml_provider(ctx, _provider(ctx))


def update_provider(ctx: Context) -> Json:
    provider = _provider(ctx)
    _write(ctx, provider, ctx.body.given())
    return answers.saml_provider(ctx, provider)


def _write(ctx: Context, provider: Record, given: Json) -> None:
    if (team := given.pop("defaultTeam", None)) is not None:
        found = ctx.load("team", team)
        if found is None or found.organization != provider.organization:
            raise missing("body.defaultTeam: team", team)
        provider.ref = team
    provider.doc.update(given)
    ctx.put(provider)


def delete_provider(ctx: Context) -> None:
    _, found = _find(ctx)
    if found is not None:
        ctx.remove(found)


def list_logins(ctx: Context) -> Json:
    """Of active providers only: with another one nobody can log in."""
    organization = ctx.organization()
    shown = [
        answers.saml_provider(ctx, found) for found in ctx.store.find(KIND, organization=organization.id)
    ]
    return {
        "items": [
            {"id": found["id"], "label": found["label"], "startURL": found["service"]["startURL"]}
            for found in shown
            if found["status"] == "active"
        ]
    }
