"""Mistakes around the files: the address, the token, the command, a saved plan, what is live."""

from __future__ import annotations

from typing import Final

from tests.cli.mistakes.in_files import ROOT, START
from tests.cli.mistakes.mistake import SERVER, SERVER_OVER_TLS, Mistake

PLAIN: Final = {ROOT: START}
TEAMS: Final = {ROOT: START + "    teams: { writers: { title: Technical writers } }\n"}
NEW: Final = {ROOT: START + "    teams: { press: { title: Press } }\n"}

CONNECTION: Final = (
    Mistake(
        "no address",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": None},
        mended_env={"DPSYNC_URL": SERVER},
        code=64,
    ),
    Mistake(
        "no token",
        PLAIN,
        command="plan",
        env={"DPSYNC_TOKEN": None},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=64,
    ),
    Mistake(
        "a token that is wrong",
        PLAIN,
        command="plan",
        env={"DPSYNC_TOKEN": "gb_api_old"},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=1,
    ),
    Mistake(
        "a token with a line break",
        PLAIN,
        command="plan",
        env={"DPSYNC_TOKEN": "ada-\ntoken"},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=64,
    ),
    Mistake(
        "a token file that is not there",
        PLAIN,
        command="plan",
        env={"DPSYNC_TOKEN": None, "DPSYNC_TOKEN_FILE": "/nowhere/token"},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=64,
    ),
    Mistake(
        "an address with v1",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": SERVER + "/v1"},
        mended_env={"DPSYNC_URL": SERVER},
        code=64,
    ),
    Mistake(
        "an address without http",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": "api.acme.example"},
        mended_env={"DPSYNC_URL": SERVER},
        code=64,
    ),
    Mistake(
        "an address with a path",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": SERVER + "/acme/docs"},
        mended_env={"DPSYNC_URL": SERVER},
        code=1,
    ),
    Mistake(
        "a server that is not there",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": "http://127.0.0.1:9"},
        mended_env={"DPSYNC_URL": SERVER},
        code=1,
    ),
    Mistake(
        "https to a server without it",
        PLAIN,
        command="plan",
        env={"DPSYNC_URL": SERVER_OVER_TLS},
        mended_env={"DPSYNC_URL": SERVER},
        code=1,
    ),
    Mistake(
        "a dead proxy",
        PLAIN,
        command="plan",
        env={"HTTP_PROXY": "http://127.0.0.1:9"},
        mended_env={"HTTP_PROXY": None},
        code=1,
    ),
    Mistake(
        "an organization that is not there",
        {ROOT: START.replace("id: acme", "id: acme-docs")},
        {ROOT: ("id: acme-docs", "id: acme")},
        command="plan",
        code=1,
    ),
    Mistake(
        "a token that may not read",
        TEAMS,
        command="plan",
        env={"DPSYNC_TOKEN": "gus-token"},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=0,
    ),
    Mistake(
        "a token that may not write",
        NEW,
        command="apply --yes",
        env={"DPSYNC_TOKEN": "rui-token"},
        mended_env={"DPSYNC_TOKEN": "ada-token"},
        code=3,
    ),
    Mistake(
        "an environment without its url",
        {ROOT: START + "environments: { prod: { token: { env: DPSYNC_TOKEN } } }\n"},
        {ROOT: ("{ token", "{ url: '(server)', token")},
        command="plan --env prod",
        code=64,
    ),
    Mistake(
        "an environment without its token",
        {ROOT: START + "environments: { prod: { url: '(server)' } }\n"},
        {ROOT: ("' }", "', token: { env: DPSYNC_TOKEN } }")},
        command="plan --env prod",
        code=64,
    ),
)

