"""Values that no list has: compared with an answer of their own, else with the git base, else not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsync.api import Options, Planned, Session, load, load_base
from dpsync.apply.saved_plan import StaleStateError
from dpsync.client.client import Params, ReadClient
from dpsync.client.errors import NotJsonError, UnknownOutcomeError
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.plan import Plan
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report
from dpsync.server.process.threaded_server import ThreadedServer
from tests.identity.past import Project, git

TEXT = "openapi: 3.1.0\ninfo: {{ title: {}, version: '1' }}\npaths: {{}}\n"
ADDRESS = "acme/openapi/pets"
SOURCE = f"{ADDRESS}#source"


@pytest.fixture
def project(server: ThreadedServer, tmp_path: Path) -> Project:
    (tmp_path / "project").mkdir()
    return Project(server, tmp_path / "project")


def spec(title: str) -> str:
    return f"openapi: {{ pets: {{ source: {{ text: {TEXT.format(title)!r} }} }} }}"


def live(text: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a live specification; its only version has this text, or no text is kept."""
    spec = {"slug": "pets", "processingState": "complete", **more}
    version = f"version-of-{spec['slug']}"
    kept = [{"id": version, "text": text}] if text is not None else []
    return {**spec, "lastVersion": version, "versions": kept}


def changed(planned: Planned) -> list[str]:
    found = planned.plan.changes
    return [f"{change.address}#{item.field}" for change in found for item in change.differences]


def notes(planned: Planned) -> str:
    return "\n".join(f"{note.address}: {note.text}" for note in planned.plan.notes)


def plan(project: Project, *confirm: str, client: type[ReadClient] = ReadClient) -> Planned:
    with client(project.server.url, "token") as reading:
        return project.session().plan(reading, Options(confirm))


