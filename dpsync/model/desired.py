"""Define the configuration after all checks, and the configuration of earlier commits.

`Desired` holds the entries by address, each field with its position in the files, and the policy. `Base` is
the configuration of an earlier commit, which distinguishes a renamed entry from a new one. `LabelCommits`
holds the commits from which the labels follow (who changed a value).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from dpsync.model.address import Address, Pattern
from dpsync.model.diagnostic import Diagnostic
from dpsync.model.ids import NO_IDS, IdsFile
from dpsync.model.nodes import Span, WithSpan
from dpsync.model.values import Value


class Entry(Struct, frozen=True):
    """One declared object.

    `parent` is the object whose URL and lifetime the entry shares; `holder` is the node that contains it in a
    tree (None at the root of the tree and outside trees). `fields` has only the fields in the files; the
    value None means "clear the field".
    """

    kind: str
    address: Address
    key: str
    parent: Address | None
    holder: Address | None
    fields: Mapping[str, Value]
    span: Span
    spans: Mapping[str, Span]
    pin: str | None = None
    children: tuple[Address, ...] = ()
    """The child nodes in a tree, in order."""
    previously: tuple[Mapping[str, Value], ...] = ()
    """Former natural keys, each as its fields with their values."""
    new: bool = False
    """Whether the keyword `new` declares a new object, even if a live object resembles the entry."""
    takeover: bool = False
    """Whether to write the object although the platform syncs a part of it with a repository."""

    former: tuple[Address, ...] = ()
    """The addresses that the texts of `previously` may mean: a former key or a former address."""

    value_files: Mapping[str, Span] = field(default_factory=dict)
    """By field, the first position of the file from which the whole value was read (`{file: …}`)."""

    @property
    def has_earlier_name(self) -> bool:
        """Return whether the entry has `previously`."""
        return bool(self.previously or self.former)

    def field_span(self, name: str) -> Span:
        """Return the position of a field's key, or else the position of the entry."""
        return self.spans.get(name, self.span)

    def value_span(self, name: str) -> Span:
        """Return where to edit the value of a field: in the `{file: …}`, if any, or else at the key."""
        return self.value_files.get(name) or self.field_span(name)


class Scope(Struct, frozen=True):
    """A part of the files with entries, which dpsync reads and `prune` may cover.

    It is a mapping of entries, a tree, or a single entry.
    """

    address: Address
    parent: Address
    kinds: tuple[str, ...]
    span: Span


class Lookup(Struct, frozen=True):
    """An object without an entry to which a field refers by its natural key. It must be in the live list."""

    address: Address
    kind: str
    parent: Address
    key: str
    span: Span


MIN_OBJECTS_FOR_PERCENT = 20
"""The least number of managed objects to which `Limits.percent` applies."""


class Limits(Struct, frozen=True):
    """The limits of what a plan may do without a confirmation.

    `deletes` is a number of deletes, `percent` a percentage of the managed live objects (if there are at
    least `MIN_OBJECTS_FOR_PERCENT`), and `exposures` a number of things that become more visible or more
    powerful (None: no limit).
    """

    deletes: int = 5
    percent: int = 20
    exposures: int | None = None


class Policy(Struct, frozen=True):
    """The policy of a configuration: address patterns, and limits."""

    prune: tuple[Pattern, ...] = ()
    protect: tuple[Pattern, ...] = ()
    ignore: tuple[Pattern, ...] = ()
    limits: Limits = Limits()
    forget: tuple[Pattern, ...] = ()
    watch: tuple[Pattern, ...] = ()
    """Lists in which an undeclared object counts as drift."""
    removed: tuple[Pattern, ...] = ()
    """Objects with content that may be deleted, each named by its former address or its title."""
    deletable_ids: frozenset[tuple[str, str]] | None = None
    """The kind and id of each object that `prune` may delete; None: every undeclared object."""
    watch_fields: tuple[Pattern, ...] = ()
    """Undeclared fields that count as drift if their value is not the platform's default."""
    watch_values: tuple[Pattern, ...] = ()
    """Patterns with a value: a matching undeclared object with another value is drift."""
    accept: tuple[Pattern, ...] = ()
    """Fields in which the platform reports a problem that people know of."""
    skip: tuple[Pattern, ...] = ()
    """The patterns of `protect` whose objects are kept while the rest of the plan goes on."""

    def ignores_or_forgets(self, address: Address) -> bool:
        """Return whether the policy ignores or forgets an undeclared object."""
        return self.ignores(address) or any(pattern.matches_or_contains(address) for pattern in self.forget)

    def ignores(self, address: Address, field: str | None = None) -> bool:
        """Return whether the policy ignores the object, an object that contains it, or the given field."""
        return bool(self.ignore) and any(
            pattern.matches_or_contains(address)
            if pattern.field is None
            else field == pattern.field and pattern.matches(address)
            for pattern in self.ignore
        )

    def accepts(self, address: Address, field: str) -> bool:
        """Return whether people accept the problem that this field of an object reports."""
        return any(pattern.field == field and pattern.matches(address) for pattern in self.accept)


