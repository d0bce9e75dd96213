"""Part 4.6: change requests, and, as additions, changing their content and reviewing them."""

from ..handlers.spaces import change_requests as handlers
from ..handlers.spaces import reviews
from ..models import change_requests as mc
from ..models import pages as mp
from ..models.comments import FormatQuery
from .rows import ADDED, CR, EDITS, ORG, SP, get, listing, patch, post

_FILTERS = (
    "The filters are creator, contributor, requestedReviewer and conversationsIssuesCluster; what was "
    "changed last comes first."
)
_CONFLICTS = (
    "It goes page by page and field by field. With conflicts the result is `conflicts`, nothing changes, and "
    "`conflicts`, an addition, says about what."
)

OPERATIONS = [
    listing("listChangeRequestsForSpace", SP + "/change-requests", handlers.list_in_space, mp.ChangeRequest,
            mc.SpaceChangeRequestsQuery, decided=_FILTERS),
    post("createChangeRequest", SP + "/change-requests", handlers.create, mp.ChangeRequest,
         mc.ChangeRequestCreate, status=201, **EDITS, body_required=False,
         decided="A draft from the main content as it is. A template is the id of a space that the caller "
         "may view; its content is put behind."),
    get("getChangeRequestById", CR, handlers.get, mp.ChangeRequest,
        decided="By its id, or its number in the space."),
    patch("updateChangeRequestById", CR, handlers.update, mp.ChangeRequest, mc.ChangeRequestUpdate,
          **EDITS, minimal=True,
          decided="Status draft, open or archived, from any. One that was merged is reopened by it, and goes "
          "on from what the merge made. `merged` is taken only where it is that: else 400."),
    post("mergeChangeRequest", CR + "/merge", handlers.merge_into_main, mc.MergeResult,
         needs="review", edits=True, errors=(409,),
         decided="From draft and open, behind the main content or not; else 409. 403 while the merge rules "
         "are not met; one that cannot be seen to be met is not. " + _CONFLICTS),
    post("updateChangeRequest", CR + "/update", handlers.update_from_main, mc.UpdateResult, **EDITS,
         decided="The revision stays when there is nothing to take in. " + _CONFLICTS),
    get("getChangeRequestPDF", CR + "/pdf", handlers.get_pdf, mc.Pdf, mc.PdfQuery,
        decided="The page named and those below it, with `only` it alone; else all. The URL is at the "
        "companion itself and needs no token: it cannot be guessed."),
    listing("listChangeRequestsForOrganization", ORG + "/change-requests", handlers.list_in_organization,
            mp.ChangeRequest, mc.OrganizationChangeRequestsQuery,
            decided="Of the spaces that the caller may view, open ones unless `status`, which may be "
            "repeated, names others. " + _FILTERS),
    post("updateChangeRequestContent", CR + "/content", handlers.change_content, mc.ContentUpdated,
         mc.ContentUpdate, **EDITS, errors=(409,),
         decided="One to fifty changes, all or none, each by its `operation`. 404 for a page that is not "
         "there, 409 when it is merged or archived.", **ADDED),
    listing("getReviewsByChangeRequestId", CR + "/reviews", reviews.list_reviews, mc.ChangeRequestReview,
            mc.ReviewsQuery,
            decided="The latest of each reviewer.", **ADDED),
    post("submitChangeRequestReview", CR + "/reviews", reviews.submit, mc.ChangeRequestReview,
         mc.ReviewSubmit, status=201, needs=None, errors=(403, 409),
         decided="By whoever has the role review, or was asked to; in place of their review before. The "
                 "comment becomes one on the change request. 409 when that is merged or archived.", **ADDED),
    get("getChangeRequestReviewById", CR + "/reviews/{reviewId}", reviews.get_review, mc.ChangeRequestReview,
        FormatQuery, **ADDED),
    listing("getRequestedReviewersByChangeRequestId", CR + "/requested-reviewers", reviews.list_requested,
            mc.RequestedReviewer, **ADDED),
    post("requestReviewersForChangeRequest", CR + "/requested-reviewers", reviews.request_reviewers,
         mc.ReviewersRequested, mc.ReviewersRequest, **EDITS,
         decided="404 for a user who may not view the space. The subject and the description, where given, "
                 "become those of the change request.", **ADDED),
]  # fmt: skip
