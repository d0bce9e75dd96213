"""A malformed answer is never read as something else: the plan ends, and says which item of which request.

For every kind one of it is live, with every field, and its plan is empty. Then one place of one answer is
changed at a time, and the plan is made again.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from dpsync.api import Options, Planned, Session
from dpsync.client.client import ReadClient, WriteClient
from dpsync.client.errors import InvalidListError, UnexpectedResponseError
from dpsync.client.retry import Clock
from dpsync.client.transport import Request, Response
from dpsync.kinds.kind import Field, Kind, ListRead, SingleEntry
from dpsync.kinds.types import Json, Table
from dpsync.kinds.types.texts import Markdown
from dpsync.live.decode import template_names
from dpsync.model.change import Change
from dpsync.model.plan import Plan
from tests.kinds.bench import Bench, config, is_key, written
from tests.kinds.samples import PLACES, SAMPLES
from tests.kinds.test_every_field import KINDS
from tests.planner.lab import REGISTRY
from tests.soak import SOAK, examples

from .answers import GONE, WRONG, Tape, Way, places, replaced

SAMPLE = examples(6, soak=10_000)
"""How many changes are tried for each kind: of the answers that have it, in a soak of all."""
HOLDERS = ("items", "structure", "children", "siteSpaces")
"""What holds items or nodes; the first two at the top of an answer."""


class Impatient(Clock):
    def wait(self, seconds: float, cancelled: object) -> None:
        """At once."""


def entry(kind: Kind) -> dict[str, Any]:
    """Return the organization with an entry that has every field."""
    place, samples = PLACES[kind.name], SAMPLES[kind.name]
    if kind.is_always_shorthand:
        assert kind.shorthand_field is not None
        return config(place, samples[kind.shorthand_field].first)
    lacking = REGISTRY[kind.name].unsupported_fields
    fields = {
        item.name: samples[item.name].first
        for item in kind.fields
        if not item.is_parent_reference
        and written(item)
        and not is_key(kind, item)
        and item.name not in lacking
    }
    return config(place, {**place.needs, **fields})


class Subject:
    """One kind, live with every field, and the answers from which its plan is made."""

    def __init__(self, bench: Bench, kind: Kind) -> None:
        self.kind = kind
        organization = entry(kind)
        bench.done(organization)
        self.session: Session = bench.session(
            bench.said(organization), "{prune: ['**'], limits: {percent: 100}}"
        )
        self.tape = Tape(bench.server.url, "token")
        planned = self.planned()
        self.base = planned.plan
        self.kinds: dict[str, set[str]] = defaultdict(set)
        """Which kinds are read at a path."""
        for item in planned.snapshot.objects.values():
            self.kinds[path_of(item.source_url)].add(item.kind)

    def planned(self) -> Planned:
        with ReadClient(self.tape.url, "token", transport=self.tape, clock=Impatient()) as client:
            return self.session.plan(client, Options())

    def fields(self, name: str) -> Iterator[Field]:
        """Yield the fields that are read at a path."""
        for kind in self.kinds[path_of(name)]:
            yield from REGISTRY[kind].fields


def path_of(name: str) -> str:
    return name.partition("?")[0]


def changes(subject: Subject) -> Iterator[tuple[str, Way, Any]]:
    """Every wrong value at every place, lists by their first item."""
    seen: set[tuple[str, Way]] = set()
    for name, body in subject.tape.bodies().items():
        for way in places(body) if SOAK or subject.kind.name in subject.kinds[path_of(name)] else ():
            kind_of_place = (name, tuple("#" if isinstance(part, int) else part for part in way))
            if kind_of_place in seen:
                continue
            seen.add(kind_of_place)
            value = body
            for part in way:
                value = value[part]
            for wrong in WRONG:
                in_tree = wrong is GONE and way and isinstance(way[-1], int) and way[-2] in HOLDERS[1:]
                if type(value) is not type(wrong) and (way or wrong is not GONE) and not in_tree:
                    yield name, way, wrong


@pytest.mark.parametrize("name", sorted(KINDS))
def test_plan_fails_or_ignores_malformed_response_field(bench: Bench, name: str) -> None:
    subject = Subject(bench, REGISTRY[name])
    tried = list(changes(subject))
    wrong = []
    for change in random.Random(name).sample(tried, min(SAMPLE, len(tried))):
        if found := told(subject, *change):
            wrong.append(found)
    assert wrong == []


HOSTILE = {
    "parent": "..",
    "here": ".",
    "slash": "a/b",
    "backslash": "a\\b",
    "another object": "{acme/teams/editors}",
    "line break": "a\nb",
    "no character": "a\x00b",
    "direction": "a\u202eb",
}
"""Texts that must not be used as an id in a path."""


@pytest.mark.parametrize("name", sorted(KINDS))
def test_plan_fails_on_path_like_response_id(bench: Bench, name: str) -> None:
    """Otherwise, a request for a team with the id `..` would be a request for the organization."""
    subject = Subject(bench, REGISTRY[name])
    asked, found, wrong = {*subject.tape.answers}, list(ids(subject)), []
    assert found or isinstance(KINDS[name].shape, SingleEntry)
    for source, way in found:
        for text in HOSTILE.values():
            body = json.loads(subject.tape.answers[source].body)
            subject.tape.changed = {source: json.dumps(replaced(body, way, text)).encode()}
            try:
                subject.planned()
                wrong.append(f"{source} {way} {text!r}: no error")
            except UnexpectedResponseError as error:
                if (error.path, error.expected) != (path_of(source), "an id"):
                    wrong.append(f"{source} {way} {text!r}: {error}")
            except Exception as error:
                wrong.append(f"{source} {way} {text!r}: {type(error).__name__} {error}")
    assert wrong == []
    assert subject.tape.answers.keys() == asked


def ids(subject: Subject) -> Iterator[tuple[str, Way]]:
    """Yield the places of ids in the answers for a kind: ids of the objects and ids of references."""
    kind = REGISTRY[subject.kind.name]
    named = {*([] if isinstance(kind.shape, SingleEntry) else template_names(kind.id_path))}
    named |= {
        item.response_path
        for item in kind.readable_fields
        if item.type.referenced_kinds and isinstance(item.response_path, str)
    }
    for source, body in subject.tape.bodies().items():
        if kind.name in subject.kinds[path_of(source)]:
            for way in places(body):
                if member(way) in named and isinstance(value_at(body, way), str):
                    yield source, way


def value_at(body: Any, way: Way) -> Any:
    for part in way:
        body = body[part]
    return body


def told(subject: Subject, name: str, way: Way, wrong: Any) -> str | None:
    """Plan with one changed answer; return what is wrong with the plan, or None."""
    tape = subject.tape
    body = json.loads(tape.answers[name].body)
    tape.changed = {name: json.dumps(replaced(body, way, wrong)).encode()}
    label = f"{name} {'.'.join(map(str, way))} := {'gone' if wrong is GONE else json.dumps(wrong)}"
    try:
        plan = subject.planned().plan
    except (UnexpectedResponseError, InvalidListError) as error:
        return None if error.path == path_of(name) else f"{label}: {error}"
    except Exception as error:
        return f"{label}: {type(error).__name__} {error}"
    finally:
        tape.changed = {}
    before = compared(subject.base)
    more = {at: change for at, change in compared(plan).items() if change != before.get(at)}
    if not more and before.keys() == compared(plan).keys():
        return None
    if means_something(subject, name, way, wrong) and {change.action for change in more.values()} <= {
        "update"
    }:
        return None
    return (
        f"{label}: {[(item.action, item.address) for item in more.values()]} {plan.blocked} {plan.refusals}"
    )


def compared(plan: Plan) -> dict[str, Change]:
    """Return the changes by address, without the digests of the live objects."""
    return {change.address: change.model_copy(update={"digest": None}) for change in plan.changes}


def means_something(subject: Subject, name: str, way: Way, wrong: Any) -> bool:
    """Whether a proper answer may look like this: then it says that a field is another one, or not set."""
    within = member(way)
    for item in subject.fields(name):
        optional = "sometimes" if isinstance(item.response_path, Mapping) else item.response_presence
        for source in sources(item):
            inside, around = within.startswith(f"{source}."), source.startswith(f"{within}.")
            if not (inside or around or within == source):
                continue
            if inside and isinstance(item.type, Json | Markdown | Table):
                return True  # whatever stands in a value of any form
            if isinstance(item.type, Json) and not item.type.json_schema:
                return True
            if wrong is GONE and isinstance(way[-1], int):
                return True  # a list that is shorter
            if wrong is None and optional != "always":
                return True
            if (wrong is GONE or (wrong == {} and around)) and optional == "sometimes":
                return True
    return False


def member(way: Way) -> str:
    """Return the dotted path inside the innermost item: a list item, a node, or the answer itself."""
    start = 0
    while (
        start + 1 < len(way)
        and way[start] in HOLDERS[: None if start else 2]
        and isinstance(way[start + 1], int)
    ):
        start += 2
    return ".".join(str(part) for part in way[start:])


def sources(item: Field) -> list[str]:
    source = item.response_path
    return [] if source is None else [source] if isinstance(source, str) else [*source.values()]


@pytest.mark.parametrize("answer", [[], "text", {"configuration": []}, {"externalIds": "a"}])
def test_apply_does_not_write_after_malformed_read(bench: Bench, answer: Any) -> None:
    """A request that replaces what there is carries what is live: after a wrong answer it would wipe it."""
    kept = {
        "integrations": {"tools": {"configuration": {"server": "https://a.example"}, "externalIds": ["a"]}}
    }
    bench.done(kept)
    session = bench.session(bench.said({"integrations": {"tools": {"configuration": {"depth": 3}}}}))
    tape = Tape(bench.server.url, "token", keep=False)
    with WriteClient(bench.server.url, "token", transport=tape, clock=Impatient()) as client:
        planned = session.plan(client)
        (path,) = (step.path for change in planned.plan.changes for step in change.steps)
        tape.changed = {f"{path}?": json.dumps(answer).encode()}
        report = session.apply(client, planned)
    assert [(item.result, path in str(item.error)) for item in report.outcomes] == [("failed", True)]
    assert tape.stats().by_method.keys() == {"GET"}
    assert bench.planned(kept).plan.changes == ()


LISTED = sorted(name for name, kind in REGISTRY.kinds.items() if isinstance(kind.read, ListRead))


@pytest.mark.parametrize("name", LISTED)
def test_plan_fails_on_incomplete_list(bench: Bench, name: str) -> None:
    """Otherwise, a list that has one thing twice is planned on.

    Otherwise, a list that has one thing twice is planned on, also of lists that are read for their ids.
    """
    subject = Subject(bench, REGISTRY[name])
    for path, body in subject.tape.bodies().items():
        if "items" not in body or not body["items"]:
            continue
        twice = {"items": [*body["items"], body["items"][0]], "count": body["count"] + 1}
        for change, error in (
            (twice, UnexpectedResponseError),
            ({"items": body["items"][1:]}, InvalidListError),
        ):
            subject.tape.changed = {path: json.dumps(body | change).encode()}
            with pytest.raises(error) as ended:
                subject.planned()
            assert ended.value.path == path_of(path)
            subject.tape.changed = {}


class IdReplacingTape(Tape):
    """Transport that replaces the id in the answer to the creation of a team."""

    id: str = ".."

    def send(self, request: Request) -> Response:
        answer = super().send(request)
        if request.method == "PUT" and request.path.endswith("/teams"):
            body = json.dumps({**json.loads(answer.body), "id": self.id}).encode()
            return Response(answer.status, answer.headers, body)
        return answer


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_apply_looks_up_path_like_created_id(bench: Bench, text: str) -> None:
    """Otherwise, the following steps would send requests to a path that the answer has chosen."""
    wanted = {"teams": {"new": {"title": "New", "members": {"bo@acme.example": {"role": "member"}}}}}
    session = bench.session(bench.said(wanted))
    tape = IdReplacingTape(bench.server.url, "token", keep=False)
    tape.id = text
    with WriteClient(bench.server.url, "token", transport=tape, clock=Impatient()) as client:
        report = session.apply(client, session.plan(client))
    assert [item.result for item in report.outcomes] == ["done", "done"]
    assert bench.planned(wanted).plan.changes == ()
