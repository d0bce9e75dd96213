"""A forged journal or saved plan makes dpsync send no unplanned request and no value of a variable."""

from __future__ import annotations

import http.server
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from dpsync.model.diagnostic import Exit
from dpsync.model.plan import Saved
from dpsync.server import world as worlds
from dpsync.server.process.threaded_server import ThreadedServer
from tests.cli.conftest import Ran, Run
from tests.cli.test_show_journal import newest
from tests.no_tls import NO_TLS
from tests.planner.lab import world

Project = Callable[..., Path]
Plan = dict[str, Any]
Forge = Callable[[Plan], Any]

LEAKED = "a-variable-of-the-environment"
TOKEN = "tools-token-17"
TEXT = """\
dpsync: 1
policy: { prune: [spaces, glossary, "teams/a/members"], limits: { deletes: 9, percent: 100 } }
organizations:
  acme:
    id: acme
    teams:
      a: { id: a, title: One, members: {} }
      b: { id: b, title: Beta }
      n: { title: New }
    collections: { c: { title: C }, d: { title: D } }
    glossary: {}
    integrations:
      acme-tools: { configuration: { server: after, token: { env: TOOLS_TOKEN } } }
    spaces: { s: { title: Guides, collection: d }, u: { title: Drafts } }
"""
TEAM, SPACE, TOOLS, NEW = "acme/teams/a", "acme/spaces/s", "acme/integrations/acme-tools", "acme/teams/n"
NEWS, TERM, BO = "acme/spaces/[News]", "acme/glossary/[Ventil]", "acme/teams/a/members/[bo@acme.example]"


class Relay(http.server.BaseHTTPRequestHandler):
    """A proxy to the companion that records the request line and body of each request."""

    protocol_version = "HTTP/1.1"
    inner: httpx.Client
    seen: list[tuple[str, str]]

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.seen.append((f"{self.command} {self.path}", content.decode()))
        headers = {
            name: self.headers[name] for name in ("Authorization", "Content-Type") if self.headers[name]
        }
        given = self.inner.request(self.command, self.path, content=content, headers=headers)
        self.send_response(given.status_code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(given.content)))
        self.end_headers()
        self.wfile.write(given.content)

    do_GET = do_PATCH = do_PUT = do_POST = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        """Quiet."""


@dataclass
class Forgery:
    """An apply that was carried out, with functions that forge its journal or saved plan."""

    run: Run
    at: Path
    url: str
    seen: list[tuple[str, str]] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        return sorted(line.replace(" /v1", " ") for line, _ in self.seen if not line.startswith("GET "))

    def journal(self, forge: Forge) -> str:
        """Write a forged journal, and return its name."""
        lines = []
        for line in newest(self.at).read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["event"] == "start":
                forge(event["plan"])
                line = json.dumps(event, separators=(",", ":"))
            lines.append(f"{line}\n")
        (self.at / "forged.jsonl").write_text("".join(lines), encoding="utf-8")
        return "forged.jsonl"

    def plan(self, forge: Forge) -> str:
        """Write a forged plan with a matching digest, and return its name."""
        saved = json.loads((self.at / "plan.json").read_text(encoding="utf-8"))
        saved["plan"]["platform"] = self.url
        forge(saved["plan"])
        saved["digest"] = "0" * 64
        read = Saved.model_validate_json(json.dumps(saved))
        saved["digest"] = read.plan.digest
        (self.at / "forged.json").write_text(json.dumps(saved), encoding="utf-8")
        return "forged.json"

    def revert(self, file: str, *flags: str) -> Ran:
        """Revert the apply of a file with --yes, and check that no request contains a secret."""
        self.seen.clear()
        answer = ("--confirm", "delete 1")
        ended = self.run("revert", file, "-C", str(self.at), "--yes", *answer, *flags)
        if ended.code == Exit.USAGE:  # nothing with content is deleted
            ended = self.run("revert", file, "-C", str(self.at), "--yes", *flags)
        for line, body in self.seen:
            assert LEAKED not in line + body
            assert TOKEN not in line + body or "acme-tools/installations/i" in line
        assert "an internal error" not in ended.err
        return ended


