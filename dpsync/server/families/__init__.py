"""Declare every kind of record, in the order in which a world is loaded.

Input: the classes of `records/family.py`. The top of each module shows the form of its records in a world.
Output: `FAMILIES`, for code that loads worlds, makes ids or removes records. Handlers never import it.
"""

from ..records.family import Families
from . import (
    agents,
    audit,
    comments,
    content,
    conversations,
    grants,
    integrations,
    origin,
    pages,
    people,
    publishing,
    settings,
    sites,
    specifications,
)

FAMILIES = Families(
    (
        *origin.FAMILIES,
        *people.FAMILIES,
        *grants.FAMILIES,
        *content.FAMILIES,
        *pages.FAMILIES,
        *sites.FAMILIES,
        *publishing.FAMILIES,
        *agents.FAMILIES,
        *settings.FAMILIES,
        *specifications.FAMILIES,
        *integrations.FAMILIES,
        *comments.FAMILIES,
        *conversations.FAMILIES,
        *audit.FAMILIES,
    )
)
