"""Parts 4.4a and 4.5: spaces and collections."""

from ..handlers import content
from ..models import content as mc
from .rows import ADDED, COLLECTION, MOVED, ORG, SP, TRANSFERRED, delete, get, listing, patch, post

OPERATIONS = [
    listing("listSpaces", ORG + "/spaces", content.list_spaces, mc.Space),
    post("createSpace", ORG + "/spaces", content.create_space, mc.Space, mc.SpaceCreate, status=201,
         body_required=False, needs=None, errors=(403,), **ADDED),
    get("getSpace", SP, content.get_space, mc.Space, mc.SpaceQuery),
    delete("deleteSpace", SP, content.delete_space),
    patch("updateSpace", SP, content.update_space, mc.Space, mc.SpaceUpdate),
    post("duplicateSpace", SP + "/duplicate", content.duplicate_space, mc.Space, status=201,
         needs=None, errors=(403,)),
    post("restoreSpace", SP + "/restore", content.restore_space, mc.Space),
    post("moveSpace", SP + "/move", content.move_space, mc.Space, mc.ContentMove, **MOVED),
    post("transferSpace", SP + "/transfer", content.transfer_space, mc.Space, mc.Transfer, **TRANSFERRED),
    get("getCollection", COLLECTION, content.get_collection, mc.Collection),
    delete("deleteCollection", COLLECTION, content.delete_collection),
    patch("updateCollection", COLLECTION, content.update_collection, mc.Collection, mc.CollectionUpdate),
    listing("listCollectionSpaces", COLLECTION + "/spaces", content.list_collection_spaces, mc.Space),
    post("moveCollection", COLLECTION + "/move", content.move_collection, mc.Collection, mc.ContentMove,
         **MOVED),
    post("transferCollection", COLLECTION + "/transfer", content.transfer_collection, mc.Collection,
         mc.Transfer, errors=(404, 409, 412)),
    listing("listCollections", ORG + "/collections", content.list_collections, mc.Collection,
            mc.CollectionsQuery),
    post("createCollection", ORG + "/collections", content.create_collection, mc.Collection,
         mc.CollectionCreate, status=201, body_required=False, needs=None, errors=(403,)),
]  # fmt: skip
