"""When nobody knows what became of a request: it is looked for, or told; nothing is made or done twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from dpsync.api import Options, Session, load, load_registry
from dpsync.apply.fresh_reads import FreshReads
from dpsync.apply.report import exit_code_of
from dpsync.client.client import WriteClient
from dpsync.client.errors import NotSentError
from dpsync.client.retry import MAX_TRIES, Clock
from dpsync.client.transport import HttpTransport, Request, Response, Token
from dpsync.live.sources import ReadSource
from dpsync.model.diagnostic import Exit
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.model.snapshot import Identity, LiveObject
from dpsync.render.paint import Paint
from dpsync.render.view_text import render_report
from dpsync.server.process.threaded_server import ThreadedServer
from tests.apply.late import Answer, Late, lost, refused, status

REGISTRY = load_registry()
SITE = "sites: { docs: { id: docs, title: Acme Docs, %s } }"
SECTION = (
    "structure: [{ type: section, key: fresh, title: Fresh, path: fresh, "
    "children: [{ type: space, key: one, space: { id: guides }, path: one }] }]"
)
MAKES = {
    "team": ("/teams", "teams: { fresh: { title: Fresh } }"),
    "space": ("/spaces", "spaces: { fresh: { title: Fresh } }"),
    "collection": ("/collections", "collections: { fresh: { title: Fresh } }"),
    "site": ("/sites", "sites: { fresh: { title: Fresh, basename: fresh } }"),
    "saml": ("/saml", "saml: { fresh: { label: Fresh } }"),
    "translation": (
        "/translations",
        "translations: { fresh: { source: { space: { id: guides }, language: en }, language: it } }",
    ),
    "share link": ("/share-links", SITE % "shareLinks: { Fresh: {} }"),
    "redirect": (
        "/redirects",
        SITE % 'redirects: { /fresh: { destination: { kind: external, url: "https://a.example" } } }',
    ),
    "section": ("/sections", SITE % SECTION),
    "group": ("/section-groups", SITE % "structure: [{ type: section-group, key: fresh, title: Fresh }]"),
    "external link": (
        "/external-links",
        SITE % 'structure: [{ type: external-link, key: fresh, title: Fresh, url: "https://a.example" }]',
    ),
    "glossary term": ("/translations-glossary", "glossary: { fresh: { en: Fresh } }"),
}
GATEWAY: dict[str, Answer] = {
    "timeout": lost("timeout"),
    "reset": lost("reset"),
    "closed": lost("closed"),
    "truncated": lost("truncated"),
    "unreadable": lost("unreadable"),
    **{str(code): status(code) for code in (408, 500, 502, 503, 504)},
}


class Impatient(Clock):
    """Waiting takes no time here, and all the time that it should there."""

    waited = 0.0

    def now(self) -> float:
        return self.waited

    def wait(self, seconds: float, _cancelled: object) -> None:
        self.waited += seconds


Open = Callable[..., "tuple[Session, Late, WriteClient]"]


@pytest.fixture
def open_(server: ThreadedServer, tmp_path: Path) -> Iterator[Open]:
    clients: list[WriteClient] = []

    def make(body: str, path: str, answer: Answer, *, times: int = 1, done: bool = False):
        (tmp_path / "dpsync.yaml").write_text(
            f"dpsync: 1\norganizations:\n  acme:\n    id: acme\n    {body}\n", encoding="utf-8"
        )
        session = Session(load(tmp_path / "dpsync.yaml", {}), REGISTRY, 4)
        late = Late(HttpTransport(server.url, Token("ada-token")), path, answer, times=times, done=done)
        client = WriteClient(server.url, "ada-token", transport=late, clock=Impatient())
        clients.append(client)
        return session, late, client

    yield make
    for client in clients:
        client.close()


def applied(session: Session, client: WriteClient, *confirm: str) -> Report:
    return session.apply(client, session.plan(client, Options(confirm)), secrets={})


@pytest.mark.parametrize("what", MAKES)
def test_timed_out_create_is_unknown_and_not_repeated(what: str, open_: Open) -> None:
    path, body = MAKES[what]
    session, late, client = open_(body, path, lost("timeout"))
    report = applied(session, client)
    assert len(late.received) == 1
    assert [item.result for item in report.outcomes if item.verb == "create"] == ["unknown"]
    assert not report.complete
    assert not report.converged
    late.deliver()
    again = applied(session, client)
    assert len(late.received) == 1
    assert again.complete


def test_apply_is_incomplete_when_a_step_failed(open_: Open) -> None:
    """Otherwise, a job is green although the platform refused to make something private."""
    text = "openapi: 3.1.0\\ninfo: { title: A, version: '1' }\\npaths: {}"
    body = f'openapi: {{ pets: {{ source: {{ text: "{text}" }}, visibility: private }} }}'
    session, late, client = open_(body, "/openapi/pets", status(403))
    late.after = 1  # the request that creates the specification
    report = applied(session, client)
    assert [item.result for item in report.outcomes] == ["done", "failed"]
    assert report.as_declared
    assert exit_code_of(report) is Exit.PARTIAL
    assert "1 step was not successful" in render_report(Plan(), report, Paint(False))


@pytest.mark.parametrize("what", MAKES)
def test_create_answered_409_adopts_created_object(what: str, open_: Open) -> None:
    """Otherwise, a create that a gateway sent twice is reported as failed, and what follows is not tried."""
    path, body = MAKES[what]
    session, late, client = open_(body, path, status(409), done=True)
    report = applied(session, client)
    assert [item.result for item in report.outcomes if item.verb == "create"] == ["already"]
    assert (len(late.received), report.as_declared) == (1, True)


def test_create_answered_409_without_object_fails(open_: Open) -> None:
    path, body = MAKES["team"]
    session, _, client = open_(body, path, status(409))
    report = applied(session, client)
    assert (report.count("failed"), report.complete) == (1, False)


def test_create_answered_409_is_unknown_when_unreadable(open_: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    path, body = MAKES["team"]
    session, late, client = open_(body, path, status(409), done=True)
    read = FreshReads.read

    def read_until_sent(fresh: FreshReads, source: ReadSource) -> dict[Identity, LiveObject]:
        if late.received:
            raise NotSentError("GET", source.url, "refused")
        return read(fresh, source)

    monkeypatch.setattr(FreshReads, "read", read_until_sent)
    report = applied(session, client)
    assert (report.count("unknown"), exit_code_of(report)) == (1, Exit.PARTIAL)


@pytest.mark.parametrize("answer", GATEWAY)
def test_create_is_not_retried_after_gateway_error(answer: str, open_: Open) -> None:
    path, body = MAKES["team"]
    session, late, client = open_(body, path, GATEWAY[answer])
    report = applied(session, client)
    assert (len(late.received), report.count("unknown"), report.converged) == (1, 1, False)


@pytest.mark.parametrize("answer", GATEWAY)
def test_unanswered_create_is_done_when_object_exists(answer: str, open_: Open) -> None:
    path, body = MAKES["team"]
    session, late, client = open_(body, path, GATEWAY[answer], done=True)
    report = applied(session, client)
    assert (len(late.received), report.complete) == (1, True)


def test_unanswered_section_create_finds_its_site_space(open_: Open) -> None:
    """A section is made with its first place, which has fields of its own to be written afterwards."""
    path, body = MAKES["section"]
    session, late, client = open_(body, path, lost("reset"), done=True)
    report = applied(session, client)
    assert (len(late.received), report.complete) == (1, True)


@pytest.mark.parametrize(
    "answer", [refused, status(429, **{"retry-after": "0"})], ids=["connection refused", "429"]
)
def test_create_is_retried_when_certainly_not_received(answer: Answer, open_: Open) -> None:
    path, body = MAKES["team"]
    session, late, client = open_(body, path, answer)
    report = applied(session, client)
    assert (len(late.received), report.complete) == (2, True)


@pytest.mark.parametrize(
    "body", ["[]", "{}", "null", '"text"', '{"id": 5}', '{"id": null}', '{"id": {"id": "a"}}']
)
@pytest.mark.parametrize("done", [True, False])
def test_malformed_success_response_is_treated_as_lost(body: str, done: bool, open_: Open) -> None:
    def odd(_: Request) -> Response:
        return Response(201, {"content-type": "application/json"}, body.encode(), True)

    path, text = MAKES["team"]
    session, late, client = open_(text, path, odd, done=done)
    report = applied(session, client)
    assert (len(late.received), report.complete) == (1, done)
    assert report.count("unknown") == (0 if done else 1)
    assert "internal error" not in report.model_dump_json()


def test_steps_depending_on_unknown_create_are_not_tried(open_: Open) -> None:
    """Otherwise, what needs a step that has failed is sent."""
    body = "teams: { fresh: { title: Fresh, members: { ada@acme.example: owner } }, other: { title: Other } }"
    session, late, client = open_(body, "/teams", lost("timeout"))
    report = applied(session, client)
    results = {item.step: item.result for item in report.outcomes}
    assert results["acme/teams/fresh create"] == "unknown"
    assert results["acme/teams/fresh/members/ada@acme.example create"] == "not-tried"
    assert results["acme/teams/other create"] == "done"
    assert len(late.received) == 2


@pytest.mark.parametrize("answer", GATEWAY)
@pytest.mark.parametrize("done", [True, False])
def test_user_action_is_sent_once_whatever_the_response(answer: str, done: bool, open_: Open) -> None:
    """Otherwise, what is asked for once is planned again by the proof."""
    source = "{ space: { id: guides }, language: en }"
    body = f"translations: {{ fr: {{ id: guides-fr, source: {source}, language: fr }} }}"
    session, late, client = open_(body, "/run", GATEWAY[answer], done=done)
    report = applied(session, client, "run acme/translations/fr")
    assert len(late.received) == 1
    assert report.count("unknown") == 1
    assert report.remaining is not None
    assert report.remaining.empty  # there is nothing to read that would tell
    assert not report.converged
    assert not report.complete


@pytest.mark.parametrize(("repeat", "sent", "result"), [("safe", 2, "done"), ("never", 1, "unknown")])
@pytest.mark.parametrize("body", [MAKES["space"][1], "teams: { sales: { id: sales, title: Selling } }"])
def test_retry_depends_only_on_retry_mode_of_step(
    body: str, repeat: str, sent: int, result: str, open_: Open
) -> None:
    """Neither the method nor what it makes: a PATCH may be sent once only, and a POST again."""
    session, late, client = open_(body, "/spaces" if "spaces" in body else "/sales", status(503))
    planned = session.plan(client)
    (change,) = planned.plan.changes
    (step,) = change.steps
    told = change.model_copy(update={"steps": (step.model_copy(update={"repeat": repeat}),)})
    plan = planned.plan.model_copy(update={"changes": (told,)})
    report = session.apply(client, replace(planned, plan=plan), secrets={})
    assert len(late.received) == sent
    assert [item.result for item in report.outcomes] == [result]


def test_never_repeated_step_is_not_looked_up(open_: Open) -> None:
    """Whatever it makes: that something like it is there does not say that it was done."""
    session, late, client = open_(MAKES["space"][1], "/spaces", lost("reset"), done=True)
    planned = session.plan(client)
    (change,) = planned.plan.changes
    step = change.steps[0].model_copy(update={"repeat": "never"})
    plan = planned.plan.model_copy(update={"changes": (change.model_copy(update={"steps": (step,)}),)})
    report = session.apply(client, replace(planned, plan=plan), secrets={})
    assert (len(late.received), report.count("unknown")) == (1, 1)


def test_unanswered_section_create_without_site_space_is_unknown(
    open_: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A section that is listed before its first place is."""
    read = FreshReads.read

    def without_places(self: FreshReads, source: ReadSource) -> dict[Identity, LiveObject]:
        return {key: item for key, item in read(self, source).items() if item.kind != "site_space"}

    path, body = MAKES["section"]
    session, _, client = open_(body, path, lost("reset"), done=True)
    planned = session.plan(client)
    monkeypatch.setattr(FreshReads, "read", without_places)
    report = session.apply(client, planned, secrets={})
    assert [item.result for item in report.outcomes if item.verb == "create"] == ["unknown"]
    assert "internal error" not in report.model_dump_json()


