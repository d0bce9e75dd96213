"""Parts 4.4a and 4.5: spaces and collections."""

from ..handlers.spaces import collections, moves, spaces
from ..models import content as mc
from .rows import ADDED, COLLECTION, MOVED, ORG, SP, TRANSFERRED, delete, get, listing, patch, post

_MADE_BY = "Needs the role create where it is put: in the collection, or at the top in the organization."
_MOVE = (
    "Needs the role admin on it, and create where it comes to be below another collection; parent null is "
    "the top. 400 for a position that is no sibling's, 404 for a collection that is not there, 409 for a "
    "move that changes nothing."
)
_TRANSFER = (
    "To the end of the top level. Needs the role admin on it and in the other organization: without the "
    "latter it is 412, as while a site shows the space or one within. Roles given on it and invites to it "
    "are lost. The same organization is 409."
)

OPERATIONS = [
    listing("listSpacesInOrganizationById", ORG + "/spaces", spaces.list_spaces, mc.Space,
            decided="Those that the caller may view, in order of creation, without deleted ones."),
    post("createSpace", ORG + "/spaces", spaces.create_space, mc.Space, mc.SpaceCreate, status=201,
         body_required=False, needs=None, errors=(403,), decided=_MADE_BY, **ADDED),
    get("getSpaceById", SP, spaces.get_space, mc.Space, mc.SpaceQuery,
        decided="A deleted one, too, with deletedAt, for seven days. shareKey gives no access."),
    delete("deleteSpaceById", SP, spaces.delete_space,
           decided="404 for one that is there but not to be viewed. It leaves every site at once; roles on "
           "it and its content stay until it is erased, seven days later."),
    patch("updateSpaceById", SP, spaces.update_space, mc.Space, mc.SpaceUpdate,
          decided="Needs the role admin: these are its settings, not its content."),
    post("duplicateSpace", SP + "/duplicate", spaces.duplicate_space, mc.Space, status=201,
         needs=None, errors=(403,),
         decided="Same title, settings, roles, content and collection; in no site. " + _MADE_BY),
    post("restoreSpace", SP + "/restore", spaces.restore_space, mc.Space,
         decided="404 after seven days; one that is not deleted stays as it is. It comes to the end of its "
         "collection, or of the top when that is gone."),
    post("moveSpace", SP + "/move", moves.move_space, mc.Space, mc.ContentMove, decided=_MOVE, **MOVED),
    post("transferSpace", SP + "/transfer", moves.transfer_space, mc.Space, mc.Transfer, decided=_TRANSFER,
         **TRANSFERRED),
    get("getCollectionById", COLLECTION, collections.get_collection, mc.Collection,
        decided="404 for who has no role there, even with one on a space in it."),
    delete("deleteCollectionById", COLLECTION, collections.delete_collection,
           decided="What is in it moves to where it stood; roles on it and invites to it go. 404 for one "
           "that is there but not to be viewed."),
    patch("updateCollectionById", COLLECTION, collections.update_collection, mc.Collection,
          mc.CollectionUpdate, decided="An empty description is none."),
    listing("listSpacesInCollectionById", COLLECTION + "/spaces", collections.list_collection_spaces,
            mc.Space,
            decided="Those directly in it that the caller may view, in their order."),
    post("moveCollection", COLLECTION + "/move", moves.move_collection, mc.Collection, mc.ContentMove,
         decided=_MOVE, **MOVED),
    post("transferCollection", COLLECTION + "/transfer", moves.transfer_collection, mc.Collection,
         mc.Transfer, decided="With everything in it. " + _TRANSFER, errors=(404, 409, 412)),
    listing("listCollectionsInOrganizationById", ORG + "/collections", collections.list_collections,
            mc.Collection,
            mc.CollectionsQuery,
            decided="The filter is nested. Those that the caller may view, each before what is in it."),
    post("createCollection", ORG + "/collections", collections.create_collection, mc.Collection,
         mc.CollectionCreate, status=201, body_required=False, needs=None, errors=(403,), decided=_MADE_BY),
]  # fmt: skip
