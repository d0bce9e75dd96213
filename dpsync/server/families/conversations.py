"""Clusters of issues, conversations, and issues in conversations.

    clusters: [{id, label, topic, muted, createdAt, updatedAt}]
    conversations:
      - id, source, subject, impact, createdAt, processedAt, metadata: {url, attributes, createdAt}
        parts: [{role, body}]                                       # or texts of a user
    issues: [{id, title, topic, text, impact, conversation, cluster, createdAt}]

A conversation without `processedAt` is analyzed after loading. The topic of an issue or cluster comes from
its title or label by default.
"""

from typing import Any

from ..answers.conversations import CLUSTER, CONVERSATION, ISSUE, conversation_id
from ..clock import moment, stamp
from ..handlers.jobs.conversations import ANALYSE, WAITING
from ..jobs.analyst import impact, topic
from ..jobs.queue import job_on
from ..records.family import Family
from ..records.world_format import Dumping, Loading, WorldSection, but
from ..store import Json, Record
from . import shapes

_SOURCE = "email"


def _load_clusters(loading: Loading, organization: Record, given: list[Json]) -> None:
    for cluster in loading.each(given):
        at = cluster.get("createdAt") or loading.then()
        doc = {"muted": False, "createdAt": at, "updatedAt": at, **but(cluster, "id", "topic")}
        id, about = loading.id(CLUSTER, cluster), cluster.get("topic") or topic(doc["label"])
        loading.add(Record(CLUSTER, id, doc, organization.id, organization.id, ref=about))


def _dump_clusters(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(CLUSTER, organization=organization.id)
    return [{"id": cluster.id, "topic": cluster.ref, **cluster.doc} for cluster in found]


def _load_conversations(loading: Loading, organization: Record, given: list[Json]) -> None:
    made = [_conversation(loading, organization, conversation) for conversation in loading.each(given)]
    if any(conversation.parent == WAITING for conversation in made):
        loading.add(job_on(organization, ANALYSE))


def _conversation(loading: Loading, organization: Record, given: Json) -> Record:
    """Load a conversation. By default, its time of ingestion is its time of creation."""
    metadata = given.get("metadata") or {}
    at = given.get("createdAt") or metadata.get("createdAt") or loading.then()
    doc = {
        "createdAt": at,
        "ingestedAt": at,
        **but(given, "id", "source"),
        "metadata": metadata,
        "parts": [_part(part) for part in given.get("parts") or []],
    }
    waits = "" if "processedAt" in doc else WAITING
    id, source = f"{organization.id}:{given['id']}", given.get("source") or _SOURCE
    return loading.add(Record(CONVERSATION, id, doc, organization.id, organization.id, waits, ref=source))


def _part(given: Any) -> Json:
    """Return a part of a conversation. A plain text is a message of the user."""
    part = given if isinstance(given, dict) else {"body": str(given)}
    return {"type": "message", "role": "user", **part}


def _dump_conversations(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(CONVERSATION, organization=organization.id)
    return [{"id": conversation_id(record), "source": record.ref, **record.doc} for record in found]


def _load_issues(loading: Loading, organization: Record, given: list[Json]) -> None:
    for issue in loading.each(given):
        conversation = loading.get(CONVERSATION, f"{organization.id}:{issue['conversation']}")
        cluster = loading.get(CLUSTER, issue["cluster"])
        if conversation is None or cluster is None:
            raise ValueError(f"the issue {issue['title']!r} belongs to an unknown conversation or cluster")
        _issue(loading, conversation, cluster, issue)


def _issue(loading: Loading, conversation: Record, cluster: Record, given: Json) -> None:
    """Load an issue with defaults from its conversation, and update the time of its cluster."""
    of, title = conversation.doc, given["title"]
    text = next((part["body"] for part in of["parts"]), title)
    doc = {
        "topic": topic(title),
        "text": text,
        "impact": impact(f"{title} {text}"),
        "source": conversation.ref,
        "createdAt": of["createdAt"],
        "ingestedAt": of["ingestedAt"],
        **but(given, "id", "cluster", "conversation"),
    }
    id, organization = loading.id(ISSUE, given), conversation.organization
    made = Record(ISSUE, id, doc, organization, organization, given["cluster"])
    made.ref = str(given["conversation"])
    loading.add(made)
    changed = max(moment(cluster.doc["updatedAt"]), moment(made.doc["ingestedAt"]))
    cluster.doc["updatedAt"] = stamp(changed)


def _dump_issues(dumping: Dumping, organization: Record) -> list[Json]:
    return [
        {"id": issue.id, "cluster": issue.parent, "conversation": issue.ref, **issue.doc}
        for issue in dumping.created(ISSUE, organization=organization.id)
    ]


FAMILIES = (
    Family(CLUSTER, prefix="cluster", owner="organization",
           world=WorldSection("clusters", _load_clusters, _dump_clusters, shape=list[shapes.Cluster])),
    Family(CONVERSATION, owner="organization",
           world=WorldSection("conversations", _load_conversations, _dump_conversations,
                              shape=list[shapes.Conversation])),
    Family(ISSUE, prefix="issue", owner="organization",
           world=WorldSection("issues", _load_issues, _dump_issues, shape=list[shapes.Issue])),
)  # fmt: skip
