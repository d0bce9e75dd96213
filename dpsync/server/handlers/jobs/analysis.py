"""The analysis of conversations: a job per organization, for all that wait there.

An issue joins the cluster of its topic, or begins one. A conversation that comes again keeps the issues whose
topics it still has. A cluster stays when its last issue goes, so that it can still be named.
"""

import asyncio

from ...answers.conversations import CLUSTER, CONVERSATION, ISSUE, conversation_id
from ...jobs.analyst import FoundIssue, findings, gravest
from ...jobs.queue import Work
from ...request.context import Context
from ...store import Record

ANALYSE = "analyse-conversations"
WAITING = "waiting"
"""The `parent` of a conversation that is to be analysed."""

_AT_ONCE = 20


async def analyse(work: Work) -> None:
    while True:
        with work.step() as ctx:
            organization = work.job.organization
            found = ctx.store.listed(CONVERSATION, 0, _AT_ONCE, organization=organization, parent=WAITING)
            for conversation in found:
                _analyse(ctx, conversation)
            if len(found) < _AT_ONCE:
                ctx.remove(work.job)
                return
        await asyncio.sleep(0)


def _analyse(ctx: Context, conversation: Record) -> None:
    doc, organization = conversation.doc, conversation.organization
    found = findings(doc.get("subject", ""), doc["parts"])
    known = ctx.store.find(ISSUE, organization=organization, ref=conversation_id(conversation))
    before = {issue.doc["topic"]: issue for issue in known}
    for finding in found:
        _keep(ctx, conversation, finding, before.pop(finding.topic, None))
    for issue in before.values():
        ctx.remove(issue)
        _touch(ctx, ctx.store.get(CLUSTER, issue.parent))
    doc |= {"processedAt": ctx.stamp, "impact": gravest([finding.impact for finding in found])}
    conversation.parent = ""
    ctx.put(conversation)


def _keep(ctx: Context, conversation: Record, finding: FoundIssue, before: Record | None) -> None:
    issue = before
    if issue is None:
        organization = conversation.organization
        cluster = _cluster_on(ctx, organization, finding)
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
    _touch(ctx, ctx.store.get(CLUSTER, issue.parent))


def _cluster_on(ctx: Context, organization: str, finding: FoundIssue) -> Record:
    """The oldest one on the topic, or a new one titled like its first issue."""
    known = ctx.store.find(CLUSTER, organization=organization, ref=finding.topic)
    if known:
        return known[0]
    doc = {"label": finding.title, "muted": False, "createdAt": ctx.stamp, "updatedAt": ctx.stamp}
    made = Record(CLUSTER, ctx.new_id(CLUSTER), doc, organization, organization, ref=finding.topic)
    ctx.put(made)
    return made


def _touch(ctx: Context, cluster: Record | None) -> None:
    if cluster is not None:
        cluster.doc["updatedAt"] = ctx.stamp
        ctx.put(cluster)
