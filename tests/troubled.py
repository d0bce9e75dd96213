"""The built-in world with two objects that have a problem on the platform's side."""

from __future__ import annotations

from typing import Any

from dpsync.server.world import load_builtin_world


def troubled_world() -> dict[str, Any]:
    """Return a world in which the SAML provider `azure` is pending, and `billing` could not be fetched."""
    world: dict[str, Any] = load_builtin_world()
    acme = world["organizations"][0]
    azure = next(one for one in acme["samlProviders"] if one["id"] == "azure")
    for name in ("entityID", "certificate", "ssoURL"):
        del azure[name]
    billing = next(one for one in acme["openapi"] if one["slug"] == "billing")
    for name in ("lastVersion", "versions"):
        del billing[name]
    error = {"message": "no answer within 10 seconds", "code": "FETCH_TIMEOUT"}
    billing |= {"lastProcessErrorCode": "FETCH_TIMEOUT", "lastProcessedErrors": [error]}
    return world
