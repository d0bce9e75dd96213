"""Roles on spaces, collections and sites, and what lets people in."""

from typing import Any

_PARENTS: dict[str, dict[str, str]] = {
    "Space": {"spaceId": "unshown"},
    "Collection": {"collectionId": "unshown"},
    "Site": {"siteId": "docs"},
}
OTHER_IDS: dict[str, dict[str, str]] = {}
BODIES: dict[str, Any] = {
    "inviteUsersToOrganization": {"emails": ["new@acme.example"], "role": "read"},
    "updateOrganizationInviteById": {"role": "edit"},
}
for _name, _ids in _PARENTS.items():
    for _to, _ref in (("User", {"userId": "kim"}), ("Team", {"teamId": "sales"})):
        for _id in (f"get{_to}PermissionIn", f"update{_to}PermissionIn", f"remove{_to}From"):
            OTHER_IDS[_id + _name] = {**_ids, **_ref}
        OTHER_IDS[f"list{_to}PermissionsIn{_name}"] = _ids
        BODIES[f"update{_to}PermissionIn{_name}"] = {"role": "edit"}
    OTHER_IDS["inviteTo" + _name] = OTHER_IDS["listPermissionsAggregateIn" + _name] = _ids
    BODIES["inviteTo" + _name] = {"users": ["eve"], "teams": ["sales"], "role": "comment"}
