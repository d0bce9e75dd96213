"""Define the API operations on change requests: method, path, models and handler of each.

Topics: proposed changes of the content of a space, and their reviews.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.spaces import change_requests as handlers
from ..handlers.spaces import reviews
from ..models import change_requests as mc
from ..models import pages as mp
from ..models.comments import FormatQuery
from .builders import CHANGE_REQUEST, EDITS_CONTENT, FULL_ONLY, ORG, SPACE, get, listing, patch, post

TITLE = "Change requests"

_ORDER_NOTE = "Lists recently changed change requests first."
_CONFLICTS_NOTE = (
    "If the same field has changed both in the space and in the change request, changes nothing and returns "
    "the result `conflicts`."
)

OPERATIONS = [
    listing("listChangeRequestsForSpace", SPACE + "/change-requests", handlers.list_in_space,
            mp.ChangeRequest,
            mc.SpaceChangeRequestsQuery, note=_ORDER_NOTE),
    post("createChangeRequest", SPACE + "/change-requests", handlers.create, mp.ChangeRequest,
         mc.ChangeRequestCreate, status=201, **EDITS_CONTENT, body_required=False,
         note="Creates a change request with the status `draft` and the current content of the space. With "
              "`template`, adds the pages of another space."),
    get("getChangeRequestById", CHANGE_REQUEST, handlers.get, mp.ChangeRequest,
        note="Accepts the id or the number of the change request."),
    patch("updateChangeRequestById", CHANGE_REQUEST, handlers.update, mp.ChangeRequest,
          mc.ChangeRequestUpdate,
          **EDITS_CONTENT, allows_minimal=True,
          note="Accepts the status `draft`, `open` or `archived`, also for a merged change request."),
    post("mergeChangeRequest", CHANGE_REQUEST + "/merge", handlers.merge_into_main, mc.MergeResult,
         required_role="review", edits_content=True, error_statuses=(409,),
         note="Returns 403 if the change request does not meet a merge rule. " + _CONFLICTS_NOTE),
    post("updateChangeRequest", CHANGE_REQUEST + "/update", handlers.update_from_main, mc.UpdateResult,
         **EDITS_CONTENT,
         note=_CONFLICTS_NOTE),
    get("getChangeRequestPDF", CHANGE_REQUEST + "/pdf", handlers.get_pdf, mc.Pdf, mc.PdfQuery,
        note="Returns a URL of the PDF. The URL needs no token, and nobody can guess the URL. With "
             "`only`, the PDF contains no subpages."),
    listing("listChangeRequestsForOrganization", ORG + "/change-requests", handlers.list_in_organization,
            mp.ChangeRequest, mc.OrganizationChangeRequestsQuery,
            note="Lists only open change requests, unless `status` names another status. " + _ORDER_NOTE),
    post("updateChangeRequestContent", CHANGE_REQUEST + "/content", handlers.change_content,
         mc.ContentUpdated,
         mc.ContentUpdate, **EDITS_CONTENT, error_statuses=(409,),
         note="The body contains 1 to 50 changes. Makes all changes or none. Returns 409 for a merged or "
              "archived change request.",
         **FULL_ONLY),
    listing("getReviewsByChangeRequestId", CHANGE_REQUEST + "/reviews", reviews.list_reviews,
            mc.ChangeRequestReview,
            mc.ReviewsQuery,
            note="Lists the latest review of each reviewer.", **FULL_ONLY),
    post("submitChangeRequestReview", CHANGE_REQUEST + "/reviews", reviews.submit_review,
         mc.ChangeRequestReview,
         mc.ReviewSubmit, status=201, required_role=None, error_statuses=(403, 409),
         note="The caller must have the role `review`, or must be a requested reviewer. Replaces the "
              "caller's earlier review.", **FULL_ONLY),
    get("getChangeRequestReviewById", CHANGE_REQUEST + "/reviews/{reviewId}", reviews.get_review,
        mc.ChangeRequestReview,
        FormatQuery, **FULL_ONLY),
    listing("getRequestedReviewersByChangeRequestId", CHANGE_REQUEST + "/requested-reviewers",
            reviews.list_requested_reviewers,
            mc.RequestedReviewer, **FULL_ONLY),
    post("requestReviewersForChangeRequest", CHANGE_REQUEST + "/requested-reviewers",
         reviews.request_reviewers,
         mc.ReviewersRequested, mc.ReviewersRequest, **EDITS_CONTENT,
         note="Returns 404 if a requested reviewer cannot view the space.", **FULL_ONLY),
]  # fmt: skip
