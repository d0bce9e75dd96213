"""Mistakes of YAML and of files: what a text editor, a habit or a guess about paths brings about."""

from __future__ import annotations

from typing import Final

from tests.cli.mistakes.mistake import Mistake

ROOT: Final = "dpsync.yaml"
START: Final = "dpsync: 1\norganizations:\n  acme:\n    id: acme\n"


def acme(body: str) -> dict[str, str | bytes]:
    """Return a root file with these lines in its organization."""
    return {ROOT: START + body}


YAML: Final = (
    Mistake(
        "a tab as indentation",
        acme("    spaces:\n\t  guides: { title: Guides }\n"),
        {ROOT: ("\t  guides", "      guides")},
    ),
    Mistake(
        "one space too many",
        acme("    spaces:\n      guides: { title: Guides }\n     title: Acme\n"),
        {ROOT: ("     title: Acme", "    title: Acme")},
    ),
    Mistake(
        "a key on the level of its parent",
        acme("    spaces:\n    guides: { title: Guides }\n"),
        {ROOT: ("    guides:", "      guides:")},
    ),
    Mistake("no space after the colon", acme("    title:Acme\n"), {ROOT: ("title:Acme", "title: Acme")}),
    Mistake(
        "a colon in a title",
        acme("    title: Acme: the docs\n"),
        {ROOT: ("Acme: the docs", '"Acme: the docs"')},
    ),
    Mistake(
        "an open bracket",
        acme("    emailDomains: [acme.example\n"),
        {ROOT: ("acme.example", "acme.example]")},
    ),
    Mistake("an open quote", acme('    title: "Acme\n    defaultRole: read\n'), {ROOT: ('"Acme', '"Acme"')}),
    Mistake("a text that begins with @", acme("    title: @acme\n"), {ROOT: ("@acme", '"@acme"')}),
    Mistake(
        "a text that begins with an asterisk", acme("    title: *Acme*\n"), {ROOT: ("*Acme*", '"*Acme*"')}
    ),
    Mistake("a tag", acme("    title: !env TITLE\n"), {ROOT: ("!env TITLE", "${TITLE:-Acme}")}),
    Mistake(
        "a merge key",
        acme("    spaces:\n      a: &all { language: en, title: A }\n      b: { <<: *all, title: B }\n"),
        {ROOT: ("<<: *all", "language: en")},
    ),
    Mistake(
        "an anchor in another file",
        acme("    spaces:\n      a: *all\n") | {},
        {ROOT: ("*all", "{ title: A }")},
    ),
    Mistake(
        "a key twice",
        acme("    title: Acme\n    defaultRole: read\n    title: Acme Inc\n"),
        {ROOT: ("    title: Acme\n", "")},
    ),
    Mistake(
        "two documents in a file",
        acme("---\norganizations:\n  acme: { title: Acme }\n"),
        {ROOT: ("---\norganizations:\n  acme: { title: Acme }\n", "    title: Acme\n")},
    ),
    Mistake(
        "a list where keys belong",
        acme("    spaces:\n      - title: Guides\n"),
        {ROOT: ("- title: Guides", "guides: { title: Guides }")},
    ),
    Mistake("a file in UTF-16", {ROOT: (START + "    title: Acme\n").encode("utf-16")}, {ROOT: START}),
    Mistake(
        "a file in Latin-1",
        {ROOT: (START + "    title: Café\n").encode("latin-1")},
        {ROOT: START + "    title: Café\n"},
    ),
    Mistake(
        "a space that does not break",
        acme("    title: Acme\n    \u00a0\u00a0defaultRole: read\n"),
        {ROOT: ("\u00a0\u00a0", "")},
    ),
    Mistake("a version without quotes", acme("    title: 1.10\n"), {ROOT: ("1.10", '"1.10"')}),
    Mistake("a year as a title", acme("    spaces: { old: { title: 2024 } }\n"), {ROOT: ("2024", '"2024"')}),
    Mistake("yes for true", acme("    inviteLinks: yes\n"), {ROOT: ("yes", "true")}),
    Mistake(
        "a number as a quoted text",
        {ROOT: 'dpsync: "1"\norganizations: { acme: { id: acme } }\n'},
        {ROOT: ('"1"', "1")},
    ),
)

