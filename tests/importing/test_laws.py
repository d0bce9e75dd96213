"""Whatever is live: what import writes is planned to be what is live, and a second import writes the same."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, event, example, given, settings

from dpsync.api import Imported, Session, import_, load, update
from dpsync.importing.files import CachingClient, write_files
from dpsync.kinds.watch_patterns import is_access_default
from dpsync.model.diagnostic import DiagnosticError
from dpsync.server.process.threaded_server import ThreadedServer
from tests.certificates import OKTA
from tests.direct import transport
from tests.document.documents import code_that_no_file_may_hold, documents
from tests.properties.configurations import TOKEN, world
from tests.properties.laws import AMBIGUOUS, discard_if, law
from tests.properties.mutations import Managed, wanted_organization
from tests.properties.organizations import Draw, Fields, live_organization, repair
from tests.properties.platform import REGISTRY
from tests.soak import examples


def imported(server: ThreadedServer, full: bool = False) -> Imported:
    with CachingClient(server.url, TOKEN, transport=transport(server, TOKEN)) as client:
        return import_(client, REGISTRY, full=full)


@law(60)
def test_plan_is_empty_after_random_import(server: ThreadedServer, draw: Draw) -> None:
    organizations = [live_organization(draw, key, 4) for key in ["acme", "globex"][: draw.number(1, 2)]]
    server.reset(_decorated(draw, world(organizations)))

    made = imported(server)

    assert made.problems == ()
    assert made.plan is not None
    assert made.plan.changes == ()
    assert made.plan.refusals == ()
    assert made.proven
    event(f"left out: {len(made.made.left_out)}")


@law(20)
def test_repeated_import_writes_identical_files(server: ThreadedServer, draw: Draw) -> None:
    organizations = [live_organization(draw, "acme", 4)]
    server.reset(_decorated(draw, world(organizations)))

    assert imported(server).made.files == imported(server).made.files


@law(20)
def test_import_omits_only_default_values(server: ThreadedServer, draw: Draw) -> None:
    """Otherwise, a value that gives access is in no file, and drift does not report its changes."""
    server.reset(_decorated(draw, world([live_organization(draw, "acme", 4)])))

    short, _ = imported(server).made.load(REGISTRY)
    full, _ = imported(server, full=True).made.load(REGISTRY)

    for address, entry in short.entries.items():
        kind, whole = REGISTRY[entry.kind], full.entries[address].fields
        assert entry.fields.keys() <= whole.keys()
        for name in whole.keys() - entry.fields.keys():
            field = kind.field(name)
            if field.can_widen_access:
                assert (is_access_default(kind, field), whole[name]) == (True, field.default_value)
                assert any(one.field == name and one.matches(address) for one in short.policy.watch_fields)
    event(f"entries: {len(short.entries)}")


@law(20)
def test_drift_is_empty_after_import(server: ThreadedServer, draw: Draw) -> None:
    """Undeclared objects count, too: everything in a watched place has an entry."""
    server.reset(_decorated(draw, world([live_organization(draw, "acme", 4)])))

    desired, _ = imported(server).made.load(REGISTRY)
    with CachingClient(server.url, TOKEN, transport=transport(server, TOKEN)) as client:
        drift = Session(desired, REGISTRY).drift(client, everything=True)

    assert (drift.found, drift.unread) == ((), ())


@law(40)
def test_plan_has_no_differences_after_import_update(
    server: ThreadedServer, draw: Draw, tmp_path_factory: Any
) -> None:
    """Whatever has changed on the platform since, the lines take it over, or it is said why not."""
    live = live_organization(draw, "acme", 3)
    server.reset(world([live]))
    directory = tmp_path_factory.mktemp("update")
    write_files(directory, imported(server).made.files)
    wanted = wanted_organization(draw, live, Managed(), 12)
    repair(draw, wanted, strict=True)
    for thing in (*wanted.teams, *wanted.collections, *wanted.spaces, *wanted.sites):
        thing.id = thing.id or f"new-{thing.key}"
    for node in (node for site in wanted.sites for node in site.nodes()):
        node.id = node.id or f"new-{node.key}"
    server.reset(world([wanted]))

    try:
        session = Session(load(directory / "dpsync.yaml", {}), REGISTRY)
        with CachingClient(server.url, TOKEN, transport=transport(server, TOKEN)) as client:
            made = update(session, client, directory / "dpsync.yaml", ["**"], env={})
    except DiagnosticError as unclear:
        discard_if({item.code for item in unclear.diagnostics} <= AMBIGUOUS | {"DP301"}, "ambiguous")
        raise
    write_files(directory, made.files, force=True)

    said = {(item.address, item.span) for item in made.problems}
    after = Session(load(directory / "dpsync.yaml", {}), REGISTRY)
    with CachingClient(server.url, TOKEN, transport=transport(server, TOKEN)) as client:
        left = [change for change in after.plan(client).plan.changes if change.action == "update"]
    unsaid = [
        (change.address, item)
        for change in left
        for item in change.differences
        if change.address not in {address for address, _ in said}
    ]
    assert unsaid == []
    event(f"taken over: {min(len(made.written), 10)}")


NAMES = (
    "Über uns", "yes", "1e3", "${HOME} & $$", "a: b # c", "- list", "日本語", "'quoted' \"twice\"", "0x10",
    "null", "[x]", "{y}", "*star", "%percent", "@at", "`tick`", "tab\there", "é" * 20, "! bang", "?",
)  # fmt: skip


def _decorated(draw: Draw, made: Fields) -> Fields:
    """Add titles that are hard to write, and objects that the laws of apply leave out."""
    for org in made["organizations"]:
        for thing in (*org["teams"], *org["collections"], *org["spaces"]):
            if draw.chance(0.3):
                thing["title"] = draw.pick(NAMES)
        if draw.chance(0.5):
            org["title"] = draw.pick([name for name in NAMES if len(name) > 1])
        for space in org["spaces"]:
            if draw.chance(0.2):
                space |= {"editMode": "locked", "gitSync": {"repoName": draw.pick(NAMES)}}
        for number, site in enumerate(org["sites"]):
            if draw.chance(0.4):
                site["redirects"] = [
                    {
                        "source": f"/old/{n}",
                        "destination": {"kind": "external", "url": "https://acme.example/"},
                    }
                    for n in range(draw.number(0, 3))
                ]
            if draw.chance(0.4):
                site["customization"] = {"styling": {"corners": draw.pick(["straight", "rounded"])}}
            if draw.chance(0.3):
                site["shareLinks"] = [{"id": f"{org['id']}-link-{number}", "name": draw.pick(NAMES)}]
        if draw.chance(0.4):
            org["glossary"] = [{"translations": {"en": draw.pick(NAMES[:3]), "de": "Wort"}}]
        if draw.chance(0.4):
            org["samlProviders"] = [{"id": f"{org['id']}-saml", "label": "Okta", "certificate": OKTA}]
        for item in (*org["spaces"], *org["sites"]):
            if draw.chance(0.2) and org["teams"]:
                team = draw.pick(org["teams"])["id"]
                item["permissions"] = {"teams": {team: draw.pick(["read", "edit"])}, "users": {}}
    return made


def _code(said: str) -> Fields:
    leaf = {"object": "leaf", "text": said, "marks": [{"object": "mark", "type": "code"}]}
    paragraph = {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}
    return {"object": "document", "nodes": [paragraph]}


@settings(
    max_examples=examples(8, soak=400), deadline=None, suppress_health_check=list(HealthCheck), database=None
)
@given(document=documents)
@example(document=_code("\f"))
def test_import_omits_only_unrepresentable_agent_instructions(
    server: ThreadedServer, document: Fields
) -> None:
    made = world([live_organization(Draw(random.Random(7)), "acme", 0)])
    made["organizations"][0]["agentInstructions"] = document
    server.reset(made)
    found = imported(server)
    assert found.proven, found.problems
    left_out = [note.field for note in found.made.left_out]
    assert left_out == (["instructions"] if code_that_no_file_may_hold(document) else [])
