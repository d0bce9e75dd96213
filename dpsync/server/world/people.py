"""Members and teams."""

from ..store import Record, Store
from .loading import Json, Loading, Part, but, created


def _load_members(loading: Loading, organization: str, given: list[Json]) -> None:
    for member in given:
        _member(loading, organization, member)


def _member(loading: Loading, organization: str, given: Json) -> None:
    user = given["user"]
    doc = {"role": None, "disabled": False, "joinedAt": loading.then(), "sso": False, **but(given, "user")}
    if doc["role"] == "guest":
        doc["role"] = None
    loading.add(Record("member", f"{organization}:{user}", doc, organization, organization, ref=user))


def _dump_members(store: Store, organization: str) -> list[Json]:
    return [
        {"user": member.ref, **member.doc} for member in created(store, "member", organization=organization)
    ]


def _load_teams(loading: Loading, organization: str, given: list[Json]) -> None:
    for team in given:
        _team(loading, organization, team)


def _team(loading: Loading, organization: str, given: Json) -> None:
    id = loading.id("team", given)
    doc = {"createdAt": loading.then(), **but(given, "id", "members")}
    loading.add(Record("team", id, doc, organization, organization))
    for member in given.get("members") or []:
        user, role = member["user"], member.get("role") or "member"
        loading.add(Record("membership", f"{id}:{user}", {"role": role}, organization, id, ref=user))


def _dump_teams(store: Store, organization: str) -> list[Json]:
    return [
        {
            "id": team.id,
            **team.doc,
            "members": [
                {"user": found.ref, **found.doc} for found in created(store, "membership", scope=team.id)
            ],
        }
        for team in created(store, "team", organization=organization)
    ]


PARTS = (Part("members", _load_members, _dump_members), Part("teams", _load_teams, _dump_teams))
