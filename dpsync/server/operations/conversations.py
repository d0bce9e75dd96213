"""Define the API operations on conversations: method, path, models and handler of each.

Topics: ingested conversations of readers, issues found in them, and clusters of issues.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.jobs import conversations
from ..models import conversations as mc
from .builders import ORG, get, listing, patch, post

TITLE = "Conversations, issues and clusters"

_CLUSTERS = ORG + "/conversations-clusters"
_CONVERSATIONS = ORG + "/conversations"
_ISSUES = ORG + "/conversations-issues"

OPERATIONS = [
    listing("listConversationsIssuesClusters", _CLUSTERS, conversations.list_clusters, mc.IssuesCluster,
            mc.ClustersQuery, required_role="read",
            note="Sorts the clusters by `orderBy`."),
    get("getConversationsIssuesCluster", _CLUSTERS + "/{clusterId}", conversations.get_cluster,
        mc.IssuesCluster, required_role="read",
        note="`weeklyPulse` contains the number of issues in each of the last 13 weeks."),
    patch("conversation_cluster_update", _CLUSTERS + "/{clusterId}", conversations.update_cluster,
          mc.IssuesCluster, mc.ClusterUpdate, required_role="create",
          note="Leaves `updatedAt` unchanged if nothing changes."),
    listing("listConversations", _CONVERSATIONS, conversations.list_conversations, mc.Conversation,
            mc.ConversationsQuery, required_role="read",
            note="You can filter the conversations by `source`."),
    post("ingestConversation", _CONVERSATIONS, conversations.ingest, None, mc.Ingest, status=204,
         required_role="create",
         note="Accepts one conversation or a list of conversations. Replaces an existing conversation with "
              "the same id. Analyzes the conversations in the background."),
    get("getConversationById", _CONVERSATIONS + "/{conversationId}", conversations.get_conversation,
        mc.ConversationDetail, required_role="read",
        note="Leaves out `processedAt` and `impact` until the analysis ends."),
    listing("listConversationsIssues", _ISSUES, conversations.list_issues, mc.IssueDetail, mc.IssuesQuery,
            required_role="read", note="You can filter the issues by `cluster` and `conversation`."),
    get("getConversationIssueById", _ISSUES + "/{issueId}", conversations.get_issue, mc.IssueDetail,
        required_role="read", note="`summary` contains the title of the issue."),
]  # fmt: skip
