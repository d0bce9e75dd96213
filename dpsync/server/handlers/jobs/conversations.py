"""Handle the API operations on conversations, and analyze them in one background job per organization.

The analysis finds issues. An issue joins the cluster of its topic, or creates one. A conversation that is
ingested (sent by a client) again keeps the issues whose topics it still has. A cluster remains without
issues, so that clients can still name it.
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
"""The `parent` of a conversation that waits for its analysis."""

_BATCH_SIZE = 20


async def analyse_conversations(work: RunningJob) -> None:
    """Analyse the waiting conversations of an organization in batches, until none waits."""
    while True:
        with work.step() as ctx:
            organization = work.job.organization
            conversations = ctx.store.find_by_creation(
                CONVERSATION, 0, _BATCH_SIZE, organization=organization, parent=WAITING_FOR_ANALYSIS
            )
            for conversation in conversations:
                _analyse_conversation(ctx, conversation)
            if len(conversations) < _BATCH_SIZE:
                ctx.remove(work.job)
                return
        await asyncio.sleep(0)


def _analyse_conversation(ctx: Context, conversation: Record) -> None:
    """Find the issues of a conversation, and replace the issues of its previous analysis.

    Issues whose topics are found again are updated, the others are removed.
    """
    doc, organization = conversation.doc, conversation.organization
    findings = find_issues(doc.get("subject", ""), doc["parts"])
    known_issues = ctx.store.find(ISSUE, organization=organization, ref=conversation_id(conversation))
    old_issues = {issue.doc["topic"]: issue for issue in known_issues}
    for finding in findings:
        _save_issue(ctx, conversation, finding, old_issues.pop(finding.topic, None))
    for issue in old_issues.values():
        ctx.remove(issue)
        _set_updated_at(ctx, ctx.store.get(CLUSTER, issue.parent))
    doc |= {"processedAt": ctx.timestamp, "impact": highest_impact([finding.impact for finding in findings])}
    conversation.parent = ""
    ctx.put(conversation)


def _save_issue(ctx: Context, conversation: Record, finding: FoundIssue, issue_before: Record | None) -> None:
    """Store an issue that the analysis of a conversation found.

    `issue_before` is the issue of an earlier analysis, which is updated. If it is None, a new issue joins the
    cluster of its topic.
    """
    issue = issue_before
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
    clusters = ctx.store.find(CLUSTER, organization=organization, ref=finding.topic)
    if clusters:
        return clusters[0]
    doc = {"label": finding.title, "muted": False, "createdAt": ctx.timestamp, "updatedAt": ctx.timestamp}
    cluster = Record(CLUSTER, ctx.new_id(CLUSTER), doc, organization, organization, ref=finding.topic)
    ctx.put(cluster)
    return cluster


def _set_updated_at(ctx: Context, cluster: Record | None) -> None:
    """Note that the issues of a cluster changed now."""
    if cluster is not None:
        cluster.doc["updatedAt"] = ctx.timestamp
        ctx.put(cluster)


def _require_in_organization(ctx: Context, kind: str, id: str, label: str, shown_id: str) -> Record:
    """Return a record of the organization in the path.

    Raise 404 with `label` and `shown_id` if there is none.
    """
    organization = ctx.organization_from_path()
    record = ctx.store.get(kind, id)
    if record is None or record.organization != organization.id:
        raise not_found(label, shown_id)
    return record


# --- conversations ----------------------------------------------------------------------------------


def list_conversations(ctx: Context) -> Json:
    """List the conversations of an organization, optionally from one source."""
    organization, query = ctx.organization_from_path(), ctx.query
    source_filter = {"ref": query.source} if query.source is not None else {}
    return page_by_creation(
        ctx,
        CONVERSATION,
        lambda conversation: responses.conversation(ctx, conversation),
        organization=organization.id,
        **source_filter,
    )


def get_conversation(ctx: Context) -> Json:
    """Return a conversation with its parts."""
    conversation_name = ctx.params["conversationId"]
    id = f"{ctx.params['organizationId']}:{conversation_name}"
    return responses.conversation_detail(
        ctx, _require_in_organization(ctx, CONVERSATION, id, "conversation", conversation_name)
    )


def ingest(ctx: Context) -> None:
    """Ingest conversations. A conversation with a known id replaces the earlier version."""
    organization = ctx.organization_from_path()
    for fields in ctx.body.sent_fields()["conversations"]:
        _save_conversation(ctx, organization.id, fields)
    enqueue(ctx, organization, ANALYSE_JOB)


def _save_conversation(ctx: Context, organization: str, fields: Json) -> None:
    """Store or replace a conversation, which then waits for its analysis. Its source names the API's caller.

    A replaced conversation keeps its time of creation and its position (`seq`) in the order of creation.
    """
    id = f"{organization}:{fields['id']}"
    before = ctx.store.get(CONVERSATION, id)
    metadata = fields.get("metadata", {})
    first_created_at = before.doc["createdAt"] if before else ctx.timestamp
    doc = {
        **({"subject": fields["subject"]} if "subject" in fields else {}),
        "parts": fields["parts"],
        "metadata": metadata,
        "createdAt": metadata.get("createdAt", first_created_at),
        "ingestedAt": ctx.timestamp,
    }
    source = f"integration:api:{ctx.user}"
    conversation = Record(CONVERSATION, id, doc, organization, organization, WAITING_FOR_ANALYSIS, ref=source)
    conversation.seq = before.seq if before else 0
    ctx.put(conversation)


# --- issues -----------------------------------------------------------------------------------------


def list_issues(ctx: Context) -> Json:
    """List the issues of an organization, optionally of one cluster or conversation."""
    organization, query = ctx.organization_from_path(), ctx.query
    filters = {"parent": query.cluster, "ref": query.conversation}
    where = {column: id for column, id in filters.items() if id is not None}
    return page_by_creation(
        ctx, ISSUE, lambda issue: responses.issue_detail(ctx, issue), organization=organization.id, **where
    )


def get_issue(ctx: Context) -> Json:
    """Return an issue with its conversation."""
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
        issues_of_cluster = issues.get(cluster.id, [])
        if query.orderBy == "updatedAt":
            return [str(cluster.doc["updatedAt"]), cluster.seq]
        # The local server has no tasks, so clusters sorted by tasks are equal.
        numbers = {"issues": len(issues_of_cluster), "conversations": count_conversations(issues_of_cluster)}
        return [numbers.get(query.orderBy, 0), cluster.seq]

    descending = query.order == "desc"
    clusters = sorted(ctx.store.find(CLUSTER, organization=organization.id), key=key, reverse=descending)

    def render(cluster: Record) -> Json:
        return responses.issues_cluster(ctx, cluster, issues.get(cluster.id, []))

    return list_page(ctx, clusters, render, key, descending=descending)


def _require_cluster(ctx: Context) -> Record:
    """Return the cluster that the path names. Raise 404 if it does not exist."""
    id = ctx.params["clusterId"]
    return _require_in_organization(ctx, CLUSTER, id, "cluster", id)


def get_cluster(ctx: Context) -> Json:
    """Return a cluster with the numbers of its issues."""
    return _cluster_response(ctx, _require_cluster(ctx))


def update_cluster(ctx: Context) -> Json:
    """Mute or unmute a cluster of issues."""
    cluster = _require_cluster(ctx)
    muted = ctx.body.muted
    if muted is not None and muted != cluster.doc["muted"]:
        cluster.doc |= {"muted": muted, "updatedAt": ctx.timestamp}
        ctx.put(cluster)
    return _cluster_response(ctx, cluster)


def _cluster_response(ctx: Context, cluster: Record) -> Json:
    """Return the answer for a cluster with its issues."""
    issues = ctx.store.find(ISSUE, organization=cluster.organization, parent=cluster.id)
    return responses.issues_cluster(ctx, cluster, issues)
