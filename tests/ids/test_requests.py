"""The ids file costs nothing: a plan asks the platform the same with it and without."""

from __future__ import annotations

from dpsync.api import Planned, Session, import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.registry import build_registry
from dpsync.live.reading_state import recorded_lines
from dpsync.model.desired import Desired
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.server.process.threaded_server import ThreadedServer
from tests.direct import writing

REGISTRY = build_registry()


def planned(server: ThreadedServer, desired: Desired, ids: IdsFile = NO_IDS) -> Planned:
    with writing(server, "ada-token") as client:
        return Session(desired, REGISTRY, ids=ids).plan(client)


def test_ids_file_adds_no_requests_to_plan(server: ThreadedServer) -> None:
    """But for one request for each content that is recorded and gone."""
    server.reset()
    with CachingClient(server.url, "ada-token") as client:
        desired, _ = import_(client, REGISTRY).made.load(REGISTRY)
    without = planned(server, desired)
    lines = recorded_lines(REGISTRY, Session(desired, REGISTRY).desired, without.snapshot)
    sections = {
        one.id: {address: line for address, line in lines.items() if address.segments[0] == one.address}
        for one in without.plan.organizations
    }
    with writing(server, "ada-token") as client:
        client.get("/user")
        ids = IdsFile({client.platform: sections})
    recorded = planned(server, desired, ids)
    assert len(recorded.snapshot.recorded_ids.lines) > 50
    assert recorded.plan.requests == without.plan.requests

    gone = [address for address in lines if str(address).startswith("acme/spaces/")][:2]
    with writing(server, "ada-token") as client:
        for address in gone:
            client.send("DELETE", f"/spaces/{lines[address].id}", None, repeatable=False)
    requests = planned(server, desired).plan.requests
    assert planned(server, desired, ids).plan.requests == requests + len(gone)