class Environment(WithSpan, frozen=True, eq=False):
    """The platform that a configuration is for: its URL and profile, and the name of the token's variable.

    `span` is the source position of the URL, or else of the environment.
    """

    name: str
    url: str | None = None
    token: str | None = None
    profile: str | None = None
    rate: float | None = None
    """The maximum number of requests per second."""
    span: Span | None = None
    pending: str = ""
    """Describes a change to the URL or token variable that is not reviewed and not in use."""


class Unsupported(Struct, frozen=True):
    """An entry, an empty mapping of entries or a field that this server or this token cannot read."""

    reason: str
    span: Span
    todo: str = ""
    because: str | None = None
    """The address of the object without which it cannot be read."""


class FileNotIncluded(Struct, frozen=True):
    """A file with entries that looks like a part of the configuration but is not included."""

    file: str
    entries: frozenset[Address]


def _no_entries(file: str) -> Collection[Address]:
    """Return no address: the default if the files are not known."""
    del file
    return ()


class Desired(Struct, frozen=True):
    """The whole configuration. `texts` holds the source files, for messages about them."""

    entries: Mapping[Address, Entry]
    scopes: Mapping[Address, Scope]
    lookups: Mapping[Address, Lookup] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    texts: Mapping[str, str] = field(default_factory=dict)
    environment: Environment | None = None
    """The selected environment."""
    environments: tuple[str, ...] = ()
    """The names of all environments."""
    warnings: tuple[Diagnostic, ...] = ()
    """The findings that are not errors."""
    unsupported: Mapping[Address, Unsupported] = field(default_factory=dict)
    """Declared entries that cannot be read. They are not in `entries`, `scopes` and `lookups`."""
    unsupported_fields: Mapping[tuple[Address, str], Unsupported] = field(default_factory=dict)
    watched_scopes: Mapping[Address, Scope] = field(default_factory=dict)
    """Lists that the policy watches and no file declares."""
    reads_watched: bool = False
    """Whether the watched lists are read: only drift needs them."""
    profile: str = "full"
    """The API version for which the configuration was checked."""
    overlay: str | None = None
    """The overlay that takes precedence over all other files."""
    row_files: frozenset[str] = frozenset()
    """The CSV files with entries."""
    not_included: Iterable[FileNotIncluded] = ()
    """Files that are not included and have entries of their own; read on first use."""

    addresses_declared_in: Callable[[str], Collection[Address]] = _no_entries
    """Returns the addresses that one file declares by itself."""
    commit: str | None = None
    """The id of the commit with this configuration; None for the working tree."""

    def is_pruned(self, scope: Address) -> bool:
        """Return whether a prune pattern covers a scope, so that undeclared objects in it are deleted."""
        return any(pattern.matches(scope) for pattern in self.policy.prune)

    def without_unsupported(
        self,
        entries: Mapping[Address, Unsupported],
        fields: Mapping[tuple[Address, str], Unsupported] | None = None,
    ) -> Desired:
        """Return the configuration without entries and fields that the server or token cannot read.

        They are listed in `unsupported` and `unsupported_fields` instead. Everything inside these entries is
        removed, too.
        """
        fields = fields or {}
        if not entries and not fields:
            return self
        names: dict[Address, set[str]] = defaultdict(set)
        for address, name in fields:
            names[address].add(name)

        def without_fields(entry: Entry) -> Entry:
            """Return an entry without the unsupported fields and children."""
            children = tuple(child for child in entry.children if child not in entries)
            hidden_names = names.get(entry.address, set())
            visible_fields = {name: value for name, value in entry.fields.items() if name not in hidden_names}
            return replace(entry, children=children, fields=visible_fields)

        return replace(
            self,
            entries={
                address: without_fields(entry)
                for address, entry in self.entries.items()
                if address not in entries
            },
            scopes={address: scope for address, scope in self.scopes.items() if scope.parent not in entries},
            lookups={address: lookup for address, lookup in self.lookups.items() if address not in entries},
            watched_scopes={
                address: scope
                for address, scope in self.watched_scopes.items()
                if scope.parent not in entries
            },
            unsupported={**self.unsupported, **entries},
            unsupported_fields={**self.unsupported_fields, **fields},
        )