COMMANDS: Final = (
    Mistake("a typo in a command", PLAIN, command="paln", then="plan", code=64),
    Mistake("a command of another tool", PLAIN, command="destroy", then="plan", code=64),
    Mistake("auto-approve", NEW, command="apply -auto-approve", then="apply --yes", code=64),
    Mistake(
        "target",
        TEAMS,
        command="plan -target=acme/teams/writers",
        then="plan --select acme/teams/writers",
        code=64,
    ),
    Mistake("out with one dash", TEAMS, command="plan -out=plan.json", then="plan -o plan.json", code=64),
    Mistake("an unknown flag", TEAMS, command="plan --verbos", then="plan --verbose", code=64),
    Mistake(
        "a title as an address",
        TEAMS,
        command="plan --select Writers",
        then="plan --select acme/teams/writers",
        code=5,
    ),
    Mistake("a file as an argument", TEAMS, command="plan dpsync.yaml", then="plan -f dpsync.yaml", code=64),
    Mistake("nobody to ask", NEW, command="apply", then="apply --yes", code=4),
    Mistake(
        "an answer that nothing asks for", TEAMS, command="plan --confirm 'delete 5'", then="plan", code=0
    ),
    Mistake("an answer in own words", TEAMS, command="plan --confirm yes", then="plan", code=64),
)

TITLED: Final = {ROOT: START + "    title: Acme, Inc.\n"}
ONLY_LEGACY_GOES: Final = (
    "    teams:\n"
    "      writers: { title: Technical writers }\n"
    "      reviewers: { title: Reviewers }\n"
    "      sales: { title: Sales }\n"
)
HANDBOOK: Final = {ROOT: START + "    spaces: { handbook: { title: Handbook } }\n"}


def with_policy(policy: str) -> dict[str, str | bytes]:
    """Return a root file whose policy deletes one team that no entry declares."""
    return {ROOT: START.replace("org", f"policy: {{ {policy} }}\norg") + ONLY_LEGACY_GOES}


PLANS: Final = (
    Mistake(
        "a plan that is stale",
        TITLED,
        command="apply --yes plan.json",
        then="apply --yes",
        code=4,
        earlier=((TITLED, "plan -o plan.json"), ({ROOT: START + "    title: Acme Ltd.\n"}, "apply --yes")),
    ),
    Mistake(
        "a plan of other files",
        NEW,
        command="apply --yes plan.json",
        then="apply --yes",
        code=4,
        earlier=((TITLED, "plan -o plan.json"),),
    ),
    Mistake(
        "a printed plan for a saved one",
        {},
        command="apply --yes plan.json",
        then="apply --yes",
        earlier=((NEW, "plan --format json > plan.json"),),
    ),
    Mistake(
        "conflict markers in the ids file",
        {".dpsync/ids.yaml": "<<<<<<< HEAD\n# ours\n=======\n# theirs\n>>>>>>> other\n"},
        command="plan",
        then="ids && plan",
        earlier=((TEAMS, "ids"),),
    ),
    Mistake(
        "an earlier name that nothing has",
        {ROOT: START + "    teams: { archive: { title: Archive, previously: Legcy } }\n"},
        {ROOT: ("Legcy", "Legacy")},
        command="plan",
    ),
    Mistake("somebody else applies", NEW, command="apply --yes", locked=True, code=4),
    Mistake(
        "content that goes and is not named",
        with_policy("prune: [teams], limits: { percent: 50 }"),
        {ROOT: ("prune: [teams]", 'prune: [teams], removed: ["acme/teams/[Legacy~legacy]"]')},
        command="plan",
        code=4,
    ),
    Mistake(
        "more deletions than the limit",
        with_policy("prune: [teams], limits: { deletes: 0 }"),
        command="plan",
        then="plan --confirm 'delete 1' --confirm 'delete acme/teams/[Legacy]'",
        code=4,
    ),
    Mistake(
        "a protected thing that goes",
        with_policy('prune: [teams], limits: { percent: 50 }, protect: ["acme/teams/[Legacy]"]'),
        {ROOT: ('protect: ["acme/teams/[Legacy]"]', 'removed: ["acme/teams/[Legacy~legacy]"]')},
        command="plan",
        code=4,
    ),
    Mistake(
        "a key that was renamed",
        {ROOT: START + "    spaces: { stories: { title: Stories } }\n"},
        {ROOT: ("title: Stories", "title: Stories, previously: Handbook")},
        command="plan",
        code=4,
        earlier=((HANDBOOK, "apply --yes"), ({}, "commit")),
    ),
    Mistake(
        "a title that was renamed without a word",
        {ROOT: START + "    spaces: { guide: { title: Hand-book } }\n"},
        {ROOT: ("title: Hand-book", "title: Hand-book, previously: Handbook")},
        command="plan",
        code=4,
    ),
)
