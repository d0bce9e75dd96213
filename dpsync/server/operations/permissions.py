"""Define the API operations on roles of users and teams: method, path, models and handler of each.

A role is given on a space, a collection or a site.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.people import permissions
from ..models import base as m
from ..models import organizations as mp
from ..request.operation import Operation
from .builders import COLLECTION, FULL_ONLY, SITE, SPACE, delete, get, listing, patch, post

TITLE = "Roles on spaces, collections and sites"

_READ_OPTIONS = {
    "error_statuses": (403,),
    "note": "The caller must be able to list members.",
    **FULL_ONLY,
}
_DIRECT_ROLE_OPTIONS = {
    **_READ_OPTIONS,
    "note": "Lists only roles on the object itself, and no inherited roles. " + _READ_OPTIONS["note"],
}
_UPDATE_NOTE = "Returns 404 if the member or team has no role on the object itself."
_DELETE_NOTE = "Deletes only a role on the object itself, and no inherited role."


def _permission_operations(path: str, name: str) -> list[Operation]:
    """Return the operations on roles of one kind of object. `name` is the kind in operation ids."""
    users, teams = path + "/permissions/users", path + "/permissions/teams"
    user, team = users + "/{userId}", teams + "/{teamId}"
    return [
        post(f"inviteTo{name}", path + "/permissions", permissions.invite, None, mp.Invitation, status=204,
             note="Gives the role in the body to all listed members and teams. If one of them does not "
                  "exist, none gets the role. The body names members by id or e-mail address.",
             **FULL_ONLY),
        get(f"listPermissionsAggregateIn{name}", path + "/permissions/aggregate",
            permissions.list_effective_roles,
            m.Page[mp.UserPermission], mp.AggregateQuery, **{
                **_READ_OPTIONS,
                "note": "Lists every member with access, and the resulting role of the member. "
                        + _READ_OPTIONS["note"],
            }),
        listing(f"listUserPermissionsIn{name}", users, permissions.list_users, mp.UserPermission,
                **_DIRECT_ROLE_OPTIONS),
        get(f"getUserPermissionIn{name}", user, permissions.get_user, mp.UserPermission, **_READ_OPTIONS),
        patch(f"updateUserPermissionIn{name}", user, permissions.update_user, None, mp.PermissionUpdate,
              status=204, note=_UPDATE_NOTE, **FULL_ONLY),
        delete(f"removeUserFrom{name}", user, permissions.remove_user, note=_DELETE_NOTE, **FULL_ONLY),
        listing(f"listTeamPermissionsIn{name}", teams, permissions.list_teams, mp.TeamPermission,
                **_DIRECT_ROLE_OPTIONS),
        get(f"getTeamPermissionIn{name}", team, permissions.get_team, mp.TeamPermission, **_READ_OPTIONS),
        patch(f"updateTeamPermissionIn{name}", team, permissions.update_team, None, mp.PermissionUpdate,
              status=204, note=_UPDATE_NOTE, **FULL_ONLY),
        delete(f"removeTeamFrom{name}", team, permissions.remove_team, note=_DELETE_NOTE, **FULL_ONLY),
    ]  # fmt: skip


OPERATIONS = [
    *_permission_operations(SPACE, "Space"),
    *_permission_operations(COLLECTION, "Collection"),
    *_permission_operations(SITE, "Site"),
]
