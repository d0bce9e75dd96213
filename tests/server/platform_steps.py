"""Random requests about teams, spaces and the navigation of a site, each with what it does in the model.

What is asked for depends on what there is: a step is made by chance for a model.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx
from platform_model import KINDS, ORGANIZATION, SITE, USERS, Group, Model, Place, Section
from platform_of_changes import RefusedError

Outcome = tuple[int, Any]
"""A status, and what the answer says about what was done: an id, mostly."""

ORG = f"/v1/orgs/{ORGANIZATION}"
NAVIGATION = f"{ORG}/sites/{SITE}"
TITLES = ("Guides", "API", "News", "ßéé", "A'b\"c")
ANYBODY = (*USERS, *USERS, "nobody")
ROLES = ("owner", "member")


@dataclass(frozen=True)
class Step:
    """A request, and what it does in the model."""

    method: str
    path: str
    body: Any
    success: int
    effect: Callable[[Model], Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body or ''}"

    def taken(self, model: Model) -> tuple[Outcome, Model]:
        after = deepcopy(model)
        try:
            return (self.success, self.effect(after)), after
        except RefusedError as refused:
            return (refused.status, None), model

    def sent(self, http: httpx.Client) -> Outcome:
        answer = http.request(self.method, self.path, json=self.body)
        body = answer.json() if answer.is_success and answer.content else {}
        if "results" in body:
            return answer.status_code, [result["page"] for result in body["results"]]
        return answer.status_code, body.get("result", body.get("id"))


def some(chance: Random, known: list[str]) -> str:
    """One that is there, now and then one that is not."""
    return chance.choice(known) if known and chance.random() < 0.9 else "none"


def some_or_none(chance: Random, known: list[str]) -> str | None:
    return some(chance, known) if known and chance.random() < 0.5 else None


def anybody(chance: Random) -> list[str]:
    return chance.sample(ANYBODY, chance.randint(0, 2))


def team_made(title: str, members: list[str]) -> Step:
    body = {"title": title, "members": members}
    return Step("PUT", f"{ORG}/teams", body, 201, lambda to: to.create_team(title, members))


def create_team(chance: Random, _model: Model) -> Step:
    return team_made(chance.choice(TITLES), anybody(chance))


def rename_team(chance: Random, model: Model) -> Step:
    id, title = some(chance, [*model.teams]), chance.choice(TITLES)
    return Step("PATCH", f"{ORG}/teams/{id}", {"title": title}, 200, lambda to: to.rename_team(id, title))


def delete_team(chance: Random, model: Model) -> Step:
    id = some(chance, [*model.teams])
    return Step("DELETE", f"{ORG}/teams/{id}", None, 204, lambda to: to.delete_team(id))


def put_member(chance: Random, model: Model) -> Step:
    id, user, role = some(chance, [*model.teams]), chance.choice(ANYBODY), chance.choice((None, *ROLES))
    body = {"role": role} if role else {}
    path = f"{ORG}/teams/{id}/members/{user}"
    return Step("PUT", path, body, 204, lambda to: to.put_member(id, user, role))


def remove_member(chance: Random, model: Model) -> Step:
    id, user = some(chance, [*model.teams]), chance.choice(ANYBODY)
    path = f"{ORG}/teams/{id}/members/{user}"
    return Step("DELETE", path, None, 204, lambda to: to.remove_member(id, user))


def change_members(chance: Random, model: Model) -> Step:
    id = some(chance, [*model.teams])
    add, remove = (anybody(chance) for _ in range(2))
    roles = {user: chance.choice(ROLES) for user in anybody(chance)}
    body = {
        "add": add, "remove": remove, "memberships": {user: {"role": role} for user, role in roles.items()},
    }  # fmt: skip
    path = f"{ORG}/teams/{id}/members"
    return Step("PUT", path, body, 204, lambda to: to.change_members(id, add, remove, roles))


def create_space(chance: Random, _model: Model) -> Step:
    title = chance.choice(TITLES)
    return Step("POST", f"{ORG}/spaces", {"title": title}, 201, lambda to: to.create_space(title))


def delete_space(chance: Random, model: Model) -> Step:
    id = some(chance, [*model.spaces])
    return Step("DELETE", f"/v1/spaces/{id}", None, 204, lambda to: to.delete_space(id))


def section_made(space: str, title: str | None, group: str | None) -> Step:
    body = {"spaceId": space, "title": title, "siteSectionGroupId": group}
    return Step(
        "POST", f"{NAVIGATION}/sections", body, 201, lambda to: to.create_section(space, title, group)
    )


def create_section(chance: Random, model: Model) -> Step:
    title, group = chance.choice((None, *TITLES)), some_or_none(chance, model.ids(Group))
    return section_made(some(chance, [*model.spaces]), title, group)


def rename_section(chance: Random, model: Model) -> Step:
    id, title = some(chance, model.ids(Section)), chance.choice(TITLES)
    path = f"{NAVIGATION}/sections/{id}"
    return Step("PATCH", path, {"title": title}, 200, lambda to: to.rename_section(id, title))


def put_section_into(chance: Random, model: Model) -> Step:
    id, group = some(chance, model.ids(Section)), some_or_none(chance, model.ids(Group))
    path = f"{NAVIGATION}/sections/{id}"
    return Step("PATCH", path, {"siteSectionGroupId": group}, 200, lambda to: to.put_section_into(id, group))


def choose_place(chance: Random, model: Model) -> Step:
    id = some(chance, model.ids(Section))
    inside = [place.id for section in model.sections() if section.id == id for place in section.places]
    place = some(chance, inside if chance.random() < 0.5 else model.ids(Place))
    path = f"{NAVIGATION}/sections/{id}"
    return Step("PATCH", path, {"defaultSiteSpace": place}, 200, lambda to: to.choose_place(id, place))


def choose_section(chance: Random, model: Model) -> Step:
    id = some(chance, model.ids(Section))
    return Step("PATCH", NAVIGATION, {"defaultSiteSection": id}, 200, lambda to: to.choose_section(id))


def delete_section(chance: Random, model: Model) -> Step:
    id = some(chance, model.ids(Section))
    return Step("DELETE", f"{NAVIGATION}/sections/{id}", None, 204, lambda to: to.delete_section(id))


def group_made(title: str, parent: str | None, sections: list[str]) -> Step:
    body = {"title": title, "parent": parent, "sections": sections}
    path = f"{NAVIGATION}/section-groups"
    return Step("POST", path, body, 201, lambda to: to.create_group(title, parent, sections))


def create_group(chance: Random, model: Model) -> Step:
    sections = chance.randint(0, 2) if model.root else 0
    named = [some(chance, model.ids(Section)) for _ in range(sections)]
    return group_made(chance.choice(TITLES), some_or_none(chance, model.ids(Group)), named)


def rename_group(chance: Random, model: Model) -> Step:
    id, title = some(chance, model.ids(Group)), chance.choice(TITLES)
    path = f"{NAVIGATION}/section-groups/{id}"
    return Step("PATCH", path, {"title": title}, 200, lambda to: to.rename_group(id, title))


def put_group_into(chance: Random, model: Model) -> Step:
    id, parent = some(chance, model.ids(Group)), some_or_none(chance, model.ids(Group))
    path = f"{NAVIGATION}/section-groups/{id}"
    return Step(
        "PATCH", path, {"parentSectionGroupId": parent}, 200, lambda to: to.put_group_into(id, parent)
    )


def delete_group(chance: Random, model: Model) -> Step:
    id = some(chance, model.ids(Group))
    return Step("DELETE", f"{NAVIGATION}/section-groups/{id}", None, 204, lambda to: to.delete_group(id))


def add_to_group(chance: Random, model: Model) -> Step:
    group, section = some(chance, model.ids(Group)), some(chance, model.ids(Section))
    path = f"{NAVIGATION}/section-groups/{group}/sections"
    return Step("POST", path, {"sectionId": section}, 201, lambda to: to.add_to_group(group, section))


def remove_from_group(chance: Random, model: Model) -> Step:
    group, section = some(chance, model.ids(Group)), some(chance, model.ids(Section))
    path = f"{NAVIGATION}/section-groups/{group}/sections/{section}"
    return Step("DELETE", path, None, 204, lambda to: to.remove_from_group(group, section))


def place_made(space: str, section: str | None) -> Step:
    body = {"spaceId": space} | ({"sectionId": section} if section else {})
    return Step("POST", f"{NAVIGATION}/site-spaces", body, 201, lambda to: to.create_place(space, section))


def create_place(chance: Random, model: Model) -> Step:
    return place_made(some(chance, [*model.spaces]), some_or_none(chance, model.ids(Section)))


def show_other_space(chance: Random, model: Model) -> Step:
    id, space = some(chance, model.ids(Place)), some(chance, [*model.spaces])
    path = f"{NAVIGATION}/site-spaces/{id}"
    return Step("PATCH", path, {"spaceId": space}, 200, lambda to: to.show_other_space(id, space))


def delete_place(chance: Random, model: Model) -> Step:
    id = some(chance, model.ids(Place))
    return Step("DELETE", f"{NAVIGATION}/site-spaces/{id}", None, 204, lambda to: to.delete_place(id))


def sort(chance: Random, model: Model) -> Step:
    """By the operation for all kinds, or by the one of the kind."""
    nodes = [(kind, id) for kind, type in KINDS.items() for id in model.ids(type)]
    absent = ("site-section-group", "none")
    kind, id = chance.choice([*nodes, absent])
    near = chance.choice((chance.random() < 0.8 and model.beside(id)) or [*nodes, absent])
    side, strict = chance.choice(["before", "after"]), chance.random() < 0.5
    position = {side: {"type": near[0], "id": near[1]}}

    def effect(to: Model) -> str:
        return to.sort(kind, id, side, near, strict)

    if strict:
        of = {"site-space": "site-spaces", "site-section": "sections", "site-section-group": "section-groups"}
        return Step("POST", f"{NAVIGATION}/{of[kind]}/{id}/move", {"position": position}, 200, effect)
    body = {"item": {"type": kind, "id": id}, "position": position}
    return Step("PATCH", f"{NAVIGATION}/structure/sort", body, 200, effect)


MAKING = [create_team, create_space, create_section, create_section, create_group, create_place]
OF_TEAMS = [rename_team, put_member, put_member, remove_member, change_members, change_members, delete_team]
OF_SECTIONS = [rename_section, put_section_into, choose_place, choose_section, sort, delete_section]
OF_GROUPS = [rename_group, put_group_into, put_group_into, add_to_group, remove_from_group, delete_group]
OF_PLACES = [show_other_space, sort, delete_place, delete_space]
