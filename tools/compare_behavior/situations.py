"""Record help texts, schemas, and the output and exit code of commands in a table of situations."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .generator import start_data
from .pairs import shown
from .running import Runner

Record = tuple[str, str]
_TEAM = """\
dpsync: 1
organizations:
  acme:
    id: acme
    teams: {{ writers: {{ id: writers, title: {} }} }}
"""
_VALID = _TEAM.format("Technical writers")
_NO_SERVER = "http://127.0.0.1:1"
_CHANGED = _TEAM.format("Authors")


class Situation(NamedTuple):
    """Files, and commands separated by semicolons; `faults` are rules for failures of the companion."""

    files: Mapping[str, str]
    commands: str
    faults: tuple[Mapping[str, object], ...] = ()
    environment: Mapping[str, str] = {}


_BROKEN = {
    "not YAML": "a: [",
    "no mapping": "- 1",
    "empty file": "",
    "unknown key": "dpsync: 1\nteam: {}\n",
    "other version": "dpsync: 2\n",
    "missing include": "dpsync: 1\ninclude: [no/*.yaml]\n",
    "variable not set": "dpsync: 1\norganizations: { acme: { id: '${NOT_SET}' } }\n",
    "unknown organization": "dpsync: 1\norganizations: { none: { id: none } }\n",
    "unknown reference": _VALID + "    spaces: { a: { title: A, collection: none } }\n",
    "two equal titles": _VALID.replace("writers: {", "others: { title: Technical writers }, writers: {"),
    "wrong types": _VALID + "    ai: 1\n    emailDomains: x\n    defaultRole: boss\n",
}
_STATUSES: tuple[Mapping[str, object], ...] = tuple(
    {"kind": "status", "status": status} for status in (400, 401, 403, 404, 409, 429, 500, 503)
)
_KINDS: tuple[Mapping[str, object], ...] = (
    {"kind": "reset", "when": "after"}, {"kind": "reset"}, {"kind": "truncate"}, {"kind": "content-type"},
)  # fmt: skip
_TEAMS = "/orgs/{organizationId}/teams"
_SITUATIONS = {
    **{name: Situation({"dpsync.yaml": text}, "validate; plan; drift; apply --yes; fmt; config")
       for name, text in _BROKEN.items()},
    **{f"write fails with {json.dumps(fault)}": Situation(
        {"dpsync.yaml": _CHANGED}, "apply --yes; history; plan",
        ({"operation": f"PATCH {_TEAMS}/{{teamId}}", "nth": 1, "fault": fault},),
    ) for fault in (*_STATUSES, *_KINDS)},
    **{f"read fails with {json.dumps(fault)}": Situation(
        {"dpsync.yaml": _VALID}, "plan; drift", ({"operation": f"GET {_TEAMS}", "times": 9, "fault": fault},),
    ) for fault in (*_STATUSES[:4], *_KINDS[2:])},
    "no files": Situation({}, "plan; validate; apply; drift; list; history; revert --last; doctor"),
    "no server": Situation(
        {"dpsync.yaml": _VALID}, "plan; doctor; drift; import --force", (), {"DPSYNC_URL": _NO_SERVER}
    ),
    "no token": Situation({"dpsync.yaml": _VALID}, "plan; doctor; list", (), {"DPSYNC_TOKEN": ""}),
    "unknown token": Situation({"dpsync.yaml": _VALID}, "plan; doctor", (), {"DPSYNC_TOKEN": "none"}),
    "token that may only read": Situation(
        {"dpsync.yaml": _CHANGED}, "plan; apply --yes; doctor", (), {"DPSYNC_TOKEN": "kim-token"}
    ),
    "no changes": Situation({"dpsync.yaml": _VALID}, """
        plan; plan --detailed-exitcode; drift; apply --yes; validate; list --offline; doctor --contact; ids
        version; history; graph --format dot; rehearse; config --format json; fmt --check
    """),
    "one change": Situation({"dpsync.yaml": _CHANGED}, """
        plan; plan --detailed-exitcode; drift; plan --out plan.json; show plan.json; apply --no-input
        apply --approved 0000; apply plan.json --yes; apply plan.json --yes; history; revert --last --yes
        revert --last --yes; history; plan
    """),
    "delete": Situation({"dpsync.yaml": "policy: { prune: [teams] }\n" + _VALID}, """
        plan; plan --no-delete; apply --yes; apply --yes --confirm "delete 3"
        apply --yes --confirm "delete acme/teams/[Legacy]"
    """),
    "wrong usage": Situation({"dpsync.yaml": _VALID}, """
        pln; plan --unknown; plan extra; plan --format xml; plan --select none/**; plan --env none
        plan --parallelism 0; show none.json; show dpsync.yaml; explain; explain site; explain DP201
        explain site.visibility; explain none; schema none; help; help environment; help exit-codes; help none
        destroy; plan -auto-approve; -C none plan; github; completion bash; completion tcsh
        export --navigation docs; import; import --update acme/teams/writers; import --add acme/teams/[Sales]
        world -; init; init --empty --organization acme
    """),
}  # fmt: skip


def record_situations(runner: Runner, count: int) -> Iterator[Record]:
    """Yield the outputs of fixed commands; `count` limits the situations."""
    for path in sorted((runner.checkout / "schemas").iterdir()):
        yield f"schemas/{path.name}", path.read_text(encoding="utf-8")
    yield from _help(runner)
    companion = runner.companion("full")
    for name, situation in list(_SITUATIONS.items())[:count]:
        companion.load(start_data()[0])
        companion.client.put("/_dpsync/faults", json=list(situation.faults)).raise_for_status()
        runner.write({".keep": "", **situation.files})
        for command in filter(None, map(str.strip, re.split("[;\\n]", situation.commands))):
            result = runner.run(shlex.split(command), companion.url, **situation.environment)
            yield f"{name}: dpsync {command}", shown(result)
        companion.client.delete("/_dpsync/faults").raise_for_status()
    # A process of its own, as users start it: the commands above are forks.
    run = [sys.executable, "-P", "-m", "dpsync", "version"]
    yield "python -m dpsync version", subprocess.run(run, capture_output=True, text=True, check=False).stdout


def _help(runner: Runner) -> Iterator[Record]:
    runner.write({".keep": ""})
    overview = runner.run(["help"])
    yield "dpsync --help", shown(runner.run(["--help"]))
    for command in re.findall(r"^  ([a-z]+) {2,}", overview.out, re.MULTILINE):
        yield f"dpsync {command} --help", shown(runner.run([command, "--help"]))
    yield "dpsync schema", shown(runner.run(["schema"]))
    for path in sorted((runner.checkout / "schemas").glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        if name != "dpsync":
            yield f"dpsync schema {name}", shown(runner.run(["schema", name]))
