"""A bench on which every field of every kind is created, changed and cleared against a companion.

The values are in samples.py. What a field must do is read from its declaration, so that a declaration that
promises what the platform does not do fails here.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from dpsync.api import Options, Planned, Registry, Session
from dpsync.kinds.kind import Field, Kind, ListOrder, ManualStep
from dpsync.model.address import Address
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.model.plan import Plan
from dpsync.planner.compare import write_only_part
from dpsync.server.operations import ALL_OPERATIONS
from dpsync.server.operations.profiles import operations_of_profile
from dpsync.server.request.operation import Operation
from tests.agreed import answers
from tests.direct import reading, writing
from tests.planner.lab import Lab

from .samples import NOTHING, PLACES, SAMPLES, Place, Sample

SECRETS = {"BOT_KEY": "one key", "OTHER_KEY": "another key"}
TOOLS = {"name": "tools", "title": "Tools", "scopes": [], "visibility": "public"}


@dataclass
class Bench(Lab):
    """A lab that takes configurations as values, and secrets."""

    places: dict[str, Place] = field(default_factory=lambda: PLACES)
    samples: dict[str, dict[str, Sample]] = field(default_factory=lambda: SAMPLES)

    def said(self, organization: dict[str, Any]) -> str:
        return "\n".join(f"{key}: {json.dumps(value)}" for key, value in organization.items())

    def planned(self, organization: dict[str, Any], *confirm: str) -> Planned:
        with reading(self.server) as client:
            return self.session(self.said(organization)).plan(client, Options(confirm))

    def done(self, organization: dict[str, Any], *confirm: str) -> Report:
        """Apply; all of it must have been done, and proven."""
        return self.planned_and_done(organization, *confirm)[1]

    def planned_and_done(self, organization: dict[str, Any], *confirm: str) -> tuple[Planned, Report]:
        """Apply an organization; return what was planned and the report."""
        session: Session = self.session(self.said(organization))
        self.server.app.requests.clear()
        with writing(self.server) as client:
            planned = session.plan(client, Options(confirm))
            if more := answers(planned.plan, "expose for a moment"):
                planned = session.plan(client, Options((*confirm, *more)))
            assert members_unknown_to_the_platform(planned.plan, self.registry.profile.name) == []
            report = session.apply(client, planned, secrets=SECRETS)
        assert [item for item in report.outcomes if item.result not in ("done", "already")] == []
        assert report.settled, report.remaining
        assert report.remaining is not None
        assert report.remaining.blocked == (), report.remaining
        return planned, report

    def entry(self, kind: Kind, field: Field, value: Any, **words: Any) -> dict[str, Any]:
        """Return a configuration whose entry has the field, in its short form if the kind has no other."""
        place, sample = self.places[kind.name], self.samples[kind.name][field.name]
        if kind.is_always_shorthand and field.name == kind.shorthand_field:
            return config(place, value)
        more = {} if value is NOTHING else {field.name: value}
        return config(place, {**place.needs, **sample.also, **more, **words})

    def address(self, kind: Kind) -> str:
        place, said = self.places[kind.name], "acme"
        at: Any = config(place, place.needs)
        for step in place.path:
            at = at[step]
            if isinstance(step, int):
                said += f"/{at['key']}"
            elif step != "children":
                said += "/" + step.replace("/", "%2F")
        return str(Address.parse(said))

    def live(self, planned: Planned, kind: Kind, field: Field) -> Any:
        """Return the live value of a field of the entry."""
        binding = planned.plan.bindings[self.address(kind)]
        (found,) = (
            item
            for item in planned.snapshot.objects.values()
            if item.kind == kind.name and item.id == binding
        )
        return found.fields.get(field.name)

    def differing(self, planned: Planned, kind: Kind) -> set[str]:
        return {
            difference.field
            for change in planned.plan.changes
            if change.address == self.address(kind)
            for difference in change.differences
        }


def members_unknown_to_the_platform(plan: Plan, profile: str) -> list[str]:
    """Return the members of request bodies that the platform's operations do not declare."""
    unknown = []
    for step in (step for change in plan.changes for step in change.steps):
        if not isinstance(step.body, dict):
            continue
        (operation,) = (
            item
            for item in operations_of_profile(ALL_OPERATIONS, profile)
            if item.method == step.method and serves(item, step.path)
        )
        declared = (
            set()
            if operation.body_model is None
            else {item.alias or name for name, item in operation.body_model.model_fields.items()}
        )
        unknown += [f"{operation.id}: {name}" for name in sorted(step.body.keys() - declared)]
    return unknown


def serves(operation: Operation, path: str) -> bool:
    return path_pattern(operation.path).fullmatch(path) is not None


@cache
def path_pattern(path: str) -> re.Pattern[str]:
    """Return a pattern for a path in which an unknown id is an address in braces.

    For an installation, one address stands for all parts of its id.
    """
    one, unmade = "[^/{}]+", "{[^{}]+}"
    pattern = re.sub(unmade, f"(?:{unmade}|{one})", path)
    parts = f"(?:{unmade}|{one})/installations/(?:{unmade}|{one})"
    return re.compile(pattern.replace(parts, f"(?:{parts}|{unmade})"))


