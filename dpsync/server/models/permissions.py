"""Roles given on a space, collection or site, and the roles that users have there."""

from pydantic import Field, model_validator

from .base import Answer, Body, Paged, Role, User, absent
from .organizations import Team


class UserPermission(Answer):
    permission: Role | None
    user: User


class TeamPermission(Answer):
    permission: Role | None
    team: Team


class Invitation(Body):
    users: list[str] = absent(description="User ids or e-mails of members")
    teams: list[str] = absent(description="Team ids")
    role: Role | None

    @model_validator(mode="after")
    def _somebody(self) -> "Invitation":
        if not self.model_fields_set & {"users", "teams"}:
            raise ValueError("users or teams are needed")
        return self


class PermissionUpdate(Body):
    role: Role | None = absent()


class AggregateQuery(Paged):
    role: Role | None = Field(default=None, description="Only users with this role there")
