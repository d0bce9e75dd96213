"""A platform in a few lines of plain data: what teams, spaces and the navigation of one site should become.

It knows one organization of four members and one site. Every operation either changes the model and returns
the id of what it made, or raises Refused, and has then changed nothing that counts: the caller works on a
copy. Ids are counted as the platform counts them.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from platform_of_changes import Book, Content, Page, RefusedError

ORGANIZATION, SITE = "lab", "manual"
USERS = ("ada", "ben", "cas", "dot")
TITLE = "The manual"
PAGES = {
    "one": Page("One", "The first."),
    "two": Page("Two", "The second."),
    "part": Page("Part", "Of the second.", "two"),
    "three": Page("Three", ""),
}


def _below(parent: str) -> list[Any]:
    return [
        {"id": id, "title": page.title, "markdown": page.text, "pages": _below(id)}
        for id, page in PAGES.items()
        if page.parent == parent
    ]


WORLD = {
    "users": [{"id": user, "displayName": user.title()} for user in USERS],
    "tokens": {"ada-token": "ada"},
    "organizations": [
        {
            "id": ORGANIZATION,
            "title": "Lab",
            "members": [{"user": user, "role": "admin"} for user in USERS],
            "spaces": [
                {"id": "alpha", "title": "Alpha", "content": {"pages": _below("")}},
                {"id": "beta", "title": "Beta"},
            ],
            "sites": [{"id": SITE, "title": TITLE}],
        }
    ],
}


@dataclass
class Place:
    id: str
    space: str
    default: bool


@dataclass
class Section:
    id: str
    title: str
    default: bool
    places: list[Place] = field(default_factory=list)


@dataclass
class Group:
    id: str
    title: str
    children: list["Section | Group"] = field(default_factory=list)


@dataclass
class Team:
    title: str
    roles: dict[str, str] = field(default_factory=dict)


Node = Place | Section | Group
KINDS: dict[str, type] = {"site-space": Place, "site-section": Section, "site-section-group": Group}


@dataclass
class Model:
    """`flat` are the site spaces at the root, where there are neither sections nor groups."""

    teams: dict[str, Team] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=lambda: {"alpha": "Alpha", "beta": "Beta"})
    books: dict[str, Book] = field(default_factory=lambda: {"alpha": Book(Content(PAGES)), "beta": Book()})
    root: list[Section | Group] = field(default_factory=list)
    flat: list[Place] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def shown(self) -> Any:
        """All that can be asked for."""
        teams = [(id, team.title, list(team.roles.items())) for id, team in self.teams.items()]
        spaces = {id: (title, self.books[id].shown()) for id, title in self.spaces.items()}
        return teams, spaces, self.root or self.flat

    def new_id(self, prefix: str) -> str:
        self.counts[prefix] += 1
        return f"{prefix}-{self.counts[prefix]}"

    # --- teams ----------------------------------------------------------------------------------------

    def create_team(self, title: str, members: list[str]) -> str:
        for user in members:
            _check_member(user)
        id = self.new_id("team")
        self.teams[id] = Team(title, dict.fromkeys(members, "member"))
        return id

    def rename_team(self, id: str, title: str) -> str:
        self._team(id).title = title
        return id

    def delete_team(self, id: str) -> None:
        self.teams.pop(id, None)

    def put_member(self, id: str, user: str, role: str | None) -> None:
        team = self._team(id)
        _check_member(user)
        team.roles[user] = role or team.roles.get(user, "member")

    def remove_member(self, id: str, user: str) -> None:
        self._team(id).roles.pop(user, None)

    def change_members(self, id: str, add: list[str], remove: list[str], roles: dict[str, str]) -> None:
        team = self._team(id)
        for user in (*add, *roles):
            if user not in remove:
                _check_member(user)
        for user in dict.fromkeys((*add, *roles)):
            if user not in remove:
                team.roles[user] = roles.get(user) or team.roles.get(user, "member")
        for user in remove:
            team.roles.pop(user, None)

    def _team(self, id: str) -> Team:
        if id not in self.teams:
            raise RefusedError(404)
        return self.teams[id]

    # --- spaces ---------------------------------------------------------------------------------------

    def create_space(self, title: str) -> str:
        id = self.new_id("space")
        self.spaces[id], self.books[id] = title, Book()
        return id

    def delete_space(self, id: str) -> None:
        """Delete a space and its site spaces, and each section that becomes empty by this."""
        self.spaces.pop(id, None)
        self.books.pop(id, None)
        _drop(self.flat, [place for place in self.flat if place.space == id])
        emptied = []
        for section in self.sections():
            shown = [place for place in section.places if place.space == id]
            _drop(section.places, shown)
            if shown and not section.places:
                emptied.append(section)
        for section in emptied:
            self._drop_section(section)

    def book(self, space: str) -> Book:
        self._space(space)
        return self.books[space]

    # --- navigation -----------------------------------------------------------------------------------

    def create_section(self, space: str, title: str | None, group: str | None) -> str:
        self._space(space)
        children = self._children(group)
        self._wrap()
        section = self._new_section(title or self.spaces[space], children)
        section.places.append(Place(self.new_id("place"), space, True))
        return section.id

    def rename_section(self, id: str, title: str) -> str:
        self._find(Section, id)[0].title = title
        return id

    def put_section_into(self, id: str, group: str | None) -> str:
        self._reparent(Section, id, group)
        return id

    def choose_place(self, id: str, place: str) -> str:
        section, _ = self._find(Section, id)
        chosen, _ = self._find(Place, place)
        if chosen not in section.places:
            raise RefusedError(400)
        _choose(section.places, chosen)
        return id

    def choose_section(self, id: str) -> str:
        chosen, _ = self._find(Section, id)
        _choose(list(self.sections()), chosen)
        return SITE

    def delete_section(self, id: str) -> None:
        if (section := self._present(Section, id)) is not None:
            self._drop_section(section)

    def create_group(self, title: str, parent: str | None, sections: list[str]) -> str:
        children = self._children(parent)
        for id in sections:
            self._find(Section, id)
        self._wrap()
        group = Group(self.new_id("group"), title)
        children.append(group)
        for id in dict.fromkeys(sections):
            self._reparent(Section, id, group.id)
        return group.id

    def rename_group(self, id: str, title: str) -> str:
        self._find(Group, id)[0].title = title
        return id

    def put_group_into(self, id: str, parent: str | None) -> str:
        group, siblings = self._find(Group, id)
        target = self._children(parent)
        if target is not siblings:
            if any(target is children for children in _all_children([group])):
                raise RefusedError(400)
            self._reparent(Group, id, parent)
        return id

    def delete_group(self, id: str) -> None:
        """Delete a group and put its children in its place."""
        if (group := self._present(Group, id)) is not None:
            _, siblings = self._find(Group, id)
            at = siblings.index(group)
            siblings[at : at + 1] = group.children

    def add_to_group(self, group: str, section: str) -> str:
        self._find(Group, group)
        self._reparent(Section, section, group)
        return group

    def remove_from_group(self, group: str, section: str) -> None:
        found = self._present(Group, group)
        if found is not None and any(
            isinstance(node, Section) and node.id == section for node in found.children
        ):
            self._reparent(Section, section, None)

    def create_place(self, space: str, section: str | None) -> str:
        self._space(space)
        named = self._find(Section, section)[0] if section else None
        at = named or next((found for found in self.sections() if found.default), None)
        places = at.places if at else self.flat
        place = Place(self.new_id("place"), space, not places)
        places.append(place)
        if self.root and not at:
            self._wrap()
        return place.id

    def show_other_space(self, id: str, space: str) -> str:
        place, _ = self._find(Place, id)
        self._space(space)
        place.space = space
        return id

    def delete_place(self, id: str) -> None:
        if (place := self._present(Place, id)) is not None:
            _drop(self._find(Place, id)[1], [place])

    def sort(self, kind: str, id: str, side: str, neighbour: tuple[str, str], strict: bool) -> str:
        """`strict`: it is refused when nothing changes."""
        node, siblings = self._find(KINDS[kind], id)
        rest = [other for other in siblings if other is not node]
        near = [
            other for other in rest if isinstance(other, KINDS[neighbour[0]]) and other.id == neighbour[1]
        ]
        if not near:
            raise RefusedError(400)
        rest.insert(rest.index(near[0]) + (side == "after"), node)
        if strict and [other.id for other in rest] == [other.id for other in siblings]:
            raise RefusedError(409)
        siblings[:] = rest
        return id

    # --- the tree -------------------------------------------------------------------------------------

    def sections(self) -> Iterator[Section]:
        """In the order of the navigation."""
        yield from _sections(self.root)

    def ids(self, kind: type) -> list[str]:
        return [node.id for siblings in self._lists() for node in siblings if isinstance(node, kind)]

    def beside(self, id: str) -> list[tuple[str, str]]:
        """Return the siblings of a node, each with its kind."""
        names = {type: kind for kind, type in KINDS.items()}
        for siblings in self._lists():
            if any(node.id == id for node in siblings):
                return [(names[type(node)], node.id) for node in siblings if node.id != id]
        return []

    def _lists(self) -> Iterator[list[Any]]:
        yield self.flat
        yield self.root
        yield from _all_children(self.root)
        yield from (section.places for section in self.sections())

    def _find(self, kind: type, id: str) -> tuple[Any, list[Any]]:
        """Return a node and the list with its siblings, or raise Refused(404)."""
        for siblings in self._lists():
            for node in siblings:
                if isinstance(node, kind) and node.id == id:
                    return node, siblings
        raise RefusedError(404)

    def _present(self, kind: type, id: str) -> Any:
        return self._find(kind, id)[0] if id in self.ids(kind) else None

    def _children(self, group: str | None) -> list[Section | Group]:
        children: list[Section | Group] = self._find(Group, group)[0].children if group else self.root
        return children

    def _reparent(self, kind: type, id: str, group: str | None) -> None:
        """To the end of another one. In the same one it keeps its place."""
        node, siblings = self._find(kind, id)
        target = self._children(group)
        if target is not siblings:
            siblings.remove(node)
            target.append(node)

    def _space(self, id: str) -> None:
        if id not in self.spaces:
            raise RefusedError(404)

    def _new_section(self, title: str, children: list[Section | Group]) -> Section:
        section = Section(self.new_id("sect"), title, not any(True for _ in self.sections()))
        children.append(section)
        return section

    def _wrap(self) -> None:
        """Move the site spaces at the root into a new section with the title of the site."""
        if self.flat:
            section = self._new_section(TITLE, self.root)
            section.places, self.flat = self.flat, []

    def _drop_section(self, section: Section) -> None:
        _, siblings = self._find(Section, section.id)
        siblings.remove(section)
        left = list(self.sections())
        if section.default and left:
            _choose(left, left[0])


def _check_member(user: str) -> None:
    if user not in USERS:
        raise RefusedError(404)


def _sections(nodes: list[Section | Group]) -> Iterator[Section]:
    for node in nodes:
        if isinstance(node, Section):
            yield node
        else:
            yield from _sections(node.children)


def _all_children(nodes: list[Section | Group]) -> Iterator[list[Section | Group]]:
    for node in nodes:
        if isinstance(node, Group):
            yield node.children
            yield from _all_children(node.children)


def _choose(among: list[Any], chosen: Any) -> None:
    for node in among:
        node.default = node is chosen


def _drop(places: list[Place], gone: list[Place]) -> None:
    """Remove places; the first remaining place becomes the default if none is."""
    for place in gone:
        places.remove(place)
    if places and not any(place.default for place in places):
        places[0].default = True
