"""Change requests."""

from ..handlers.spaces import change_requests as handlers
from ..handlers.spaces import reviews
from ..models import change_requests as mc
from ..models import pages as mp
from ..models.comments import FormatQuery
from .rows import ADDED, CR, EDITS, ORG, SP, get, listing, patch, post

_FILTERS = "Lists recently changed change requests first."
_CONFLICTS = (
    "If the same field has changed both in the space and in the change request, changes nothing and returns "
    "the result `conflicts`."
)

OPERATIONS = [
    listing("listChangeRequestsForSpace", SP + "/change-requests", handlers.list_in_space, mp.ChangeRequest,
            mc.SpaceChangeRequestsQuery, note=_FILTERS),
    post("createChangeRequest", SP + "/change-requests", handlers.create, mp.ChangeRequest,
         mc.ChangeRequestCreate, status=201, **EDITS, body_required=False,
         note="Creates a change request with the status `draft` and the current content of the space. With "
              "`template`, adds the pages of another space."),
    get("getChangeRequestById", CR, handlers.get, mp.ChangeRequest,
        note="Accepts the id or the number of the change request."),
    patch("updateChangeRequestById", CR, handlers.update, mp.ChangeRequest, mc.ChangeRequestUpdate,
          **EDITS, minimal=True,
          note="Accepts the status `draft`, `open` or `archived`, also for a merged change request."),
    post("mergeChangeRequest", CR + "/merge", handlers.merge_into_main, mc.MergeResult,
         needs="review", edits=True, errors=(409,),
         note="Returns 403 if the change request does not meet a merge rule. " + _CONFLICTS),
    post("updateChangeRequest", CR + "/update", handlers.update_from_main, mc.UpdateResult, **EDITS,
         note=_CONFLICTS),
    get("getChangeRequestPDF", CR + "/pdf", handlers.get_pdf, mc.Pdf, mc.PdfQuery,
        note="Returns a URL of the PDF. The URL needs no token, and nobody can guess the URL. With "
             "`only`, the PDF contains no subpages."),
    listing("listChangeRequestsForOrganization", ORG + "/change-requests", handlers.list_in_organization,
            mp.ChangeRequest, mc.OrganizationChangeRequestsQuery,
            note="Lists only open change requests, unless `status` names another status. " + _FILTERS),
    post("updateChangeRequestContent", CR + "/content", handlers.change_content, mc.ContentUpdated,
         mc.ContentUpdate, **EDITS, errors=(409,),
         note="The body contains 1 to 50 changes. Makes all changes or none. Returns 409 for a merged or "
              "archived change request.",
         **ADDED),
    listing("getReviewsByChangeRequestId", CR + "/reviews", reviews.list_reviews, mc.ChangeRequestReview,
            mc.ReviewsQuery,
            note="Lists the latest review of each reviewer.", **ADDED),
    post("submitChangeRequestReview", CR + "/reviews", reviews.submit, mc.ChangeRequestReview,
         mc.ReviewSubmit, status=201, needs=None, errors=(403, 409),
         note="The caller must have the role `review`, or must be a requested reviewer. Replaces the "
              "caller's earlier review.", **ADDED),
    get("getChangeRequestReviewById", CR + "/reviews/{reviewId}", reviews.get_review, mc.ChangeRequestReview,
        FormatQuery, **ADDED),
    listing("getRequestedReviewersByChangeRequestId", CR + "/requested-reviewers", reviews.list_requested,
            mc.RequestedReviewer, **ADDED),
    post("requestReviewersForChangeRequest", CR + "/requested-reviewers", reviews.request_reviewers,
         mc.ReviewersRequested, mc.ReviewersRequest, **EDITS,
         note="Returns 404 if a requested reviewer cannot view the space.", **ADDED),
]  # fmt: skip
