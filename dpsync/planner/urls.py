"""Find public URLs that a plan changes, and what becomes of each old URL.

Input: decisions (what happens to each object) and live URLs. Output: `url_impacts`. An old URL shows another
object, is redirected, or is broken; for a broken one, the result suggests a redirect. `Kind.url` declares the
parts of a URL. If the declaration does not explain the live URLs of a site, or GitBook chooses a part, the
later URL is unknown.
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
from dpsync.planner.navigation import UNKNOWN, NavigationTree, TreeBranch, live_trees

UrlOrUnknown = Any
"""A URL, None if the object is not visible, or UNKNOWN."""
_CHOSEN_BY_GITBOOK = "GitBook chooses a part of the URL"
_UNKNOWN_HOST = "dpsync does not know the host of the new URL"
_UNKNOWN_URL_FORM = "dpsync does not know the form of this site's URLs"
_RESTRUCTURED = "GitBook chooses the new position of the top-level spaces"


def url_impacts(decisions: Decisions, trees: Iterable[NavigationTree]) -> tuple[UrlImpact, ...]:
    """Return each changed URL with what becomes of the old URL, by address."""
    changed = _changed_trees(decisions, trees)
    if not changed:
        return ()
    urls = _later_urls(decisions, changed)
    impacts = [impact for tree in changed for impact in tree.impacts(urls)]
    return tuple(sorted(impacts, key=lambda impact: impact.address))


def urls_after_apply(decisions: Decisions, trees: Iterable[NavigationTree]) -> UrlsAfterApply:
    """Return the URLs and redirects of all sites as they are after the apply."""
    return _later_urls(decisions, _changed_trees(decisions, trees))


def _changed_trees(decisions: Decisions, trees: Iterable[NavigationTree]) -> list[_TreeImpacts]:
    """Return the trees (of sites) whose URLs may change: their contents or the host label change."""
    return [
        _TreeImpacts(decisions, tree)
        for tree in trees
        if tree.kind.url is not None and (tree.is_changed or _OwnerUrl(decisions, tree).changed_host_label)
    ]


def _later_urls(decisions: Decisions, changed: Iterable[_TreeImpacts]) -> UrlsAfterApply:
    """Return the URLs and redirects of all sites after the apply; unchanged trees keep their URLs."""
    return UrlsAfterApply(decisions, tuple((impacts.tree, impacts.urls.after) for impacts in changed))


def _url_declaration(node: TreeBranch | NavigationTree) -> Url:
    """Return how the kind of an owner declares the parts of its URL."""
    assert node.kind.url is not None
    return node.kind.url


# Nodes of a tree, below the URL of the owner.


def _urls_below(owner: TreeBranch, owner_url: UrlOrUnknown) -> dict[Address, UrlOrUnknown]:
    """Return the URLs of a site (`owner`) and of all its nodes by address, given the URL of the site."""
    urls: dict[Address, UrlOrUnknown] = {owner.address: owner_url}

    def add_children(parent: TreeBranch, parent_url: UrlOrUnknown) -> None:
        """Add the URLs of all nodes inside a node to `urls`."""
        for child in parent.children:
            url = _node_url(child, parent_url)
            if child.kind.url is not None:
                urls[child.address] = url
            add_children(child, url)

    add_children(owner, owner_url)
    return urls


def _node_url(branch: TreeBranch, parent_url: UrlOrUnknown) -> UrlOrUnknown:
    """Return the URL of a node; None if it is not visible, UNKNOWN if the platform chooses a part.

    A node without a URL of its own, such as a section group, has the URL of its parent.
    """
    is_visible, url = _is_visible(branch), branch.kind.url
    if parent_url is None or is_visible is False:
        return None
    if url is None:
        return parent_url if is_visible is True else UNKNOWN
    has_no_segment, segment = (
        branch.fields.get(url.without_segment_flag or ""),
        branch.fields.get(url.segment_field),
    )
    if parent_url is UNKNOWN or is_visible is UNKNOWN or has_no_segment is UNKNOWN:
        return UNKNOWN
    if has_no_segment is True:
        return parent_url
    return f"{parent_url}{quote_url_segment(segment)}/" if isinstance(segment, str) else UNKNOWN


def _is_visible(branch: TreeBranch) -> Any:
    """Return whether a node's own fields make it visible: True, False or UNKNOWN."""
    values = [
        (branch.fields.get(name), visible_values) for name, visible_values in branch.kind.visible_when.items()
    ]
    if any(value is not UNKNOWN and value not in visible_values for value, visible_values in values):
        return False
    return UNKNOWN if any(value is UNKNOWN for value, _ in values) else True


