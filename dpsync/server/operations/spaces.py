"""Define the API operations on spaces and collections: method, path, models and handler of each.

Topics: spaces, collections and their moves.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.spaces import collections, moves, spaces
from ..models import content as mc
from .builders import (
    COLLECTION,
    FULL_ONLY,
    MOVE_OPTIONS,
    ORG,
    SPACE,
    TRANSFER_OPTIONS,
    delete,
    get,
    listing,
    patch,
    post,
)

TITLE = "Spaces and collections"

_CREATE_NOTE = "The caller needs the role `create` on the parent of the new object."
_MOVE_NOTE = (
    "The caller needs the role `admin` on the object, and the role `create` on the new parent. Returns 409 "
    "if nothing changes."
)
_TRANSFER_NOTE = "The caller needs the role `admin` in both organizations. Returns 412 while a site shows "
_CLEARED_NOTE = " Deletes the roles and invitations."

OPERATIONS = [
    listing("listSpacesInOrganizationById", ORG + "/spaces", spaces.list_spaces, mc.Space,
            note="Lists the spaces that the caller can view, without deleted spaces."),
    post("createSpace", ORG + "/spaces", spaces.create_space, mc.Space, mc.SpaceCreate, status=201,
         body_required=False, required_role=None, error_statuses=(403,), note=_CREATE_NOTE, **FULL_ONLY),
    get("getSpaceById", SPACE, spaces.get_space, mc.Space, mc.SpaceQuery,
        note="Also returns a space that was deleted in the last seven days, with the time in `deletedAt`."),
    delete("deleteSpaceById", SPACE, spaces.delete_space,
           note="Removes the space from every site. The space can be restored for seven days."),
    patch("updateSpaceById", SPACE, spaces.update_space, mc.Space, mc.SpaceUpdate),
    post("duplicateSpace", SPACE + "/duplicate", spaces.duplicate_space, mc.Space, status=201,
         required_role=None, error_statuses=(403,),
         note="Copies settings, roles and content. Does not add the copy to a site. " + _CREATE_NOTE),
    post("restoreSpace", SPACE + "/restore", spaces.restore_space, mc.Space,
         note="Restores the space at the end of its collection. Returns 404 if the space was deleted more "
              "than seven days ago."),
    post("moveSpace", SPACE + "/move", moves.move_space, mc.Space, mc.ContentMove, note=_MOVE_NOTE,
         **MOVE_OPTIONS),
    post("transferSpace", SPACE + "/transfer", moves.transfer_space, mc.Space, mc.Transfer,
         note=f"{_TRANSFER_NOTE}the space.{_CLEARED_NOTE}", **TRANSFER_OPTIONS),
    get("getCollectionById", COLLECTION, collections.get_collection, mc.Collection,
        note="Returns 404 if the caller has no role on the collection."),
    delete("deleteCollectionById", COLLECTION, collections.delete_collection,
           note="Moves the spaces and collections inside the collection to the position of the "
                "collection. Deletes the roles."),
    patch("updateCollectionById", COLLECTION, collections.update_collection, mc.Collection,
          mc.CollectionUpdate, note="Treats an empty description as no description."),
    listing("listSpacesInCollectionById", COLLECTION + "/spaces", collections.list_collection_spaces,
            mc.Space,
            note="Lists only spaces that are directly in the collection."),
    post("moveCollection", COLLECTION + "/move", moves.move_collection, mc.Collection, mc.ContentMove,
         note=_MOVE_NOTE, **MOVE_OPTIONS),
    post("transferCollection", COLLECTION + "/transfer", moves.transfer_collection, mc.Collection,
         mc.Transfer, note=f"{_TRANSFER_NOTE}a space of the collection.{_CLEARED_NOTE}",
         error_statuses=(404, 409, 412)),
    listing("listCollectionsInOrganizationById", ORG + "/collections", collections.list_collections,
            mc.Collection,
            mc.CollectionsQuery,
            note="Lists each collection before the collections that it contains. With `nested=false`, lists "
                 "only collections at the top level."),
    post("createCollection", ORG + "/collections", collections.create_collection, mc.Collection,
         mc.CollectionCreate, status=201, body_required=False, required_role=None, error_statuses=(403,),
         note=_CREATE_NOTE),
]  # fmt: skip
