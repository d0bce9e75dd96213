"""Mistakes of entries: keys, values, references, names, and what the policy says of them."""

from __future__ import annotations

from typing import Final

from tests.cli.mistakes.in_files import ROOT, START, acme
from tests.cli.mistakes.mistake import Mistake

SPACE: Final = "    spaces: { guides: { title: Guides } }\n"


def policy(line: str, body: str = "") -> dict[str, str | bytes]:
    """Return a root file with one line of policy."""
    return {ROOT: START.replace("org", f"policy: {{ {line} }}\norg") + body}


def structure(*nodes: str) -> dict[str, str | bytes]:
    """Return a root file with two spaces and a site with these nodes."""
    lines = "".join(f"          - {node}\n" for node in nodes)
    return acme(
        "    spaces: { a: { title: A }, b: { title: B } }\n"
        f"    sites:\n      docs:\n        title: Docs\n        structure:\n{lines}"
    )


KEYS: Final = (
    Mistake("a typo in a key", acme("    titel: Acme\n"), {ROOT: ("titel", "title")}),
    Mistake(
        "a key with underscores", acme("    default_role: read\n"), {ROOT: ("default_role", "defaultRole")}
    ),
    Mistake(
        "a key of another level",
        acme("    visibility: public\n    sites: { docs: { title: Docs } }\n"),
        {
            ROOT: (
                "    visibility: public\n    sites: { docs: { title: Docs",
                "    sites: { docs: { title: Docs, visibility: public",
            )
        },
    ),
    Mistake(
        "a key in the singular", acme("    site: { docs: { title: Docs } }\n"), {ROOT: ("site:", "sites:")}
    ),
    Mistake(
        "a key with a space",
        acme("    teams:\n      Technical writers: { title: Technical writers }\n"),
        {ROOT: ("Technical writers: {", "technical-writers: {")},
    ),
    Mistake(
        "an organization without its id",
        {ROOT: "dpsync: 1\norganizations: { acme: { title: Acme } }\n"},
        {ROOT: ("{ title", "{ id: acme, title")},
    ),
    Mistake(
        "policy in an organization",
        acme("    prune: [teams]\n"),
        {ROOT: START.replace("org", "policy: { prune: [teams] }\norg") + "    teams: {}\n"},
    ),
    Mistake(
        "an entry without fields",
        acme("    teams:\n      writers:\n"),
        {ROOT: ("writers:", "writers: { title: Writers }")},
    ),
    Mistake(
        "only a title as an entry",
        acme("    teams:\n      writers: Technical writers\n"),
        {ROOT: ("Technical writers", "{ title: Technical writers }")},
    ),
    Mistake(
        "none of a place, and no policy for it", acme("    teams: {}\n"), {ROOT: ("    teams: {}\n", "")}
    ),
)

VALUES: Final = (
    Mistake(
        "a value that there is not",
        acme("    sites: { docs: { title: Docs, visibility: private } }\n"),
        {ROOT: ("private", "visitor-auth")},
    ),
    Mistake("a value in capitals", acme("    defaultRole: Read\n"), {ROOT: ("Read", "read")}),
    Mistake("a list where one value belongs", acme("    title: [Acme]\n"), {ROOT: ("[Acme]", "Acme")}),
    Mistake(
        "one value where a list belongs",
        acme("    emailDomains: acme.example\n"),
        {ROOT: ("acme.example", "[acme.example]")},
    ),
    Mistake(
        "a URL without https",
        acme("    openapi: { shop: { source: { url: acme.example/shop.yaml } } }\n"),
        {ROOT: ("acme.example/shop.yaml", '"https://acme.example/shop.yaml"')},
    ),
    Mistake("a title that is too short", acme("    title: A\n"), {ROOT: ("title: A", "title: Acme")}),
    Mistake(
        "a title without a text",
        acme("    teams: { writers: { title: } }\n"),
        {ROOT: ("title: ", "title: Writers ")},
    ),
    Mistake(
        "a title that is missing",
        acme("    sites: { docs: { visibility: public } }\n"),
        {ROOT: ("{ visibility", "{ title: Docs, visibility")},
    ),
    Mistake(
        "a path with a slash before it",
        acme(
            SPACE
            + (
                "    sites: { docs: { title: Docs, structure: [{ type: space, key: en, space: guides, "
                "path: /en }] } }\n"
            )
        ),
        {ROOT: ("/en", "en")},
        code=0,
    ),
    Mistake(
        "a field that only the platform sets", acme("    type: team\n"), {ROOT: ("    type: team\n", "")}
    ),
    Mistake(
        "null for a field that always has a value", acme("    defaultRole: null\n"), {ROOT: ("null", "read")}
    ),
    Mistake(
        "a secret as plain text",
        acme(
            "    integrations: { acme-tools: { configuration: { apiToken: "
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc } } }\n"
        ),
        {ROOT: ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "{ env: TOOLS_TOKEN }")},
        code=0,
    ),
    Mistake("a share of one instead of percent", policy("limits: { percent: 0.2 }"), {ROOT: ("0.2", "20")}),
    Mistake(
        "a rate without its unit",
        {ROOT: START + "environments: { prod: { limits: { rate: 5 } } }\n"},
        {ROOT: ("rate: 5", "rate: 5/s")},
    ),
    Mistake(
        "a person by name",
        acme("    members: { Ada Byron: admin }\n"),
        {ROOT: ("Ada Byron", "ada@acme.example")},
    ),
)

