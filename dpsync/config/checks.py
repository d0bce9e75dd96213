"""Check entries against each other: natural keys, unique values, exclusive flags, listed orders.

A natural key is a set of fields that identifies an object; an exclusive flag is true for one sibling only.
Input: all entries of the configuration. Output: `cross_checks` yields a finding for each problem.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property

from dpsync.kinds.address_patterns import NavigationPath, declared_container, declared_navigation_paths
from dpsync.kinds.kind import Field, Kind, ListOrder
from dpsync.kinds.redirect_paths import declared_redirect_faults
from dpsync.kinds.registry import Registry
from dpsync.kinds.types.free_form import Condition, VisitorSchema, claim_paths, unknown_claim
from dpsync.model.address import Address
from dpsync.model.cycles import MAX_SHOWN_NAMES, find_simple_cycles, format_cycle, rotated_to
from dpsync.model.desired import Entry
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.text import plural
from dpsync.model.values import PLAIN_TYPES, LiveId, Ref, Value, canonical_json, has_null

Resources = Mapping[Address, Entry]
_COMPARABLE_TYPES = PLAIN_TYPES | {Ref, LiveId}


def cross_checks(registry: Registry, resources: Resources) -> Iterable[Diagnostic]:
    """Yield a finding for each problem that concerns more than one entry.

    Single entries were already checked when their fields were read.
    """
    by_kind: dict[str, list[Entry]] = defaultdict(list)
    for resource in resources.values():
        by_kind[resource.kind].append(resource)
    navigation_paths = _NavigationPaths(registry, resources)
    for kind in registry.in_dependency_order:
        entries_of_kind = by_kind[kind.name]
        yield from _check_natural_keys(kind, entries_of_kind, navigation_paths)
        yield from _check_pins(kind, entries_of_kind)
        yield from _check_earlier_names(kind, entries_of_kind)
        for field in kind.fields:
            if field.unique_within:
                yield from _check_unique(resources, kind, field, field.unique_within, entries_of_kind)
            if field.mutually_exclusive_with and field.mutually_exclusive_with < field.name:
                yield from _check_alternatives(
                    kind, field.mutually_exclusive_with, field.name, entries_of_kind
                )
            if field.exclusive_within:
                yield from _check_exclusive(resources, kind, field, field.exclusive_within, entries_of_kind)
        for order in kind.list_orders:
            yield from _check_list_orders(order, entries_of_kind, resources)
        yield from _check_cycles(registry, kind, entries_of_kind)
        if kind.inherits_from_kind is not None:
            yield from _check_inherited_nulls(
                registry[kind.inherits_from_kind], kind, entries_of_kind, resources
            )
        yield from _check_claims(registry, kind, entries_of_kind, resources)
        if kind.platform_work.outputs:
            yield from _check_output_keys(
                registry[kind.platform_work.outputs.kind], kind, entries_of_kind, resources
            )
    yield from _check_redirects(registry, resources)


def _check_inherited_nulls(
    other: Kind, kind: Kind, entries_of_kind: list[Entry], resources: Resources
) -> Iterable[Diagnostic]:
    """Report a null for an inheritable field if no entry declares the object to inherit from.

    `other` is the kind of this object. The platform returns the effective value. Only a comparison with the
    inherited value shows whether the object still has a value of its own.
    """
    for resource in entries_of_kind:
        for name, value in resource.fields.items():
            if not has_null(value):
                continue
            owners = (scope_of(resources, resource, parent) for parent in other.parents)
            owner = next((owner for owner in owners if owner is not None), None)
            if owner is None or owner.child(*other.key.split(".")) in resources:
                continue
            yield Diagnostic(
                "DP222",
                f'"{name}" cannot be null: your files do not contain the {other.noun} of {owner}, so '
                f"dpsync cannot tell whether the {kind.noun} inherits this value",
                resource.field_span(name),
                str(resource.address),
                f'add "{other.key}" with at least one field to {owner}',
            )


def scope_of(resources: Resources, resource: Entry, scope: str) -> Address | None:
    """Return the ancestor within which a value of an entry must be unique.

    `scope` is "parent", or the kind of the ancestor. None if there is no such ancestor.
    """
    if scope == "parent":
        return resource.parent
    ancestor = resources.get(resource.parent) if resource.parent else None
    while ancestor is not None and ancestor.kind != scope:
        ancestor = resources.get(ancestor.parent) if ancestor.parent else None
    return ancestor.address if ancestor else None


class _NavigationPaths:
    """The navigation paths at which the files show each entry.

    Computing all paths is slow, so it happens only if two entries have the same natural key.
    """

    def __init__(self, registry: Registry, resources: Resources) -> None:
        self._registry, self._resources = registry, resources

    @cached_property
    def _paths_by_entry(self) -> Mapping[Address, set[NavigationPath]]:
        return declared_navigation_paths(self._registry, self._resources)

    def paths_of(self, entry: Entry) -> set[NavigationPath]:
        """Return the navigation paths that show an entry; empty for an entry outside the navigation."""
        return self._paths_by_entry.get(entry.address, set())


def _check_natural_keys(
    kind: Kind, entries_of_kind: list[Entry], navigation_paths: _NavigationPaths
) -> Iterable[Diagnostic]:
    """Report two unpinned entries that dpsync cannot tell apart on the platform.

    They have the same natural key (such as a title), the same tie-breakers (further fields that tell such
    objects apart), and no different navigation paths.
    """
    if not kind.natural_keys or kind.key_field or isinstance(kind.natural_keys[0], tuple):
        return
    name = kind.natural_keys[0]
    parts = (name, *kind.tie_breakers)
    entries_by_values: dict[tuple[Address | None, tuple[Hashable, ...]], list[Entry]] = defaultdict(list)
    for resource in entries_of_kind:
        if not resource.pin and resource.fields.get(name) is not None:
            values = tuple(_comparable_value(resource.fields.get(part)) for part in parts)
            entries_by_values[resource.parent, values].append(resource)
    for entries in entries_by_values.values():
        if len(entries) == 1 or kind.field(name).unique_within:
            continue
        for resource, other in _indistinguishable_pairs(entries, navigation_paths):
            shared = f'the {name} "{resource.fields[name]}"'
            show = ", or show them at different paths" if kind.owner_list is not None else ""
            yield Diagnostic(
                "DP223",
                f"two {plural(kind.noun)} have {shared}, so dpsync cannot tell them apart",
                resource.field_span(name),
                str(resource.address),
                f'rename one of the two entries, or add "id" to both entries{show}',
                (("the other entry", other.field_span(name)),),
                cause=str(other.address.field(name)),
            )


def _indistinguishable_pairs(
    entries: list[Entry], navigation_paths: _NavigationPaths
) -> Iterable[tuple[Entry, Entry]]:
    """Pair each entry with an earlier entry of the same natural key that dpsync cannot tell apart from it.

    dpsync distinguishes two entries if the navigation shows both, at different paths. So an entry without
    a path, which the navigation does not show, cannot be told apart from any other entry. `entries` all have
    the same natural key (such as a title) and the same tie-breakers (further fields to tell objects apart).
    """
    first, *later_entries = entries
    entries_by_path = dict.fromkeys(navigation_paths.paths_of(first), first)
    entry_without_path = None if entries_by_path else first
    for entry in later_entries:
        paths = navigation_paths.paths_of(entry)
        entry_with_same_path = next(
            (entries_by_path[path] for path in paths if path in entries_by_path), None
        )
        other = (entry_without_path or entry_with_same_path) if paths else first
        if other is not None:
            yield entry, other
        entry_without_path = entry_without_path or (None if paths else entry)
        entries_by_path |= {path: entry for path in paths if path not in entries_by_path}


def _comparable_value(value: Value) -> Hashable:
    """Return a hashable value that is equal exactly for equal field values.

    The type is part of the value, because `1 == True` in Python.
    """
    return (type(value), value) if type(value) in _COMPARABLE_TYPES else canonical_json(value)


def _check_pins(kind: Kind, entries_of_kind: list[Entry]) -> Iterable[Diagnostic]:
    """Report two entries of one parent that are pinned to the same id, so both would manage one object."""
    seen: dict[tuple[Address | None, str], Entry] = {}
    for resource in entries_of_kind:
        if resource.pin is None:
            continue
        other = seen.setdefault((resource.parent, resource.pin), resource)
        if other is not resource:
            related = (("the other entry", other.field_span("id")),)
            message = f'two {plural(kind.noun)} have the id "{resource.pin}"'
            yield Diagnostic(
                "DP224",
                message,
                resource.field_span("id"),
                str(resource.address),
                "two entries cannot manage the same object: correct or delete one of the ids",
                related,
                cause=str(other.address),
            )


def _check_earlier_names(kind: Kind, entries_of_kind: list[Entry]) -> Iterable[Diagnostic]:
    """Report entries of one parent with the same value under `previously`."""
    seen: dict[tuple[Address | None, bytes], Entry] = {}
    for resource in entries_of_kind:
        for fields in resource.previously:
            other = seen.setdefault((resource.parent, canonical_json(fields)), resource)
            if other is not resource:
                yield Diagnostic(
                    "DP229",
                    f'two {plural(kind.noun)} have the same value under "previously"',
                    resource.field_span("previously"),
                    str(resource.address),
                    'delete "previously" from one of the two',
                    (("the other entry", other.field_span("previously")),),
                    cause=str(other.address),
                )


def _check_unique(
    resources: Resources, kind: Kind, field: Field, scope: str, entries_of_kind: list[Entry]
) -> Iterable[Diagnostic]:
    """Report entries of one scope with the same value of a field that must be unique."""
    seen: dict[tuple[Address | None, str], Entry] = {}
    for resource in entries_of_kind:
        value = resource.fields.get(field.name)
        if value is None:
            continue
        other = seen.setdefault((scope_of(resources, resource, scope), str(value)), resource)
        if other is not resource:
            yield Diagnostic(
                "DP225",
                f'two {plural(kind.noun)} have the {field.name} "{value}"',
                resource.field_span(field.name),
                str(resource.address),
                f"each {field.name} must be unique: change one of the two",
                (("the first one", other.field_span(field.name)),),
                cause=str(other.address.field(field.name)),
            )


def _check_exclusive(
    resources: Resources, kind: Kind, field: Field, scope: str, entries_of_kind: list[Entry]
) -> Iterable[Diagnostic]:
    """Report entries of one scope that set a flag which only one entry can have."""
    seen: dict[Address | None, Entry] = {}
    for resource in entries_of_kind:
        if resource.fields.get(field.name) is not True:
            continue
        other = seen.setdefault(scope_of(resources, resource, scope), resource)
        if other is not resource:
            message = f"two {plural(kind.noun)} have `{field.name}: true`, but only one can"
            related = (("the first one", other.field_span(field.name)),)
            yield Diagnostic(
                "DP226",
                message,
                resource.field_span(field.name),
                str(resource.address),
                f"delete `{field.name}: true` from one of the two",
                related,
                cause=str(other.address.field(field.name)),
            )


def _check_alternatives(
    kind: Kind, first_field: str, second_field: str, entries_of_kind: list[Entry]
) -> Iterable[Diagnostic]:
    """Report entries with a value in both of two fields that exclude each other."""
    for resource in entries_of_kind:
        if resource.fields.get(first_field) is None or resource.fields.get(second_field) is None:
            continue
        yield Diagnostic(
            "DP238",
            f"{kind.noun_with_article} can have only one of the fields {first_field} and {second_field}",
            resource.field_span(second_field),
            str(resource.address),
            f"delete one of the two lines. To clear a value in GitBook, write {first_field}: null",
            (("the other field", resource.field_span(first_field)),),
            cause=str(resource.address.field(first_field)),
        )


def _check_list_orders(
    order: ListOrder, entries_of_kind: list[Entry], resources: Resources
) -> Iterable[Diagnostic]:
    """Report entries in the order list of an object that are not placed in this object.

    The list may only sort what the object contains. `order` names the list, and the field that places an
    entry.
    """
    for container in entries_of_kind:
        for ref in container.fields.get(order.name) or ():
            listed_entry = resources.get(ref.address) if isinstance(ref, Ref) else None
            if listed_entry is None:
                continue
            if order.place_field in listed_entry.spans and order.place_field not in listed_entry.fields:
                continue  # the field is invalid, so it already has a finding
            if declared_container(order.place_field, listed_entry) != container.address:
                expected = "null" if listed_entry.parent == container.address else container.key
                expected_line = f"{order.place_field}: {expected}"
                yield Diagnostic(
                    "DP227",
                    f'"{order.name}" of "{container.key}" lists "{listed_entry.key}", '
                    f'but the entry "{listed_entry.key}" has no {expected_line}',
                    container.field_span(order.name),
                    str(container.address),
                    f"add {expected_line} to the entry, or delete the key from the list",
                    (("the entry", listed_entry.span),),
                )


def _check_cycles(registry: Registry, kind: Kind, entries_of_kind: list[Entry]) -> Iterable[Diagnostic]:
    """Report entries that contain each other, such as a collection inside its own child collection.

    Only fields that name a containing object of the same kind, such as a parent collection, can form such a
    cycle.
    """
    pins = {resource.pin: resource.address for resource in entries_of_kind if resource.pin is not None}
    for field in (place_field for other, place_field in registry.place_fields(kind.name) if other is kind):
        containers: dict[Address, Address] = {}
        for resource in entries_of_kind:
            value = resource.fields.get(field.name)
            container = pins.get(value.id) if isinstance(value, LiveId) else getattr(value, "address", None)
            if container is not None:
                containers[resource.address] = container
        by_address = {resource.address: resource for resource in entries_of_kind}
        for cycle in find_simple_cycles(sorted(containers), containers.get):
            first, *others = (by_address[entry] for entry in rotated_to(min(cycle), cycle))
            names = [f'"{entry.key}"' for entry in (first, *others, first)]
            yield Diagnostic(
                "DP235",
                f"{kind.noun_with_article} would be inside itself: {format_cycle(names, ' in ')}",
                first.field_span(field.name),
                str(first.address),
                f"change or delete the {field.name} of one of them",
                tuple(
                    (f'the {field.name} of "{entry.key}"', entry.field_span(field.name))
                    for entry in others[:MAX_SHOWN_NAMES]
                ),
            )


def _check_claims(
    registry: Registry, kind: Kind, entries_of_kind: list[Entry], resources: Resources
) -> Iterable[Diagnostic]:
    """Yield a finding for each claim in a condition that the visitor schema of its site does not define.

    A site may have a JSON schema of the claims about its visitors, by which conditions show content.
    """
    fields = [field.name for field in kind.fields if isinstance(field.type, Condition)]
    if not fields:
        return
    schemas = _visitor_schemas(registry, resources)
    for resource in entries_of_kind:
        owner = next(
            (address for address in resource.address.self_and_ancestors() if address in schemas), None
        )
        if owner is None:
            continue
        declared, schema = schemas[owner]
        claims = (
            (field, path) for field in fields for path in claim_paths(str(resource.fields.get(field) or ""))
        )
        for field, path in claims:
            if (unknown := unknown_claim(path, schema)) is not None:
                claim, hint = unknown
                yield Diagnostic(
                    "DP241",
                    f'the visitor schema does not define the claim "{claim}"',
                    resource.field_span(field),
                    str(resource.address),
                    hint,
                    (("the visitor schema", declared.span),),
                )


def _visitor_schemas(registry: Registry, resources: Resources) -> dict[Address, tuple[Entry, Value]]:
    """Return each declared visitor schema with its entry, keyed by the address of its site."""
    kinds = {
        kind.name: field.name
        for kind in registry.in_dependency_order
        for field in kind.fields
        if isinstance(field.type, VisitorSchema)
    }
    return {
        entry.parent: (entry, entry.fields[kinds[entry.kind]])
        for entry in resources.values()
        if entry.kind in kinds and entry.parent is not None and kinds[entry.kind] in entry.fields
    }


def _check_output_keys(
    output: Kind, maker: Kind, entries_of_kind: list[Entry], resources: Resources
) -> Iterable[Diagnostic]:
    """Report two entries with one key, if one of them creates an object of the other one's kind.

    `maker` is the kind whose entries make GitBook create another object, such as a translation its space.
    `output` is the kind of that object, which gets the key of the entry.
    """
    for resource in entries_of_kind:
        parent = resource.parent
        other = resources.get(parent.child(*output.key.split("."), resource.key)) if parent else None
        if other is not None:
            yield Diagnostic(
                "DP213",
                f'"{resource.key}" is the key of a {output.noun} and of a {maker.noun}. The '
                f"{output.noun} that "
                f"the {maker.noun} creates also has this key",
                resource.span,
                str(resource.address),
                "change the key of one of the two",
                (("the first one", other.span),),
            )


def _check_redirects(registry: Registry, resources: Resources) -> Iterable[Diagnostic]:
    """Yield a finding for each redirect circle, and for each redirect from the path of a navigation node.

    A circle is an error only if none of its sources is the path of a node: then visitors see an endless
    redirect. Each other finding is a warning.
    """
    for fault in declared_redirect_faults(registry, resources):
        first, *others = (resources[address] for address in fault.redirects)
        redirects = registry[first.kind].redirects
        assert redirects is not None
        node = resources[fault.node] if fault.node is not None else None
        noun = registry[node.kind].noun if node is not None else ""
        related = [
            (f'"{redirect.key}" is redirected', redirect.field_span(redirects.source_field))
            for redirect in others[:MAX_SHOWN_NAMES]
        ]
        if node is not None:
            related.append((f"the {noun} is declared", node.span))
        yield Diagnostic(
            "DP247" if fault.is_cycle else "DP248",
            fault.message(noun),
            first.field_span(redirects.source_field),
            str(first.address),
            fault.hint(noun),
            tuple(related),
            severity="warning" if node is not None else "error",
        )
