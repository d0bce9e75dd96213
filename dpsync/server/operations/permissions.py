"""Part 5: roles on spaces, collections and sites, by the same operations on each."""

from ..handlers.people import permissions
from ..models import base as m
from ..models import organizations as mp
from ..request.operation import Operation
from .rows import ADDED, COLLECTION, SITE, SP, delete, get, listing, patch, post

_READ = {
    "errors": (403,),
    "decided": "For whoever may view it and may list the members of its organization.",
    **ADDED,
}
_GIVEN = {
    **_READ,
    "decided": "Only what was given here, not what comes from elsewhere. " + _READ["decided"],
}
_CHANGED = "Only one that was given here: else 404. Without a role it stays. Nobody is a last admin here."
_TAKEN = "204 also when none was given here; what comes from elsewhere stays."


def _on(path: str, name: str) -> list[Operation]:
    """`name` is that of the kind in operation ids."""
    users, teams = path + "/permissions/users", path + "/permissions/teams"
    user, team = users + "/{userId}", teams + "/{teamId}"
    return [
        post(f"inviteTo{name}", path + "/permissions", permissions.invite, None, mp.Invitation, status=204,
             decided="Users are members, named by id or e-mail; who has a role there already gets the new "
                     "one. All or nothing. The role null gives nothing, and takes nothing away.", **ADDED),
        get(f"listPermissionsAggregateIn{name}", path + "/permissions/aggregate", permissions.aggregate,
            m.Page[mp.UserPermission], mp.AggregateQuery, **{**_READ, "decided":
            "Every member with access, with the resulting role. " + _READ["decided"]}),
        listing(f"listUserPermissionsIn{name}", users, permissions.list_users, mp.UserPermission, **_GIVEN),
        get(f"getUserPermissionIn{name}", user, permissions.get_user, mp.UserPermission, **_READ),
        patch(f"updateUserPermissionIn{name}", user, permissions.update_user, None, mp.PermissionUpdate,
              status=204, decided=_CHANGED, **ADDED),
        delete(f"removeUserFrom{name}", user, permissions.remove_user, decided=_TAKEN, **ADDED),
        listing(f"listTeamPermissionsIn{name}", teams, permissions.list_teams, mp.TeamPermission, **_GIVEN),
        get(f"getTeamPermissionIn{name}", team, permissions.get_team, mp.TeamPermission, **_READ),
        patch(f"updateTeamPermissionIn{name}", team, permissions.update_team, None, mp.PermissionUpdate,
              status=204, decided=_CHANGED, **ADDED),
        delete(f"removeTeamFrom{name}", team, permissions.remove_team, decided=_TAKEN, **ADDED),
    ]  # fmt: skip


OPERATIONS = [*_on(SP, "Space"), *_on(COLLECTION, "Collection"), *_on(SITE, "Site")]
