"""Operations of the API whose call answers 501 while no row of the table serves them, so that it is told from
a wrong path.
"""

from .operation import Operation

_SHORT = {
    "SP": "/spaces/{spaceId}",
    "CR": "/spaces/{spaceId}/change-requests/{changeRequestId}",
    "ORG": "/orgs/{organizationId}",
    "SITE": "/orgs/{organizationId}/sites/{siteId}",
}

_TABLE = """
GET    SP/comments                                      listCommentsInSpace
POST   SP/comments                                      postCommentInSpace
GET    SP/comments/{commentId}                          getCommentInSpace
PUT    SP/comments/{commentId}                          updateCommentInSpace
DELETE SP/comments/{commentId}                          deleteCommentInSpace
POST   SP/comments/{commentId}/replies                  postCommentReplyInSpace
GET    SP/comments/{commentId}/replies/{commentReplyId} getCommentReplyInSpace
PUT    SP/comments/{commentId}/replies/{commentReplyId} updateCommentReplyInSpace
GET    CR/comments                                      listCommentsInChangeRequest
POST   CR/comments                                      postCommentInChangeRequest
GET    CR/comments/{commentId}                          getCommentInChangeRequest
PUT    CR/comments/{commentId}                          updateCommentInChangeRequest
DELETE CR/comments/{commentId}                          deleteCommentInChangeRequest
GET    CR/comments/{commentId}/replies                  listCommentRepliesInChangeRequest
POST   CR/comments/{commentId}/replies                  postCommentReplyInChangeRequest
GET    SITE/published                                   getPublishedContentSite
GET    SP/links                                         listSpaceLinks
GET    SP/change-requests                               listChangeRequestsForSpace
POST   SP/change-requests                               createChangeRequest
GET    CR                                               getChangeRequestById
PATCH  CR                                               updateChangeRequestById
POST   CR/merge                                         mergeChangeRequest
POST   CR/update                                        updateChangeRequest
GET    CR/pdf                                           getChangeRequestPDF
GET    ORG/change-requests                              listChangeRequestsForOrganization
GET    SP/search                                        searchSpaceContent
GET    SP/content                                       getCurrentRevision
GET    CR/content                                       getRevisionOfChangeRequestById
POST   SP/content/template                              applyTemplateToSpace
GET    SP/content/pages                                 listPages
GET    CR/content/pages                                 listPagesInChangeRequest
GET    SP/content/files                                 listFiles
GET    CR/content/files                                 listFilesInChangeRequestById
GET    SP/content/files/{fileId}                        getFileById
GET    CR/content/files/{fileId}                        getFileInChangeRequestById
GET    SP/content/files/{fileId}/backlinks              listSpaceFileBacklinks
GET    CR/content/files/{fileId}/backlinks              listChangeRequestFileBacklinks
GET    SP/content/page/{pageId}                         getPageById
GET    CR/content/page/{pageId}                         getPageInChangeRequestById
GET    SP/content/page/{pageId}/links                   listPageLinksInSpace
GET    CR/content/page/{pageId}/links                   listPageLinksInChangeRequest
GET    SP/content/page/{pageId}/backlinks               listSpacePageBacklinks
GET    CR/content/page/{pageId}/backlinks               listChangeRequestPageBacklinks
GET    /integrations                                    listIntegrations
GET    /integrations/{integrationName}                  getIntegrationByName
POST   /integrations/{integrationName}                  publishIntegration
DELETE /integrations/{integrationName}                  unpublishIntegration
GET    /integrations/{integrationName}/installations    listIntegrationInstallations
POST   /integrations/{integrationName}/installations    installIntegration
GET    /integrations/{integrationName}/events           listIntegrationEvents
GET    /integrations/{integrationName}/events/{eventId} getIntegrationEvent
GET    /integrations/{integrationName}/spaces           listIntegrationSpaceInstallations
GET    /integrations/{integrationName}/sites            listIntegrationSiteInstallations
GET    ORG/conversations-clusters                       listConversationsIssuesClusters
GET    ORG/conversations-clusters/{clusterId}           getConversationsIssuesCluster
PATCH  ORG/conversations-clusters/{clusterId}           conversation_cluster_update
GET    ORG/conversations                                listConversations
POST   ORG/conversations                                ingestConversation
GET    ORG/conversations/{conversationId}               getConversationById
GET    ORG/conversations-issues                         listConversationsIssues
GET    ORG/conversations-issues/{issueId}               getConversationIssueById
"""


def _row(line: str) -> Operation:
    method, path, id = line.split()
    prefix, slash, rest = path.partition("/")
    return Operation(id, method, _SHORT.get(prefix, prefix) + slash + rest)


KNOWN = tuple(_row(line) for line in _TABLE.strip().splitlines())