def test_refusal_after_lost_response_is_unknown(open_: Open) -> None:
    """The first try was carried out, and the second one met what it had done."""
    body = "teams: { sales: { id: sales, title: Selling } }"
    answers = iter([lost("reset"), status(422)])
    session, late, client = open_(body, "/sales", lambda request: next(answers)(request), times=2, done=True)
    report = applied(session, client)
    assert (len(late.received), report.count("unknown"), report.count("failed")) == (2, 1, 0)


@pytest.mark.parametrize("answer", [lost("timeout"), status(502)], ids=["timeout", "502"])
def test_retried_update_without_response_is_unknown(answer: Answer, open_: Open) -> None:
    body = "teams: { sales: { id: sales, title: Selling } }"
    session, late, client = open_(body, "/sales", answer, times=99)
    report = applied(session, client)
    assert (len(late.received), report.count("unknown"), report.count("failed")) == (MAX_TRIES, 1, 0)


def test_unexpected_success_body_is_a_failure(open_: Open) -> None:
    """Publishing may be answered with a checkout: then it did not happen.

    Otherwise, something else than was asked for counts as done.
    """
    checkout = Response(200, {"content-type": "application/json"}, b'{"object": "checkout"}', True)
    session, late, client = open_(SITE % "published: false", "/unpublish", lambda _: checkout)
    report = applied(session, client)
    assert [item.result for item in report.outcomes] == ["failed"]
    assert len(late.received) == 1


