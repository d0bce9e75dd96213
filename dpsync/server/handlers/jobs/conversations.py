"""Operations on conversations, and their analysis by one background job per organization.

An issue joins the cluster of its topic, or creates one. A conversation that is ingested again keeps the
issues whose topics it still has. A cluster remains without issues, so that clients can still name it.
"""

import asyncio
from typing import Any

from ... import responses
from ...errors import not_found
from ...jobs.analyst import FoundIssue, find_issues, highest_impact
from ...jobs.queue import RunningJob, enqueue
from ...request.context import Context
from ...request.paging import list_page, page_by_creation
from ...responses.conversations import CLUSTER, CONVERSATION, ISSUE, conversation_id, count_conversations
from ...store import Json, Record

ANALYSE_JOB = "analyse-conversations"
WAITING_FOR_ANALYSIS = "waiting"
"""The `parent` of a conversation that is to be analysed."""

_BATCH_SIZE = 20


async def analyse_conversations(work: RunningJob) -> None:
    while True:
        with work.step() as ctx:
            organization = work.job.organization
            found = ctx.store.find_by_creation(
                CONVERSATION, 0, _BATCH_SIZE, organization=organization, parent=WAITING_FOR_ANALYSIS
            )
            for conversation in found:
                _analyse_conversation(ctx, conversation)
            if len(found) < _BATCH_SIZE:
                ctx.remove(work.job)
                return
        await asyncio.sleep(0)


def _analyse_conversation(ctx: Context, conversation: Record) -> None:
    doc, organization = conversation.doc, conversation.organization
    found = find_issues(doc.get("subject", ""), doc["parts"])
    known = ctx.store.find(ISSUE, organization=organization, ref=conversation_id(conversation))
    before = {issue.doc["topic"]: issue for issue in known}
    for finding in found:
        _save_issue(ctx, conversation, finding, before.pop(finding.topic, None))
    for issue in before.values():
        ctx.remove(issue)
        _set_updated_at(ctx, ctx.store.get(CLUSTER, issue.parent))
    doc |= {"processedAt": ctx.timestamp, "impact": highest_impact([finding.impact for finding in found])}
    conversation.parent = ""
    ctx.put(conversation)


def _save_issue(ctx: Context, conversation: Record, finding: FoundIssue, before: Record | None) -> None:
    issue = before
    if issue is None:
        organization = conversation.organization
        cluster = _find_or_create_cluster(ctx, organization, finding)
        issue = Record(ISSUE, ctx.new_id(ISSUE), {}, organization, organization, cluster.id)
        issue.ref = conversation_id(conversation)
    issue.doc = {
        "topic": finding.topic,
        "title": finding.title,
        "text": finding.text,
        "impact": finding.impact,
        "source": conversation.ref,
        "createdAt": conversation.doc["createdAt"],
        "ingestedAt": conversation.doc["ingestedAt"],
    }
    ctx.put(issue)
    _set_updated_at(ctx, ctx.store.get(CLUSTER, issue.parent))


def _find_or_create_cluster(ctx: Context, organization: str, finding: FoundIssue) -> Record:
    """Return the oldest cluster on the topic, or a new cluster titled like its first issue."""
    known = ctx.store.find(CLUSTER, organization=organization, ref=finding.topic)
    if known:
        return known[0]
    doc = {"label": finding.title, "muted": False, "createdAt": ctx.timestamp, "updatedAt": ctx.timestamp}
    made = Record(CLUSTER, ctx.new_id(CLUSTER), doc, organization, organization, ref=finding.topic)
    ctx.put(made)
    return made


def _set_updated_at(ctx: Context, cluster: Record | None) -> None:
    if cluster is not None:
        cluster.doc["updatedAt"] = ctx.timestamp
        ctx.put(cluster)


def _require_in_organization(ctx: Context, kind: str, id: str, what: str, named: str) -> Record:
    organization = ctx.organization_from_path()
    found = ctx.store.get(kind, id)
    if found is None or found.organization != organization.id:
        raise not_found(what, named)
    return found


# --- conversations ----------------------------------------------------------------------------------


def list_conversations(ctx: Context) -> Json:
    organization, query = ctx.organization_from_path(), ctx.query
    where = {"ref": query.source} if query.source is not None else {}
    return page_by_creation(
        ctx,
        CONVERSATION,
        lambda item: responses.conversation(ctx, item),
        organization=organization.id,
        **where,
    )


