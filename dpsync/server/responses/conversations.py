"""Make the response bodies for conversations of readers, issues found in them, and clusters of issues.

The sender of a conversation chooses its id, which is unique within an organization. So the id of the record
is `ORG:ID`, and its column `ref` is the source. An issue has its cluster as `parent` and the id of the
conversation as `ref`; the `ref` of a cluster is its topic.
Input: the `Context` of a request, and a stored record. Output: JSON as the API describes it.
"""

from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

from ..clock import parse_timestamp
from ..content.documents import stored_document
from ..jobs.analyst import highest_impact
from ..request.context import Context
from ..store import Json, Record
from .shared import api_url, without_none

CONVERSATION = "conversation"
ISSUE = "conversation-issue"
CLUSTER = "issues-cluster"

PULSE_WEEKS = 13
_MAX_SUMMARY_TITLES = 5
_IMPACT_ICONS = {"low": "circle-info", "medium": "circle-exclamation", "high": "triangle-exclamation"}


def conversation_id(record: Record) -> str:
    """Return the id that the sender gave a conversation: the id of the record without the organization."""
    return record.id.removeprefix(f"{record.organization}:")


def conversation(ctx: Context, record: Record) -> Json:
    """Return the response body for a conversation without its parts."""
    id, doc = conversation_id(record), record.doc
    urls = {
        "location": api_url(ctx, f"/orgs/{record.organization}/conversations/{quote(id, safe='')}"),
        "source": doc["metadata"].get("url"),
    }
    return {
        "object": CONVERSATION,
        "id": id,
        **without_none({name: doc.get(name) for name in ("subject", "createdAt", "processedAt", "impact")}),
        "source": record.ref,
        "urls": without_none(urls),
    }


def conversation_detail(ctx: Context, record: Record) -> Json:
    """Return the response body for a conversation with its parts and metadata."""
    metadata = {"attributes": {}, "createdAt": record.doc["createdAt"], **record.doc["metadata"]}
    return {"conversation": conversation(ctx, record), "parts": record.doc["parts"], "metadata": metadata}


def issue_detail(ctx: Context, record: Record) -> Json:
    """Return the response body for an issue with its conversation."""
    conversation_record = ctx.load(CONVERSATION, f"{record.organization}:{record.ref}")
    if conversation_record is None:
        raise LookupError(f"the issue {record.id} belongs to no conversation")
    doc = record.doc
    issue = {
        "object": ISSUE,
        "id": record.id,
        "title": doc["title"],
        "summary": doc["title"],
        "details": document_of_paragraphs([doc["text"]]),
        "impact": doc["impact"],
        "createdAt": doc["createdAt"],
        "ingestedAt": doc["ingestedAt"],
        "conversation": record.ref,
        "cluster": record.parent,
        "urls": {"location": api_url(ctx, f"/orgs/{record.organization}/conversations-issues/{record.id}")},
    }
    return {"issue": issue, "conversation": conversation(ctx, conversation_record)}


def issues_cluster(ctx: Context, record: Record, issues: list[Record]) -> Json:
    """Return the response body for a cluster. `issues` are its issues in order of creation."""
    doc = record.doc
    impact = highest_impact([issue.doc["impact"] for issue in issues])
    titles = list(dict.fromkeys(issue.doc["title"] for issue in issues)) or [doc["label"]]
    answer = {
        "object": CLUSTER,
        "id": record.id,
        "label": doc["label"],
        "createdAt": doc["createdAt"],
        "updatedAt": doc["updatedAt"],
        "icon": _IMPACT_ICONS[impact],
        "summary": document_of_paragraphs(titles[:_MAX_SUMMARY_TITLES]),
        "muted": doc["muted"],
        "weeklyPulse": _weekly_issue_counts(ctx, issues),
        "sources": dict(Counter(issue.doc["source"] for issue in issues)),
        "stats": {"issues": len(issues), "conversations": count_conversations(issues)},
        "urls": {"location": api_url(ctx, f"/orgs/{record.organization}/conversations-clusters/{record.id}")},
    }
    return {**answer, "impact": impact} if issues else answer


def count_conversations(issues: Iterable[Record]) -> int:
    """Return the number of conversations that have these issues."""
    return len({issue.ref for issue in issues})


def _weekly_issue_counts(ctx: Context, issues: Iterable[Record]) -> list[int]:
    """Return the number of issues per week for the last 13 weeks, the oldest week first."""
    weeks = [0] * PULSE_WEEKS
    for issue in issues:
        weeks_ago = (ctx.now - parse_timestamp(issue.doc["createdAt"])).days // 7
        if 0 <= weeks_ago < PULSE_WEEKS:
            weeks[-1 - weeks_ago] += 1
    return weeks


def document_of_paragraphs(paragraphs: Iterable[str]) -> Json:
    """Return a Document with one paragraph for each text."""
    nodes = []
    for text in paragraphs:
        leaf = {"object": "leaf", "text": text, "marks": []}
        nodes.append(
            {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [leaf]}]}
        )
    return stored_document({"nodes": nodes})
