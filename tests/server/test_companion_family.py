"""The companion treats a new resource like every other one.

A resource is one declaration, with its models and its rows. The banners of a site are declared below; the
product does not know them.
"""

from collections.abc import Iterator
from typing import Any, Literal

import httpx
import pytest
from companion_calls import START, Api, StillClock

from dpsync.server import world as worlds
from dpsync.server.control.world_export import export_state
from dpsync.server.http.app import build_companion
from dpsync.server.models.base import AnswerBody, Body, Id, Timestamp, optional_field
from dpsync.server.operations import OPERATIONS
from dpsync.server.operations.builders import CrudOperations
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.records.record_kind import CrudResource, Dependency, RecordKind, RecordKinds, clear_column
from dpsync.server.records.world_sections import list_section
from dpsync.server.request.context import Context
from dpsync.server.resources import RECORD_KINDS
from dpsync.server.store import Record, open_store
from tests.patience import PATIENCE


class BannerUpdate(Body):
    title: str = optional_field(max_length=40)
    text: str = optional_field()
    level: Literal["info", "alert"] = optional_field()
    closable: bool = optional_field()


class BannerCreate(BannerUpdate):
    title: str
    team: str = optional_field()


class Banner(AnswerBody):
    object: Literal["banner"]
    id: Id
    title: str
    text: str
    level: str
    closable: bool
    team: str | None
    createdAt: Timestamp


def begin(ctx: Context, banner: Record) -> None:
    banner.doc = {"text": "", "level": "info", "closable": True, "createdAt": ctx.timestamp}
    banner.ref = ctx.body.team or ""


def write(_ctx: Context, banner: Record, given: dict[str, Any]) -> None:
    banner.doc |= {field: value for field, value in given.items() if field != "team"}


def answer(_ctx: Context, banner: Record) -> dict[str, Any]:
    return {"object": "banner", "id": banner.id, "team": banner.ref or None, **banner.doc}


BANNERS = RecordKind(
    "banner",
    id_prefix="sign",
    owner="site",
    depends_on=(Dependency("team", on_delete=clear_column("ref")),),
    world_section=list_section("banner", "banners", "site", ref_field="team", timestamp_fields=("createdAt",),
                               text="", level="info",
                               closable=True),
    crud=CrudResource("banner", "/banners", "bannerId", answer, Banner, BannerCreate,
                      BannerUpdate, begin, write),
)  # fmt: skip
ROWS = CrudOperations(BANNERS)
OF_BANNERS = (
    ROWS.list("listBanners"),
    ROWS.create("createBanner", required_role="create"),
    ROWS.get("getBanner"),
    ROWS.update("updateBanner", required_role="edit"),
    ROWS.delete("deleteBanner", required_role="create"),
)

SITE = "/orgs/acme/sites/docs"
TEAM = "/orgs/acme/teams/writers"
ALL = RecordKinds((*RECORD_KINDS, BANNERS))


@pytest.fixture(scope="module")
def serving() -> Iterator[Api]:
    clock = StillClock()
    app = build_companion(
        open_store(":memory:"),
        clock=clock,
        check_responses=True,
        record_kinds=ALL,
        operations=(*OPERATIONS, *OF_BANNERS),
    )
    with ThreadedServer(app) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        yield Api(server, http, clock)
    app.store.close()


@pytest.fixture
def banners(serving: Api, builtin_world: dict[str, Any]) -> Iterator[Api]:
    serving.clock.now = START
    serving.server.reset(builtin_world)
    yield serving
    assert serving.app.violations == []


def test_toy_resource_supports_create_read_update_and_delete(banners: Api) -> None:
    made = banners.make(f"{SITE}/banners", {"title": "New", "level": "alert"})
    assert made == {
        "object": "banner",
        "id": "sign-1",
        "title": "New",
        "text": "",
        "level": "alert",
        "closable": True,
        "team": None,
        "createdAt": "2026-03-01T00:00:00.000Z",
    }
    assert banners.get(f"{SITE}/banners/sign-1") == made
    changed = banners.patch(f"{SITE}/banners/sign-1", {"text": "Read it", "closable": False})
    assert changed == {**made, "text": "Read it", "closable": False}
    banners.delete(f"{SITE}/banners/sign-1")
    banners.delete(f"{SITE}/banners/sign-1")
    assert banners.items(f"{SITE}/banners") == []


