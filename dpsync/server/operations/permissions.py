"""Roles on spaces, collections and sites."""

from ..handlers.people import permissions
from ..models import base as m
from ..models import organizations as mp
from ..request.operation import Operation
from .rows import ADDED, COLLECTION, SITE, SP, delete, get, listing, patch, post

_READ = {
    "errors": (403,),
    "note": "The caller must be able to list members.",
    **ADDED,
}
_GIVEN = {
    **_READ,
    "note": "Lists only roles on the object itself, and no inherited roles. " + _READ["note"],
}
_CHANGED = "Returns 404 if the member or team has no role on the object itself."
_REMOVED = "Deletes only a role on the object itself, and no inherited role."


def _on(path: str, name: str) -> list[Operation]:
    """Return the operations on roles of one kind of object. `name` is the kind in operation ids."""
    users, teams = path + "/permissions/users", path + "/permissions/teams"
    user, team = users + "/{userId}", teams + "/{teamId}"
    return [
        post(f"inviteTo{name}", path + "/permissions", permissions.invite, None, mp.Invitation, status=204,
             note="Gives the role in the body to all listed members and teams. If one of them does not "
                  "exist, none gets the role. The body names members by id or e-mail address.",
             **ADDED),
        get(f"listPermissionsAggregateIn{name}", path + "/permissions/aggregate", permissions.aggregate,
            m.Page[mp.UserPermission], mp.AggregateQuery, **{**_READ, "note":
            "Lists every member with access, and the resulting role of the member. " + _READ["note"]}),
        listing(f"listUserPermissionsIn{name}", users, permissions.list_users, mp.UserPermission, **_GIVEN),
        get(f"getUserPermissionIn{name}", user, permissions.get_user, mp.UserPermission, **_READ),
        patch(f"updateUserPermissionIn{name}", user, permissions.update_user, None, mp.PermissionUpdate,
              status=204, note=_CHANGED, **ADDED),
        delete(f"removeUserFrom{name}", user, permissions.remove_user, note=_REMOVED, **ADDED),
        listing(f"listTeamPermissionsIn{name}", teams, permissions.list_teams, mp.TeamPermission, **_GIVEN),
        get(f"getTeamPermissionIn{name}", team, permissions.get_team, mp.TeamPermission, **_READ),
        patch(f"updateTeamPermissionIn{name}", team, permissions.update_team, None, mp.PermissionUpdate,
              status=204, note=_CHANGED, **ADDED),
        delete(f"removeTeamFrom{name}", team, permissions.remove_team, note=_REMOVED, **ADDED),
    ]  # fmt: skip


OPERATIONS = [*_on(SP, "Space"), *_on(COLLECTION, "Collection"), *_on(SITE, "Site")]