FILES: Final = (
    Mistake("no root file", {"docs.yaml": START}, {ROOT: START, "docs.yaml": None}),
    Mistake(
        "no version", {ROOT: "organizations: { acme: { id: acme } }\n"}, {ROOT: ("org", "dpsync: 1\norg")}
    ),
    Mistake("an empty file", {ROOT: ""}, {ROOT: START}),
    Mistake(
        "sites at the top",
        {ROOT: "dpsync: 1\nsites:\n  docs: { title: Docs }\n"},
        {ROOT: START + "    sites:\n      docs: { title: Docs }\n"},
    ),
    Mistake("two root files", {ROOT: START, "dpsync.yml": START}, {"dpsync.yml": None}),
    Mistake(
        "an include that was forgotten",
        {ROOT: START, "teams.yaml": "organizations: { acme: { teams: { writers: { title: Writers } } } }\n"},
        {ROOT: ("dpsync: 1\n", "dpsync: 1\ninclude: [teams.yaml]\n")},
        code=0,
    ),
    Mistake(
        "an include relative to the file that is in it",
        {
            ROOT: "dpsync: 1\ninclude: [docs.yaml]\norganizations: { acme: { id: acme } }\n",
            "sites/docs.yaml": "organizations: { acme: { sites: { docs: { title: Docs } } } }\n",
        },
        {ROOT: ("[docs.yaml]", "[sites/docs.yaml]")},
    ),
    Mistake(
        "a directory as an include",
        {
            ROOT: "dpsync: 1\ninclude: [sites]\norganizations: { acme: { id: acme } }\n",
            "sites/docs.yaml": "organizations: { acme: { sites: { docs: { title: Docs } } } }\n",
        },
        {ROOT: ("[sites]", "[sites/*.yaml]")},
    ),
    Mistake(
        "an include above the project",
        {
            ROOT: "dpsync: 1\ninclude: [../teams.yaml]\norganizations: { acme: { id: acme } }\n",
            "../teams.yaml": "organizations: { acme: { title: Acme } }\n",
            "teams.yaml": "organizations: { acme: { title: Acme } }\n",
        },
        {ROOT: ("../teams.yaml", "teams.yaml")},
    ),
    Mistake(
        "one value in two files",
        {
            ROOT: "dpsync: 1\ninclude: [more.yaml]\norganizations: { acme: { id: acme, title: Acme } }\n",
            "more.yaml": "organizations: { acme: { title: Acme Inc } }\n",
        },
        {"more.yaml": ("title: Acme Inc", "defaultRole: read")},
    ),
    Mistake(
        "one entry in two files",
        {
            ROOT: "dpsync: 1\ninclude: [a.yaml, b.yaml]\norganizations: { acme: { id: acme } }\n",
            "a.yaml": "organizations: { acme: { teams: { writers: { title: Writers } } } }\n",
            "b.yaml": "organizations: { acme: { teams: { writers: { title: Authors } } } }\n",
        },
        {"b.yaml": ("writers: { title: Authors }", "authors: { title: Authors }")},
    ),
    Mistake(
        "a file relative to the root file",
        {
            ROOT: "dpsync: 1\ninclude: [sites/docs.yaml]\norganizations: { acme: { id: acme } }\n",
            "sites/docs.yaml": "organizations:\n  acme:\n    sites:\n      docs:\n        title: Docs\n"
            "        adaptiveSchema: { file: sites/visitor.json }\n",
            "sites/visitor.json": '{"type": "object", "properties": {}, "additionalProperties": false}\n',
        },
        {"sites/docs.yaml": ("sites/visitor.json", "visitor.json")},
    ),
    Mistake(
        "the name of a file without file:",
        acme("    agentInstructions: agents.md\n") | {"agents.md": "Be kind.\n"},
        {ROOT: ("agents.md", "{ file: agents.md }")},
        code=0,
    ),
    Mistake("a variable that is not set", acme("    title: ${BRAND}\n"), mended_env={"BRAND": "Acme"}),
    Mistake(
        "a variable without its bracket", acme("    title: ${BRAND\n"), {ROOT: ("${BRAND", "${BRAND:-Acme}")}
    ),
    Mistake(
        "a variable without brackets",
        acme("    title: $BRAND docs\n"),
        {ROOT: ("$BRAND", "${BRAND:-Acme}")},
        code=0,
    ),
)
