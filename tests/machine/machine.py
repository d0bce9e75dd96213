"""The state machine: what people do, one step after the other, each drawn from the seed and its number alone.

So a history can be repeated without some of its steps, and what is left of a failure is a short one.
Not hypothesis's: its shrinking runs a history hundreds of times, and one step costs up to a second here,
since git, the command line, HTTP and the companion are real. And it would keep no step's draws when another
one goes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import yaml
from pydantic_core import from_json

from dpsync.apply.journal_reader import PastApply, read_journal
from dpsync.client.platform import WORLD_HEADER
from dpsync.client.transport import Request
from dpsync.kinds.registry import build_registry as load_registry
from dpsync.model.diagnostic import DiagnosticError, Exit
from tests.direct import Direct
from tests.properties import navigations, others
from tests.properties.configurations import world
from tests.properties.organizations import Draw, Fields, live_organization
from tests.properties.platform import Platform as Driven
from tests.properties.platform import suited_to_today
from tests.properties.test_other_kinds import applied

from .checkout import ROOT, Checkout, document
from .checks import PLACES, SECRETS, Apply, Step, check, plan_in
from .command import Disturbance, Fault, environment
from .edits import Edits, by_hand
from .platforms import TOKEN, Platform, platforms

PROFILES = ("full", "full", "reference", "published")
FAULTS: tuple[Fault, ...] = (
    "kill", "kill", "kill late", "kill late", "lost", "lost late", "503", "503 late", "429", "403", "500",
)  # fmt: skip
ROUNDS = 4
"""How often a plan may ask for something more."""


class BrokenPromiseError(Exception):
    """A promise does not hold. `log` says what was done."""

    def __init__(self, promise: str, log: Sequence[str]) -> None:
        self.promise = promise
        self.log = tuple(log)
        super().__init__("\n".join([*log, promise]))


@dataclass
class Machine:
    """One history: a platform, its staging, and a checkout."""

    seed: int
    profile: str
    production: Platform
    staging: Platform
    directory: Path
    log: list[str] = field(default_factory=list)
    number: int = -1
    """Of the step that is being taken."""
    draws: int = 0
    protected: list[str] = field(default_factory=list)
    """Ids of what the policy protects, from the beginning to the end."""
    staged: bool = False
    """Whether commands are for staging now."""

    good: dict[str, bytes] = field(default_factory=dict)
    """The files of the last apply that has converged."""
    last: int = 0
    """How the last command ended."""

    # The beginning.

    def begin(self) -> None:
        random = Random(f"{self.seed}")
        self.production.start(self.world(random))
        self.staging.start(self.production.state())
        home = self.directory / "home"
        home.mkdir(parents=True)
        env = {
            "PATH": "/usr/bin:/bin", "HOME": str(home), "XDG_STATE_HOME": str(home / "state"),
            "DPSYNC_URL": self.production.url, "DPSYNC_TOKEN": TOKEN, "DPSYNC_TOKEN_STAGING": TOKEN,
            "CANARY": SECRETS[1], "NO_COLOR": "1",
        }  # fmt: skip
        flags: tuple[str, ...] = ("--profile", self.profile)
        if random.random() < 0.5:
            flags += ("--ids", "dpsync.ids.yaml")
        self.checkout = Checkout(self.directory / "work", env, flags)
        self.canary = self.directory / "canary"
        step = self.run("import", "--format", "json")
        assert step.ran.code in (0, 3), step.ran
        self._imported(step)
        self._policy(random)
        self.checkout.begin(self.canary)
        self.run("ids", "--env", "staging", platform=self.staging)
        if "--ids" in flags:
            self.checkout.commit()

    def world(self, random: Random) -> Fields:
        draw = Draw(random)
        match random.choice(["organization", "organization", "navigation", "others"]):
            case "navigation":
                full = self.profile != "reference"
                return self._suited(navigations.world(navigations.arrangement(draw, full=full)))
            case "others" if self.profile == "full":
                self.production.start(others.world())
                (self.directory / "first").mkdir(parents=True)
                driven = Driven(self.production.server, self.directory / "first", load_registry(self.profile))
                applied(driven, others.document(others.organization(draw)))
                return self.production.state()
            case _:
                return self._suited(world([live_organization(draw, "acme", draw.number(1, 4))]))

    def _suited(self, value: Fields) -> Fields:
        suited: Fields = suited_to_today(value) if self.profile == "published" else value
        return suited

    def _policy(self, random: Random) -> None:
        """Add a second environment, and a policy of what may be deleted and what is protected."""
        trees = self.checkout.trees()
        root = trees[ROOT]
        root["environments"] = {
            "staging": {"url": self.staging.url, "token": {"env": "DPSYNC_TOKEN_STAGING"}}
        }
        Edits(random, self.fresh).prune(trees)
        state = self.production.state()["organizations"]
        if random.random() < 0.5:
            place = random.choice(PLACES)
            root["policy"]["protect"] = [f"{place}/*"]
            self.protected = [one["id"] for org in state for one in org[place]]
        self.checkout.write(trees)

    # Steps.

    def step(self, number: int) -> None:
        self.number, self.draws = number, 0
        random = Random(f"{self.seed}-{number}")
        self.staged = random.random() < 0.2
        action: Callable[[Random], str] = random.choices(
            [self.edit, self.by_hand, self.commit, self.branch, self.merge, self.clone, self.take_back,
             self.look, self.apply, self.update, self.import_anew, self.two_at_once],
            [7, 5, 2, 1, 2, 1, 1, 3, 12, 1, 1, 0.5],
        )[0]  # fmt: skip
        self.log.append(f"{number}. {action.__name__}")
        said = action(random)
        self.log[-1] += f": {said}" if said else ""

    def fresh(self) -> int:
        """Return a number that no other step draws."""
        self.draws += 1
        return (self.number + 1) * 100 + self.draws

    @property
    def platform(self) -> Platform:
        return self.staging if self.staged else self.production

    @property
    def to(self) -> tuple[str, ...]:
        return ("--env", "staging") if self.staged else ()

    def edit(self, random: Random) -> str:
        """Somebody edits the files; what does not load is refused by everything, and taken back."""
        before = {name: (self.checkout.directory / name).read_bytes() for name in self.checkout.names()}
        trees, edits, done = self.checkout.trees(), Edits(random, self.fresh), []
        if random.random() < 0.1:
            done.append(edits.mistake(trees))
            broken: str | None = done[0]
        else:
            broken = None
            done += [edits.edit(trees) for _ in range(random.randrange(1, 4))]
        self.checkout.write(trees)
        step = self.run("validate", "--format", "json", asks=False, broken=broken, checked=broken is not None)
        if step.ran.code == 5:
            for command in (("plan", "--format", "json"), ("apply", "--yes", "--format", "json")):
                self.run(*command, broken=broken or "the files do not load")
            for name, content in before.items():
                (self.checkout.directory / name).write_bytes(content)
            done.append("taken back")
        return ", ".join(done)

    def by_hand(self, random: Random) -> str:
        return by_hand(self.platform, random, Edits(random, self.fresh))

    def commit(self, _random: Random) -> str:
        self.checkout.commit()
        return ""

    def branch(self, random: Random) -> str:
        """Check out a new branch or another one."""
        self.checkout.commit()
        others_ = [*self.checkout.branches(), ""]
        name = random.choice(others_)
        if name:
            self.checkout.git("checkout", "-q", name)
            return name
        name = f"b{self.fresh()}"
        self.checkout.git("checkout", "-q", "-b", name)
        return f"new {name}"

    def merge(self, random: Random) -> str:
        """Merge another branch. What then does not load is given up; lines of ids are put together again."""
        self.checkout.commit()
        name = random.choice(self.checkout.branches())
        before = self.checkout.git("rev-parse", "HEAD")
        how = random.choice([[], ["-X", "ours"], ["-X", "theirs"]])
        self.checkout.git("merge", "-q", "--no-edit", *how, name, check=False)
        if self.checkout.git("diff", "--name-only", "--diff-filter=U") == "dpsync.ids.yaml":
            self.run("ids", *self.to, platform=self.platform)
            self.checkout.commit()
        elif self.checkout.git("diff", "--name-only", "--diff-filter=U"):
            self.checkout.git("merge", "--abort")
            return f"{name}: a conflict"
        if self.run("validate", asks=False).ran.code:
            self.checkout.git("reset", "-q", "--hard", before)
            return f"{name}: does not load"
        return name

    def clone(self, random: Random) -> str:
        """Go on in a clone, whole or of the last commit."""
        self.checkout.commit()
        flags = random.choice([[], ["--depth", "1"]])
        self.checkout.clone(self.directory / f"work-{self.fresh()}", *flags)
        return " ".join(flags)

    def take_back(self, _random: Random) -> str:
        """Revert the last commit, unless that conflicts or leaves files that do not load."""
        self.checkout.commit()
        self.checkout.git("revert", "--no-edit", "HEAD", check=False)
        if self.checkout.git("diff", "--name-only", "--diff-filter=U"):
            self.checkout.git("revert", "--abort")
            return "a conflict"
        if not self.checkout.names() or self.run("validate", asks=False).ran.code:
            self.checkout.git("reset", "-q", "--hard", "HEAD~1")
            return "does not load"
        return ""

    def look(self, random: Random) -> str:
        """Something that only reads."""
        format_ = random.choice(
            ["text", "json", "markdown", "html", "github", "sarif", "junit", "codequality"]
        )
        command: tuple[str, ...] = random.choice(
            [
                ("plan", "--format", format_), ("drift", "--format", format_), ("drift", "--everything"),
                ("plan", "--rehearse"), ("rehearse", "--faults", "2", "--seed", str(self.number)),
                ("list", "--format", "json"), ("doctor",), ("ids", "--check"), ("plan", "--no-delete"),
            ]
        )  # fmt: skip
        fault = Disturbance(random.choice(["403", "500", "lost"]), random.randrange(12), reads=True)
        step = self.run(*command, *self.to, disturbed=fault if random.random() < 0.2 else None)
        if command[0] == "plan" and "--rehearse" not in command:
            other = self.run(*command, *self.to, "--parallelism", "4")
            if step.disturbed:
                step.undisturbed = plan_in(other)
            else:
                step.again = other.ran
            self._checked(step)
        return f"{' '.join(command)}: {step.ran.code}"

    def update(self, random: Random) -> str:
        """Update the files with live values."""
        orgs = sorted({org for org, *_ in self.checkout.entries()})
        place = random.choice(PLACES)
        if not any(where == place for _, where, *_ in self.checkout.entries()):
            return ""
        step = self.run("import", "--update", "--force", f"{orgs[0]}/{place}", *self.to)
        return f"{place}: {step.ran.code}"

    def import_anew(self, _random: Random) -> str:
        """Import into an empty directory and check that its plan is empty."""
        here, self.checkout = (
            self.checkout,
            Checkout(self.directory / f"import-{self.fresh()}", self.checkout.env, self.checkout.flags[:2]),
        )
        try:
            step = self.run("import", "--format", "json", staged=False)
            self._imported(step)
            return str(step.ran.code)
        finally:
            shutil.rmtree(self.checkout.directory, ignore_errors=True)
            self.checkout = here

    def _imported(self, step: Step) -> None:
        if step.ran.code == 0:
            step.imported = plan_in(self.run("plan", "--format", "json", staged=False))
            self._checked(step)

    def two_at_once(self, _random: Random) -> str:
        """Another dpsync is applying to the same organization."""
        from dpsync.apply.journal import lock_organizations

        state = Path(self.checkout.env["XDG_STATE_HOME"]) / "dpsync" / "locks"
        state.mkdir(parents=True, exist_ok=True)
        orgs = [org["id"] for org in self.platform.state()["organizations"]]
        with environment(self.checkout.env), lock_organizations(self.platform.url, orgs):
            step = self.run("apply", "--yes", "--format", "json", *self.to, checked=False)
        step.locked = True
        self._checked(step)
        return str(step.ran.code)

    # Applies.

    def apply(self, random: Random) -> str:
        """Plan, answer what is asked, apply with or without a fault, go on where it stopped, take it back."""
        flags: tuple[str, ...] = self.to
        if random.random() < 0.15:
            flags += ("--select", self._pattern(random))
        if random.random() < 0.1:
            flags += ("--no-delete",)
        said: list[str] = []
        agreed = self._agreed(random, flags, said)
        if agreed is None:
            if random.random() < 0.5:
                said.append(self._back_to_what_was_applied())
            return ", ".join([*said, "not applied"])
        flags += agreed
        rehearsed = None
        if random.random() < 0.25:
            step = self.run("rehearse", *flags, "--format", "json")
            rehearsed = (document(step.ran) or {}).get("rehearsal")
            assert step.ran.code in (0, 3), f"promise 46: a plan that is not fit: {step.ran}"
        fault = None
        if random.random() < 0.4:
            fault = Disturbance(random.choice(FAULTS), int(random.expovariate(0.3)), random.random() < 0.2)
        step = self._carried_out(random, flags, fault, rehearsed)
        said.append(f"{' '.join(flags)} {fault.fault if fault else ''}: {step.ran.code}")
        if fault is not None and step.ran.code != 0 and random.random() < 0.8:
            again = self._agreed(random, flags, said)
            if again is not None:
                step = self._carried_out(random, (*flags, *again), None, None, first=step)
                said.append(f"again: {step.ran.code}")
        if step.apply is not None and step.apply.past is not None and random.random() < 0.2:
            said.append(self._reverted(random, step.apply.past, step.before))
        return ", ".join(said)

    def _back_to_what_was_applied(self) -> str:
        """Somebody who gives up takes the files of the last apply."""
        for name in self.checkout.names():
            if name in self.good:
                (self.checkout.directory / name).write_bytes(self.good[name])
        return "the files are those of the last apply"

    def _pattern(self, random: Random) -> str:
        entries = [f"*/{place}/{key}" for _, place, key, _ in self.checkout.entries() if place in PLACES]
        return random.choice([*entries, "teams", "spaces", "sites"])

    def _agreed(self, random: Random, flags: tuple[str, ...], said: list[str]) -> tuple[str, ...] | None:
        """Return the answers that allow the plan to be applied, or None if the person gives up."""
        answers: tuple[str, ...] = ()
        for _ in range(ROUNDS):
            step = self.run("plan", "--format", "json", *flags, *answers)
            found = document(step.ran)
            if step.ran.code == 0:
                return answers
            if step.ran.code == Exit.USAGE:  # an answer that the plan does not need any more
                answers = ()
                continue
            if step.ran.code not in (4, 5) or found is None:
                said.append(f"plan: {step.ran.code}")
                return None
            asked = found["plan"]["refusals"] if "plan" in found else found["findings"]
            more = self._answers(random, asked, said)
            if not more:
                said.append(f"asked: {[one['code'] for one in asked]}")
                return None
            answers += tuple(one for one in more if one)
        return None

    def _answers(self, random: Random, asked: list[Any], said: list[str]) -> list[str]:
        """Return the flags of the answers, with an empty one for each answer in a file."""
        found: list[str] = []
        for one in asked:
            ways = [way for way in one["answers"] if way["add"].startswith(("--confirm", "id:", "new:"))]
            if not ways:
                continue
            way = random.choice(ways)
            said.append(way["add"])
            if way["add"].startswith("--confirm"):
                if "delete " in way["add"] and random.random() < 0.4:
                    return []
                found += ["--confirm", way["add"].removeprefix('--confirm "').removesuffix('"')]
            elif self._written(way["address"], *way["add"].split(": ", 1)):
                found.append("")
        return found

    def _written(self, address: str, name: str, value: str) -> bool:
        """Write an answer into its entry and return whether the entry exists."""
        trees = self.checkout.trees()
        org, _, rest = address.partition("/")
        place, _, key = rest.partition("/")
        for tree in trees.values():
            entries = ((tree.get("organizations") or {}).get(org) or {}).get(place)
            if isinstance(entries, dict) and isinstance(entries.get(key), dict):
                entries[key].pop("new", None)
                entries[key][name] = True if value == "true" else value
                self.checkout.write(trees)
                return True
        return False

    def _carried_out(
        self, random: Random, flags: tuple[str, ...], fault: Disturbance | None, rehearsed: Any,
        first: Step | None = None,
    ) -> Step:  # fmt: skip
        """Apply a saved plan or a new one, and check the result against the journal."""
        command: tuple[str, ...] = ("apply", "--yes", "--format", "json", *flags)
        if random.random() < 0.25:
            saved = self.directory / f"saved-{self.fresh()}"
            if self.run("plan", *flags, "-o", str(saved)).ran.code == 0:
                if random.random() < 0.2:
                    self.log[-1] += f" meanwhile {by_hand(self.platform, random, Edits(random, self.fresh))};"
                command = ("apply", str(saved), "--yes", "--format", "json", *self.to)
        return self._begun(command, fault, rehearsed, _content(flags), first=first)

    def _begun(
        self, command: tuple[str, ...], fault: Disturbance | None, rehearsed: Any, named: int,
        took_back: Fields | None = None, first: Step | None = None,
    ) -> Step:  # fmt: skip
        """Run a writing command and collect all facts about it. `first` is the step that it continues."""
        before, journals = self.platform.state(), set(self.checkout.journals())
        policy = self.checkout.trees()[ROOT].get("policy") or {}
        declared = {f"{org}/{place}/{key}" for org, place, key, _ in self.checkout.entries()}
        lines = self._lines()
        with self.platform.watched(before, first.apply.born if first and first.apply else None) as moments:
            step = self.run(*command, disturbed=fault, checked=False)
        past = self._past(journals)
        step.apply = Apply(
            past, moments, self.platform.born, lines, declared, policy.get("prune") or [], named,
            rehearsed=rehearsed, kept_out=self.protected, took_back=took_back, urls=self._urls(lines),
            first=first,
        )  # fmt: skip
        if past is not None and past.report.journal:
            step.apply.shown_again = self.run("show", past.report.journal, "--format", "json", asks=False).ran
        whole = past is not None and past.plan.part is None and past.plan.deleting
        if step.ran.code == 0 and command[0] == "apply" and whole:
            again = tuple(part for part in command if not part.startswith(str(self.directory)))
            second = self.run(*again)
            step.apply.second = second.ran, second.writes
            self.good = {
                name: (self.checkout.directory / name).read_bytes() for name in self.checkout.names()
            }
        self._checked(step)
        return step

    def _past(self, journals: set[Path]) -> PastApply | None:
        new = [path for path in self.checkout.journals() if path not in journals]
        try:
            return read_journal(new[0]) if new else None
        except DiagnosticError:  # it was ended before its first step
            return None

    def _reverted(self, random: Random, past: PastApply, before: Fields) -> str:
        answers: tuple[str, ...] = ()
        command = ("revert", str(past.report.journal), "--format", "json", *self.to)
        for _ in range(ROUNDS):
            ran = self.run(*command, "--no-input", *answers).ran
            found = document(ran)
            if found is None or ran.code != 4 or not found["plan"]["plan"]["refusals"]:
                break
            more = self._answers(random, found["plan"]["plan"]["refusals"], [])
            if not any(more):
                return f"revert: {ran.code}"
            answers += tuple(more)
        step = self._begun((*command, "--yes", *answers), None, None, _content(answers), before)
        return f"reverted: {step.ran.code}"

    def _urls(self, lines: dict[str, str]) -> dict[str, str | None]:
        """Where people see each site that has a line."""
        found: dict[str, str | None] = {}
        transport = Direct(self.platform.server, TOKEN)
        for org in self.platform.state()["organizations"]:
            for site in org["sites"]:
                body = from_json(transport.send(Request("GET", f"/orgs/{org['id']}/sites/{site['id']}")).body)
                shown = (body.get("urls") or {}).get("published") if body.get("published") else None
                found |= {at: shown for at, id in lines.items() if id == site["id"]}
        self.platform.taken()
        return found

    def _lines(self) -> dict[str, str]:
        """Return the lines of the ids file for this platform: address → id."""
        named = "--ids" in self.checkout.flags
        file = self.checkout.directory / ("dpsync.ids.yaml" if named else ".dpsync/ids.yaml")
        answer = Direct(self.platform.server, TOKEN).send(Request("GET", "/user"))
        self.platform.taken()
        if not file.exists():
            return {}
        sections = yaml.load(file.read_text("utf-8"), Loader=yaml.CSafeLoader) or {}
        orgs = sections.get(answer.headers.get(WORLD_HEADER, self.platform.url)) or {}
        return {
            at: str(line) for lines in orgs.values() for at, line in lines.items() if isinstance(line, str)
        }

    # Commands.

    def run(
        self, *arguments: str, disturbed: Disturbance | None = None, platform: Platform | None = None,
        asks: bool = True, broken: str | None = None, checked: bool = True, staged: bool | None = None,
    ) -> Step:  # fmt: skip
        """Run a command and check every promise."""
        here = platform or (self.production if staged is False else self.platform)
        other = self.production if here is self.staging else self.staging
        if staged is not False and platform is None and asks and self.staged and "--env" not in arguments:
            arguments += self.to
        before, files = here.state(), self._files()
        tidy = arguments[0] == "plan" and "--base" not in arguments
        clean = tidy and asks and broken is None and self._clean()
        here.taken()
        other.taken()
        if asks and arguments[0] not in ("import",):
            arguments += (
                ("--parallelism", "1") if "--parallelism" not in arguments and _reads(arguments) else ()
            )
        ended = self.checkout.dpsync(*arguments, disturbed=disturbed, asks=asks)
        step = Step(
            ended, before, here.state(), here.taken(), other.taken(), (files, self._files()), self.canary,
            disturbed is not None, broken, clean=clean,
        )  # fmt: skip
        self.last = ended.code
        if checked:
            self._checked(step)
        return step

    def _clean(self) -> bool:
        return (self.checkout.directory / ".git").exists() and not self.checkout.git("status", "--porcelain")

    def _checked(self, step: Step) -> None:
        try:
            check(step)
        except AssertionError as failed:
            said = str(failed)
            raise AssertionError(f"{said[:2500]}\n{str(step.ran)[:1500]}") from failed
        for platform in (self.production, self.staging):
            assert platform.server.app.violations == [], platform.server.app.violations

    def _files(self) -> dict[str, bytes]:
        found = {}
        for path in self.checkout.directory.rglob("*"):
            name = str(path.relative_to(self.checkout.directory))
            if path.is_file() and not name.startswith((".git/", "schemas/")):
                found[name] = path.read_bytes()
        return found


def _content(answers: tuple[str, ...]) -> int:
    """How many things with content may go, by these answers: by a number, and by addresses."""
    named = [answer.removeprefix("delete ") for answer in answers if answer.startswith("delete ")]
    return sum(int(one) if one.isdigit() else 1 for one in named)


def _reads(arguments: tuple[str, ...]) -> bool:
    return arguments[0] in ("plan", "apply", "drift", "rehearse", "revert", "ids")


@contextmanager
def machines(directory: Path) -> Iterator[Callable[[int], Machine]]:
    """Yield a function that creates a seed's machine. All histories of a profile share two companions."""
    with ExitStack() as stack:
        known: dict[str, tuple[Platform, Platform]] = {}

        def made(seed: int) -> Machine:
            profile = Random(f"{seed}-profile").choice(PROFILES)
            if profile not in known:
                known[profile] = stack.enter_context(platforms(profile))
            place = directory / f"history-{seed}"
            shutil.rmtree(place, ignore_errors=True)
            return Machine(seed, profile, *known[profile], place)

        yield made


def walk(machine: Machine, steps: Sequence[int]) -> None:
    """Take these steps. Raises Broken."""
    try:
        machine.begin()
        for number in steps:
            machine.step(number)
    except Exception as failed:
        said = f"{type(failed).__name__}: {failed}"
        if not isinstance(failed, AssertionError):
            import traceback

            said += "".join(traceback.format_tb(failed.__traceback__)[-6:])
        raise BrokenPromiseError(
            said, [f"seed {machine.seed}, profile {machine.profile}", *machine.log]
        ) from failed
    finally:
        shutil.rmtree(machine.directory, ignore_errors=True)