REFERENCES: Final = (
    Mistake(
        "a typo in a reference",
        acme(
            "    collections: { product: { title: Product } }\n    spaces: { guides: { title: "
            "Guides, collection: prodct } }\n"
        ),
        {ROOT: ("prodct", "product")},
    ),
    Mistake(
        "a title as a reference",
        acme(
            "    collections: { product: { title: Our product } }\n    spaces: { guides: { title: "
            "Guides, collection: Our product } }\n"
        ),
        {ROOT: ("collection: Our product", "collection: product")},
    ),
    Mistake(
        "an id as a reference",
        acme("    spaces: { guides: { title: Guides, collection: pQx81kTuEaZ3 } }\n"),
        {ROOT: ("pQx81kTuEaZ3", "{ id: pQx81kTuEaZ3 }")},
    ),
    Mistake(
        "an address as a reference",
        acme(
            "    collections: { product: { title: Product } }\n    spaces: { guides: { title: "
            "Guides, collection: acme/collections/product } }\n"
        ),
        {ROOT: ("acme/collections/product", "product")},
    ),
    Mistake(
        "two entries with one name",
        acme("    teams:\n      writers: { title: Writers }\n      authors: { title: Writers }\n"),
        {ROOT: ("authors: { title: Writers }", "authors: { title: Authors }")},
    ),
    Mistake(
        "one path twice",
        structure(
            "{ type: space, key: a, space: a, path: en }", "{ type: space, key: b, space: b, path: en }"
        ),
        {ROOT: ("b, path: en", "b, path: de")},
    ),
    Mistake(
        "one e-mail twice",
        acme("    members: { ada@acme.example: admin, Ada@acme.example: read }\n"),
        {ROOT: (", Ada@acme.example: read", "")},
    ),
    Mistake(
        "two defaults",
        structure(
            "{ type: space, key: a, space: a, path: a, default: true }",
            "{ type: space, key: b, space: b, path: b, default: true }",
        ),
        {ROOT: ("path: b, default: true", "path: b")},
    ),
    Mistake(
        "spaces beside sections",
        structure(
            "{ type: space, key: a, space: a, path: a }",
            "{ type: section, key: c, title: More, path: c, children: [{ type: space, key: b, space: b }] }",
        ),
        {ROOT: ("          - { type: space, key: a, space: a, path: a }\n", "")},
    ),
    Mistake(
        "a section without a space",
        structure("{ type: section, key: more, title: More, path: more }"),
        {ROOT: ("path: more }", "path: more, children: [{ type: space, key: a, space: a }] }")},
    ),
    Mistake(
        "a node without its type",
        structure("{ key: en, space: a, path: en }"),
        {ROOT: ("{ key: en", "{ type: space, key: en")},
    ),
    Mistake(
        "one id for two entries",
        acme("    teams: { a: { id: t1, title: A }, b: { id: t1, title: B } }\n"),
        {ROOT: ("{ id: t1, title: B }", "{ title: B }")},
    ),
)

POLICY: Final = (
    Mistake(
        "prune with the name of a field",
        policy("prune: [acme/sites/docs/title]", "    sites: { docs: { title: Docs } }\n"),
        {ROOT: ("[acme/sites/docs/title]", "[acme/sites]")},
    ),
    Mistake(
        "prune with a word that there is not",
        policy("prune: [acme/team]", "    teams: { writers: { title: Writers } }\n"),
        {ROOT: ("acme/team]", "acme/teams]")},
    ),
    Mistake(
        "prune: true",
        policy("prune: true", "    teams: { writers: { title: Writers } }\n"),
        {ROOT: ("true", "[teams]")},
    ),
    Mistake(
        "a slash at the end of a pattern",
        policy("protect: [sites/]", "    sites: { docs: { title: Docs } }\n"),
        {ROOT: ("sites/]", "sites/*]")},
    ),
    Mistake(
        "ignore with a field like a thing",
        policy("ignore: [acme/sites/docs/visibility]", "    sites: { docs: { title: Docs } }\n"),
        {ROOT: ("docs/visibility", "docs#visibility")},
    ),
    Mistake(
        "ignore with what an entry is found by",
        policy("ignore: [acme/teams/writers#title]", "    teams: { writers: { title: Writers } }\n"),
        {ROOT: ("policy: { ignore: [acme/teams/writers#title] }\n", "")},
    ),
    Mistake(
        "forget and still declared",
        policy("forget: [acme/teams/writers]", "    teams: { writers: { title: Writers } }\n"),
        {ROOT: ("policy: { forget: [acme/teams/writers] }\n", "")},
    ),
    Mistake(
        "the wrong environment",
        {ROOT: START + "environments: { production: {}, staging: {} }\n"},
        command="validate --env prod",
        then="validate --env production",
    ),
    Mistake(
        "an unknown key of an environment",
        {ROOT: START + "environments: { prod: { ulr: https://api.acme.example } }\n"},
        {ROOT: ("ulr", "url")},
    ),
    Mistake(
        "a token in an environment",
        {ROOT: START + "environments: { prod: { url: https://api.acme.example, token: gb_api_123 } }\n"},
        {ROOT: ("gb_api_123", "{ env: DPSYNC_TOKEN_PROD }")},
    ),
    Mistake(
        "an unknown profile",
        {ROOT: START},
        command="validate --profile today",
        then="validate --profile published",
        code=64,
    ),
)
