"""Declare the records of conversations of readers, of issues found in them, and of clusters of issues.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). A conversation without `processedAt` is analyzed after loading. By default, the topic of an
issue or cluster comes from its title or label.
"""

# clusters: [{id, label, topic, muted, createdAt, updatedAt}]
# conversations:
#   - id, source, subject, impact, createdAt, processedAt, metadata: {url, attributes, createdAt}
#     parts: [{role, body}]                                       # or texts of a user
# issues: [{id, title, topic, text, impact, conversation, cluster, createdAt}]

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


def _load_clusters(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load clusters of issues from a world file (the server's initial data).

    The default topic comes from the label.
    """
    for cluster in loader.each_entry(entries):
        created_at = cluster.get("createdAt") or loader.next_timestamp()
        doc = {
            "muted": False,
            "createdAt": created_at,
            "updatedAt": created_at,
            **without_keys(cluster, "id", "topic"),
        }
        id, topic = loader.entry_id(CLUSTER, cluster), cluster.get("topic") or topic_of(doc["label"])
        loader.add(Record(CLUSTER, id, doc, organization.id, organization.id, ref=topic))


def _dump_clusters(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the clusters of an organization as entries of a world file (the server's initial data)."""
    clusters = dumper.find_by_creation(CLUSTER, organization=organization.id)
    return [{"id": cluster.id, "topic": cluster.ref, **cluster.doc} for cluster in clusters]


def _load_conversations(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load conversations from a world file (the server's initial data).

    If one of them is not analysed yet, add a job for them.
    """
    conversations = [
        _load_conversation(loader, organization, conversation) for conversation in loader.each_entry(entries)
    ]
    if any(conversation.parent == WAITING_FOR_ANALYSIS for conversation in conversations):
        loader.add(make_job(organization, ANALYSE_JOB))


def _load_conversation(loader: WorldLoader, organization: Record, entry: Json) -> Record:
    """Load a conversation from a world file (the server's initial data).

    By default, it was ingested when it was created.
    """
    metadata = entry.get("metadata") or {}
    created_at = entry.get("createdAt") or metadata.get("createdAt") or loader.next_timestamp()
    doc = {
        "createdAt": created_at,
        "ingestedAt": created_at,
        **without_keys(entry, "id", "source"),
        "metadata": metadata,
        # a plain text is a message of the user
        "parts": [
            {"type": "message", "role": "user", **(part if isinstance(part, dict) else {"body": str(part)})}
            for part in entry.get("parts") or []
        ],
    }
    parent = "" if "processedAt" in doc else WAITING_FOR_ANALYSIS
    id, source = f"{organization.id}:{entry['id']}", entry.get("source") or _DEFAULT_SOURCE
    return loader.add(Record(CONVERSATION, id, doc, organization.id, organization.id, parent, ref=source))


def _dump_conversations(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the conversations of an organization as entries of a world file (the server's initial data)."""
    conversations = dumper.find_by_creation(CONVERSATION, organization=organization.id)
    return [{"id": conversation_id(record), "source": record.ref, **record.doc} for record in conversations]


def _load_issues(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load issues from a world file (the server's initial data).

    Raise ValueError for an unknown conversation or cluster.
    """
    for issue in loader.each_entry(entries):
        conversation = loader.get(CONVERSATION, f"{organization.id}:{issue['conversation']}")
        cluster = loader.get(CLUSTER, issue["cluster"])
        if conversation is None or cluster is None:
            raise ValueError(f"the issue {issue['title']!r} belongs to an unknown conversation or cluster")
        _load_issue(loader, conversation, cluster, issue)


def _load_issue(loader: WorldLoader, conversation: Record, cluster: Record, entry: Json) -> None:
    """Load an issue with defaults from its conversation, and update the time of its cluster."""
    conversation_doc, title = conversation.doc, entry["title"]
    text = next((part["body"] for part in conversation_doc["parts"]), title)
    doc = {
        "topic": topic_of(title),
        "text": text,
        "impact": impact_of(f"{title} {text}"),
        "source": conversation.ref,
        "createdAt": conversation_doc["createdAt"],
        "ingestedAt": conversation_doc["ingestedAt"],
        **without_keys(entry, "id", "cluster", "conversation"),
    }
    id, organization = loader.entry_id(ISSUE, entry), conversation.organization
    issue = Record(ISSUE, id, doc, organization, organization, entry["cluster"])
    issue.ref = str(entry["conversation"])
    loader.add(issue)
    changed = max(parse_timestamp(cluster.doc["updatedAt"]), parse_timestamp(issue.doc["ingestedAt"]))
    cluster.doc["updatedAt"] = format_timestamp(changed)


def _dump_issues(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the issues of an organization as entries of a world file (the server's initial data)."""
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
