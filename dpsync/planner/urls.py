"""Find public URLs that a plan changes, and what becomes of each old URL.

`url_impacts` starts from the live URLs. An old URL shows another object, is redirected, or is broken; for a
broken one, the result suggests a redirect. `Kind.url` declares the parts of a URL. If the declaration does
not explain the live URLs of a site, or the platform chooses a part, the later URL is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from dpsync.kinds.kind import Kind, Url
from dpsync.kinds.kind import TreeNode as NodeShape
from dpsync.kinds.short_forms import shorten_fields
from dpsync.kinds.types import quote_url_segment
from dpsync.model.address import Address
from dpsync.model.change import UrlImpact
from dpsync.planner.compare import FieldChange
from dpsync.planner.decide import Decisions
from dpsync.planner.outcome import UNKNOWN, NavigationTree, TreeBranch, live_trees

UrlOrUnknown = Any
"""A URL, None if the object is not visible, or UNKNOWN."""
_CHOSEN_BY_GITBOOK = "GitBook chooses a part of the URL"
_UNKNOWN_HOST = "dpsync does not know the host of the new URL"
_UNKNOWN_URL_FORM = "dpsync does not know the form of this site's URLs"
_RESTRUCTURED = "GitBook chooses the new position of the top-level spaces"


def url_impacts(decisions: Decisions, trees: Iterable[NavigationTree]) -> tuple[UrlImpact, ...]:
    """Return the changed URLs, by address."""
    changed = _changed_trees(decisions, trees)
    if not changed:
        return ()
    urls = _later_urls(decisions, changed)
    found = [impact for one in changed for impact in one.impacts(urls)]
    return tuple(sorted(found, key=lambda item: item.address))


def urls_after_apply(decisions: Decisions, trees: Iterable[NavigationTree]) -> UrlsAfterApply:
    """Return the URLs and redirects of all sites as they are after the apply."""
    return _later_urls(decisions, _changed_trees(decisions, trees))


def _changed_trees(decisions: Decisions, trees: Iterable[NavigationTree]) -> list[_TreeImpacts]:
    return [
        _TreeImpacts(decisions, tree)
        for tree in trees
        if tree.kind.url is not None and (tree.is_changed or _OwnerUrl(decisions, tree).changed_host_label)
    ]


def _later_urls(decisions: Decisions, changed: Iterable[_TreeImpacts]) -> UrlsAfterApply:
    return UrlsAfterApply(decisions, tuple((one.tree, one.urls.after) for one in changed))


def _url_declaration(one: TreeBranch | NavigationTree) -> Url:
    assert one.kind.url is not None
    return one.kind.url


# Nodes of a tree, below the URL of the owner.


def _urls_below(owner: TreeBranch, base: UrlOrUnknown) -> dict[Address, UrlOrUnknown]:
    """Return the URL of each node in a tree whose owner has the URL `base`."""
    found: dict[Address, UrlOrUnknown] = {owner.address: base}

    def walk(branch: TreeBranch, around: UrlOrUnknown) -> None:
        for inside in branch.children:
            here = _node_url(inside, around)
            if inside.kind.url is not None:
                found[inside.address] = here
            walk(inside, here)

    walk(owner, base)
    return found


def _node_url(branch: TreeBranch, parent_url: UrlOrUnknown) -> UrlOrUnknown:
    """Return the URL of a node; for a node without a URL, the URL below which its children are."""
    seen, url = _is_visible(branch), branch.kind.url
    if parent_url is None or seen is False:
        return None
    if url is None:
        return parent_url if seen is True else UNKNOWN
    bare, segment = branch.fields.get(url.without_segment_flag or ""), branch.fields.get(url.segment_field)
    if parent_url is UNKNOWN or seen is UNKNOWN or bare is UNKNOWN:
        return UNKNOWN
    if bare is True:
        return parent_url
    return f"{parent_url}{quote_url_segment(segment)}/" if isinstance(segment, str) else UNKNOWN


def _is_visible(branch: TreeBranch) -> Any:
    """Return whether a node's own fields make it visible: True, False or UNKNOWN."""
    values = [(branch.fields.get(name), right) for name, right in branch.kind.visible_when.items()]
    if any(value is not UNKNOWN and value not in right for value, right in values):
        return False
    return UNKNOWN if any(value is UNKNOWN for value, _ in values) else True