def test_toy_resource_is_listed_page_by_page(banners: Api) -> None:
    for number in range(5):
        banners.make(f"{SITE}/banners", {"title": f"Number {number}"})
    first = banners.get(f"{SITE}/banners", limit=2)
    assert first["count"] == 5
    assert [item["id"] for item in first["items"]] == ["sign-1", "sign-2"]
    assert banners.ids(f"{SITE}/banners", limit=2) == [f"sign-{number}" for number in range(1, 6)]


def test_toy_resource_refuses_invalid_requests(banners: Api) -> None:
    banners.make(f"{SITE}/banners", {"title": "New"})
    assert "title" in banners.refused(400, "POST", f"{SITE}/banners", {"text": "No title"})
    assert "level" in banners.refused(400, "PATCH", f"{SITE}/banners/sign-1", {"level": "loud"})
    assert "banner" in banners.refused(404, "GET", f"{SITE}/banners/sign-2")
    other = banners.make("/orgs/acme/sites", {"title": "Other"})["id"]
    assert "banner" in banners.refused(404, "GET", f"/orgs/acme/sites/{other}/banners/sign-1")
    banners.as_("eve-token").refused(403, "POST", f"{SITE}/banners", {"title": "New"})


def test_toy_resource_is_deleted_with_its_site(banners: Api) -> None:
    banners.make(f"{SITE}/banners", {"title": "New"})
    banners.delete(SITE)
    assert banners.server.run_in_server(lambda: banners.app.store.count("banner")) == 0


def test_toy_resource_loses_reference_to_deleted_team(banners: Api) -> None:
    assert banners.make(f"{SITE}/banners", {"title": "New", "team": "writers"})["team"] == "writers"
    banners.delete(TEAM)
    assert banners.get(f"{SITE}/banners/sign-1")["team"] is None


def with_banners(world: dict[str, Any]) -> dict[str, Any]:
    """On the first site of the world: one that says all, and one that says its title."""
    first, *others = world["organizations"]
    site, *sites = first["sites"]
    said = {"id": "sale", "title": "Sale", "text": "Now", "level": "alert", "closable": False}
    said |= {"team": "writers", "createdAt": "2026-02-01T00:00:00Z"}
    site = {**site, "banners": [said, {"title": "Short"}]}
    return {**world, "organizations": [{**first, "sites": [site, *sites]}, *others]}


def test_toy_resource_is_loaded_from_server_data_file(banners: Api, builtin_world: dict[str, Any]) -> None:
    banners.server.reset(with_banners(builtin_world))
    site = builtin_world["organizations"][0]["sites"][0]["id"]
    path = f"/orgs/acme/sites/{site}/banners"
    assert [(item["id"], item["title"], item["team"]) for item in banners.items(path)] == [
        ("sale", "Sale", "writers"),
        ("sign-1", "Short", None),
    ]
    assert banners.make(path, {"title": "Next"})["id"] == "sign-2"


def test_toy_resource_is_exported_and_reloaded(builtin_world: dict[str, Any]) -> None:
    store, again = open_store(":memory:"), open_store(":memory:")
    worlds.load_world(store, with_banners(builtin_world), record_kinds=ALL)
    dumped = worlds.dump_world(store, ALL)
    banners = dumped["organizations"][0]["sites"][0]["banners"]
    assert [banner["title"] for banner in banners] == ["Sale", "Short"]
    assert "banner" not in {record["kind"] for record in export_state(store, ALL)["records"]}
    worlds.load_world(again, dumped, record_kinds=ALL)
    assert [told(banner) for banner in again.find("banner")] == [
        told(banner) for banner in store.find("banner")
    ]
    store.close()
    again.close()


def told(record: Record) -> dict[str, Any]:
    return {**record.as_dict(), "seq": None}


def test_builtin_server_data_contains_only_declared_kinds(builtin_world: dict[str, Any]) -> None:
    store = open_store(":memory:")
    worlds.load_world(store, builtin_world)
    assert {record.kind for record in store.all_records()} <= {family.name for family in RECORD_KINDS}
    store.close()


def test_id_for_kind_without_ids_raises_key_error() -> None:
    store = open_store(":memory:")
    with pytest.raises(KeyError, match="member"):
        RECORD_KINDS.new_id(store, "member")
    store.close()