# Owners of trees.


def _custom_host_url(branch: TreeBranch) -> str | None:
    """Return the URL of an owner (site) with a custom hostname; None if it has none."""
    values = (branch.fields.get(name) for name in _url_declaration(branch).host_fields)
    return next((f"https://{value}/" for value in values if isinstance(value, str) and value), None)


def _live_host(branch: TreeBranch) -> str | None:
    """Return the live URL of a site (owner) without the site's own segment, as "https://acme.gitbook.io/".

    The result is None for a custom hostname, or if the URL does not end with the segment.
    """
    segment = branch.fields.get(_url_declaration(branch).segment_field)
    if branch.url is None or not isinstance(segment, str) or _custom_host_url(branch) is not None:
        return None
    path = f"{quote_url_segment(segment)}/"
    return branch.url.removesuffix(path) if branch.url.endswith(f"/{path}") else None


class _OwnerUrl(Struct, frozen=True):
    """The URL of a site (the owner of a navigation tree), before and after the plan."""

    decisions: Decisions
    tree: NavigationTree

    def later_url(self) -> tuple[UrlOrUnknown, str]:
        """Return the URL of the site (the owner) after the plan, and the reason if it is UNKNOWN (else "").

        The URL is None if the site is deleted or not visible. A custom hostname decides; otherwise the
        site's path segment is added to its live host, or for a new site to the host of its siblings.
        """
        before, after = self.tree.before, self.tree.after
        if after is None:
            return None, ""
        is_visible, custom_url = _is_visible(after), _custom_host_url(after)
        if is_visible is False:
            return None, ""
        if is_visible is UNKNOWN:
            return UNKNOWN, _CHOSEN_BY_GITBOOK
        if custom_url is not None:
            return custom_url, ""
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
        """Return the host of the other visible sites in the same list; None if they have different hosts."""
        sides, kind = self.decisions.sides, branch.kind
        hosts = set()
        for identity, live in sides.snapshot.objects.items():
            if live.kind == kind.name and live.url is not None:
                address = sides.names.address(identity)
                if address.list_address == branch.address.list_address:
                    fields = {field.name: live.fields.get(field.name) for field in kind.fields}
                    hosts.add(_live_host(TreeBranch(address, kind, fields, url=live.url)))
        hosts.discard(None)
        return hosts.pop() if len(hosts) == 1 else None

    @property
    def changed_host_label(self) -> FieldChange | None:
        """The planned change of the organization's hostname, such as `acme` in `acme.gitbook.io`; or None.

        It changes the URLs of all sites on this host.
        """
        organization = self.decisions.entries.get(self.tree.owner.organization)
        changes = organization.separately_written if organization is not None else ()
        return next(
            (
                change
                for change in changes
                if change.field.name == _url_declaration(self.tree).host_label_field
            ),
            None,
        )

    def _with_label(self, host: str) -> str | None:
        """Return a host with the later name of the organization, if the plan changes that name.

        The result is None if the host does not begin with the present name.
        """
        change = self.changed_host_label
        if change is None:
            return host
        scheme, _, label_and_domain = host.partition("://")
        label, _, domain = label_and_domain.partition(".")
        is_label = label == change.before and isinstance(change.after, str)
        return f"{scheme}://{change.after}.{domain}" if is_label else None


# Impacts on one tree.


class _TreeUrls(Struct, frozen=True):
    """The URLs in a tree before and after the plan, and the reason why a later URL is UNKNOWN."""

    before: dict[Address, UrlOrUnknown]
    after: dict[Address, UrlOrUnknown]
    unknown_reason: str