# Owners of trees.


def _custom_host_url(branch: TreeBranch) -> str | None:
    """Return the URL at an owner's own host (a custom hostname); None if there is none."""
    values = (branch.fields.get(name) for name in _url_declaration(branch).host_fields)
    return next((f"https://{value}/" for value in values if isinstance(value, str) and value), None)


def _live_host(branch: TreeBranch) -> str | None:
    """Return the live URL of an owner without its segment; None if the URL does not end with the segment."""
    segment = branch.fields.get(_url_declaration(branch).segment_field)
    if branch.url is None or not isinstance(segment, str) or _custom_host_url(branch) is not None:
        return None
    last = f"{quote_url_segment(segment)}/"
    return branch.url.removesuffix(last) if branch.url.endswith(f"/{last}") else None


class _OwnerUrl(Struct, frozen=True):
    """The URL of the owner of a tree, before and after the plan."""

    decided: Decisions
    tree: NavigationTree

    def later_url(self) -> tuple[UrlOrUnknown, str]:
        """Return the later URL, and "" or, if the URL is UNKNOWN, the reason."""
        before, after = self.tree.before, self.tree.after
        if after is None:
            return None, ""
        seen, own = _is_visible(after), _custom_host_url(after)
        if seen is False:
            return None, ""
        if seen is UNKNOWN:
            return UNKNOWN, _CHOSEN_BY_GITBOOK
        if own is not None:
            return own, ""
        segment = after.fields.get(_url_declaration(after).segment_field)
        if not isinstance(segment, str):
            return UNKNOWN, _CHOSEN_BY_GITBOOK
        if before is not None and before.url is not None and _custom_host_url(before) is None:
            if (host := _live_host(before)) is None:
                return before.url, ""  # the URL does not contain the segment
        else:
            host = self._host_of_siblings(after)
        host = self._with_label(host) if host is not None else None
        return (f"{host}{quote_url_segment(segment)}/", "") if host is not None else (UNKNOWN, _UNKNOWN_HOST)

    def _host_of_siblings(self, branch: TreeBranch) -> str | None:
        """Return the host of the other visible objects in the same list, if all have the same host."""
        sides, kind = self.decided.sides, branch.kind
        found = set()
        for identity, live in sides.snapshot.objects.items():
            if live.kind == kind.name and live.url is not None:
                address = sides.names.address(identity)
                if address.list_address == branch.address.list_address:
                    fields = {item.name: live.fields.get(item.name) for item in kind.fields}
                    found.add(_live_host(TreeBranch(address, kind, fields, url=live.url)))
        found.discard(None)
        return found.pop() if len(found) == 1 else None

    @property
    def changed_host_label(self) -> FieldChange | None:
        """The change of the organization's field from which the host begins, if the plan changes it."""
        around = self.decided.entries.get(self.tree.owner.organization)
        written = around.separately_written if around is not None else ()
        return next(
            (item for item in written if item.field.name == _url_declaration(self.tree).host_label_field),
            None,
        )

    def _with_label(self, host: str) -> str | None:
        """Return a host with the organization's later name; None if the host does not begin with the name."""
        item = self.changed_host_label
        if item is None:
            return host
        scheme, _, rest = host.partition("://")
        label, _, domain = rest.partition(".")
        known = label == item.before and isinstance(item.after, str)
        return f"{scheme}://{item.after}.{domain}" if known else None


# Impacts on one tree.


class _TreeUrls(Struct, frozen=True):
    """The URLs in a tree before and after the plan, and the reason why a later URL is UNKNOWN."""

    before: dict[Address, UrlOrUnknown]
    after: dict[Address, UrlOrUnknown]
    unknown_reason: str