DescribeMissingFile = Callable[[str, str], str]
"""Describe what became of a file since a commit; "" if git shows the file as deleted.

The arguments are the id of the commit and the name of the file, relative to the project. The configuration
does not read the file any more.
"""


def _describe_unknown_file(commit: str, file: str) -> str:
    """Return a description that fits any file: the default if git was not asked."""
    del commit, file
    return "git does not show how the entry disappeared"


class Base(Struct, frozen=True):
    """The configuration of an earlier commit, or the reason why there is none.

    `name` is the name of the commit for people; if `desired` is None, `name` is the reason. `warning` is for
    a base that should exist.
    """

    name: str
    commit: str | None = None
    desired: Desired | None = None
    warning: Diagnostic | None = None
    is_commit_missing: bool = False
    """Whether the commit exists, but not in this clone."""
    is_shallow_clone: bool = False
    """This clone lacks earlier commits."""
    is_merge_base: bool = False
    """The base is the merge base of a pull request: what differs from it is what the pull request edits."""
    has_all_overlays: bool = True
    """The commit has each overlay and the environment that were asked for."""
    ids: IdsFile = NO_IDS
    """The ids file of that commit."""
    earlier_configurations: Iterable[Desired] = ()
    """The configurations in some commits before the base, the latest first; read on first use."""
    describe_missing_file: DescribeMissingFile = _describe_unknown_file


NO_BASE = Base("")
"""No base, for callers that do not compare with git."""


class CommittedFiles(Struct, frozen=True):
    """The configuration and the ids file of one commit."""

    desired: Desired
    ids: IdsFile = NO_IDS


class ApplyTarget(Struct, frozen=True):
    """The platform and the organizations that an apply writes to."""

    platform: str
    """The name that the platform has in ids files."""
    url: str
    organizations: frozenset[str]
    """The ids of the organizations."""


def _matches_any_target(target: ApplyTarget) -> bool:
    """Return true: the default if a caller does not limit the apply to a target."""
    del target
    return True


class AppliedCommit(Struct, frozen=True):
    """The commit of the last apply to some target, for a caller that keeps such a record."""

    commit: str
    matches_target: Callable[[ApplyTarget], bool]


class LastApply(Struct, frozen=True):
    """The last applied commit, and the commits since then.

    `commits` starts with the applied commit. Further commits follow as far as their configuration differs
    from the one before. They are loaded on first use; `commits` is empty if this clone lacks one of them.
    """

    commits: Iterable[CommittedFiles]
    matches_target: Callable[[ApplyTarget], bool] = _matches_any_target
    is_complete: bool = False
    """Whether the apply read, compared and pruned everything that its files declare."""


class LabelCommits(Struct, frozen=True):
    """The commits from which labels follow (who changed a value). Decisions never depend on them."""

    compared_commit: CommittedFiles | None = None
    """The commit of which "edited here" is a fact: the merge base of a pull request, or the commit that
    `--base` names. If it is None, the commit that was applied last is compared."""
    applies: tuple[LastApply, ...] = ()
    """The last apply to each platform."""
    platform: str = ""
    """The name that the platform has in ids files."""

    def for_target(self, target: ApplyTarget) -> LabelCommits:
        """Return the same commits, with only the last apply to this platform and these organizations."""
        applies = tuple(apply for apply in self.applies if apply.matches_target(target))
        return replace(self, applies=applies[:1], platform=target.platform)

    def map_configurations(self, change: Callable[[Desired], Desired]) -> LabelCommits:
        """Return the same commits with `change` applied to the configuration in each commit.

        The compared commit is changed at once, the others when they are first used.
        """
        compared = self.compared_commit
        return replace(
            self,
            compared_commit=replace(compared, desired=change(compared.desired))
            if compared is not None
            else None,
            applies=tuple(
                replace(apply, commits=_MappedCommits(apply.commits, change)) for apply in self.applies
            ),
        )


class _MappedCommits(Struct, frozen=True):
    """Commits whose configuration `change` modifies when it is used."""

    commits: Iterable[CommittedFiles]
    change: Callable[[Desired], Desired]

    def __iter__(self) -> Iterator[CommittedFiles]:
        return (replace(files, desired=self.change(files.desired)) for files in self.commits)


NO_LABELS = LabelCommits()
