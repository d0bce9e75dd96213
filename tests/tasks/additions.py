"""Tasks that add entries, or remove some and add others."""

from __future__ import annotations

from .edits import (
    EMPTY,
    EMPTY_IDS,
    FIVE,
    SIXTY,
    SPECIFICATION,
    STAFFED,
    STAFFED_IDS,
    THREE,
    add,
    both,
    drop,
    new_section,
    new_space_and_section,
    nothing,
    put,
    teams,
)
from .places import SHALLOW
from .task import CLONE, DELETES, NAMED, Question, Task

ADDITIONS = (
    Task("change nothing", "imported", nothing, terminal=True, lines=1),
    Task("change nothing in a partial file", "partial", nothing, lines=1),
    Task(
        "add a space and a section that shows it to a partial file",
        "partial",
        new_space_and_section("FAQ"),
        new=("FAQ", "FAQ", "(site space)"),
        terminal=True,
        lines=10,
    ),
    Task(
        "add a space and a section that shows it",
        "imported",
        new_space_and_section("FAQ", collection="product"),
        new=("FAQ", "FAQ", "(site space)"),
        lines=10,
    ),
    Task("add five teams to a partial file", "partial", teams(FIVE), new=FIVE, terminal=True, lines=12),
    Task("add five teams", "imported", teams(FIVE), new=FIVE, lines=12),
    Task("add sixty teams", "imported", teams(SIXTY), new=SIXTY, lines=144),
    Task("add sixty teams to a partial file", "partial", teams(SIXTY), new=SIXTY, lines=144),
    Task(
        "add a team with members to a partial file",
        "partial",
        add("teams/growth", {"title": "Growth", "members": {"ada@acme.example": "owner"}}),
        new=("Growth",),
    ),
    Task(
        "add a collection with two spaces",
        "imported",
        both(
            add("collections/tools", {"title": "Tools", "parent": None}),
            add("spaces/editor", {"title": "Editor", "collection": "tools"}),
            add("spaces/terminal", {"title": "Command line", "collection": "tools"}),
        ),
        new=("Tools", "Editor", "Command line"),
    ),
    Task(
        "add a site that shows a live space to a partial file",
        "partial",
        add(
            "sites/status",
            {
                "title": "Status page",
                "basename": "status-page",
                "structure": [{"type": "space", "key": "news", "space": "news", "path": "news"}],
            },
        ),
        new=("Status page", "(site space)"),
    ),
    Task(
        "add a site with a space of its own",
        "imported",
        both(
            add("spaces/incidents", {"title": "Incidents"}),
            add(
                "sites/status",
                {
                    "title": "Status page",
                    "basename": "status-page",
                    "structure": [{"type": "space", "key": "incidents", "space": "incidents", "path": "all"}],
                },
                "acme/sites/status.yaml",
            ),
        ),
        new=("Incidents", "Status page", "(site space)"),
    ),
    Task(
        "add a group with a section to a partial file",
        "partial",
        both(
            add(
                "sites/docs/structure/company",
                {
                    "type": "section-group",
                    "key": "company",
                    "title": "Company",
                    "children": [],
                },
            ),
            new_section("news", "Press", "sites/docs/structure/company"),
        ),
        new=("Company", "Press", "(site space)"),
    ),
    Task(
        "show a second space in a section",
        "imported",
        add(
            "sites/docs/structure/news/old",
            {
                "type": "space",
                "key": "old",
                "space": "changelog",
                "path": "old",
            },
        ),
        new=("(site space)",),
    ),
    Task(
        "add an OpenAPI specification",
        "imported",
        add("openapi/billing", {"source": {"text": SPECIFICATION}, "visibility": "private"}),
    ),
    Task(
        "add two redirects",
        "imported",
        both(
            add(
                "sites/docs/redirects//old",
                {"destination": {"kind": "external", "url": "https://acme.example"}},
            ),
            add(
                "sites/docs/redirects//api", {"destination": {"kind": "site-section", "siteSectionId": "api"}}
            ),
        ),
        new=("/old", "/api"),
    ),
    Task(
        "add the first redirect to a partial file",
        "partial",
        put(
            "sites/docs",
            redirects={"/old": {"destination": {"kind": "external", "url": "https://acme.example"}}},
        ),
        new=("/old",),
    ),
    Task(
        "add an external link to a partial file",
        "partial",
        add(
            "sites/docs/structure/blog",
            {
                "type": "external-link",
                "key": "blog",
                "title": "Blog",
                "url": "https://blog.acme.example",
            },
        ),
        new=("Blog",),
    ),
    Task(
        "add a share link",
        "imported",
        add("sites/handbook/shareLinks/Auditors", {"active": True}),
        new=("Auditors",),
    ),
    Task(
        "give a team a role in a space",
        "imported",
        put("spaces/guides", permissions={"teams": {"technical-writers": "edit"}}),
    ),
    Task(
        "declare a live team in a partial file",
        "partial",
        add("teams/reviewers", {"title": "Reviewers"}),
        lines=1,
    ),
    Task(
        "declare a live space and its section in a partial file",
        "partial",
        both(
            add("spaces/changelog", {"title": "Changelog"}),
            add(
                "sites/docs/structure/developers",
                {
                    "type": "section-group",
                    "key": "developers",
                    "title": "Developers",
                    "children": [
                        {
                            "type": "section",
                            "key": "api",
                            "title": "API",
                            "path": "api",
                            "children": [
                                {
                                    "type": "space",
                                    "key": "reference",
                                    "space": "api-reference",
                                    "path": "reference",
                                },
                                {
                                    "type": "space",
                                    "key": "changelog",
                                    "space": "changelog",
                                    "path": "changelog",
                                },
                            ],
                        }
                    ],
                },
            ),
        ),
        lines=1,
    ),
    Task(
        "add a space with nearly the title of one that no entry declares",
        "partial",
        add("spaces/handbooks", {"title": "Handbooks"}),
        new=("Handbooks",),
        asks=Question((r"new (1 )?acme/spaces/(handbooks|\*)",)),
    ),
    Task(
        "remove an empty team and add three",
        "imported",
        both(drop("teams/legacy"), teams(THREE)),
        new=THREE,
    ),
    Task(
        "delete an empty team and add three",
        "pruned",
        both(drop("teams/legacy"), teams(THREE)),
        new=THREE,
        gone=("team-legacy",),
        asks_in=CLONE,
    ),
    Task(
        "remove a team with members and add three",
        "imported",
        both(drop("teams/translators"), teams(THREE)),
        new=THREE,
        asks=Question((r"new 3 acme/teams/\*",)),
    ),
    Task(
        "delete a team with members and add three",
        "pruned",
        both(drop("teams/translators"), teams(THREE)),
        new=THREE,
        gone=("team-translators",),
        asks=Question((r"new 3 acme/teams/\*", DELETES)),
        terminal=True,
        asks_in={SHALLOW.name: Question((r"new 3 acme/teams/\*", DELETES + "|" + NAMED))},
    ),
    Task(
        "remove three teams with members and add sixty",
        "imported",
        both(drop(*STAFFED), teams(SIXTY)),
        new=SIXTY,
        asks=Question((r"new 60 acme/teams/\*",)),
    ),
    Task(
        "delete three teams with members and add sixty",
        "pruned",
        both(drop(*STAFFED), teams(SIXTY)),
        new=SIXTY,
        gone=STAFFED_IDS,
        asks=Question((r"new 60 acme/teams/\*", DELETES)),
        asks_in={SHALLOW.name: Question((r"new 60 acme/teams/\*", DELETES + "|" + NAMED))},
    ),
    Task(
        "delete three empty teams and add sixty",
        "pruned",
        both(drop(*EMPTY[:3]), teams(SIXTY)),
        new=SIXTY,
        gone=EMPTY_IDS[:3],
        asks_in=CLONE,
    ),
    Task(
        "remove an empty team from a partial file and add five",
        "partial",
        both(drop("teams/sales"), teams(FIVE)),
        new=FIVE,
        # On the platform the team has a member, and the SAML provider refers to it.
        asks=Question((r"new 5 acme/teams/\*",)),
    ),
    Task(
        "remove a space and add another",
        "imported",
        both(drop("spaces/archive"), add("spaces/faq", {"title": "FAQ"})),
        new=("FAQ",),
        asks=Question((r"new (1 )?acme/spaces/(faq|\*)",)),
    ),
    Task(
        "delete a section and add another",
        "pruned",
        both(
            drop("sites/handbook/structure/start"),
            new_section("archive", "Retired", "sites/handbook/structure"),
        ),
        new=("Retired", "(site space)"),
        gone=("section-days", "shown-days"),
        asks=Question((r"new (1 )?acme/sites/handbook/structure/(retired|\*+)", DELETES)),
        asks_in={
            SHALLOW.name: Question(
                (r"new (1 )?acme/sites/handbook/structure/(retired|\*+)", DELETES + "|" + NAMED)
            )
        },
    ),
)
