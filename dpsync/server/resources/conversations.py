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

from ..clock import format_timestamp, parse_timestamp
from ..handlers.jobs.conversations import ANALYSE_JOB, WAITING_FOR_ANALYSIS
from ..jobs.analyst import impact_of, topic_of
from ..jobs.queue import make_job
from ..records.record_kind import RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, without_keys
from ..responses.conversations import CLUSTER, CONVERSATION, ISSUE, conversation_id
from ..store import Json, Record
from . import world_models

_DEFAULT_SOURCE = "email"


def _load_clusters(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    for cluster in loader.each_entry(given):
        at = cluster.get("createdAt") or loader.next_timestamp()
        doc = {"muted": False, "createdAt": at, "updatedAt": at, **without_keys(cluster, "id", "topic")}
        id, about = loader.entry_id(CLUSTER, cluster), cluster.get("topic") or topic_of(doc["label"])
        loader.add(Record(CLUSTER, id, doc, organization.id, organization.id, ref=about))


def _dump_clusters(dumper: WorldDumper, organization: Record) -> list[Json]:
    found = dumper.find_by_creation(CLUSTER, organization=organization.id)
    return [{"id": cluster.id, "topic": cluster.ref, **cluster.doc} for cluster in found]


def _load_conversations(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    made = [
        _load_conversation(loader, organization, conversation) for conversation in loader.each_entry(given)
    ]
    if any(conversation.parent == WAITING_FOR_ANALYSIS for conversation in made):
        loader.add(make_job(organization, ANALYSE_JOB))


def _load_conversation(loader: WorldLoader, organization: Record, given: Json) -> Record:
    """Load a conversation. By default, its time of ingestion is its time of creation."""
    metadata = given.get("metadata") or {}
    at = given.get("createdAt") or metadata.get("createdAt") or loader.next_timestamp()
    doc = {
        "createdAt": at,
        "ingestedAt": at,
        **without_keys(given, "id", "source"),
        "metadata": metadata,
        "parts": [_make_part(part) for part in given.get("parts") or []],
    }
    waits = "" if "processedAt" in doc else WAITING_FOR_ANALYSIS
    id, source = f"{organization.id}:{given['id']}", given.get("source") or _DEFAULT_SOURCE
    return loader.add(Record(CONVERSATION, id, doc, organization.id, organization.id, waits, ref=source))


def _make_part(given: Any) -> Json:
    """Return a part of a conversation. A plain text is a message of the user."""
    part = given if isinstance(given, dict) else {"body": str(given)}
    return {"type": "message", "role": "user", **part}


def _dump_conversations(dumper: WorldDumper, organization: Record) -> list[Json]:
    found = dumper.find_by_creation(CONVERSATION, organization=organization.id)
    return [{"id": conversation_id(record), "source": record.ref, **record.doc} for record in found]


def _load_issues(loader: WorldLoader, organization: Record, given: list[Json]) -> None:
    for issue in loader.each_entry(given):
        conversation = loader.get(CONVERSATION, f"{organization.id}:{issue['conversation']}")
        cluster = loader.get(CLUSTER, issue["cluster"])
        if conversation is None or cluster is None:
            raise ValueError(f"the issue {issue['title']!r} belongs to an unknown conversation or cluster")
        _load_issue(loader, conversation, cluster, issue)


def _load_issue(loader: WorldLoader, conversation: Record, cluster: Record, given: Json) -> None:
    """Load an issue with defaults from its conversation, and update the time of its cluster."""
    of, title = conversation.doc, given["title"]
    text = next((part["body"] for part in of["parts"]), title)
    doc = {
        "topic": topic_of(title),
        "text": text,
        "impact": impact_of(f"{title} {text}"),
        "source": conversation.ref,
        "createdAt": of["createdAt"],
        "ingestedAt": of["ingestedAt"],
        **without_keys(given, "id", "cluster", "conversation"),
    }
    id, organization = loader.entry_id(ISSUE, given), conversation.organization
    made = Record(ISSUE, id, doc, organization, organization, given["cluster"])
    made.ref = str(given["conversation"])
    loader.add(made)
    changed = max(parse_timestamp(cluster.doc["updatedAt"]), parse_timestamp(made.doc["ingestedAt"]))
    cluster.doc["updatedAt"] = format_timestamp(changed)


def _dump_issues(dumper: WorldDumper, organization: Record) -> list[Json]:
    return [
        {"id": issue.id, "cluster": issue.parent, "conversation": issue.ref, **issue.doc}
        for issue in dumper.find_by_creation(ISSUE, organization=organization.id)
    ]


RECORD_KINDS = (
    RecordKind(CLUSTER, id_prefix="cluster", owner="organization",
               world_section=WorldSection("clusters", _load_clusters, _dump_clusters,
                                          value_type=list[world_models.Cluster])),
    RecordKind(CONVERSATION, owner="organization",
               world_section=WorldSection("conversations", _load_conversations, _dump_conversations,
                                          value_type=list[world_models.Conversation])),
    RecordKind(ISSUE, id_prefix="issue", owner="organization",
               world_section=WorldSection("issues", _load_issues, _dump_issues,
                                          value_type=list[world_models.Issue])),
)  # fmt: skip
