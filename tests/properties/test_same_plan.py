"""For the same files, commit and platform, `plan`, `plan --base` and `apply` make the same plan.

The organizations are random, the commits are real, and all requests go over HTTP.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from dpsync.planner.answers import answer_in_flag
from tests.machine.checkout import Checkout
from tests.machine.checkout import document as printed
from tests.machine.command import Ran
from tests.soak import examples

from .configurations import TOKEN, Written, document, world
from .mutations import Managed, add_collection, add_site, add_space, add_team, wanted_organization
from .organizations import Draw, Organization, live_organization, repair
from .platform import Platform

PLATFORMS = {"full": "platform", "reference": "reference", "published": "today"}
SEED = int(os.environ.get("DPSYNC_SEED", "20"))
"""The first seed of the examples."""
EXAMPLES = int(os.environ.get("DPSYNC_EXAMPLES", "0")) or examples(8, 100)
COMPARED = ("base", "changes", "blocked", "bindings", "kept", "exposures", "urls", "navigation")
ROUNDS = 4
"""How often a plan may ask further questions after it got answers."""


class Scene:
    """A checkout with a commit, edited files, and a platform that was changed after the commit."""

    def __init__(self, platform: Platform, seed: int, directory: Path) -> None:
        self.platform, self.draw = platform, Draw(Random(seed))
        env = {
            "PATH": os.environ["PATH"], "HOME": str(directory), "XDG_STATE_HOME": str(directory / "state"),
            "DPSYNC_URL": platform.server.url, "DPSYNC_TOKEN": TOKEN, "NO_COLOR": "1",
        }  # fmt: skip
        flags: tuple[str, ...] = ("--profile", platform.registry.profile.name)
        recorded = self.draw.chance(0.5)
        if recorded:
            flags += ("--ids", "dpsync.ids.yaml")
        self.checkout = Checkout(directory / "work", env, flags)
        self.checkout.directory.mkdir()
        self.checkout.git("init", "-q", "-b", "main")
        live = live_organization(self.draw, "acme", self.draw.number(1, 4))
        self.start(live)
        self.checkout.git("commit", "-q", "--allow-empty", "-m", "no files yet")
        committed = live.copy()
        repair(self.draw, committed)
        self.write(live, committed)
        if recorded:
            self.run("ids")
        self.checkout.commit()
        self.edit(live)
        self.flags = ["--no-delete"] if self.draw.chance(0.1) else []
        if self.draw.chance(0.3):
            before = self.checkout.git("rev-parse", self.draw.pick(["HEAD", "HEAD~1"]))
            event = directory / "event.json"
            event.write_text(json.dumps({"before": before}), encoding="utf-8")
            env |= {"CI": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(event)}

    def start(self, live: Organization) -> None:
        self.platform.server.reset(self.platform.suited(world([live])))

    def write(self, live: Organization, wanted: Organization) -> None:
        made = document({"acme": Written(self.draw, live, wanted, Managed()).configuration()})
        if self.draw.chance(0.3):
            made["policy"]["limits"] = {"deletes": 1, "percent": 100}
        if self.draw.chance(0.2):
            made["policy"]["protect"] = ["*/spaces/*"]
        if self.draw.chance(0.5):
            _remove_new_flags(made["organizations"]["acme"])
        text = json.dumps(self.platform.suited(made), indent=1)
        (self.checkout.directory / "dpsync.yaml").write_text(text, encoding="utf-8")

    def edit(self, live: Organization) -> None:
        """Edit the files. At random, also change the platform and commit the files."""
        wanted = wanted_organization(self.draw, live, Managed(), self.draw.number(0, 12))
        if self.draw.chance(0.3):
            # Add an object to the platform by hand, and a new entry of the same kind to the files.
            add = self.draw.pick([add_team, add_collection, add_space, add_site])
            live = live.copy()
            for org in (live, wanted):
                add(self.draw, org, Managed())
            self.start(_with_ids(live))
        elif self.draw.chance(0.4):
            live = wanted_organization(self.draw, live, Managed(), self.draw.number(1, 4))
            self.start(_with_ids(live))
        self.write(live, wanted)
        if self.draw.chance(0.3):
            self.rename_keys()
        if self.draw.chance(0.5):
            self.checkout.commit()

    def rename_keys(self) -> None:
        root = self.checkout.directory / "dpsync.yaml"
        text = root.read_text(encoding="utf-8")
        spaces = json.loads(text)["organizations"]["acme"].get("spaces", {})
        for key in self.draw.some(sorted(spaces))[:2]:
            text = text.replace(f'"{key}"', f'"{key}-renamed"')
        root.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Ran:
        return self.checkout.dpsync(*arguments)


def _remove_new_flags(organization: Any) -> None:
    """Remove each `new: true`, as in files from before dpsync asked for it."""
    for place in ("collections", "spaces", "sites"):
        for entry in organization.get(place, {}).values():
            entry.pop("new", None)


def _with_ids(org: Organization) -> Organization:
    """Give each new object of the organization an id, as if the object was created by hand."""
    things = [*org.teams, *org.collections, *org.spaces, *org.sites]
    things += [node for site in org.sites for node in site.nodes()]
    for number, thing in enumerate(thing for thing in things if thing.id is None):
        thing.id = f"by-hand-{number}"
    return org


@contextmanager
def make_scene(platform: Platform, seed: int) -> Iterator[Scene]:
    with TemporaryDirectory() as directory:
        yield Scene(platform, seed, Path(directory))


def read_plan(ran: Ran) -> tuple[Any, list[str]]:
    """Return the plan and refusals that a command prints, and the `--confirm` answers that it suggests."""
    found = printed(ran)
    assert found is not None, str(ran)
    if "findings" in found:
        return {"findings": [(item["code"], item["address"]) for item in found["findings"]]}, []
    found = found if "digest" in found else found["plan"]
    plan = found["plan"]
    for change in plan["changes"]:
        for labelled in (change, *change["differences"]):
            labelled.pop("cause")  # labels depend on --base
    ways = [way["add"] for item in plan["refusals"] for way in item["answers"]]
    refusals = [(item["code"], item["address"]) for item in plan["refusals"]]
    done = {name: plan[name] for name in COMPARED}
    digest = None if refusals else found["digest"]  # the text of a refusal depends on the --base argument
    answers = [answer for way in ways if (answer := answer_in_flag(way)) is not None]
    return {**done, "ways": ways, "refusals": refusals, "digest": digest}, answers


@pytest.mark.parametrize("profile", PLATFORMS)
@pytest.mark.parametrize("seed", range(SEED, SEED + EXAMPLES))
def test_plan_and_apply_agree_for_every_git_base(
    request: pytest.FixtureRequest, profile: str, seed: int
) -> None:
    """Otherwise, `apply FILE` refuses the plan that `plan` showed, or makes other changes."""
    with make_scene(request.getfixturevalue(PLATFORMS[profile]), seed) as made:
        saved = made.checkout.directory.parent / "plan.json"
        flags = made.flags
        for _ in range(ROUNDS):
            first = made.run("plan", *flags, "--out", str(saved), "--format", "json")
            expected, answers = read_plan(first)
            commit = expected.pop("base", None)
            for base in ("HEAD", "HEAD~1"):
                named, _ = read_plan(made.run("plan", *flags, "--base", base, "--format", "json"))
                assert named.pop("base", None) == commit
                assert named == expected
            if "findings" in expected:
                assert made.run("apply", *flags, "--yes", "--format", "json").code == first.code
                return
            if not answers:
                break
            flags = flags + [word for answer in answers for word in ("--confirm", answer)]
        command = ("apply", *flags) if expected["refusals"] else ("apply", str(saved))
        applied = made.run(*command, "--yes", "--format", "json")
        assert applied.code in ((4,) if expected["refusals"] else (0, 3)), str(applied)
        assert read_plan(applied)[0] == {**expected, "base": commit}