def config(place: Place, entry: dict[str, Any]) -> dict[str, Any]:
    """Return the organization with the entry in its place."""
    organization = deepcopy(place.around)
    at: Any = organization
    for index, step in enumerate(place.path):
        if index == len(place.path) - 1:
            put = at.insert if isinstance(at, list) else at.__setitem__
            put(step, entry)
        elif isinstance(at, list):
            at = at[int(step)]
        else:
            at = at.setdefault(step, {})
    return organization if place.path else organization | entry


def renamed(kind: Kind, field: Field, before: Any) -> dict[str, Any]:
    """Return the `previously` of an entry whose name is changed, or {} if none is needed."""
    named = kind.parent is not None and field.name in kind.natural_key_fields and field.written_in != "create"
    return {"previously": {field.name: before}} if named and not kind.is_always_shorthand else {}


def written(field: Field) -> bool:
    return field.written_in != "neither" or field.response_path is None


def is_key(kind: Kind, field: Field) -> bool:
    return field.name == kind.key_field


def kinds_of(registry: Registry) -> dict[str, Kind]:
    """Return all kinds except those inside a created output (see test_translation_access.py)."""
    return {name: kind for name, kind in registry.kinds.items() if not kind.is_part_of_output}


def fields_of(registry: Registry) -> list[Any]:
    """Every kind with every field of it whose values are all written, as parameters of a test."""
    return [
        pytest.param(kind, field, id=f"{name}.{field.name}")
        for name, kind in sorted(kinds_of(registry).items())
        for field in kind.fields
        if not field.is_parent_reference and field.name not in kind.unsupported_fields
    ]


# What is true of every field.


def creates(bench: Bench, kind: Kind, field: Field) -> None:
    """Check that the field is created, and that the next plan is empty."""
    sample = bench.samples[kind.name][field.name]
    if not written(field) and not is_key(kind, field):
        with pytest.raises(DiagnosticError, match="only GitBook sets this field"):
            bench.planned(bench.entry(kind, field, sample.first))
        return
    wanted = bench.entry(kind, field, NOTHING if is_key(kind, field) else sample.first)
    bench.done(wanted)
    assert bench.planned(wanted).plan.changes == ()


def changes(bench: Bench, kind: Kind, field: Field) -> None:
    """Check that the field is changed, and that no other field is."""
    sample = bench.samples[kind.name][field.name]
    if not written(field) or is_key(kind, field):
        return
    before = NOTHING if sample.second is NOTHING else sample.first
    after = sample.first if sample.second is NOTHING else sample.second
    bench.done(bench.entry(kind, field, before))
    wanted = bench.entry(kind, field, after, **renamed(kind, field, sample.first))
    if field.written_in == "create" and field.own_call is None:
        stays_as_created(bench.planned(wanted), kind, field)
        return
    unseen = write_only_part(field, after) is not None
    confirm = [f"send {bench.address(kind)}#{field.name}"] if unseen else []
    planned, report = bench.planned_and_done(wanted, *confirm)
    if isinstance(field, ListOrder):
        assert any(change.moved for change in planned.plan.changes)
    else:
        assert bench.differing(planned, kind) == {field.name}
        assert {change.action for change in planned.plan.changes} == {"update"}
    # Not `converged`: the companion contacts no hosts, so it cannot process a specification from a URL.
    assert report.settled
    assert bench.writes


def stays_as_created(planned: Planned, kind: Kind, field: Field) -> None:
    """Check that an identity field plans a new object, and that any other field is refused."""
    if isinstance(kind.create, ManualStep):
        assert planned.plan.blocked
        return
    if field.name in kind.natural_key_fields:
        assert [change.action for change in planned.plan.changes] == ["create"]
    else:
        assert {item.code for item in planned.plan.refusals} == {"create-only"}


def clears_own_value(bench: Bench, kind: Kind, field: Field) -> None:
    """Null clears a value in place of an inherited one, if the files declare the site's customization."""
    cleared = bench.entry(kind, field, None)
    with pytest.raises(DiagnosticError) as refused:
        bench.planned(cleared)
    assert [item.code for item in refused.value.diagnostics] == ["DP222"]
    own = bench.entry(kind, field, bench.samples[kind.name][field.name].first)
    for organization in (own, cleared):
        organization["sites"]["docs"]["customization"] = {"externalLinks": {"target": "self"}}
        bench.done(organization)
        assert bench.writes
    assert bench.planned(cleared).plan.changes == ()


def clears(bench: Bench, kind: Kind, field: Field) -> None:
    """Check that null clears the field, or is refused."""
    sample = bench.samples[kind.name][field.name]
    if not written(field) or is_key(kind, field):
        return
    if field.null_effect == "refused":
        with pytest.raises(DiagnosticError) as refused:
            bench.planned(bench.entry(kind, field, None))
        assert [item.code for item in refused.value.diagnostics] in (["DP222"], ["DP212"])
        return
    if kind.inherits_from_kind is not None:
        clears_own_value(bench, kind, field)
        return
    # An entry that is nothing but this field is not null: that would be an empty entry.
    without = bench.entry(kind, field, "" if kind.is_always_shorthand else None)
    bench.done(bench.entry(kind, field, sample.first))
    if field.null_effect == "by hand":
        left = bench.planned(without).plan
        assert left.changes == ()
        assert [item.address.partition("#")[2] for item in left.blocked] == [field.name]
        return
    bench.done(without)
    assert bench.writes
    after = bench.planned(without)
    assert after.plan.changes == ()
    assert bench.live(after, kind, field) in (None, field.value_when_absent)