class _TreeImpacts(Struct, frozen=True, dict=True):
    """The URLs of one tree that the plan changes, with what becomes of each old URL."""

    decisions: Decisions
    tree: NavigationTree

    @cached_property
    def urls(self) -> _TreeUrls:
        """The URLs in the tree before and after the plan.

        If the declaration of URLs does not explain all live URLs of the tree, all later URLs are UNKNOWN.
        """
        before, after = self.tree.before, self.tree.after
        urls_before: dict[Address, UrlOrUnknown] = {}
        is_form_known = True
        if before is not None:
            urls_before = {node.address: node.url for node, _ in before.walk() if node.kind.url is not None}
            is_form_known = urls_before == _urls_below(before, before.url) or not self.tree.is_read
        base, reason = _OwnerUrl(self.decisions, self.tree).later_url()
        urls_after = _urls_below(after, base) if after is not None else {}
        if after is not None and base is not None and not (is_form_known and self.tree.is_predictable):
            urls_after = dict.fromkeys(urls_after.keys() | urls_before.keys(), UNKNOWN)
            reason = _UNKNOWN_URL_FORM if self.tree.is_predictable else _RESTRUCTURED
        return _TreeUrls(urls_before, urls_after, reason)

    def impacts(self, later: UrlsAfterApply) -> Iterator[UrlImpact]:
        """Yield the changed URLs of the tree, with what becomes of each old URL."""
        urls_before, urls_after = self.urls.before, self.urls.after
        for address in self._leaf_addresses(urls_before, urls_after):
            old, new = urls_before.get(address), urls_after.get(address)
            if new is UNKNOWN:
                reason = self.urls.unknown_reason or _CHOSEN_BY_GITBOOK
                yield UrlImpact(address=str(address), before=old, known=False, why=reason)
            elif old != new:
                impact = UrlImpact(address=str(address), before=old, after=new)
                yield later.with_old_url_outcome(impact, self.tree) if old is not None else impact

    def _leaf_addresses(self, urls_before: Iterable[Address], urls_after: Iterable[Address]) -> list[Address]:
        """Return the nodes, old and new, that have a URL but cannot have children (site spaces).

        Only their URLs lead to content. If the nodes were not read, return only the site (the owner).
        """
        kinds = {node.address: node.kind for node, _ in self.tree.walk_both()}
        addresses = dict.fromkeys([*urls_before, *urls_after])
        if not self.tree.is_read:
            return [address for address in addresses if address == self.tree.owner]
        return [
            address
            for address in addresses
            if isinstance(shape := kinds[address].shape, NodeShape)
            and not shape.child_kinds
            and kinds[address].url is not None
        ]


UrlsByAddress = Mapping[Address, Any]
"""The URL of each node in a tree; another value than a string if the node is invisible or unknown."""


class UrlsAfterApply(Struct, frozen=True, dict=True):
    """The URLs and redirects after the apply. `trees_with_urls` has each changed tree with its later URLs."""

    decisions: Decisions
    trees_with_urls: tuple[tuple[NavigationTree, UrlsByAddress], ...]

    def with_old_url_outcome(self, impact: UrlImpact, tree: NavigationTree) -> UrlImpact:
        """Add to a changed URL (`impact`) what visitors of the old URL will find, and return the result.

        Another object has the URL, a redirect of any site leads to another URL, or the URL is broken. In the
        last case, the result suggests a redirect, unless the whole site gets another URL.
        """
        old = impact.before
        assert old is not None
        if old in self.objects_by_url:
            return impact.model_copy(update={"shows": str(self.objects_by_url[old])})
        for owner, base in self.owner_urls.items():
            path = _redirect_path(old.removeprefix(base)) if old.startswith(base) else None
            redirect = self._redirect_for(owner, path) if path is not None else None
            if redirect is not None:
                return impact.model_copy(update={"redirected": str(redirect)})
        site_url = self.owner_urls.get(tree.owner)
        if tree.before is None or site_url is None or site_url != tree.before.url:
            return impact  # if the whole tree moves, a redirect in it has no effect
        urls = next(urls for changed_tree, urls in self.trees_with_urls if changed_tree is tree)
        return _RedirectSuggestion(self.decisions, tree, urls).with_redirect(
            impact, _redirect_path(old.removeprefix(site_url))
        )

    @cached_property
    def objects_by_url(self) -> Mapping[str, Address]:
        """The object at each URL. A section and its default site space share a URL; the site space wins."""
        return {url: address for address, url in self.urls.items()}

    @cached_property
    def urls(self) -> Mapping[Address, str]:
        """The URL of each site and node after the apply. Unchanged trees keep their live URLs."""
        urls: dict[Address, str] = {}
        changed = {tree.owner for tree, _ in self.trees_with_urls}
        for site in live_trees(self.decisions):
            if site.address not in changed:
                urls |= {node.address: node.url for node, _ in site.walk() if node.url is not None}
        for _, urls_after in self.trees_with_urls:
            urls |= {address: url for address, url in urls_after.items() if isinstance(url, str)}
        return urls

    @cached_property
    def owner_urls(self) -> dict[Address, str]:
        """The URL of each site after the apply."""
        urls = {site.address: site.url for site in live_trees(self.decisions)}
        urls |= {tree.owner: urls_after.get(tree.owner) for tree, urls_after in self.trees_with_urls}
        return {owner: url for owner, url in urls.items() if isinstance(url, str)}

    def _redirect_for(self, owner: Address, path: str) -> Address | None:
        """Return the redirect for a path: the one with this source, or the longest pattern that matches."""
        redirects, path = self._active_redirects[owner], path.casefold()
        patterns = (source for source in redirects if source.endswith("*") and path.startswith(source[:-1]))
        return redirects.get(path) or redirects.get(max(patterns, key=len, default=""))

    @cached_property
    def _active_redirects(self) -> dict[Address, dict[str, Address]]:
        """The redirects that are active after the apply, by owner (site) and source path."""
        redirects: dict[Address, dict[str, Address]] = defaultdict(dict)
        for kind in self.decisions.sides.registry.in_dependency_order:
            if kind.redirects is not None:
                for owner, address, fields in self.redirects(kind):
                    source = fields.get(kind.redirects.source_field)
                    is_active = all(
                        fields.get(name) in active_values
                        for name, active_values in kind.redirects.active_when.items()
                    )
                    if isinstance(source, str) and is_active:
                        redirects[owner][_redirect_path(source).casefold()] = address
        return redirects

    def redirects(self, kind: Kind) -> Iterator[tuple[Address, Address, Mapping[str, Any]]]:
        """Yield each redirect of a kind after the apply: its owner (site), its address and its fields."""
        sides = self.decisions.sides
        defaults = {field.name: field.value_when_absent for field in kind.fields}
        for identity, live in sides.snapshot.objects.items():
            if live.kind != kind.name or live.parent is None or live.deleted:
                continue
            if identity not in sides.names.declared and not self.decisions.deletions.deletes(identity):
                owner, address = sides.names.address(live.parent), sides.names.address(identity)
                yield owner, address, {**defaults, **live.fields}
        for address, entry in sides.entries.items():
            if entry.kind == kind.name and entry.parent and address in self.decisions.entries:
                live_object = sides.live(address)
                live_fields = live_object.fields if live_object else {}
                yield entry.parent, address, {**defaults, **live_fields, **entry.fields}


