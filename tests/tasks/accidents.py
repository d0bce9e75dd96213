"""Edits with damage: dpsync must ask."""

from __future__ import annotations

from .edits import both, exchange, include, move, rekey_and
from .places import ACTION, HERE, LOST, NO_IDS, UNCOMMITTED, Earlier
from .task import Accident

BY_GIT_ALONE = (NO_IDS.name, LOST.name)
AT_WORK = (HERE.name, UNCOMMITTED.name, ACTION.name)
ACCIDENTS = (
    Accident(
        "change key and title of a team without the ids file",
        "imported",
        rekey_and("teams/design", "brand", title="Brand"),
        BY_GIT_ALONE,
    ),
    Accident(
        "change key and title of a space without the ids file",
        "imported",
        rekey_and("spaces/onboarding", "welcome", title="Your first week"),
        BY_GIT_ALONE,
    ),
    Accident(
        "change key and title of a collection without the ids file",
        "imported",
        rekey_and("collections/internal", "company", title="Company"),
        BY_GIT_ALONE,
    ),
    Accident(
        "change key, title and basename of a site without the ids file",
        "imported",
        rekey_and("sites/help", "desk", title="Desk", basename="desk"),
        BY_GIT_ALONE,
    ),
    Accident(
        "exchange the titles of two spaces without the ids file",
        "imported",
        exchange("spaces/news", "spaces/changelog"),
        (NO_IDS.name,),
    ),
    Accident(
        "delete the ids file and change key and title of a team",
        "imported",
        both(lambda files: files.lose("dpsync.ids.yaml"), rekey_and("teams/design", "brand", title="Brand")),
        AT_WORK,
    ),
    Accident(
        "delete the ids file and change key and title of a space",
        "imported",
        both(
            lambda files: files.lose("dpsync.ids.yaml"),
            rekey_and("spaces/onboarding", "welcome", title="Your first week"),
        ),
        AT_WORK,
    ),
    Accident(
        "leave a file of teams out of include, with prune",
        "pruned",
        lambda files: files.exclude("more/*.yaml"),
        AT_WORK,
        ("more/teams.yaml",),
        (
            Earlier(
                both(
                    move("teams/legacy", "teams/legacy", "more/teams.yaml"),
                    move("teams/design", "teams/design", "more/teams.yaml"),
                    include("more/*.yaml"),
                )
            ),
        ),
    ),
    Accident(
        "cut the file of the teams, with prune",
        "pruned",
        lambda files: files.cut("acme/teams.yaml", "reviewers:"),
        AT_WORK,
    ),
)
