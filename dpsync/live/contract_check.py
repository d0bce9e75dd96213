"""Compare GitBook's responses with the declarations of the kinds (`dpsync doctor --contract`).

`check_contract` sends one GET for each kind of object and returns a `ContractReport`. The report contains no
value of GitBook: no id, title, e-mail address, or key of a mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import ceil
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.client.client import PAGE_LIMIT, ReadClient
from dpsync.client.errors import (
    ClientError,
    InterruptedRequestError,
    NotSentError,
    UnauthorizedError,
    UnknownOutcomeError,
)
from dpsync.kinds.kind import Kind, ListRead, NodeListsRead, SingleEntry, SingleRead, TreeNode, TreeRead
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import Enum, List, Object, OneOf
from dpsync.kinds.types.base import ABSENT, Type, UnexpectedShape, wrong_type
from dpsync.kinds.urls import AncestorIds, fill_path_template, split_query
from dpsync.live.decode import (
    ABSENT_VALUE,
    UnexpectedShapeError,
    fill_id_template,
    shape_errors,
    value_at_path,
)

_MAX_ITEMS: Final = 50
"""Items of a list that are compared."""
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_USER: Final = "/user"


class ContractDifference(Struct, frozen=True, order=True):
    """One difference between a response and the declarations.

    `member` is the path of the member, as `items[].title`; "" for the whole response; `*` stands for a key of
    a mapping. `expected` and `found` are descriptions, as "a text" and "null".
    """

    operation: str
    member: str
    expected: str
    found: str


class CheckedResponse(Struct, frozen=True):
    """The result of one GET.

    `operation` is the path with names in place of ids, as `/orgs/{organization}/sites`. `status` is None
    without a response. `members` has the JSON types of each declared member by path, `undeclared_members` the
    names of the other members.
    """

    operation: str
    status: int | None
    kinds: tuple[str, ...] = ()
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    undeclared_members: tuple[str, ...] = ()
    differences: tuple[ContractDifference, ...] = ()


class ContractReport(Struct, frozen=True):
    """The result of comparing all responses."""

    answers: tuple[CheckedResponse, ...]
    forbidden: tuple[str, ...]
    """The kinds that this token may not read."""
    not_read: tuple[str, ...]
    """The kinds that were not read, because there is no object that they are in."""
    estimated_requests: int
    """About how many requests a first import and its plan send."""

    @property
    def differences(self) -> tuple[ContractDifference, ...]:
        """Return the differences of all responses, sorted and each once."""
        return tuple(sorted({difference for answer in self.answers for difference in answer.differences}))


def check_contract(client: ReadClient, registry: Registry, organization: str | None = None) -> ContractReport:
    """Send one GET for each kind of object, and compare the responses with the declarations.

    `organization` is the id or the natural key of an organization; without it, the first one in the list is
    read. Raises ClientError if nothing answers, or if the token is not accepted.
    """
    examination = _ContractChecker(client, registry)
    if registry.profile.has_operation("GET", _USER):
        examination.check_user()
    examination.check_organizations(organization)
    for kind in registry.in_dependency_order:
        if kind.parent is not None:
            examination.check_kind(kind)
    return examination.report()


class _ContractChecker:
    """One run of `check_contract`, which collects the checked responses.

    `_chains` has, by kind name, kind and id of the first object of a kind and of its parents. `_counts` has
    the number of objects of a kind in the responses.
    """

    def __init__(self, client: ReadClient, registry: Registry) -> None:
        self._client = client
        self._registry = registry
        self._declared_names = frozenset(_member_names(registry))
        self._answers: dict[str, CheckedResponse] = {}
        self._chains: dict[str, AncestorIds] = {}
        self._counts: dict[str, int] = {}
        self._forbidden: list[str] = []
        self._not_read: list[str] = []

    def check_user(self) -> None:
        """Read the user of the token, and check that the response has the texts that dpsync uses."""
        body = self._get(_USER, None, _USER, ())
        if body is None:
            return
        if not isinstance(body, dict):
            self._add_differences(_USER, [wrong_type(body, "an object")])
            return
        members = ("id", "displayName", "email")
        self._add_differences(
            _USER,
            [
                wrong_type(body[name], "a text").nested_in(name)
                if name in body
                else UnexpectedShape(name, "a text", ABSENT)
                for name in members
                if not isinstance(body.get(name), str)
            ],
        )

    def check_organizations(self, organization: str | None) -> None:
        """Compare the list of organizations, then read and compare the chosen organization by its own URL."""
        root = self._registry.root
        if root.search_list is None:
            return
        path, query = split_query(root.search_list.path)
        items = self._read_first_page(root, path, query, root.search_list.path)
        keys = [key for key in root.natural_keys if isinstance(key, str)]
        chosen = [
            id
            for item in items
            if (id := fill_id_template(item, root.id_path)) is not None
            and (
                organization is None or organization == id or organization in [item.get(key) for key in keys]
            )
        ]
        if chosen or organization is not None:
            id = chosen[0] if chosen else str(organization)
            self._chains[root.name] = ((root.name, id),)
            self._counts[root.name] = 1
            operation = fill_path_template(self._registry, root, root.url_path, f"{{{root.name}}}", ())
            body = self._get(
                fill_path_template(self._registry, root, root.url_path, id, ()), None, operation, (root.noun,)
            )
            if body is not None:
                self._compare(operation, root, [body], "")

    def check_kind(self, kind: Kind) -> None:
        """Read one list, tree or single object of a kind, and compare the response with the declared shape.

        It is read in the first object that can contain the kind. If no such object was found, or no plain GET
        can read the kind, the kind is added to the kinds not read.
        """
        parents = (self._registry.tree_owner(kind),) if kind.is_node else kind.parents
        chain = next((self._chains[name] for name in parents if name in self._chains), None)
        if (
            chain is None
            or kind.is_part_of_output
            or (isinstance(kind.read, SingleRead) and "{id}" in kind.url_path)
        ):
            self._not_read.append(kind.noun)
            return
        placeholders = tuple((name, f"{{{name}}}") for name, _ in chain)
        templates = kind.read.paths if isinstance(kind.read, NodeListsRead) else (kind.read.path,)
        for template in templates:
            operation = fill_path_template(self._registry, kind, template, None, placeholders)
            if operation in self._answers:  # the kinds of a tree are read together
                continue
            path, query = split_query(fill_path_template(self._registry, kind, template, None, chain))
            match kind.read:
                case ListRead():
                    objects = self._read_first_page(kind, path, query, operation, kind.read.is_unpaged)
                    ids = (fill_id_template(item, kind.id_path) for item in objects)
                    first_id = next((id for id in ids if id is not None), None)
                    if first_id is not None:  # the kinds below are read in the first object
                        self._chains.setdefault(kind.name, ((kind.name, first_id), *chain))
                case NodeListsRead():
                    nodes = self._read_first_page(None, path, query, operation)
                    self._compare_nodes(kind, nodes, chain, operation, "items[]")
                case TreeRead(root_member=root):
                    nouns = tuple(node.noun for node in self._registry.tree_kinds(kind.key))
                    body = self._get(path, query, operation, nouns)
                    if body is not None:
                        self._compare_tree(kind, body, root, chain, operation, "")
                case SingleRead():
                    absent = isinstance(kind.shape, SingleEntry) and not kind.shape.exists_with_parent
                    body = self._get(path, query, operation, (kind.noun,), absent)
                    if body is not None:
                        self._compare(
                            operation, kind, [body], "", has_id=not isinstance(kind.shape, SingleEntry)
                        )

    def report(self) -> ContractReport:
        """Return the report of the responses that were checked so far."""
        return ContractReport(
            tuple(self._answers.values()), tuple(dict.fromkeys(self._forbidden)),
            tuple(dict.fromkeys(self._not_read)), self._estimate_requests(),
        )  # fmt: skip

    # --- requests -----------------------------------------------------------------------------------------

    def _get(
        self, path: str, query: Mapping[str, Any] | None, operation: str, nouns: tuple[str, ...],
        absent: bool = False,
    ) -> Any:  # fmt: skip
        """Return the response body, or None on an error status, and record the response under `operation`.

        An error status is recorded as a difference, except 403. With `absent`, a 404 is no difference.
        """
        try:
            body = self._client.get(path, dict(query or {}))
        except (InterruptedRequestError, NotSentError, UnauthorizedError):
            raise
        except ClientError as error:
            self._answers[operation] = CheckedResponse(operation, error.status, nouns)
            if error.status == 403:
                self._forbidden += nouns
            elif error.status != 404 or not absent:
                outcome = "no answer" if isinstance(error, UnknownOutcomeError) else f"status {error.status}"
                expected = "status 200"
                if error.status is not None and error.status < 300:
                    expected, outcome = "JSON", "another content type"
                self._add_differences(operation, [UnexpectedShape("", expected, outcome)])
            return None
        self._answers[operation] = CheckedResponse(operation, 200, nouns)
        return body

    def _read_first_page(
        self, kind: Kind | None, path: str, query: Mapping[str, Any] | None, operation: str,
        unpaged: bool = False,
    ) -> list[dict[str, Any]]:  # fmt: skip
        """Return the objects in the first page of a list, after comparing page and objects with the kind.

        With `kind` None, only the page is compared, and the caller compares the objects.
        """
        parameters = {**(query or {}), **({} if unpaged else {"limit": PAGE_LIMIT})}
        body = self._get(path, parameters, operation, (kind.noun,) if kind is not None else ())
        if body is None:
            return []
        self._add_differences(operation, _envelope_errors(body))
        items = body.get("items") if isinstance(body, dict) else None
        items = items if isinstance(items, list) else []
        if kind is not None:
            count = body.get("count")
            self._counts[kind.name] = count if type(count) is int else len(items)
            items = [
                one
                for one in items
                if not any(
                    _value_at(one, path_in_item) in foreign_values
                    for path_in_item, foreign_values in kind.foreign_items.items()
                )
            ]
            self._compare(operation, kind, items[:_MAX_ITEMS], "items[]")
        return [item for item in items if isinstance(item, dict)]

    # --- comparisons --------------------------------------------------------------------------------------

    def _compare(
        self, operation: str, kind: Kind, items: Iterable[Any], path: str, has_id: bool = True
    ) -> None:
        """Compare objects of a kind, and record their differences and the types of all members.

        `path` is the path of the objects in the response, as `items[]`.
        """
        types: dict[str, set[str]] = {}
        undeclared: set[str] = set()
        declared = {name for item in kind.readable_fields for name in _sources(item.response_path)}
        declared_top_names = {name.partition(".")[0] for name in declared}
        for item in items:
            self._add_differences(operation, shape_errors(kind, item, has_id), path)
            self._add_differences(operation, _unknown_words(kind, item), path)
            for name in declared:
                types.setdefault(name, set()).add(_type_at(item, name))
            if isinstance(item, dict):
                undeclared |= {
                    name for name in item if name not in declared_top_names and _NAME.fullmatch(name)
                }
        response = self._answers[operation]
        members = {
            self._member(UnexpectedShape(name, "", ""), path): tuple(sorted(type_names))
            for name, type_names in types.items()
        }
        merged = {
            name: tuple(sorted({*response.members.get(name, ()), *members.get(name, ())}))
            for name in sorted({*response.members, *members})
        }
        kinds = tuple(dict.fromkeys((*response.kinds, kind.noun)))
        self._answers[operation] = replace(
            response,
            kinds=kinds,
            members=merged,
            undeclared_members=tuple(sorted({*response.undeclared_members, *undeclared})),
        )

    def _add_differences(self, operation: str, errors: Iterable[UnexpectedShape], path: str = "") -> None:
        """Add shape errors to a checked response as differences, each once.

        Names that a user may have chosen are replaced (`_member`).
        """
        response = self._answers[operation]
        new = tuple(
            ContractDifference(operation, self._member(error, path), error.expected, error.found)
            for error in errors
        )
        self._answers[operation] = replace(
            response, differences=tuple(dict.fromkeys((*response.differences, *new)))
        )

    def _member(self, error: UnexpectedShape, path: str) -> str:
        """Return the member path of a difference: `[]` replaces a list index, `*` an undeclared name.

        An undeclared name may be a value of the user, and a report contains no values.
        """
        parts = [path] if path else []
        for part in error.member.split(".") if error.member else ():
            if part.isdecimal():
                parts[-1:] = [f"{parts[-1]}[]" if parts else "[]"]
            else:
                parts.append(part if part in self._declared_names else "*")
        return ".".join(parts)

    # --- trees --------------------------------------------------------------------------------------------

    def _compare_tree(
        self,
        kind: Kind,
        body_or_node: Any,
        member: str,
        chain: AncestorIds,
        operation: str,
        path: str,
    ) -> None:
        """Compare the nodes in one member of a tree response or of a node, and all their descendants."""
        nodes = body_or_node.get(member, ABSENT_VALUE) if isinstance(body_or_node, dict) else ABSENT_VALUE
        nodes_path = f"{path}.{member}".lstrip(".")
        if not isinstance(nodes, list):
            found = ABSENT if nodes is ABSENT_VALUE else wrong_type(nodes, "").found
            self._add_differences(operation, [UnexpectedShape(nodes_path, "a list", found)])
            return
        self._compare_nodes(kind, nodes, chain, operation, f"{nodes_path}[]")

    def _compare_nodes(
        self, kind: Kind, nodes: Iterable[Any], chain: AncestorIds, operation: str, path: str
    ) -> None:
        """Compare the navigation nodes of a list or tree with the declarations of their kinds.

        Count the nodes, and remember the first node of each kind, in which further kinds are read.
        """
        by_wire = {
            node_kind.shape.wire_type: node_kind
            for node_kind in self._registry.tree_kinds(kind.key)
            if isinstance(node_kind.shape, TreeNode)
        }
        for node in nodes:
            if not isinstance(node, dict) or not isinstance(node.get("object"), str):
                self._add_differences(
                    operation, [UnexpectedShape("object", "a text", _type_at(node, "object"))], path
                )
                continue
            node_kind = by_wire.get(node["object"])
            if node_kind is None:
                continue
            self._compare(operation, node_kind, [node], path)
            self._counts[node_kind.name] = self._counts.get(node_kind.name, 0) + 1
            if (id := fill_id_template(node, node_kind.id_path)) is not None:
                self._chains.setdefault(node_kind.name, ((node_kind.name, id), *chain))
            assert isinstance(node_kind.shape, TreeNode)
            if node_kind.shape.children_member and isinstance(kind.read, TreeRead):
                self._compare_tree(kind, node, node_kind.shape.children_member, chain, operation, path)

    # --- the cost -----------------------------------------------------------------------------------------

    def _estimate_requests(self) -> int:
        """Estimate how many requests read the whole organization.

        Each list is read once for each object that contains it. The estimate assumes that every object
        contains as much as the first object of its kind.
        """
        number = 2
        counted_groups: set[str] = set()
        totals = {self._registry.root.name: 1}
        for kind in self._registry.in_dependency_order:
            if kind.parent is None:
                continue
            parents = (self._registry.tree_owner(kind),) if kind.is_node else kind.parents
            parent_count = sum(totals.get(name, 0) for name in parents)
            totals[kind.name] = self._counts.get(kind.name, 0) * max(
                1, totals.get(self._chains[kind.name][1][0], 1) if kind.name in self._chains else 1
            )
            paths = kind.read.paths if isinstance(kind.read, NodeListsRead) else (kind.read.path,)
            group = kind.key if kind.is_node else kind.name
            if group not in counted_groups and kind.noun not in self._forbidden:
                counted_groups.add(group)
                paged = isinstance(kind.read, ListRead)
                pages = ceil(self._counts.get(kind.name, 0) / PAGE_LIMIT) if paged else 1
                number += parent_count * len(paths) * max(1, pages)
        return number


def _envelope_errors(body: Any) -> Iterator[UnexpectedShape]:
    """Yield the differences between a page of a list and the envelope `{items, next: {page}, count}`."""
    if not isinstance(body, dict):
        yield wrong_type(body, "an object")
        return
    items, following, count = (body.get(name, ABSENT_VALUE) for name in ("items", "next", "count"))
    if not isinstance(items, list):
        yield UnexpectedShape(
            "items", "a list", ABSENT if items is ABSENT_VALUE else wrong_type(items, "").found
        )
    else:
        for item in items:
            if not isinstance(item, dict):
                yield wrong_type(item, "an object").nested_in(0).nested_in("items")
    if following is not ABSENT_VALUE and following is not None:
        if not isinstance(following, dict):
            yield wrong_type(following, "an object").nested_in("next")
        elif not isinstance(following.get("page"), str | None):
            yield wrong_type(following["page"], "a text").nested_in("page").nested_in("next")
    if count is not ABSENT_VALUE and count is not None and type(count) is not int:
        yield wrong_type(count, "a whole number").nested_in("count")


def _unknown_words(kind: Kind, body: Any) -> Iterator[UnexpectedShape]:
    """Yield a difference for each enum field whose value in a response is none of the declared words."""
    for kind_field in kind.readable_fields:
        value_type = kind_field.type.item_type if isinstance(kind_field.type, List) else kind_field.type
        if not isinstance(value_type, Enum) or not isinstance(kind_field.response_path, str):
            continue
        value = _value_at(body, kind_field.response_path)
        values = value if isinstance(value, list) else [value]
        if any(isinstance(word, str) and word not in value_type.words for word in values):
            yield UnexpectedShape(kind_field.response_path, "a known value", "an unknown value")


def _sources(source: str | Mapping[str, str] | None) -> Iterator[str]:
    """Yield the dotted paths at which responses contain a field; a field composed of parts has several."""
    if isinstance(source, str):
        yield source
    elif source is not None:
        yield from source.values()


def _value_at(body: Any, path: str) -> Any:
    """Return the value at a dotted path; ABSENT_VALUE if there is none or if a parent is not an object."""
    try:
        return value_at_path(body, path)
    except UnexpectedShapeError:
        return ABSENT_VALUE


def _type_at(body: Any, path: str) -> str:
    """Return the name of the JSON type at a dotted path, ABSENT if there is no value."""
    value = _value_at(body, path)
    return ABSENT if value is ABSENT_VALUE else wrong_type(value, "").found


def _member_names(registry: Registry) -> Iterator[str]:
    """Yield the name of every member that a declaration, the list envelope or the user response contains.

    These names may appear in a report. Other names are replaced, because a user may have chosen them.
    """
    yield from ("items", "next", "page", "count", "object", "id", "displayName", "email")
    for kind in registry.in_dependency_order:
        yield from (part for name in re.findall(r"[\w.]+", kind.id_path) for part in name.split("."))
        if isinstance(kind.read, TreeRead):
            yield kind.read.root_member
        if isinstance(kind.shape, TreeNode) and kind.shape.children_member:
            yield kind.shape.children_member
        for kind_field in kind.readable_fields:
            yield from (part for name in _sources(kind_field.response_path) for part in name.split("."))
            yield from _names_in(kind_field.type)


def _names_in(of: Type) -> Iterator[str]:
    """Yield the names of all declared parts in a type, at any depth."""
    if isinstance(of, Object):
        yield from of.parts
        for part in of.parts.values():
            yield from _names_in(part)
    elif isinstance(of, OneOf):
        yield of.tag
        for form in of.forms.values():
            yield from _names_in(form)
    elif isinstance(of, List):
        yield from _names_in(of.item_type)