def get_conversation(ctx: Context) -> Json:
    named = ctx.params["conversationId"]
    id = f"{ctx.params['organizationId']}:{named}"
    return responses.conversation_detail(
        ctx, _require_in_organization(ctx, CONVERSATION, id, "conversation", named)
    )


def ingest(ctx: Context) -> None:
    """Ingest conversations. A conversation with a known id replaces the earlier version."""
    organization = ctx.organization_from_path()
    for given in ctx.body.sent_fields()["conversations"]:
        _save_conversation(ctx, organization.id, given)
    enqueue(ctx, organization, ANALYSE_JOB)


def _save_conversation(ctx: Context, organization: str, given: Json) -> None:
    """Store a conversation that waits for its analysis. Its source names the caller of the API."""
    id = f"{organization}:{given['id']}"
    before = ctx.store.get(CONVERSATION, id)
    metadata = given.get("metadata", {})
    first = before.doc["createdAt"] if before else ctx.timestamp
    doc = {
        **({"subject": given["subject"]} if "subject" in given else {}),
        "parts": given["parts"],
        "metadata": metadata,
        "createdAt": metadata.get("createdAt", first),
        "ingestedAt": ctx.timestamp,
    }
    source = f"integration:api:{ctx.user}"
    made = Record(CONVERSATION, id, doc, organization, organization, WAITING_FOR_ANALYSIS, ref=source)
    made.seq = before.seq if before else 0
    ctx.put(made)


# --- issues -----------------------------------------------------------------------------------------


def list_issues(ctx: Context) -> Json:
    organization, query = ctx.organization_from_path(), ctx.query
    named = {"parent": query.cluster, "ref": query.conversation}
    where = {column: id for column, id in named.items() if id is not None}
    return page_by_creation(
        ctx, ISSUE, lambda item: responses.issue_detail(ctx, item), organization=organization.id, **where
    )


def get_issue(ctx: Context) -> Json:
    id = ctx.params["issueId"]
    return responses.issue_detail(ctx, _require_in_organization(ctx, ISSUE, id, "conversation issue", id))


# --- clusters ---------------------------------------------------------------------------------------


def list_clusters(ctx: Context) -> Json:
    """List clusters. Clusters with equal sort keys are in order of creation, reversed for `desc`."""
    organization, query = ctx.organization_from_path(), ctx.query
    issues: dict[str, list[Record]] = {}
    for issue in ctx.store.find(ISSUE, organization=organization.id):
        issues.setdefault(issue.parent, []).append(issue)

    def key(cluster: Record) -> list[Any]:
        return [_sort_value(query.orderBy, cluster, issues.get(cluster.id, [])), cluster.seq]

    backwards = query.order == "desc"
    found = sorted(ctx.store.find(CLUSTER, organization=organization.id), key=key, reverse=backwards)

    def answer(cluster: Record) -> Json:
        return responses.issues_cluster(ctx, cluster, issues.get(cluster.id, []))

    return list_page(ctx, found, answer, key, descending=backwards)


def _sort_value(name: str, cluster: Record, issues: list[Record]) -> str | int:
    """Return the sort key of a cluster. The companion has no tasks, so clusters sorted by tasks are equal."""
    if name == "updatedAt":
        return str(cluster.doc["updatedAt"])
    return {"issues": len(issues), "conversations": count_conversations(issues)}.get(name, 0)


def _require_cluster(ctx: Context) -> Record:
    id = ctx.params["clusterId"]
    return _require_in_organization(ctx, CLUSTER, id, "cluster", id)


def get_cluster(ctx: Context) -> Json:
    return _cluster_response(ctx, _require_cluster(ctx))


def update_cluster(ctx: Context) -> Json:
    found = _require_cluster(ctx)
    muted = ctx.body.muted
    if muted is not None and muted != found.doc["muted"]:
        found.doc |= {"muted": muted, "updatedAt": ctx.timestamp}
        ctx.put(found)
    return _cluster_response(ctx, found)


def _cluster_response(ctx: Context, cluster: Record) -> Json:
    issues = ctx.store.find(ISSUE, organization=cluster.organization, parent=cluster.id)
    return responses.issues_cluster(ctx, cluster, issues)
