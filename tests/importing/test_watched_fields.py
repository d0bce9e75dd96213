"""What import writes is what drift can see: every field by which something becomes more visible or powerful.

Which fields these are is read from the declarations, and so is another value for each.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from dpsync.api import Session, import_
from dpsync.importing.files import CachingClient
from dpsync.kinds.kind import Field
from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import Enum, Flag, Json, List, Object, OneOf, Reference, Text, Type
from dpsync.kinds.types.texts import Certificate, LongText
from dpsync.kinds.watch_patterns import is_access_default
from dpsync.model.desired import Desired, Entry
from dpsync.model.drift import Drift
from dpsync.model.values import LiveId, Value
from dpsync.planner.drift import find_drift
from dpsync.planner.plan import make_plan
from dpsync.planner.sides import Sides
from dpsync.render.resolutions import resolutions_of
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.by_hand import by_hand
from tests.cli.conftest import Run
from tests.soak import slice_of

REGISTRY = build_registry()
SECURITY = [
    (kind.name, field)
    for kind in REGISTRY.in_dependency_order
    for field in kind.fields
    if field.can_widen_access
]
EACH = 1
"""How many entries of each kind a normal run looks at."""
NOT_IMPORTED = {"published_integration"}
"""Their scripts cannot be read, and they are nothing without: import names them."""


@dataclass(frozen=True)
class World:
    """The built-in world as it was imported, and the reading that it was proven by."""

    desired: Desired
    sides: Sides

    def entries(self, kind: str) -> list[Entry]:
        return [item for item in self.desired.entries.values() if item.kind == kind]

    def drift_after(self, resource: Entry, field: Field, value: Value) -> Drift:
        """Return the drift after a live field gets another value."""
        sides = self.moved(resource, field, value)
        return find_drift(sides, make_plan(sides))

    def moved(self, resource: Entry, field: Field, value: Value) -> Sides:
        live = self.sides.live(resource.address)
        assert live is not None
        moved = replace(live, fields={**live.fields, field.name: value})
        objects = {**self.sides.snapshot.objects, live.identity: moved}
        return replace(self.sides, snapshot=replace(self.sides.snapshot, objects=objects))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with ThreadedServer(build_companion(open_store(":memory:"))) as server:
        server.reset()
        with CachingClient(server.url, "ada-token") as client:
            made = import_(client, REGISTRY)
            desired, found = made.made.load(REGISTRY)
            assert made.proven
            assert not found.errors
            session = Session(desired, REGISTRY)
            yield World(desired, Sides(REGISTRY, session.desired, session.plan(client).snapshot))


def another(type_: Type, live: Any) -> Value:
    """Return a value of the type that differs from the live one."""
    match type_:
        case Flag():
            return not live
        case Enum(words=words):
            return next(word for word in words if word != live)
        case Reference():
            return LiveId("somewhere-else")
        case List():
            return [] if live else ["something.example"]
        case OneOf(tag=tag, forms=forms):
            word = next(word for word in forms if word != (live or {}).get(tag))
            return {tag: word}
        case Text(format="url"):
            return f"{live or 'https://a.example'}/elsewhere"
        case Certificate():
            return "MIIC"
        case Text() | LongText():
            return f"{live or 'some'}thing"
        case Object() | Json():
            return {"url": "https://evil.example"}
    raise AssertionError(type_)


@pytest.mark.parametrize(
    ("kind", "field"),
    [pytest.param(kind, field, id=f"{kind}#{field.name}") for kind, field in SECURITY],
)
def test_drift_detects_every_changed_security_field(world: World, kind: str, field: Field) -> None:
    """Otherwise, the space of a translation is drift wherever it is named."""
    entries = world.entries(kind)
    assert bool(entries) == (kind not in NOT_IMPORTED)
    for resource in slice_of(entries, EACH):
        live = world.sides.live(resource.address)
        assert live is not None
        drift = world.drift_after(resource, field, another(field.type, live.fields.get(field.name)))
        moved = {(item.address, part.field) for item in drift.found for part in item.fields}
        assert (str(resource.address), field.name) in moved
        assert drift.drifted


DEFAULTS = [(kind, field) for kind, field in SECURITY if is_access_default(REGISTRY[kind], field)]
KEPT = {
    "acme/collections/internal#parent", "acme/collections/product#parent",
    "globex/translations/safety-de/access#defaultLevel", "globex/integrations/control-room#space_selection",
    "globex/sites/partners/shareLinks/Partners#active",
}  # fmt: skip
"""The default values with a line: `collectionOrder` needs them, or the entry would have no line."""


def test_import_omits_default_values_but_watches_fields(world: World) -> None:
    """The policy watches the default value instead; every other value has a line."""
    kept = set[str]()
    for kind, field in DEFAULTS:
        for resource in world.entries(kind):
            live = world.sides.live(resource.address)
            assert live is not None
            name = f"{resource.address}#{field.name}"
            if live.fields.get(field.name) != field.default_value:
                assert field.name in resource.fields, name
            elif field.name in resource.fields:
                kept.add(name)
            watched = any(
                one.field == field.name and one.matches(resource.address)
                for one in world.desired.policy.watch_fields
            )
            assert watched, name
    assert kept == KEPT


@pytest.mark.parametrize(
    ("kind", "field"), [pytest.param(kind, field, id=f"{kind}#{field.name}") for kind, field in DEFAULTS]
)
def test_changed_default_value_is_drift_with_resolutions(world: World, kind: str, field: Field) -> None:
    quiet = [
        one for one in world.entries(kind) if field.name not in one.fields and world.sides.live(one.address)
    ]
    for resource in slice_of(quiet, EACH):
        live = world.sides.live(resource.address)
        assert live is not None
        value = another(field.type, live.fields[field.name])
        moved = world.moved(resource, field, value)
        assert make_plan(moved).empty
        drift = find_drift(moved, make_plan(moved))
        (item,) = (one for one in drift.found if one.address == str(resource.address))
        assert [(part.field, part.watched) for part in item.fields] == [(field.name, True)]
        out = resolutions_of(drift, item)
        assert out.platform.startswith(f"add {field.name}: ")
        assert out.files is not None
        assert "import --update" in out.files


def test_changed_default_is_reverted_or_imported_by_hint(
    platform: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "docs"
    run("import", "-C", str(target), "--organization", "acme")
    before = (target / "acme/spaces.yaml").read_text()
    for taken_over in (True, False):
        by_hand(platform, "PATCH", "/spaces/changelog", {"defaultLevel": "read"})
        ended = run("drift", "-C", str(target))
        assert ended.code == 2
        assert "defaultLevel  inherit → read  (differs from the default value)" in ended.out
        ways = [line for line in ended.out.splitlines() if line.startswith(("    undo ", "    keep "))]
        undo, keep = (line[8:].strip() for line in ways)
        if taken_over:
            assert run(*shlex.split(keep)[1:], "--force").code == 0
            assert "defaultLevel: read" in (target / "acme/spaces.yaml").read_text()
            assert run("drift", "-C", str(target)).code == 0
            (target / "acme/spaces.yaml").write_text(before)
            continue
        line, _, command = undo.partition(", then run ")
        assert re.fullmatch(r"add defaultLevel: inherit at acme/spaces.yaml:\d+", line)
        shown = "changelog: { title: Changelog, collection: product"
        (target / "acme/spaces.yaml").write_text(before.replace(shown, f"{shown}, defaultLevel: inherit"))
        assert run(*shlex.split(command)[1:], "--yes").code == 0
        assert run("drift", "-C", str(target)).code == 0


def test_security_fields_include_all_access_fields() -> None:
    named = {f"{kind}#{field.name}" for kind, field in SECURITY}
    assert named >= {
        "site#visibility", "site#published", "site#defaultLevel", "space#defaultLevel",
        "collection#defaultLevel", "organization#defaultRole", "organization#sso",
        "organization#inviteLinks", "organization#emailDomains", "member#role", "team_member#role",
        "member_permission#role", "team_permission#role", "saml#ssoURL", "saml#certificate",
        "saml#defaultTeam", "saml#defaultRole", "share_link#active", "visitor_auth#backend",
        "visitor_auth#fallbackURL", "redirect#destination", "external_link#url", "openapi#visibility",
    }  # fmt: skip


BY_HAND: tuple[tuple[str, str, Any, str], ...] = (
    ("POST", "/orgs/acme/sites/internal-handbook/publish", None, "acme/sites/handbook#published"),
    ("PATCH", "/orgs/acme/sites/help", {"visibility": "unlisted"}, "acme/sites/help#visibility"),
    ("POST", "/orgs/acme/members/lin/sso", None, "acme/members/lin@acme.example#sso"),
    ("PATCH", "/orgs/acme", {"inviteLinks": False}, "acme#inviteLinks"),
    ("PATCH", "/spaces/archive", {"defaultLevel": "admin"}, "acme/spaces/archive#defaultLevel"),
    ("PATCH", "/orgs/acme/saml/azure", {"defaultTeam": "sales"}, "acme/saml/azure#defaultTeam"),
    ("PATCH", "/orgs/acme/openapi/billing", {"visibility": "public"}, "acme/openapi/billing#visibility"),
    (
        "PATCH", "/orgs/acme/sites/docs/publishing/auth",
        {"backend": "custom", "fallbackURL": "https://evil.example/"},
        "acme/sites/docs/visitorAuth#fallbackURL",
    ),
)  # fmt: skip
"""A request that somebody sends, and the field that it changes."""


def test_drift_detects_each_manual_change_after_import(
    platform: ThreadedServer, run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "docs"
    assert run("import", "-C", str(target), "--organization", "acme").code == 0
    assert run("drift", "-C", str(target)).code == 0
    for method, path, body, _ in BY_HAND:
        by_hand(platform, method, path, body)
    ended = run("drift", "-v", "-C", str(target))
    assert ended.code == 2, ended.out
    entries = re.split(r"\n(?=\S)", ended.out)
    for *_, changed in BY_HAND:
        address, _, field = changed.partition("#")
        named = rf"[~!] .*\b{re.escape(address)}(?: |$)"
        entry = next(one for one in entries if re.match(named, one.split("\n")[0]) and "\n    undo " in one)
        assert re.search(rf"^    {field}\b", entry, re.MULTILINE)
    taken = run("import", "-C", str(target), "--force", "--update", *(changed for *_, changed in BY_HAND))
    assert taken.code == 0, taken.out
    assert run("drift", "-C", str(target)).code == 0
    members = (target / "acme/members.yaml").read_text(encoding="utf-8")
    assert "\n  lin@acme.example: { role: create, sso: true }\n" in members


def test_irreversible_drift_explains_manual_step(platform: ThreadedServer, run: Run, tmp_path: Path) -> None:
    target = tmp_path / "docs"
    run("import", "-C", str(target), "--organization", "acme")
    by_hand(platform, "PATCH", "/orgs/acme/saml/azure", {"defaultTeam": "sales"})
    out = run("drift", "-C", str(target)).out
    assert re.search(
        r"^    undo +clear defaultTeam in GitBook, or remove defaultTeam from the entry$", out, re.MULTILINE
    )
    planned = run("plan", "-C", str(target)).out
    assert "! acme/saml/azure#defaultTeam" in planned
    assert "No changes. 1 blocked." in planned
    assert run("import", "-C", str(target), "--force", "--update", "acme/saml/azure").code == 0
    assert run("drift", "-C", str(target)).code == 0
    assert "defaultTeam: sales" in (target / "acme/saml.yaml").read_text(encoding="utf-8")


def test_full_import_writes_every_readable_field(platform: ThreadedServer) -> None:
    with CachingClient(platform.url, "ada-token") as client:
        made = import_(client, REGISTRY, full=True)
    assert made.proven, made.problems
    desired, _ = made.made.load(REGISTRY)
    left = {
        f"{item.kind}#{field.name}"
        for item in desired.entries.values()
        for field in REGISTRY[item.kind].fields
        if field.name not in item.fields and field.response_path is not None and field.written_in != "neither"
    }
    # What the platform has nothing for, and what null cannot say: no line could be written.
    assert left == {
        "customization#announcement", "customization#favicon", "customization#localizedTitle",
        "customization#privacyPolicy", "customization#socialPreview", "customization#title",
        "installation#configuration", "installation_site#configuration", "installation_space#configuration",
        "space#language",
    }  # fmt: skip
    for node in (item for item in desired.entries.values() if item.kind == "site_space"):
        assert node.address.child("customization") in desired.entries


def test_full_import_cannot_be_combined_with_other_modes(run: Run, tmp_path: Path) -> None:
    ended = run("import", "-C", str(tmp_path), "--full", "--update", "acme/teams")
    assert ended.code == 64
    assert "--full cannot be combined with --update, --add or --from-navigation" in ended.err
    ended = run("import", "-C", str(tmp_path), "--full", "--redirects", "acme/sites/docs")
    assert (ended.code, "--redirects cannot be combined with other import flags" in ended.err) == (64, True)
