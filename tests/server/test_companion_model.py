"""Random operations, one by one and several at once, over HTTP: the platform is always what a model says.

Of those that were sent at once, there must be an order in which the model gives every one of the answers and
ends where the platform is.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import httpx
import pytest
from databases import Database
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from platform_change_steps import changed, proposed, step_about_changes
from platform_model import WORLD, Group, Model, Place, Section
from platform_of_changes import Change
from platform_steps import (
    MAKING,
    NAVIGATION,
    OF_GROUPS,
    OF_PLACES,
    OF_SECTIONS,
    OF_TEAMS,
    ORG,
    Outcome,
    Step,
    group_made,
    place_made,
    section_made,
    team_made,
)  # fmt: skip
from processes import serving

from tests.soak import examples

AT_ONCE = 4
STATUSES = ["draft", "open", "archived", "merged"]

SEEDS = st.integers(0, 2**32 - 1)
"""What a step is depends on where the platform is, and that, when requests are sent at once, on chance: what
is drawn is a seed. It goes with the number of the step, as the same seeds are drawn again and again.
"""


def step_about_anything(chance: Random, model: Model) -> Step:
    """Seldom about what there is none of."""
    kinds = [
        (MAKING, True), (OF_TEAMS, model.teams), (OF_SECTIONS, model.ids(Section)),
        (OF_GROUPS, model.ids(Group)), (OF_PLACES, model.ids(Place)), ([step_about_changes], True),
    ]  # fmt: skip
    makers = [makers for makers, there in kinds if there or chance.random() < 0.05]
    return chance.choice(chance.choice(makers))(chance, model)


Maker = Callable[[Random, Model], Step]
ABOUT = st.sampled_from([step_about_anything, step_about_changes])


def edit(page: str) -> Change:
    return {"operation": "update_page", "page": page}


def furniture() -> list[Step]:
    """Teams, a group in a group, sections with several site spaces, and change requests that are at odds."""
    first = {"position": {"before": "one"}}
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
        *(proposed("alpha", subject) for subject in ("Better", "Shorter", "Another order")),
        changed("alpha", "1", [{**edit("one"), "title": "The one"}, {**edit("three"), **first}]),
        changed("alpha", "2", [{"operation": "delete_page", "page": "one"}]),
        changed("alpha", "3", [{**edit("two"), **first}]),
    ]


# --- what is there --------------------------------------------------------------------------------------


class Observer:
    """Tells all that the model shows, as the platform does. A revision never changes: it is read once."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._read: dict[str, Any] = {}

    def seen(self) -> Any:
        structure = self._get(f"{NAVIGATION}/structure")["structure"]
        return self._teams(), self._spaces(), [node(found) for found in structure]

    def _teams(self) -> Any:
        teams = {team["id"]: team["title"] for team in self._items(f"{ORG}/teams")}
        members = {id: self._items(f"{ORG}/teams/{id}/members") for id in teams}
        return [
            (id, title, [(member["organization"]["id"], member["team"]["role"]) for member in members[id]])
            for id, title in teams.items()
        ]

    def _spaces(self) -> Any:
        spaces = self._items(f"{ORG}/spaces")
        requests = sorted(
            self._items(f"{ORG}/change-requests", status=STATUSES), key=lambda found: found["number"]
        )
        return {
            space["id"]: (
                space["title"],
                (
                    self._content(space["revision"], f"/v1/spaces/{space['id']}"),
                    tuple(space[f"changeRequests{which}"] for which in ("", "Open", "Draft")),
                    [self._request(found) for found in requests if found["space"] == space["id"]],
                ),
            )
            for space in spaces
        }

    def _request(self, found: Any) -> Any:
        at = f"/v1/spaces/{found['space']}/change-requests/{found['id']}"
        told = (found[name] for name in ("id", "number", "subject", "status", "outdated"))
        return (*told, self._content(found["revision"], at))

    def _content(self, revision: str, at: str) -> Any:
        if revision not in self._read:
            content = self._get(f"{at}/content")
            assert content["id"] == revision
            self._read[revision] = pages(content["pages"])
        return self._read[revision]

    def _items(self, path: str, **query: Any) -> list[Any]:
        return list(self._get(path, limit=1000, **query)["items"])

    def _get(self, path: str, **query: Any) -> Any:
        answer = self._http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def pages(found: list[Any]) -> list[Any]:
    return [(page["id"], page["title"], page["markdown"], pages(page["pages"])) for page in found]


def node(found: Any) -> Place | Section | Group:
    match found["object"]:
        case "site-space":
            return Place(found["id"], found["space"]["id"], found["default"])
        case "site-section":
            places = [node(place) for place in found["siteSpaces"]]
            return Section(found["id"], found["title"], found["default"], places)
        case _:
            return Group(found["id"], found["title"], [node(child) for child in found["children"]])


def explanations(model: Model, answered: list[tuple[Step, Outcome]]) -> Iterator[Model]:
    """Where the model ends by each order of the steps in which it gives these answers."""
    if not answered:
        yield model
    for at, (step, outcome) in enumerate(answered):
        expected, after = step.taken(model)
        if expected == outcome:
            yield from explanations(after, answered[:at] + answered[at + 1 :])


class Platform(RuleBasedStateMachine):
    """A comparison of the companion with a model, by random operations.

    `clients`: separate connections to randomly chosen workers. `possible`: the states that the platform may
    have; the order of simultaneous requests is unknown, and may show only later.
    """

    clients: list[httpx.Client]
    pool: ThreadPoolExecutor

    @initialize(furnished=st.booleans())
    def start_over(self, furnished: bool) -> None:
        assert self.clients[0].put("/_dpsync/world", json=WORLD).status_code == 204
        model = Model()
        for step in furniture() if furnished else []:
            expected, model = step.taken(model)
            assert step.sent(self.clients[0]) == expected
        self.possible, self.observer, self.steps = [model], Observer(self.clients[-1]), 0
        self._compare([])

    @rule(about=ABOUT, seed=SEEDS, client=st.integers(0, AT_ONCE - 1))
    def one(self, about: Maker, seed: int, client: int) -> None:
        step = self._step(about, seed)
        self._compare([(step, step.sent(self.clients[client]))])

    @rule(about=ABOUT, seeds=st.lists(SEEDS, min_size=2, max_size=AT_ONCE))
    def several_at_once(self, about: Maker, seeds: list[int]) -> None:
        steps = [self._step(about, seed) for seed in seeds]
        clients = self.clients[: len(steps)]
        sent = [self.pool.submit(step.sent, client) for step, client in zip(steps, clients, strict=True)]
        self._compare([(step, answer.result()) for step, answer in zip(steps, sent, strict=True)])

    def _step(self, about: Maker, seed: int) -> Step:
        self.steps += 1
        return about(Random(f"{seed}, {self.steps}"), self.possible[0])

    def _compare(self, answered: list[tuple[Step, Outcome]]) -> None:
        there = self.observer.seen()
        before = [model.shown() for model in self.possible[:1]]
        answering = [after for model in self.possible for after in explanations(model, answered)]
        told = [(str(step), outcome) for step, outcome in answered]
        assert answering, f"in no order: {told}\nafter {before}"
        self.possible = []
        for model in answering:
            if model.shown() == there and model not in self.possible:
                self.possible.append(model)
        assert self.possible, (
            f"{told}\nled from {before}\nto {there}\nand not to any of "
            f"{[model.shown() for model in answering]}"
        )


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_random_concurrent_operations_match_reference_model(
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
                max_examples=examples(2, soak=500),
                stateful_step_count=examples(25, soak=50),
                suppress_health_check=[*HealthCheck],
            ),
        )
