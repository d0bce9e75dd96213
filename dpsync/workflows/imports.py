"""Import live objects into files: a whole organization, or live values into existing files.

`import_` makes a new configuration, `import_again` brings existing files up to date, `update` replaces
values, and `add` adds entries. No function writes to the disk: each returns the content of files that the
caller writes. Before that, a plan of the new files must show no unintended changes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dpsync.client.client import ReadClient
from dpsync.config.discovery import DiskFiles, Files, StagedFiles
from dpsync.config.layers import Layers
from dpsync.config.load import load_from
from dpsync.kinds.registry import Registry
from dpsync.live.reading_state import recorded_lines
from dpsync.model.address import Address, Pattern
from dpsync.model.desired import Desired, Entry
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.model.ids import NO_IDS, IdsEdits, IdsFile
from dpsync.model.plan import Plan
from dpsync.planner.names import names_without_base
from dpsync.workflows.session import OtherConfigurations, Session
from dpsync.workflows.unmanaged import bind_renamed_entries, find_undeclared, find_undeclared_singles

if TYPE_CHECKING:
    from dpsync.importing.add import AddedEntries
    from dpsync.importing.entries import LeftOut
    from dpsync.importing.layout import NewConfiguration
    from dpsync.importing.update import Updated


class Imported(Struct, frozen=True):
    """A configuration made from live objects, with its plan, which is empty if the import is right."""

    made: NewConfiguration
    plan: Plan | None
    problems: tuple[Diagnostic, ...] = ()
    lost: tuple[str, ...] = ()
    """The parts of the present root file that the new one lacks, and why."""

    @property
    def proven(self) -> bool:
        """Return whether a plan of the new configuration is empty."""
        return self.plan is not None and self.plan.empty and not self.problems


def import_(
    client: ReadClient,
    registry: Registry,
    named: Sequence[str] = (),
    parallelism: int = 4,
    full: bool = False,
    ids: IdsFile = NO_IDS,
    present: bytes | None = None,
) -> Imported:
    """Return a new configuration of the organizations named by id or hostname, or of all readable ones.

    Default values are left out, except in fields that can make an object more visible or give more rights.
    With `full`, every readable field is written. An object with a line in `ids` keeps the key of its entry.

    `present` is the root file that the new files replace: its policy and environments are carried over.

    Nothing is written to the disk. With a CachingClient, the check of the result sends no further
    requests. Raises ClientError if reading failed, and DiagnosticError for an organization that does not
    exist.
    """
    from dpsync.importing.files import CopiedSettings, copy_root_settings
    from dpsync.importing.layout import make_configuration

    def find_problem(files: Mapping[str, bytes]) -> str | None:
        errors = list(replace(configuration, files=files).load(registry)[1].errors)
        return errors[0].message if errors else None

    configuration = make_configuration(client, registry, named, parallelism, full, ids)
    settings = CopiedSettings(configuration.files)
    if present is not None and find_problem(configuration.files) is None:
        settings = copy_root_settings(present, configuration.files, find_problem)
        configuration = replace(configuration, files=settings.files)
    desired, findings = configuration.load(registry)
    if problems := tuple(findings.errors):
        return Imported(configuration, None, problems, settings.lost)
    try:
        session = Session(desired, registry, parallelism, ids=IdsFile({client.platform: configuration.ids}))
        return Imported(configuration, session.plan(client).plan, lost=settings.lost)
    except DiagnosticError as error:
        return Imported(configuration, None, error.diagnostics, settings.lost)


class Again(Struct, frozen=True):
    """The edited content of existing files with the present live values, and a plan of the new files."""

    made: Updated
    plan: Plan
    ids: IdsEdits
    """Which object each entry is now."""
    left_out: tuple[LeftOut, ...] = ()
    """The places that the policy watches and that the token may not read."""


def import_again(
    session: Session,
    client: ReadClient,
    root: Path,
    organizations: Sequence[str] = (),
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
) -> Again:
    """Return the files of a configuration with all live objects that the files declare or watch.

    Environments, policies, includes, names and comments in the files stay. A live object in a list that the
    files declare or watch gets an entry, unless the policy ignores the object. Nothing is written to the
    disk. Raises as `update` does, and DiagnosticError (exit 1) for an organization that the files do not
    declare.
    """
    from dpsync.importing.entries import LeftOut
    from dpsync.importing.inventory import FORBIDDEN_REASON
    from dpsync.importing.left_out import common_pattern, update_not_imported_comments

    roots = [
        organization for organization in session.readable.entries.values() if organization.parent is None
    ]
    patterns = [_find_organization_address(session, roots, name) for name in organizations]
    patterns = patterns or [str(organization.address) for organization in roots]
    updated = update(session, client, root, patterns, layers, env)
    contents = dict(updated.files)
    while True:  # what is in an entry is read once the entry is there
        files = StagedFiles(DiskFiles(root), contents)
        session = replace(session, desired=_load_edited_files(files, session, layers, env))
        added = add(
            session,
            client,
            root,
            [f"{organization}/**" for organization in patterns],
            layers,
            env,
            files,
            everything=True,
        )
        contents |= added.files
        updated.written += added.written
        if not added.files:
            break
    places = {**session.desired.watched_scopes, **find_undeclared_singles(session, ())}
    watching = replace(session.desired, reads_watched=True, watched_scopes=places)
    forbidden = replace(session, desired=watching).plan(client).snapshot.not_readable_watched
    if not _has_several_configurations(
        layers
    ):  # other environments may use the same files with another token
        readable = places.keys() - forbidden.keys()
        contents |= update_not_imported_comments(
            StagedFiles(DiskFiles(root), contents), session.readable, readable, forbidden
        )
    session = replace(
        session, desired=_load_edited_files(StagedFiles(DiskFiles(root), contents), session, layers, env)
    )
    updated.files = contents
    updated.problems += added.problems
    planned = session.plan(client)
    organization_ids = {key: id for id, key in planned.snapshot.organizations.items()}
    lines = recorded_lines(session.registry, session.readable, planned.snapshot)
    groups: dict[str, list[Address]] = {}
    for place in sorted(forbidden):
        groups.setdefault(f"{place.organization_key}/{place.last_segment}", []).append(place)
    left_out = tuple(LeftOut(common_pattern(group), None, FORBIDDEN_REASON) for group in groups.values())
    edits = {
        (organization_ids[line_address.organization_key], line_address): line
        for line_address, line in lines.items()
    }
    return Again(updated, planned.plan, edits, left_out)


def _find_organization_address(session: Session, roots: Sequence[Entry], name: str) -> str:
    """Return the address of the organization with this id, key or natural key (such as its hostname).

    Raises DiagnosticError (exit code 1) if the files declare no such organization.
    """
    keys = [key for key in session.registry.root.natural_keys if isinstance(key, str)]
    for organization in roots:
        if name in (organization.pin, organization.key, *(organization.fields.get(key) for key in keys)):
            return str(organization.address)
    message = f'the existing files declare no organization "{name}"'
    hint = "import the organization into another directory"
    raise DiagnosticError([Diagnostic("no-organization", message, hint=hint)], Exit.FAILED)


def _load_edited_files(
    files: Files, session: Session, layers: Layers | None, env: Mapping[str, str] | None
) -> Desired:
    """Load files that `update` or `add` has edited, and has loaded without errors before."""
    return load_from(files, session.registry.with_all_kinds, os.environ if env is None else env, layers)[0]


def update(
    session: Session,
    client: ReadClient,
    root: Path,
    addresses: Sequence[str],
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
    into: str | None = None,
) -> Updated:
    """Return the files of a configuration with live values at the named addresses.

    An address includes everything below it; `#field` names one field; patterns are allowed. Nothing is
    written to the disk. With a CachingClient, the check of the result sends no further requests.

    With an environment or an overlay, a line that other environments share is kept and reported, unless
    `into` names the file that gets the values: the file of the line, or the overlay.

    Raises:
        ClientError: reading failed.
        ValueError: an address is invalid.
        DiagnosticError: the edit would change more than was asked for (exit 4).
    """
    variables = os.environ if env is None else env
    from dpsync.importing.inventory import NamingWithFiles
    from dpsync.importing.update import unintended_changes
    from dpsync.importing.update import update as edit

    patterns = [Pattern.parse(address, session.registry.pattern_words) for address in addresses]
    (planned, renamed_errors), files = bind_renamed_entries(session.plan(client), patterns), DiskFiles(root)
    before = session.differences(planned)
    other_configurations = OtherConfigurations.of(
        session.readable, files, session.registry.with_all_kinds, variables, layers or Layers()
    )
    sides = NamingWithFiles(session.registry, session.readable, planned.snapshot, files)
    find_sharers = (
        other_configurations.names_using_field
        if _has_several_configurations(layers)
        else OtherConfigurations({}).names_using_field
    )
    updated = edit(sides, before, patterns, into, find_sharers, renamed_errors)
    if updated.files:
        edited = StagedFiles(files, updated.files)
        desired, findings = load_from(edited, session.registry.with_all_kinds, variables, layers)
        errors = list(findings.errors)
        if not errors:
            edited_session = replace(session, desired=desired)
            errors = unintended_changes(
                before, edited_session.differences(edited_session.plan(client)), updated
            )
        if errors:
            raise DiagnosticError(errors, Exit.REFUSED, desired.texts)
        lines = updated.written
        if into is not None:
            updated.written = [
                replace(written, span=desired.entries[written.address].field_span(written.field or ""))
                for written in lines
            ]
        updated.sharing_environments = (
            () if into is not None else other_configurations.names_using_lines(session.readable, lines)
        )
    return updated


def _has_several_configurations(layers: Layers | None) -> bool:
    """Return whether several configurations are made from the same files, by environments or overlays."""
    return layers is not None and bool(layers.environment or layers.overlays)


def add(
    session: Session,
    client: ReadClient,
    root: Path,
    addresses: Sequence[str],
    layers: Layers | None = None,
    env: Mapping[str, str] | None = None,
    files: Files | None = None,
    everything: bool = False,
    into: str | None = None,
) -> Updated:
    """Return the files of a configuration with entries for live objects that have none.

    A plan checks the new files; an entry that would not match its object gets a pin (`id`). Nothing is
    written to the disk. Raises as `update` does.

    Args:
        addresses: the objects, named as in a plan or drift (`acme/teams/[Sales]`); patterns are allowed.
        files: the files of the project if they differ from the files on the disk.
        everything: allow addresses that match nothing, and skip objects that the policy ignores.
        into: as for `update`.
    """
    from dpsync.importing.add import add as edit
    from dpsync.importing.inventory import NamingWithFiles
    from dpsync.importing.update import unintended_changes

    patterns = [Pattern.parse(address, session.registry.pattern_words) for address in addresses]
    singles = find_undeclared_singles(session, () if everything else patterns)
    places = {**session.desired.watched_scopes, **singles}
    session = replace(session, desired=replace(session.desired, reads_watched=True, watched_scopes=places))
    planned, files = session.plan(client), files or DiskFiles(root)
    objects, problems = find_undeclared(planned, patterns)
    if everything:
        policy, problems = session.readable.policy, []
        names = names_without_base(session.registry, session.readable, planned.snapshot)
        watched = {
            names.address(entry)
            for pattern in policy.watch_values
            for entry in names.undeclared_matching(pattern)
        }
        objects = {
            object_address: live
            for object_address, live in objects.items()
            if object_address not in watched and not policy.ignores_or_forgets(object_address)
        }
    sides = NamingWithFiles(session.registry, session.readable, planned.snapshot, files)
    pinned: frozenset[str] = frozenset()
    variables = os.environ if env is None else env
    other_configurations = OtherConfigurations.of(
        session.readable, files, session.registry.with_all_kinds, variables, layers or Layers()
    )
    find_sharers = (
        other_configurations.names_reading_file
        if _has_several_configurations(layers)
        else OtherConfigurations({}).names_reading_file
    )
    while True:
        adding = edit(sides, objects, pinned, into, find_sharers)
        adding.updated.problems = [*problems, *adding.updated.problems]
        if not adding.updated.files:
            return adding.updated
        edited = StagedFiles(files, adding.updated.files)
        desired, findings = load_from(
            edited, session.registry.with_all_kinds, os.environ if env is None else env, layers
        )
        errors = list(findings.errors)
        unmatched = _entry_ids_in_findings(adding, errors)
        if not errors:
            edited_session = replace(session, desired=desired)
            try:
                after = edited_session.plan(client)
                unmatched = {
                    entry.id for entry in adding.entries if after.snapshot.live_id(entry.address) != entry.id
                }
                errors = unintended_changes(
                    session.differences(planned), session.differences(after), adding.updated
                )
            except DiagnosticError as error:
                errors = list(error.diagnostics)
                unmatched = _entry_ids_in_findings(adding, errors)
        if not errors and not unmatched:
            spans = {address: resource.span for address, resource in desired.entries.items()}
            adding.updated.written = [
                replace(written, span=spans[written.address]) for written in adding.updated.written
            ]
            return adding.updated
        if unmatched <= pinned:
            raise DiagnosticError(errors, Exit.REFUSED, desired.texts)
        pinned |= unmatched


def _entry_ids_in_findings(adding: AddedEntries, findings: Sequence[Diagnostic]) -> set[str]:
    """Return the ids of the new entries that the findings name.

    If there are findings but none names an entry, these are the ids of all new entries.
    """
    addresses = {finding.address for finding in findings}
    ids = {entry.id for entry in adding.entries if str(entry.address) in addresses}
    return ids or {entry.id for entry in adding.entries} if findings else set()
