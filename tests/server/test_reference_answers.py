"""Answers against the second opinion: of every operation of the reference, and on all that the world has."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from cases import BODIES
from companion_calls import Api
from reference_shapes import ANSWERS
from test_companion_operations import REFERENCE, path_of, prepare
from world_walk import Walk, objects

from dpsync.server.http.request_parsing import base_url_of
from dpsync.server.request.operation import Operation

_WALKED: dict[tuple[str, str], list[tuple[Operation, str, Any]]] = {}


def walked(api: Api, profile: str) -> list[tuple[Operation, str, Any]]:
    """Every test of this file begins with the same world, so one walk for each caller is enough."""
    key = (profile, api.token)
    if key not in _WALKED:
        _WALKED[key] = list(Walk(api, profile))
    return _WALKED[key]


CALLERS = ("ada-token", "kim-token", "gus-token", "hank-token", "homer-token", "carl-token")
"""Admins, members with few rights, and guests of both organizations."""


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: str(row.id))
def test_every_operation_response_matches_reference(
    reference: Api, row: Operation, builtin_world: Any
) -> None:
    prepare(reference, builtin_world)
    answer = reference.call(row.method, path_of(row), BODIES.get(row.id))
    shape = ANSWERS.get(f"{row.method} {row.path}")
    if shape is None:
        assert answer.content == b""
    else:
        assert list(shape(answer.json(), row.id)) == []


@pytest.mark.parametrize("token", CALLERS)
def test_every_readable_response_matches_reference(reference: Api, token: str) -> None:
    complaints = [
        complaint
        for row, path, answer in walked(reference.as_(token), "reference")
        for complaint in ANSWERS[f"GET {row.path}"](answer, path)
    ]
    assert complaints == []


def test_response_walk_reaches_every_get_operation(reference: Api) -> None:
    """Ada and Hank are admins: between them they may read all there is."""
    seen = {
        row.id
        for token in ("ada-token", "hank-token")
        for row, _, _ in walked(reference.as_(token), "reference")
    }
    assert {row.id for row in REFERENCE if row.method == "GET"} - seen == set()


# --- where things are ---------------------------------------------------------------------------------


def test_every_location_url_leads_to_its_object(api: Api) -> None:
    """A redirect and a share link are not read one by one, but changed there."""
    base = f"{api.server.url}/v1"
    found = {
        thing["urls"]["location"]: thing
        for _, _, answer in walked(api, "full")
        for thing in objects(answer)
        if "location" in (thing.get("urls") or {})
    }
    assert {location for location in found if not location.startswith(base)} == set()
    for location, thing in found.items():
        path = location.removeprefix(base)
        if thing.get("object") in ("site-redirect", "share-link"):
            api.patch(path, {})
            continue
        read = api.get(path)
        read = read.get("issue") or read.get("conversation") or read
        assert [read.get(name) for name in ("id", "name")] == [thing.get(name) for name in ("id", "name")]


def test_location_urls_use_host_of_the_request(api: Api) -> None:
    """One after the other: what is remembered for one name is not told to another."""
    port = api.server.url.rpartition(":")[2]
    for host in (f"localhost:{port}", f"docs.localhost:{port}", "[::1]", f"127.0.0.1:{port}"):
        space = api.ok("GET", "/spaces/guides", headers={"Host": host})
        assert space["urls"]["location"] == f"http://{host}/v1/spaces/guides"


@pytest.mark.parametrize("host", ["", "a b", "x/y", "x@y", "x:port", "[::1", 'x"'])
def test_location_urls_ignore_malformed_host_header(host: str) -> None:
    scope = {"headers": [(b"host", host.encode())], "scheme": "http", "server": ("127.0.0.1", 8787)}
    assert base_url_of(scope) == "http://127.0.0.1:8787"


# --- when things were ---------------------------------------------------------------------------------

LATER = {
    "createdAt": ("updatedAt", "deletedAt", "processedAt", "ingestedAt", "lastProcessedAt"),
    "postedAt": ("editedAt", "resolvedAt"),
    "joinedAt": ("lastSeenAt",),
}
"""What cannot be before what, in one object."""


def _times(thing: dict[str, Any]) -> dict[str, datetime]:
    return {name: datetime.fromisoformat(at) for name, at in thing.items() if name.endswith("At") and at}


def _inside(thing: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the parent objects, which a thing is not older than."""
    if "organization" in thing and isinstance(thing["organization"], str):
        yield "organization", thing["organization"]
    if thing["object"] == "change-request":
        yield "space", thing["space"]
    if thing["object"] == "comment":
        target = thing["target"]
        kind, id = ("change-request", "changeRequest") if "changeRequest" in target else ("space", "space")
        yield kind, target[id]
    if thing["object"] == "conversation-issue":
        yield "conversation", thing["conversation"]
    if thing["object"] == "translation":
        yield "space", thing["source"]["space"]


@pytest.mark.parametrize("token", ["ada-token", "hank-token"])
def test_timestamps_in_builtin_server_data_are_plausible(api: Api, token: str) -> None:
    things = [
        thing
        for _, _, answer in walked(api.as_(token), "full")
        for thing in objects(answer)
        if isinstance(thing.get("object"), str)
    ]
    known = {(thing["object"], thing.get("id")): _times(thing) for thing in things}
    wrong = set()
    for thing in things:
        named, times = f"{thing['object']} {thing.get('id')}", _times(thing)
        wrong |= {f"{named}: {name} is still to come" for name, at in times.items() if at > api.clock.now}
        for first, later in LATER.items():
            for name in times.keys() & later if first in times else ():
                if times[name] < times[first]:
                    wrong.add(f"{named}: {name} is before {first}")
        began = times.get("createdAt") or times.get("postedAt")
        for outer in _inside(thing):
            if began and outer in known and began < known[outer]["createdAt"]:
                wrong.add(f"{named}: is older than {' '.join(outer)}")
        if thing["object"] == "comment":
            for user in (*thing["repliers"], *(user for one in thing["reactions"] for user in one["users"])):
                if min(_times(user).values()) < times["postedAt"]:
                    wrong.add(f"{named}: a reply or reaction is older")
        if thing["object"] == "conversation-issue":
            cluster = known["issues-cluster", thing["cluster"]]
            if cluster["updatedAt"] < times["ingestedAt"]:
                wrong.add(f"{named}: its cluster was not changed since")
        if thing["object"] == "revision":
            for page in objects(thing["pages"]):
                if "createdAt" in page and _times(page)["updatedAt"] > times["createdAt"]:
                    wrong.add(f"{named}: its page {page['id']} was changed later")
    assert wrong == set()
