"""Random operations, one by one and several at once, over HTTP: the platform is always what a model says.

Of those that were sent at once, there must be an order in which the model gives every one of the answers and
ends where the platform is.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx
import pytest
from databases import Database
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from platform_model import KINDS, ORGANIZATION, SITE, USERS, WORLD, Group, Model, Place, Refused, Section
from processes import serving

SOAK = os.environ.get("DPSYNC_SOAK") == "1"
AT_ONCE = 4

Outcome = tuple[int, str | None]
"""A status, and the id in the body of an answer that has one."""

ORG = f"/v1/orgs/{ORGANIZATION}"
NAVIGATION = f"{ORG}/sites/{SITE}"
TITLES = ("Guides", "API", "News", "ßéé", "A'b\"c")
ANYBODY = (*USERS, *USERS, "nobody")
ROLES = ("owner", "member")
SEEDS = st.integers(0, 2**32 - 1)
"""What a step is depends on where the platform is, and that, when requests are sent at once, on chance: what
is drawn is a seed.
"""


@dataclass(frozen=True)
class Step:
    """A request, and what it does in the model."""

    method: str
    path: str
    body: Any
    success: int
    effect: Callable[[Model], str | None]

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body or ''}"

    def taken(self, model: Model) -> tuple[Outcome, Model]:
        after = deepcopy(model)
        try:
            return (self.success, self.effect(after)), after
        except Refused as refused:
            return (refused.status, None), model

    def sent(self, http: httpx.Client) -> Outcome:
        answer = http.request(self.method, self.path, json=self.body)
        body = answer.json() if answer.is_success and answer.content else {}
        return answer.status_code, body.get("id")


# --- steps ---------------------------------------------------------------------------------------------


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


def create_team(chance: Random, model: Model) -> Step:
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


def create_space(chance: Random, model: Model) -> Step:
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


def any_step(chance: Random, model: Model) -> Step:
    """Seldom about what there is none of."""
    kinds = [
        (MAKING, True), (OF_TEAMS, model.teams), (OF_SECTIONS, model.ids(Section)),
        (OF_GROUPS, model.ids(Group)), (OF_PLACES, model.ids(Place)),
    ]  # fmt: skip
    makers = [makers for makers, there in kinds if there or chance.random() < 0.05]
    return chance.choice(chance.choice(makers))(chance, model)


def furniture() -> list[Step]:
    """Teams, a group in a group, and sections with several site spaces."""
    return [
        team_made("News", ["ada", "ben"]),
        team_made("API", []),
        place_made("alpha", None),
        section_made("beta", "Guides", None),
        group_made("News", None, ["sect-2"]),
        group_made("API", "group-1", []),
        section_made("alpha", None, "group-2"),
        section_made("beta", "API", "group-1"),
        place_made("beta", "sect-2"),
        place_made("beta", "sect-2"),
    ]


# --- what is there --------------------------------------------------------------------------------------


def observed(http: httpx.Client) -> Any:
    """All that the model shows, as the platform tells it."""

    def items(path: str) -> list[Any]:
        answer = http.get(path, params={"limit": 1000})
        assert answer.status_code == 200, answer.text
        return list(answer.json()["items"])

    teams = [
        (
            team["id"],
            team["title"],
            [
                (member["organization"]["id"], member["team"]["role"])
                for member in items(f"{ORG}/teams/{team['id']}/members")
            ],
        )
        for team in items(f"{ORG}/teams")
    ]
    spaces = {space["id"]: space["title"] for space in items(f"{ORG}/spaces")}
    answer = http.get(f"{NAVIGATION}/structure")
    assert answer.status_code == 200, answer.text
    return teams, spaces, [node(found) for found in answer.json()["structure"]]


def node(found: Any) -> Place | Section | Group:
    match found["object"]:
        case "site-space":
            return Place(found["id"], found["space"]["id"], found["default"])
        case "site-section":
            places = [node(place) for place in found["siteSpaces"]]
            return Section(found["id"], found["title"], found["default"], places)  # type: ignore[arg-type]
        case _:
            return Group(found["id"], found["title"], [node(child) for child in found["children"]])  # type: ignore[misc]


def explanations(model: Model, answered: list[tuple[Step, Outcome]]) -> Iterator[Model]:
    """Where the model ends by each order of the steps in which it gives these answers."""
    if not answered:
        yield model
    for at, (step, outcome) in enumerate(answered):
        expected, after = step.taken(model)
        if expected == outcome:
            yield from explanations(after, answered[:at] + answered[at + 1 :])


class Platform(RuleBasedStateMachine):
    """`clients`: connections of their own, to as many workers as chance gives."""

    clients: list[httpx.Client]
    pool: ThreadPoolExecutor

    @initialize(furnished=st.booleans())
    def start_over(self, furnished: bool) -> None:
        assert self.clients[0].put("/_dpsync/world", json=WORLD).status_code == 204
        self.model = Model()
        for step in furniture() if furnished else []:
            self._compare([(step, step.sent(self.clients[0]))])

    @rule(seed=SEEDS, client=st.integers(0, AT_ONCE - 1))
    def one(self, seed: int, client: int) -> None:
        step = any_step(Random(seed), self.model)
        self._compare([(step, step.sent(self.clients[client]))])

    @rule(seeds=st.lists(SEEDS, min_size=2, max_size=AT_ONCE))
    def several_at_once(self, seeds: list[int]) -> None:
        steps = [any_step(Random(seed), self.model) for seed in seeds]
        clients = self.clients[: len(steps)]
        sent = [self.pool.submit(step.sent, client) for step, client in zip(steps, clients, strict=True)]
        self._compare([(step, answer.result()) for step, answer in zip(steps, sent, strict=True)])

    def _compare(self, answered: list[tuple[Step, Outcome]]) -> None:
        there = observed(self.clients[-1])
        possible = list(explanations(self.model, answered))
        assert possible, f"in no order: {[(str(step), outcome) for step, outcome in answered]}\n{self.model}"
        explained = [model for model in possible if model.shown() == there]
        assert explained, (
            f"{[(str(step), outcome) for step, outcome in answered]}\nled from {self.model.shown()}\n"
            f"to {there}\nand not to any of {[model.shown() for model in possible]}"
        )
        self.model = explained[0]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_platform_is_what_the_model_says(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if kind == "postgres":
        database = Database(request.getfixturevalue("postgres_url"))
    else:
        database = Database(str(tmp_path_factory.mktemp("model") / "state.db"))
    with serving(database) as running, ThreadPoolExecutor(AT_ONCE) as pool:

        class Served(Platform):
            pass

        Served.clients = [running.client() for _ in range(AT_ONCE)]
        Served.pool = pool
        run_state_machine_as_test(
            Served,
            settings=settings(
                max_examples=500 if SOAK else 8,
                stateful_step_count=50 if SOAK else 25,
                suppress_health_check=[*HealthCheck],
            ),
        )
