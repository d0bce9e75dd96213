"""Tasks that move entries and change fields."""

from __future__ import annotations

from .edits import both, drop, include, move, put, reorder, teams
from .task import CLONE, Task

CHANGES = (
    Task(
        "move a section to a group",
        "imported",
        move("sites/docs/structure/api", "sites/docs/structure/more/api"),
    ),
    Task(
        "move a section out of its group",
        "imported",
        move("sites/docs/structure/news", "sites/docs/structure/news"),
        terminal=True,
    ),
    Task(
        "move a section to a group with prune",
        "pruned",
        move("sites/docs/structure/api", "sites/docs/structure/more/api"),
    ),
    Task(
        "move a section to a group in a partial file",
        "partial",
        move("sites/docs/structure/guides", "sites/docs/structure/more/guides"),
    ),
    Task("reorder the sections of a site", "imported", reorder("sites/handbook")),
    Task(
        "move a space to another collection",
        "imported",
        both(put("spaces/changelog", collection="api"), put("collections/product", order=["guides", "news"])),
    ),
    Task(
        "move a collection into another",
        "imported",
        both(
            put("collections/drafts", parent="internal"),
            lambda files: files.set("collectionOrder", "", ["product", "internal"]),
        ),
    ),
    Task(
        "move a team to another file",
        "imported",
        move("teams/sales", "teams/sales", "acme/revenue.yaml"),
        lines=1,
    ),
    Task(
        "move a team to another file with prune",
        "pruned",
        move("teams/sales", "teams/sales", "acme/revenue.yaml"),
        lines=1,
    ),
    Task(
        "move a space to a new file that is included",
        "partial",
        both(move("spaces/news", "spaces/news", "news.yaml"), include("news.yaml")),
        lines=1,
    ),
    Task(
        "change the role of a member",
        "imported",
        lambda files: files.set("members/kim@acme.example", "", "edit"),
        lines=6,
    ),
    Task(
        "change the owner of a team and add a member",
        "imported",
        put(
            "teams/support",
            members={"eve@acme.example": "owner", "gus@acme.example": "member", "kim@acme.example": "member"},
        ),
    ),
    Task(
        "add a member to a team in a partial file",
        "partial",
        put(
            "teams/writers",
            members={"ada@acme.example": "owner", "lin@acme.example": "member", "rui@acme.example": "member"},
        ),
    ),
    Task(
        "change where a redirect leads",
        "imported",
        put("sites/docs/redirects//blog", url="https://acme.example/blog"),
    ),
    Task("change the visibility of a site", "imported", put("sites/help", visibility="unlisted"), lines=6),
    Task(
        "change the role of a team in a space",
        "imported",
        put("spaces/help-articles", permissions={"teams": {"support": "review"}}),
    ),
    Task(
        "change the title of the organization",
        "imported",
        lambda files: files.set("title", "", "Acme Corporation"),
        lines=6,
    ),
    Task(
        "change the emoji of a space in a partial file",
        "partial",
        put("spaces/guides", emoji="1f4d8"),
        lines=6,
    ),
    Task(
        "rename a section, add a team, delete an empty team and change a role",
        "pruned",
        both(
            put("sites/docs/structure/news", title="What is new"),
            teams(("Growth",)),
            drop("teams/legacy"),
            lambda files: files.set("members/kim@acme.example", "", "edit"),
        ),
        renamed={"section-news": "What is new"},
        new=("Growth",),
        gone=("team-legacy",),
        asks_in=CLONE,
    ),
)