class _TreeImpacts(Struct, frozen=True, dict=True):
    """The changed URLs of one tree."""

    decided: Decisions
    tree: NavigationTree

    @cached_property
    def urls(self) -> _TreeUrls:
        before, after = self.tree.before, self.tree.after
        was: dict[Address, UrlOrUnknown] = {}
        explained = True
        if before is not None:
            was = {one.address: one.url for one, _ in before.walk() if one.kind.url is not None}
            explained = was == _urls_below(before, before.url) or not self.tree.is_read
        base, why = _OwnerUrl(self.decided, self.tree).later_url()
        will = _urls_below(after, base) if after is not None else {}
        if after is not None and base is not None and not (explained and self.tree.is_predictable):
            will = dict.fromkeys(will.keys() | was.keys(), UNKNOWN)
            why = _UNKNOWN_URL_FORM if self.tree.is_predictable else _RESTRUCTURED
        return _TreeUrls(was, will, why)

    def impacts(self, later: UrlsAfterApply) -> Iterator[UrlImpact]:
        """Yield the changed URLs of the tree, with what becomes of each old URL."""
        was, will = self.urls.before, self.urls.after
        for address in self._leaf_addresses(was, will):
            old, new = was.get(address), will.get(address)
            if new is UNKNOWN:
                why = self.urls.unknown_reason or _CHOSEN_BY_GITBOOK
                yield UrlImpact(address=str(address), before=old, known=False, why=why)
            elif old != new:
                impact = UrlImpact(address=str(address), before=old, after=new)
                yield later.with_old_url_outcome(impact, self.tree) if old is not None else impact

    def _leaf_addresses(self, was: Iterable[Address], will: Iterable[Address]) -> list[Address]:
        """Return the nodes that hold no other nodes; only the owner if the nodes were not read."""
        known = {one.address: one.kind for one, _ in self.tree.walk_both()}
        found = dict.fromkeys([*was, *will])
        if not self.tree.is_read:
            return [address for address in found if address == self.tree.owner]
        return [address for address in found if _is_leaf_kind(known[address])]


def _is_leaf_kind(kind: Kind) -> bool:
    return isinstance(kind.shape, NodeShape) and not kind.shape.child_kinds and kind.url is not None


UrlsByAddress = Mapping[Address, Any]
"""The URL of each node in a tree; another value than a string if the node is invisible or unknown."""


class UrlsAfterApply(Struct, frozen=True, dict=True):
    """The URLs and redirects after the apply. `trees_with_urls` has each changed tree with its later URLs."""

    decided: Decisions
    trees_with_urls: tuple[tuple[NavigationTree, UrlsByAddress], ...]

    def with_old_url_outcome(self, impact: UrlImpact, tree: NavigationTree) -> UrlImpact:
        """Return the impact on a node with what becomes of its old URL, in the whole organization."""
        old = impact.before
        assert old is not None
        if old in self.objects_by_url:
            return impact.model_copy(update={"shows": str(self.objects_by_url[old])})
        for owner, base in self.owner_urls.items():
            path = _redirect_path(old.removeprefix(base)) if old.startswith(base) else None
            redirect = self._redirect_for(owner, path) if path is not None else None
            if redirect is not None:
                return impact.model_copy(update={"redirected": str(redirect)})
        home = self.owner_urls.get(tree.owner)
        if tree.before is None or home is None or home != tree.before.url:
            return impact  # if the whole tree moves, a redirect in it has no effect
        will = next(will for one, will in self.trees_with_urls if one is tree)
        return _RedirectSuggestion(self.decided, tree, will).with_redirect(
            impact, _redirect_path(old.removeprefix(home))
        )

    @cached_property
    def objects_by_url(self) -> Mapping[str, Address]:
        """Return the object at each URL.

        If a section and its default site space share a URL, return the site space.
        """
        return {url: address for address, url in self.urls.items()}

    @cached_property
    def urls(self) -> Mapping[Address, str]:
        """Return the URL of each site and node after the apply. Unchanged trees keep their live URLs."""
        found: dict[Address, str] = {}
        changed = {tree.owner for tree, _ in self.trees_with_urls}
        for around in live_trees(self.decided):
            if around.address not in changed:
                found |= {one.address: one.url for one, _ in around.walk() if one.url is not None}
        for _, will in self.trees_with_urls:
            found |= {address: url for address, url in will.items() if isinstance(url, str)}
        return found

    @cached_property
    def owner_urls(self) -> dict[Address, str]:
        """Return the URL of each site after the apply."""
        found = {one.address: one.url for one in live_trees(self.decided)}
        found |= {tree.owner: will.get(tree.owner) for tree, will in self.trees_with_urls}
        return {owner: url for owner, url in found.items() if isinstance(url, str)}

    def _redirect_for(self, owner: Address, path: str) -> Address | None:
        """Return the redirect for a path: the exact match, otherwise the one with the longest pattern."""
        redirects, path = self._active_redirects[owner], path.casefold()
        patterns = (source for source in redirects if source.endswith("*") and path.startswith(source[:-1]))
        return redirects.get(path) or redirects.get(max(patterns, key=len, default=""))

    @cached_property
    def _active_redirects(self) -> dict[Address, dict[str, Address]]:
        """For each owner, the redirects that are active after the apply, keyed by source path."""
        found: dict[Address, dict[str, Address]] = defaultdict(dict)
        for kind in self.decided.sides.registry.in_dependency_order:
            if kind.redirects is not None:
                for owner, address, fields in self.redirects(kind):
                    source = fields.get(kind.redirects.source_field)
                    acts = all(
                        fields.get(name) in right for name, right in kind.redirects.active_when.items()
                    )
                    if isinstance(source, str) and acts:
                        found[owner][_redirect_path(source).casefold()] = address
        return found

    def redirects(self, kind: Kind) -> Iterator[tuple[Address, Address, Mapping[str, Any]]]:
        """Yield each redirect that exists after the apply: its owner, its address and its fields."""
        sides, absent = self.decided.sides, {item.name: item.value_when_absent for item in kind.fields}
        for identity, live in sides.snapshot.objects.items():
            if live.kind != kind.name or live.parent is None or live.deleted:
                continue
            declared = identity in sides.names.declared or self.decided.deletions.deletes(identity)
            if not declared:
                owner, address = sides.names.address(live.parent), sides.names.address(identity)
                yield owner, address, {**absent, **live.fields}
        for address, resource in sides.entries.items():
            if resource.kind == kind.name and resource.parent and address in self.decided.entries:
                now = sides.live(address)
                yield resource.parent, address, {**absent, **(now.fields if now else {}), **resource.fields}