class AtWork(ReadClient):
    """Sees every specification as one that the platform is at work on."""

    def pages(self, path: str, params: Params | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        """Return the items of a list in the state `pending`."""
        return [{**item, "processingState": "pending"} for item in super().pages(path, params, limit)]


def test_openapi_text_converges_before_commit(project: Project) -> None:
    project.holds().commit("title: Acme").write(spec("Pets"))
    project.converges()
    assert plan(project).plan.empty
    assert project.apply().writes == 0


def test_outside_openapi_change_shows_both_texts(project: Project) -> None:
    project.holds(openapi=[live(TEXT.format("Cats"))]).commit(spec("Pets"))
    (change,) = plan(project).plan.changes
    (difference,) = change.differences
    assert difference.before == {"text": TEXT.format("Cats")}
    assert difference.after == {"text": TEXT.format("Pets")}
    project.converges()


def test_outdated_openapi_text_stops_apply(project: Project) -> None:
    project.holds(openapi=[live(TEXT.format("Cats"))]).write(spec("Pets"))
    planned = plan(project)
    project.holds(openapi=[live(TEXT.format("Dogs"))])
    with project.client() as client, pytest.raises(StaleStateError) as ended:
        project.session().apply(client, planned)
    assert ended.value.stale == {ADDRESS: "this object was changed after the plan was made"}


def test_openapi_text_needs_one_extra_request(project: Project) -> None:
    entries = "openapi: {{ a: {{ source: {} }}, b: {{ source: {} }} }}"
    known = {"sourceURL": "https://x.example/1.yaml"}
    a, b = TEXT.format("A"), TEXT.format("B")
    project.holds(openapi=[live(a, slug="a", **known), live(b, slug="b", **known)])
    url = "{ url: 'https://x.example/1.yaml' }"
    counted = []
    for one, other in ((url, url), (url, f"{{ text: {b!r} }}"), (f"{{ text: {a!r} }}", f"{{ text: {b!r} }}")):
        project.write(entries.format(one, other))
        counted.append(plan(project).snapshot.requests)
    assert [count - counted[0] for count in counted] == [0, 1, 2]


def test_processing_openapi_text_is_not_compared(project: Project) -> None:
    """Otherwise, an earlier text counts as live during processing, and the new text is sent again."""
    project.holds(openapi=[live(TEXT.format("Cats"))]).commit(spec("Cats")).write(spec("Pets"))
    planned = plan(project, client=AtWork)
    assert planned.plan.empty
    assert [item.address for item in planned.plan.waiting] == [ADDRESS]
    assert "compare" not in notes(planned)
    assert changed(plan(project)) == [SOURCE]


FAILED = {"lastProcessErrorCode": "PARSE_ERROR"}
AGAIN = f'add --confirm "send {SOURCE}"'
WITHOUT_PATHS = "openapi: {{ pets: {{ source: {{ text: 'openapi: 3.0.0\n\n  info: {{ title: {} }}' }} }} }}"


@pytest.mark.parametrize("base", ["Pets", "Cats", None], ids=["same base", "other base", "no base"])
@pytest.mark.parametrize("kept", [TEXT.format("Earlier"), None], ids=["earlier text", "no text"])
def test_openapi_text_is_resent_after_failed_processing(
    project: Project, kept: str | None, base: str | None
) -> None:
    """Otherwise, the correction of a text that the platform could not process is never sent."""
    project.holds(openapi=[live(kept, **FAILED)])
    project.commit(spec(base) if base else "title: Acme").write(spec("Pets"))
    planned = plan(project)
    assert changed(planned) == [SOURCE]
    (trouble,) = planned.plan.trouble
    assert (trouble.address, trouble.field) == (ADDRESS, "source")
    assert "(PARSE_ERROR" in trouble.what
    assert "--confirm" not in trouble.what


def test_readable_openapi_text_is_not_resent(project: Project) -> None:
    """Otherwise, a text that was taken back is sent although the platform still shows it."""
    project.holds(openapi=[live(TEXT.format("Pets"), **FAILED)]).commit(spec("Pets"))
    planned = plan(project)
    assert planned.plan.empty
    assert AGAIN in planned.plan.trouble[0].what
    assert changed(plan(project, f"send {SOURCE}")) == [SOURCE]


def test_confirmed_openapi_url_is_sent_again(project: Project) -> None:
    """Otherwise, nobody can have a document fetched again after it was corrected behind its URL."""
    url = "https://a.example/api.json"
    project.holds(openapi=[live(sourceURL=url, **FAILED)])
    project.commit(f"openapi: {{ pets: {{ source: {{ url: {url!r} }} }} }}")
    assert plan(project).plan.empty
    assert changed(plan(project, f"send {SOURCE}")) == [SOURCE]


@pytest.mark.parametrize("code", ["FETCH_ERROR", "FETCH_TIMEOUT", "PARSE_ERROR"])
def test_failed_openapi_url_suggests_confirm_send(project: Project, code: str) -> None:
    """Otherwise, nobody learns how to have the platform fetch a corrected document."""
    url = "https://a.example/api.json"
    project.holds(openapi=[live(sourceURL=url, lastProcessErrorCode=code)])
    project.commit(f"openapi: {{ pets: {{ source: {{ url: {url!r} }} }} }}")
    planned = plan(project)
    assert planned.plan.empty
    assert planned.plan.trouble[0].what.endswith(f". To send the value again, {AGAIN}")
    sent = plan(project, f"send {SOURCE}")
    assert changed(sent) == [SOURCE]
    assert "--confirm" not in sent.plan.trouble[0].what


def plan_with_profile(project: Project, profile: str, *confirm: str) -> tuple[Session, Planned]:
    registry = load_registry(profile)
    root = project.directory / "dpsync.yaml"
    base = load_base(root, None, {}, registry)
    session = Session(load(root, {}, registry), registry, 1, base)
    with ReadClient(project.server.url, "token") as reading:
        return session, session.plan(reading, Options(confirm))


@pytest.mark.parametrize(
    ("base", "changes", "way_out"),
    [
        ("Pets", [], f". To send the value again, {AGAIN}"),
        ("Cats", [SOURCE], None),
        (None, [], f". dpsync cannot compare the value. To send the value again, {AGAIN}"),
    ],
    ids=["same base", "other base", "no base"],
)
def test_unreadable_openapi_text_uses_git_base(
    project: Project, base: str | None, changes: list[str], way_out: str | None
) -> None:
    project.holds(openapi=[live(TEXT.format("Earlier"), **FAILED)])
    project.commit(spec(base) if base else "title: Acme").write(spec("Pets"))
    _, planned = plan_with_profile(project, "reference")
    assert changed(planned) == changes
    (trouble,) = planned.plan.trouble
    assert trouble.what.endswith(way_out or ")")


@pytest.mark.parametrize("profile", ["full", "reference", "published"])
def test_corrected_openapi_text_converges(
    profile: str, project: Project, published_server: ThreadedServer
) -> None:
    """Otherwise, a correction is sent by each apply, or never."""
    if profile == "published":
        project.server = published_server
    project.holds().commit(WITHOUT_PATHS.format("Pets"))
    for body in (WITHOUT_PATHS.format("Pets"), spec("Pets")):
        project.write(body)
        session, planned = plan_with_profile(project, profile)
        assert not planned.plan.empty
        with project.client() as client:
            session.apply(client, planned)
        project.server.wait_for_jobs()
    project.commit(spec("Pets"))
    _, planned = plan_with_profile(project, profile)
    assert (planned.plan.changes, planned.plan.trouble) == ((), ())


@pytest.mark.parametrize("base", [True, False])
def test_unverifiable_openapi_text_is_not_resent(project: Project, base: bool) -> None:
    """Otherwise, a text that cannot be read counts as an empty one, and is sent again for ever."""
    project.holds(openapi=[live()])
    if base:
        project.commit("title: Acme")
    project.write(spec("Pets"))
    planned = plan(project)
    assert planned.plan.empty
    assert f'add --confirm "send {SOURCE}"' in notes(planned)
    assert changed(plan(project, f"send {SOURCE}")) == [SOURCE]


def test_unsupported_text_read_uses_git_base(project: Project) -> None:
    """A profile that cannot read it sends nothing twice either."""
    registry = load_registry("reference")
    project.holds(openapi=[live(TEXT.format("Pets"))]).commit("title: Acme").write(spec("Pets"))
    root = project.directory / "dpsync.yaml"
    with ReadClient(project.server.url, "token") as client:
        base = project.session().base
        planned = Session(load(root, {}, registry), registry, 1, base).plan(client)
    assert planned.plan.empty
    assert "and the value is not in the commit that dpsync compares with" in notes(planned)
    assert not [path for _, path, _ in project.server.app.requests if "versions" in path]


SCRIPT = "publishedIntegrations: {{ bot: {{ title: Bot, script: {}, secrets: {{ KEY: {{ env: {} }} }} }} }}"


def test_changed_script_and_secrets_are_sent(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE", "one")
    project.holds().commit("title: Acme").write(SCRIPT.format("run()", "ONE"))
    project.converges()
    planned = plan(project)
    assert planned.plan.empty
    assert notes(planned).count("and the value is not in the commit that dpsync compares with") == 2
    git(project.directory, "add", "--all")
    git(project.directory, "commit", "-q", "-m", "it is applied")
    assert plan(project).plan.empty
    project.write(SCRIPT.format("walk()", "TWO"))
    bot = "acme/publishedIntegrations/bot"
    assert changed(plan(project)) == [f"{bot}#script", f"{bot}#secrets"]
    monkeypatch.setenv("TWO", "two")
    report = project.converges()
    assert report.remaining is not None
    assert report.remaining.unproven == (f"{bot}#script", f"{bot}#secrets")
    told = (
        "GitBook does not return 2 values, so each apply sends these values again until you commit your files"
    )
    assert f"{told}: {bot}#script, {bot}#secrets" in render_report(Plan(), report, Paint(False))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"content-type": "text/html"}, NotJsonError),
        ({"body": b"\xff\xfe"}, NotJsonError),
        ({"status": 204}, None),
        ({"has_marked_end": False}, UnknownOutcomeError),
    ],
)
def test_read_text_rejects_non_text_responses(answer: dict[str, Any], error: type[Exception] | None) -> None:
    from dpsync.client import responses
    from dpsync.client.transport import Response

    kind = answer.pop("content-type", "application/yaml")
    given = {"status": 200, "body": b"text", "has_marked_end": True, **answer}
    response = Response(
        given["status"], {"content-type": kind}, given["body"], has_marked_end=given["has_marked_end"]
    )
    asked = responses.request("GET", "/x")
    if error is None:
        assert responses.read_text(asked, response) == "text"
    else:
        with pytest.raises(error):
            responses.read_text(asked, response)