class _RedirectSuggestion(Struct, frozen=True, dict=True):
    """The suggestion of a redirect in a tree. `later_urls` has the later URLs of the tree."""

    decisions: Decisions
    tree: NavigationTree
    later_urls: UrlsByAddress

    def with_redirect(self, impact: UrlImpact, path: str) -> UrlImpact:
        """Add to a changed URL (`impact`) a redirect from the old path, as an entry for the files.

        The redirect leads to the node at its later URL, else to the nearest ancestor with a URL.
        """
        kinds = self.decisions.sides.registry.children(self.tree.kind.name)
        redirect_kinds = [(kind, kind.redirects) for kind in kinds if kind.redirects is not None]
        for branch in reversed(self._branch_paths[impact.location]):
            for kind, redirects in redirect_kinds:
                template = redirects.targets_by_kind.get(branch.kind.name)
                if template is not None and isinstance(self.later_urls.get(branch.address), str):
                    list_address = self.tree.owner.child(*kind.key.split("."))
                    target = _fill_template(template, self._redirect_key(branch))
                    entry = {path: shorten_fields(kind, target)}
                    return UrlImpact(
                        address=impact.address,
                        before=impact.before,
                        after=impact.after,
                        place=str(list_address),
                        redirect=entry,
                    )
        return impact

    @cached_property
    def _branch_paths(self) -> dict[Address, tuple[TreeBranch, ...]]:
        """The path to each node, without the site (the owner): its ancestors, outermost first, and the node.

        A node that the plan deletes has its present path, any other node its later path.
        """
        return {
            node.address: (*ancestors[1:], node) for node, ancestors in self.tree.walk_both() if ancestors
        }

    def _redirect_key(self, branch: TreeBranch) -> Any:
        """Return how a redirect names a node: by its keys, or by its id if the node has no entry."""
        if branch.address not in self.decisions.sides.entries and branch.identity is not None:
            return {"id": self.decisions.sides.snapshot.objects[branch.identity].id}
        depth = len(self.tree.owner.segments) + len(branch.kind.key.split("."))
        return "/".join(branch.address.segments[depth:])


def _redirect_path(text: str) -> str:
    """Return a path in the form of a redirect: with a leading slash, and not percent-encoded."""
    return "/" + unquote(text).strip("/")


def _fill_template(template: Any, key: Any) -> Any:
    """Return a template with each "$key" replaced by a key."""
    if isinstance(template, Mapping):
        return {name: _fill_template(value, key) for name, value in template.items()}
    return key if template == "$key" else template