class _RedirectSuggestion(Struct, frozen=True, dict=True):
    """The suggestion of a redirect in a tree. `later_urls` has the later URLs of the tree."""

    decided: Decisions
    tree: NavigationTree
    later_urls: UrlsByAddress

    def with_redirect(self, impact: UrlImpact, path: str) -> UrlImpact:
        """Add a redirect to the node at its later URL, else to the nearest visible ancestor."""
        kinds = self.decided.sides.registry.children(self.tree.kind.name)
        redirecting = [(kind, kind.redirects) for kind in kinds if kind.redirects is not None]
        for one in reversed(self._chains[impact.location]):
            for kind, redirects in redirecting:
                template = redirects.targets_by_kind.get(one.kind.name)
                if template is not None and isinstance(self.later_urls.get(one.address), str):
                    place = self.tree.owner.child(*kind.key.split("."))
                    entry = {path: shorten_fields(kind, _fill_template(template, self._redirect_key(one)))}
                    return UrlImpact(
                        address=impact.address,
                        before=impact.before,
                        after=impact.after,
                        place=str(place),
                        redirect=entry,
                    )
        return impact

    @cached_property
    def _chains(self) -> dict[Address, tuple[TreeBranch, ...]]:
        """The later ancestors and itself for each node, the outermost first; the present ones if deleted."""
        return {one.address: (*above[1:], one) for one, above in self.tree.walk_both() if above}

    def _redirect_key(self, branch: TreeBranch) -> Any:
        """Return how a redirect names a node: by its keys, or by its id if the node has no entry."""
        if branch.address not in self.decided.sides.entries and branch.identity is not None:
            return {"id": self.decided.sides.snapshot.objects[branch.identity].id}
        depth = len(self.tree.owner.segments) + len(branch.kind.key.split("."))
        return "/".join(branch.address.segments[depth:])


def _redirect_path(text: str) -> str:
    """Return a path in the form of a redirect: with a leading slash, and not percent-encoded."""
    return "/" + unquote(text).strip("/")


def _fill_template(template: Any, key: Any) -> Any:
    if isinstance(template, Mapping):
        return {name: _fill_template(value, key) for name, value in template.items()}
    return key if template == "$key" else template