WORLD = world(
    teams=[{"id": "a", "title": "Alpha", "members": [{"user": "bo"}]}, {"id": "b", "title": "Beta"}],
    collections=[{"id": "c", "title": "C"}, {"id": "d", "title": "D"}],
    spaces=[
        {"id": "s", "title": "Guides", "parent": "c"},
        {"id": "t", "title": "News"},
        {"id": "u", "title": "Drafts"},
    ],
    glossary=[{"id": "g", "translations": {"en": "valve", "de": "Ventil"}}],
    integrations=[{"name": "acme-tools", "title": "Tools", "script": "x"}],
    installations=[
        {"id": "i", "integration": "acme-tools", "configuration": {"server": "before", "token": "old"}}
    ],
)


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Return the directory of a project after its apply, and the world that the apply has left."""
    return tmp_path_factory.mktemp("applied"), {}


@pytest.fixture
def forgery(
    run: Run,
    project: Project,
    platform: ThreadedServer,
    applied: tuple[Path, dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Forgery]:
    kept, left = applied
    for name, value in {"DPSYNC_TOKEN": "token", "TOOLS_TOKEN": TOKEN, "LEAK": LEAKED}.items():
        monkeypatch.setenv(name, value)
    platform.reset(left or WORLD)
    at = project(TEXT)
    if not left:
        assert (
            run("plan", "-C", str(at), "--confirm", "delete acme/spaces/[News]", "--out", "plan.json").code
            == 0
        )
        assert run("apply", "plan.json", "-C", str(at), "--yes").code == 0
        left |= platform.run_in_server(lambda: worlds.dump_world(platform.app.store))
        shutil.copytree(at, kept, dirs_exist_ok=True)
    else:
        shutil.copytree(kept, at, dirs_exist_ok=True)
    with httpx.Client(base_url=platform.url, **NO_TLS) as client:
        handler = type("Fresh", (Relay,), {"inner": client, "seen": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=partial(server.serve_forever, 0.01))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("DPSYNC_URL", url)
        yield Forgery(run, at, url, handler.seen)
        server.shutdown()
        thread.join()
        server.server_close()


def change(plan: Plan, address: str) -> dict[str, Any]:
    return next(one for one in plan["changes"] if one["address"] == address)


def with_members(address: str, /, **members: Any) -> Forge:
    return lambda plan: change(plan, address).update(members)


def with_value(address: str, name: str, value: Any, side: str = "before") -> Forge:
    """Return a forgery that replaces the recorded value of a field."""

    def forge(plan: Plan) -> None:
        found = change(plan, address)
        item = next(one for one in (*found["differences"], *found["was"]) if one["field"] == name)
        item[side] = value

    return forge


def with_added_value(address: str, name: str, value: Any, of: str = "differences") -> Forge:
    """Return a forgery that adds a value for a field that the change does not have."""
    return lambda plan: change(plan, address)[of].append({"field": name, "before": value})


def nested(depth: int, inside: Any) -> Any:
    for _ in range(depth):
        inside = [inside]
    return inside


ENV = {"dpsync:env": "LEAK"}
OWN = {"dpsync:env": "TOOLS_TOKEN"}
REFUSED: dict[str, tuple[str, Forge]] = {
    "variable as a title": (f"{TEAM}#title", with_value(TEAM, "title", ENV)),
    "the token as a title": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:env": "DPSYNC_TOKEN"})),
    "known variable as a title": (f"{TEAM}#title", with_value(TEAM, "title", OWN)),
    "variable in a list as a title": (f"{TEAM}#title", with_value(TEAM, "title", [ENV])),
    "variable in an object as a title": (f"{TEAM}#title", with_value(TEAM, "title", {"a": {"b": ENV}})),
    "variable as of a file": (f"{TEAM}#title", with_value(TEAM, "title", {"env": "LEAK"})),
    "wrapped variable": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:data": ENV})),
    "variable without a name": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:env": None})),
    "variable with a list as its name": (
        f"{TEAM}#title",
        with_value(TEAM, "title", {"dpsync:env": ["LEAK"]}),
    ),
    "file as a title": (f"{TEAM}#title", with_value(TEAM, "title", {"file": "dpsync.yaml"})),
    "list as a title": (f"{TEAM}#title", with_value(TEAM, "title", [1, 2])),
    "boolean as a title": (f"{TEAM}#title", with_value(TEAM, "title", True)),
    "huge number as a title": (f"{TEAM}#title", with_value(TEAM, "title", 10**22)),
    "empty title": (f"{TEAM}#title", with_value(TEAM, "title", "")),
    "title that is no number": (f"{TEAM}#title", with_value(TEAM, "title", float("nan"))),
    "title above its limit": (f"{TEAM}#title", with_value(TEAM, "title", "x" * 65)),
    "title with a zero byte": (f"{TEAM}#title", with_value(TEAM, "title", "a\x00b")),
    "deep title": (f"{TEAM}#title", with_value(TEAM, "title", nested(100, ENV))),
    "number as a reference": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:ref": 5})),
    "reference as a title": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:ref": TEAM})),
    "id as a title": (f"{TEAM}#title", with_value(TEAM, "title", {"dpsync:id": "a"})),
    "list as the written title": (f"{TEAM}#title", with_value(TEAM, "title", [1], "after")),
    "list as a created title": (f"{NEW}#title", with_value(NEW, "title", [1], "after")),
    "number as a collection": (f"{SPACE}#collection", with_value(SPACE, "collection", {"dpsync:ref": 5})),
    "text as a collection": (f"{SPACE}#collection", with_value(SPACE, "collection", "acme/collections/c")),
    "variable as a collection": (f"{SPACE}#collection", with_value(SPACE, "collection", ENV)),
    "id that leads elsewhere": (
        f"{SPACE}#collection",
        with_value(SPACE, "collection", {"dpsync:id": "../a"}),
    ),
    "other variable": (f"{TOOLS}#configuration", with_value(TOOLS, "configuration", {"token": ENV})),
    "variable in another place": (
        f"{TOOLS}#configuration",
        with_value(TOOLS, "configuration", {"server": OWN}),
    ),
    "variable deep inside": (
        f"{TOOLS}#configuration",
        with_value(TOOLS, "configuration", {"token": OWN, "a": [{"b": [ENV]}]}),
    ),
    "variable of a file deep inside": (
        f"{TOOLS}#configuration",
        with_value(TOOLS, "configuration", {"token": OWN, "a": {"env": "LEAK"}}),
    ),
    "settings from a file": (
        f"{TOOLS}#configuration",
        with_value(TOOLS, "configuration", {"file": "a.yaml"}),
    ),
    "list as settings": (f"{TOOLS}#configuration", with_value(TOOLS, "configuration", [OWN])),
    "variable in a new term": (f"{TERM}#translations", with_value(TERM, "translations", {"en": ENV})),
    "variable as a new term": (f"{TERM}#translations", with_value(TERM, "translations", ENV)),
    "number in a new term": (f"{TERM}#translations", with_value(TERM, "translations", {"en": 5})),
    "variable in a deleted space": (f"{NEWS}#title", with_value(NEWS, "title", ENV)),
    "unknown field of a new term": (f"{TERM}#secret", with_added_value(TERM, "secret", ENV, "was")),
    "unknown field": (f"{TEAM}#admin", with_added_value(TEAM, "admin", True)),
    "unknown kind": (TEAM, with_members(TEAM, kind="token")),
    "other kind in a place": (TERM, with_members(TERM, kind="team", was=[{"field": "title", "before": "A"}])),
    "id upwards": (NEWS, with_members(NEWS, id="..")),
    "id with a slash": (NEWS, with_members(NEWS, id="../orgs/acme")),
    "id of an address": (NEWS, with_members(NEWS, id="{acme/teams/a}")),
    "empty id": (NEWS, with_members(NEWS, id="")),
    "id with a line break": (NEWS, with_members(NEWS, id="a\r\nb")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_forged_journal_value_is_rejected_before_requests(case: str, forgery: Forgery) -> None:
    """Otherwise, whoever can write a journal could publish any environment variable, including the token."""
    at, forge = REFUSED[case]
    for file in (forgery.journal(forge), forgery.plan(forge)):
        ended = forgery.revert(file)
        assert (ended.code, forgery.seen) == (5, []), ended
        assert "error[DP149]" in ended.err
        assert f"{file} cannot be used, because the recorded change of {at} is invalid: " in ended.err
        shown = forgery.run("show", file, "-C", str(forgery.at))
        assert shown.code == 0
        assert LEAKED not in shown.out + shown.err


HONEST = [
    "DELETE /orgs/acme/teams/team-1",
    "PATCH /integrations/acme-tools/installations/i",
    "PATCH /orgs/acme/teams/a",
    "POST /spaces/s/move",
    "POST /spaces/t/restore",
    "PUT /orgs/acme/translations-glossary",
]
"""The write requests that revert the unforged apply."""


def with_steps(**members: Any) -> Forge:
    def forge(plan: Plan) -> None:
        for one in plan["changes"]:
            for step in one["steps"]:
                step.update(members)

    return forge


def with_copied_creation(kind: str, address: str, label: str) -> Forge:
    """Return a forgery that adds the creation of an object that the apply has not touched."""
    id = address.rpartition("/")[2]
    members = {"kind": kind, "address": address, "differences": [], "id": id, "label": label}
    return lambda plan: plan["changes"].append({**change(plan, NEW), **members})


HARMLESS: dict[str, tuple[Forge, list[str]]] = {
    "as it was": (with_steps(), HONEST),
    "other path": (with_steps(path="/orgs/acme/members/bo"), HONEST),
    "other address of a server": (with_steps(path="https://evil.example/"), HONEST),
    "other method": (with_steps(method="DELETE"), HONEST),
    "body with a variable": (with_steps(body={"title": ENV}), HONEST),
    "id that a step gives": (with_steps(gives=[{"address": TEAM, "id": ENV}]), HONEST),
    "outputs of the plan": (lambda plan: plan.update(bindings={"acme": "other"}), HONEST),
    "effect with a variable": (
        with_members(TEAM, effects=[{"address": "acme/teams/x", "what": "LEAK"}]),
        HONEST,
    ),
    "reference to nothing": (
        with_value(SPACE, "collection", {"dpsync:ref": "acme/collections/no"}),
        [one for one in HONEST if "move" not in one],
    ),
    "reference to another kind": (
        with_value(SPACE, "collection", {"dpsync:ref": TEAM}),
        [one for one in HONEST if "move" not in one],
    ),
    "reference upwards": (
        with_value(SPACE, "collection", {"dpsync:ref": "../../x"}),
        [one for one in HONEST if "move" not in one],
    ),
    "value that is not shown": (
        with_value(TEAM, "title", "(hidden, because it may be a secret)"),
        [one for one in HONEST if "teams/a" not in one],
    ),
    "id of another team": (with_members(TEAM, id="b"), [one for one in HONEST if "teams/a" not in one]),
    "kind of another entry": (
        with_members(TEAM, kind="space"),
        [one for one in HONEST if "teams/a" not in one],
    ),
    "member of another kind": (with_members(BO, kind="team_member", id="cy"), HONEST),
    "place that is not declared": (
        with_members(TERM, address="acme/other/[x]"),
        [one for one in HONEST if "glossary" not in one],
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_revert_never_sends_forged_journal_requests(case: str, forgery: Forgery) -> None:
    forge, sent = HARMLESS[case]
    ended = forgery.revert(forgery.journal(forge))
    assert forgery.writes == sent, ended
    assert ended.code == 3, ended  # the plan has no previous position of the moved space


def test_revert_of_forged_space_creation_needs_confirmation(forgery: Forgery) -> None:
    ended = forgery.revert(forgery.plan(with_copied_creation("space", "acme/spaces/u", "Drafts")))
    assert (ended.code, forgery.writes) == (4, [])
    assert "- space [Drafts]" in ended.out


def test_revert_of_forged_team_creation_shows_plan(forgery: Forgery) -> None:
    file = forgery.plan(with_copied_creation("team", "acme/teams/b", "Beta"))
    ended = forgery.run("revert", file, "-C", str(forgery.at))
    assert (ended.code, forgery.writes) == (4, [])
    assert "- team [Beta]" in ended.out


@pytest.mark.parametrize("case", [case for case, (at, _) in REFUSED.items() if "#" not in at or TEAM in at])
def test_forged_saved_plan_is_never_applied(case: str, forgery: Forgery, platform: ThreadedServer) -> None:
    """The same saved plan without the forgery is applied."""
    platform.reset(WORLD)
    ended = forgery.run("apply", forgery.plan(REFUSED[case][1]), "-C", str(forgery.at), "--yes")
    assert (ended.code, forgery.writes) == (4, []), ended
    assert "saved plan" in ended.err
    assert "an internal error" not in ended.err


def test_unmodified_saved_plan_is_applied(forgery: Forgery, platform: ThreadedServer) -> None:
    platform.reset(WORLD)
    ended = forgery.run("apply", forgery.plan(with_steps()), "-C", str(forgery.at), "--yes")
    assert ended.code == 0, ended


def test_saved_plan_of_unknown_api_version_is_rejected(forgery: Forgery) -> None:
    file = forgery.plan(lambda plan: plan.update(profile="other"))
    for command in ("apply", "revert"):
        ended = forgery.run(command, file, "-C", str(forgery.at), "--yes")
        assert (ended.code, forgery.writes) == (5, []), ended
        why = 'this version of dpsync does not know the API version "other" of the plan'
        assert f"cannot be used: {why}" in ended.err


def test_revert_excluding_forged_entry_reverts_the_rest(forgery: Forgery) -> None:
    file = forgery.journal(with_value(TEAM, "title", ENV))
    ended = forgery.revert(file, "--exclude", TEAM)
    assert forgery.writes == [one for one in HONEST if "teams/a" not in one], ended