def test_lost_create_does_not_adopt_object_of_sibling(open_: Open) -> None:
    """Two spaces of one title: the first is made, and the request for the second is lost."""
    session, late, client = open_(
        "spaces: { a: { title: Twin, language: en }, b: { title: Twin, language: fr } }", "/spaces",
        lost("timeout"), times=1,
    )  # fmt: skip
    late.after = 1
    report = applied(replace(session, parallelism=1), client)
    results = {item.address: item.result for item in report.outcomes if item.verb == "create"}
    assert results == {"acme/spaces/a": "done", "acme/spaces/b": "unknown"}


def test_update_refused_without_lost_response_is_failed(open_: Open) -> None:
    body = "teams: { sales: { id: sales, title: Selling } }"
    session, late, client = open_(body, "/sales", status(422))
    report = applied(session, client)
    assert (len(late.received), report.count("unknown"), report.count("failed")) == (1, 0, 1)


MOVE = ("spaces: { guides: { id: guides, title: Guides, collection: { id: manuals } } }", "/move")
WRITE = ("teams: { sales: { id: sales, title: Selling } }", "/sales")


@pytest.mark.parametrize(
    ("request_", "code", "result"),
    [(MOVE, 409, "already"), (MOVE, 422, "failed"), (WRITE, 409, "failed")],
    ids=["move 409", "move 422", "write 409"],
)
def test_http_409_means_already_done_only_for_moves(
    request_: tuple[str, str], code: int, result: str, open_: Open
) -> None:
    """A move that changes nothing is answered with 409."""
    session, late, client = open_(*request_, status(code))
    outcomes = applied(session, client).outcomes
    assert (len(late.received), result) in {(1, item.result) for item in outcomes}


def test_ambiguous_lost_creates_are_all_unknown(open_: Open) -> None:
    """Sites are created without their basename: two of one title look alike until that is written.

    Otherwise, what two entries could be is taken for the first of them.
    """
    body = "sites: { a: { title: Twin, basename: a }, b: { title: Twin, basename: b } }"
    session, late, client = open_(body, "/sites", lost("reset"), times=2, done=True)
    report = applied(session, client)
    assert len(late.received) == 2
    assert report.count("done") == 0
    assert report.count("unknown") == 2


def test_unanswered_restore_is_done_when_object_exists(open_: Open, server: ThreadedServer) -> None:
    body = "spaces: { archive: { id: archive, title: Archive } }"
    with WriteClient(server.url, "ada-token") as direct:
        direct.send("DELETE", "/spaces/archive", repeatable=True)
    session, late, client = open_(body, "/restore", lost("reset"), done=True)
    report = applied(session, client)
    assert (len(late.received), report.complete) == (1, True)
