"""Declare every kind of record that the local server stores (`RecordKind`), in the order of loading.

A world is the data that the local server starts with. A comment at the top of each module shows the form of
its records in a world.
Input: the classes of `records/record_kind.py`. Output: `RECORD_KINDS`, for code that loads worlds, makes ids
or removes records. Handlers never import this package.
"""

from ..records.record_kind import RecordKinds
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

RECORD_KINDS = RecordKinds(
    (
        *origin.RECORD_KINDS,
        *people.RECORD_KINDS,
        *grants.RECORD_KINDS,
        *content.RECORD_KINDS,
        *pages.RECORD_KINDS,
        *sites.RECORD_KINDS,
        *publishing.RECORD_KINDS,
        *agents.RECORD_KINDS,
        *settings.RECORD_KINDS,
        *specifications.RECORD_KINDS,
        *integrations.RECORD_KINDS,
        *comments.RECORD_KINDS,
        *conversations.RECORD_KINDS,
        *audit.RECORD_KINDS,
    )
)
