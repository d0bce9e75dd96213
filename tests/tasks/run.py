"""Run one task in one place as a person would: plan, answer what is asked, apply, look at the platform."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dpsync.planner.answers import answer_in_flag
from tests.machine.checkout import document
from tests.machine.command import Ran

from .places import LOST, Bench, EarlierWorkFailedError, Place, Work
from .task import Accident, Question, Task

Variant = Literal["quick", "apply", "saved"]
"""Only `apply --yes`; or also `plan` and `plan --base HEAD` before it; or the same, then `apply FILE`."""


@dataclass
class Result:
    """What a person saw of a task, and what was not as it should be."""

    code: int = 0
    """Exit code of the first plan."""
    lines: int = 0
    """Lines of its standard output."""
    questions: int = 0
    """Refusals that print an answer."""
    refusals: int = 0
    """Refusals and findings that print none."""
    wanted: bool = False
    """Whether a question is wanted."""
    problems: list[str] = field(default_factory=list)

    @property
    def false_questions(self) -> int:
        """Return how many questions more than wanted were asked."""
        return max(0, self.questions - self.wanted)


def run_task(bench: Bench, task: Task, place: Place, variant: Variant, lines: bool = False) -> Result:
    """Run a task. `lines`: also count the lines of the plan, which `quick` does not print otherwise."""
    wanted = task.question(place.name)
    result = Result(wanted=wanted is not None)
    try:
        with bench.at(place, task.start, task.edit, task.earlier) as work:
            case = _Case(bench, work, task, wanted, variant, result)
            if lines or variant != "quick":
                case.count_lines()
            if variant == "quick":
                case.run_apply_only()
            else:
                case.run()
    except EarlierWorkFailedError as failed:
        result.code = failed.ended.code
        result.problems.append(f"the earlier work fails: {failed.ended}")
    return result


def run_accident(bench: Bench, accident: Accident, place: Place) -> Result:
    """Run an accident: nothing may be written, and the output must say what is wrong."""
    result = Result(wanted=True)
    with bench.at(place, accident.start, accident.edit, accident.earlier) as work:
        before, writes = objects(bench.state()), bench.writes()
        plan = work.run("plan")
        result.code = plan.code
        applied = work.run("apply", "--yes")
        if plan.code not in (4, 5) or applied.code not in (4, 5):
            result.problems.append(f"nothing is asked: {plan}\n{applied}")
        if bench.writes() != writes or objects(bench.state()) != before:
            result.problems.append(f"something was written: {applied}")
        result.problems += [
            f"not mentioned: {text}: {plan}" for text in accident.mentions if text not in str(plan)
        ]
    return result


def run_without_past(bench: Bench, task: Task) -> Result:
    """Run a task in a clone that cannot tell who is who: done, or one refusal about the clone."""
    result = Result()
    with bench.at(LOST, task.start, task.edit) as work:
        case = _Case(bench, work, task, task.asks, "quick", result)
        before, writes = objects(bench.state()), bench.writes()
        applied = work.run("apply", "--yes", "--format", "json")
        refusals = case.asked(applied)
        if applied.code == 0:
            case.compare(before)
        elif len(refusals) != 1 or "fetch-depth: 0" not in str(applied):
            case.wrong(f"{len(refusals)} refusals", applied)
        elif bench.writes() != writes:
            case.wrong("a refused apply wrote something", applied)
    return result


@dataclass
class _Case:
    bench: Bench
    work: Work
    task: Task
    wanted: Question | None
    variant: Variant
    result: Result
    flags: tuple[str, ...] = ()

    def count_lines(self) -> None:
        plan = self.work.run("plan")
        self.result.lines = len(plan.out.splitlines())
        limit = self.task.lines
        if limit is not None and plan.code == 0 and self.result.lines > limit:
            self.wrong(f"{self.result.lines} lines instead of {limit}", plan)

    def run_apply_only(self) -> None:
        before = objects(self.bench.state())
        writes = self.bench.writes()
        applied = self.work.run("apply", "--yes", "--format", "json")
        refusals = self.asked(applied)
        if self.wanted is None or (self.wanted.optional and not refusals):
            if applied.code != 0:
                self.wrong("not ordinary", applied)
        elif self.answered(applied, refusals):
            if self.bench.writes() != writes:
                self.wrong("a refused apply wrote something", applied)
            applied = self.work.run("apply", "--yes", *self.flags)
            if applied.code != 0:
                self.wrong(f"apply ends with {applied.code}", applied)
        self.compare(before)

    def run(self) -> None:
        before = objects(self.bench.state())
        writes = self.bench.writes()
        saved = str(self.work.directory.parent / "saved.plan")
        plan = self.work.run("plan", "--format", "json", "--out", saved)
        refusals = self.asked(plan)
        self.same_with_base(plan)
        if not self.answered(plan, refusals):
            return
        if self.bench.writes() != writes:
            self.wrong("a plan or a refused apply wrote something")
        self.apply(saved)
        self.compare(before)
        after = self.work.run("plan", "--format", "json")
        if after.code != 0 or document(after)["plan"]["changes"]:
            self.wrong("the next plan is not empty", self.work.run("plan"))

    def asked(self, ended: Ran) -> list[tuple[str, list[str]]]:
        """Count what is asked and refused."""
        refusals = refusals_of(ended)
        self.result.code = ended.code
        self.result.questions = sum(bool(answers) for _, answers in refusals)
        self.result.refusals = len(refusals) - self.result.questions
        return refusals

    def same_with_base(self, plan: Ran) -> None:
        """Check that `--base HEAD` changes only labels."""
        named = self.work.run("plan", "--format", "json", "--base", "HEAD")
        if what_counts(named) != what_counts(plan):
            self.wrong(f"--base HEAD makes another plan: {what_counts(plan)} is now {what_counts(named)}")

    def answered(self, plan: Ran, refusals: list[tuple[str, list[str]]]) -> bool:
        """Answer the wanted question. Return whether the task can go on."""
        wanted = self.wanted
        if wanted is None or (wanted.optional and plan.code == 0):
            if plan.code != 0:
                self.wrong("not ordinary", self.work.run("plan"))
            return plan.code == 0
        if plan.code == 0:
            self.wrong("the wanted question is not asked", self.work.run("plan"))
            return False
        refused = self.work.run("apply", "--yes")
        if len(refusals) != 1 or plan.code != wanted.code:
            self.wrong(f"{len(refusals)} questions, exit code {plan.code}", refused)
        for text in wanted.mentions:
            if text not in str(refused):
                self.wrong(f'the question does not mention "{text}"', refused)
        if refused.code != plan.code:
            self.wrong(f"apply ends with {refused.code}", refused)
        if wanted.code == 4 and "Nothing was applied" not in refused.out + refused.err:
            self.wrong('a refused apply does not say "Nothing was applied"', refused)
        if wanted.edit is not None:
            self.work.edit(wanted.edit)
            return True
        printed = [confirmed for _, answers in refusals for one in answers for confirmed in confirms(one)]
        for pattern in wanted.confirm:
            found = [answer for answer in printed if re.fullmatch(pattern, answer)]
            if not found:
                self.wrong(f'no answer matches "{pattern}": {printed}', refused)
                return False
            self.flags += tuple(word for answer in dict.fromkeys(found) for word in ("--confirm", answer))
        return True

    def apply(self, saved: str) -> None:
        if self.variant == "saved":
            plan = self.work.run("plan", "--out", saved, *self.flags)
            if plan.code != 0:
                self.wrong("the answer does not answer", plan)
                return
            applied = self.work.run("apply", saved, "--yes")
        else:
            applied = self.work.run("apply", "--yes", *self.flags)
        if applied.code != 0:
            self.wrong(f"apply ends with {applied.code}", applied)

    def compare(self, before: Mapping[str, str]) -> None:
        """Check what is live: ids stay, and nothing is lost or twice there."""
        state = objects(self.bench.state())
        expected = dict(before) | self.task.renamed
        for id in self.task.gone:
            expected.pop(id, None)
        added = sorted(title for id, title in state.items() if id not in before)
        left = {id: title for id, title in state.items() if id in before}
        if left != expected:
            lost = {id: title for id, title in expected.items() if left.get(id) != title}
            more = {id: title for id, title in left.items() if expected.get(id) != title}
            self.wrong(f"live is {more} instead of {lost}")
        if added != sorted(self.task.new):
            self.wrong(f"created {added} instead of {sorted(self.task.new)}")

    def wrong(self, what: str, ended: Ran | None = None) -> None:
        self.result.problems.append(f"{what}\n{ended}" if ended else what)


def confirms(way: str) -> Iterator[str]:
    """Return every answer in a text such as `--confirm "new 3 acme/teams/*" --confirm "delete 2"`."""
    one = answer_in_flag(way)
    if one is not None:
        yield one
    elif "--confirm" in way:
        words = shlex.split(way)
        yield from (after for word, after in itertools.pairwise(words) if word == "--confirm")


def refusals_of(plan: Ran) -> list[tuple[str, list[str]]]:
    """Return the code and the answers of each refusal or error."""
    found = _printed(plan)
    if found is None:
        return [(f"no JSON: {plan}", [])]
    if "findings" in found:
        return [(item["code"], []) for item in found["findings"] if item["severity"] == "error"]
    return [(item["code"], [way["add"] for way in item["answers"]]) for item in found["plan"]["refusals"]]


def _printed(ended: Ran) -> Any:
    """Return the document of a plan, also of one that `apply` prints; None if there is no JSON."""
    found = document(ended)
    return found["plan"] if found is not None and "report" in found else found


def what_counts(plan: Ran) -> dict[str, Any]:
    """Return what must not depend on `--base`."""
    found = document(plan)
    if found is None:
        return {"code": plan.code, "no JSON": str(plan)}
    made = {"code": plan.code, "refusals": refusals_of(plan)}
    if "plan" in found:
        made |= {"digest": found["digest"], "deletes": found["deletes"]}
    return made


def objects(world: dict[str, Any]) -> dict[str, str]:
    """Return the title of each live object by its id."""
    found: dict[str, str] = {}
    for organization in world["organizations"]:
        for place in ("teams", "collections", "spaces", "sites"):
            for thing in organization.get(place, []):
                if "deletedDaysAgo" not in thing and "deletedAt" not in thing:
                    found[thing["id"]] = thing["title"]
        for site in organization.get("sites", []):
            found |= {item["id"]: item["source"] for item in site.get("redirects", [])}
            found |= {item["id"]: item["name"] for item in site.get("shareLinks", [])}
            found |= dict(_nodes(site.get("structure", [])))
    return found


def _nodes(nodes: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        yield node["id"], node.get("title") or "(site space)"
        yield from _nodes(node.get("children", []))
