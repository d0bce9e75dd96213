"""Part 4.12: conversations, the issues found in them, and clusters of issues."""

from ..handlers.jobs import conversations
from ..models import conversations as mc
from .rows import ORG, get, listing, patch, post

_CLUSTERS = ORG + "/conversations-clusters"
_CONVERSATIONS = ORG + "/conversations"
_ISSUES = ORG + "/conversations-issues"

OPERATIONS = [
    listing("listConversationsIssuesClusters", _CLUSTERS, conversations.list_clusters, mc.IssuesCluster,
            mc.ClustersQuery, needs="read",
            decided="The sort enum is orderBy; clusters have no tasks here, so by tasks they tie."),
    get("getConversationsIssuesCluster", _CLUSTERS + "/{clusterId}", conversations.get_cluster,
        mc.IssuesCluster, needs="read",
        decided="weeklyPulse has the issues of 13 weeks until now, the oldest first. A cluster stays when "
        "its last issue goes."),
    patch("conversation_cluster_update", _CLUSTERS + "/{clusterId}", conversations.update_cluster,
          mc.IssuesCluster, mc.ClusterUpdate, needs="create",
          decided="Takes the role create on the organization. What changes nothing leaves updatedAt."),
    listing("listConversations", _CONVERSATIONS, conversations.list_conversations, mc.Conversation,
            mc.ConversationsQuery, needs="read", decided="The source filter is source."),
    post("ingestConversation", _CONVERSATIONS, conversations.ingest, None, mc.Ingest, status=204,
         needs="create",
         decided="One conversation or an array of them. One with a known id replaces it. The analysis "
         "follows in the background; the source is integration:api:USER."),
    get("getConversationById", _CONVERSATIONS + "/{conversationId}", conversations.get_conversation,
        mc.ConversationDetail, needs="read",
        decided="Without an analysis so far there is neither processedAt nor impact."),
    listing("listConversationsIssues", _ISSUES, conversations.list_issues, mc.IssueDetail, mc.IssuesQuery,
            needs="read", decided="The filters are cluster and conversation; what they do not find is no "
            "error."),
    get("getConversationIssueById", _ISSUES + "/{issueId}", conversations.get_issue, mc.IssueDetail,
        needs="read", decided="The summary, which the published description requires, is the title."),
]  # fmt: skip
