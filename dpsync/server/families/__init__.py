"""What the companion keeps: every family, in the order in which they are declared and a world is loaded.

Each module declares some, and says at its top how a world has them. Who loads worlds, makes ids or removes
records is handed FAMILIES and reads them; handlers and answers never import them.
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
