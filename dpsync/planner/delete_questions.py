"""Ask for confirmation of deletes, and enforce the limits of the policy on deletes and exposures.

If an entry was removed in git, an empty object is deleted without a question; for content, the number of
deletes must be confirmed. If the entry was not removed in git, it may be missing by mistake, whatever `prune`
and `limits` allow: the address must be confirmed, in the policy or by an answer. Confirming a parent confirms
everything inside of it. If the deletes of any kind exceed `limits`, their number must be confirmed, too;
confirmed addresses do not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from dpsync.model import refusals
from dpsync.model.address import Address
from dpsync.model.change import Change, Exposure, Note
from dpsync.model.desired import MIN_OBJECTS_FOR_PERCENT, Base, Limits, Policy
from dpsync.model.plan import DeleteDecision, count_deletes
from dpsync.model.question import Refusal, WayOut
from dpsync.model.refusals import CONTENT, LIMITS
from dpsync.model.snapshot import Identity
from dpsync.model.text import format_command, format_count, join_with_and, json_text, shorten_list
from dpsync.planner.answers import DELETE, EXPOSE, EXPOSE_BRIEFLY, Answer, Question
from dpsync.planner.decide import Decisions
from dpsync.planner.names import FormerNames, Names
from dpsync.planner.policy import COMMITS_MISSING, KEPT_BY_APPLY, NO_ENTRY, Removal
from dpsync.planner.rebound_ids import previous_bindings
from dpsync.planner.restructuring import confirmed_addresses, restructured_addresses
from dpsync.planner.sides import Sides


class EffectiveLimits(Struct, frozen=True):
    """The limits on deletes and exposures that apply, and the objects that percentages refer to."""

    limits: Limits
    source: str
    """A phrase for messages if the change itself raises the limits, "" otherwise."""
    managed_addresses: Callable[[str], frozenset[str]]
    """Returns the addresses of all objects that were read in the declared places of an organization."""


def effective_limits(policy: Policy, base: Base, names: Names) -> EffectiveLimits:
    """Return, for each limit, the stricter one of the current files and of the git base.

    Nobody has confirmed a limit that is raised by the same change that needs the higher limit.
    """
    current = policy.limits
    before = base.desired.policy.limits if base.desired is not None else current
    exposures = [limit for limit in (current.exposures, before.exposures) if limit is not None]
    limits = Limits(
        min(current.deletes, before.deletes),
        min(current.percent, before.percent),
        min(exposures, default=None),
    )
    lower = f"the lower limit in your files and in {base.name} applies"
    explanation = f"{lower}, because a change cannot raise its own limits"
    source = "" if limits == current else f" ({explanation})"

    def managed_addresses(organization: str) -> frozenset[str]:
        """Return the addresses of all objects in the declared lists of an organization."""
        return frozenset(
            str(names.address(identity))
            for scope, identities in names.snapshot.scopes.items()
            if scope.organization_key == organization
            for identity in identities
        )

    return EffectiveLimits(limits, source, managed_addresses)


def exposure_limit_questions(
    limits_in_force: EffectiveLimits, exposures: tuple[Exposure, ...]
) -> Iterator[Question]:
    """Yield the questions about exposures: more than the limits allow, and exposures for a moment."""
    yield from _exposure_questions(limits_in_force, exposures)
    yield from _brief_exposure_question(exposures)


class ExceededLimits(Struct, frozen=True):
    """An organization in which the deletes of a plan exceed the limits, and a sentence about it."""

    organization: str
    text: str

    def __str__(self) -> str:
        return self.text


def exceeded_delete_limits(
    limits_in_force: EffectiveLimits, deletes: Sequence[Change], some_named: bool = False
) -> list[ExceededLimits]:
    """Return the organizations in which these deletes exceed the limits, each with a sentence about it.

    `some_named`: whether the plan has more deletes, of objects whose addresses a user confirmed.
    """
    limits, results = limits_in_force.limits, []
    organizations = sorted({change.location.organization_key for change in deletes})
    for organization in organizations:
        organization_deletes = [
            change for change in deletes if change.location.organization_key == organization
        ]
        share = _deleted_share(limits_in_force.managed_addresses(organization), organization_deletes)
        if share.exceeds(limits):
            where = f"in {organization}, " if len(organizations) > 1 else ""
            if share.deleted > limits.deletes:
                allowed = format_count(limits.deletes, "delete")
                planned = f"has {format_count(share.deleted, 'delete')}"
            else:
                allowed = f"deletes of {limits.percent} percent of the objects"
                planned = f"deletes {share.percent:.0f} percent of {format_count(share.known, 'object')}"
            named = " (not counting objects that you confirmed by address)" if some_named else ""
            text = f"{where}policy.limits allows {allowed} without confirmation, and this plan {planned}"
            text += f"{named}{limits_in_force.source}"
            results.append(ExceededLimits(organization, text))
    return results


class _DeletedShare(Struct, frozen=True):
    """The number of objects of an organization that would be deleted, and the number of known objects."""

    deleted: int
    known: int

    @property
    def percent(self) -> float:
        """Return the deleted objects as a percentage of the known objects."""
        return 100 * self.deleted / max(self.known, 1)

    @property
    def percent_applies(self) -> bool:
        """Return whether the organization has enough known objects for a percentage to mean something."""
        return self.known >= MIN_OBJECTS_FOR_PERCENT

    def exceeds(self, limits: Limits) -> bool:
        """Return whether the deletes exceed the limit on their number or on their percentage."""
        too_large_a_share = self.percent_applies and self.percent > limits.percent
        return self.deleted > limits.deletes or too_large_a_share


def _deleted_share(managed: frozenset[str], deletes: Sequence[Change]) -> _DeletedShare:
    """Return the share of deletes among an organization's objects, for the percentage in `policy.limits`.

    Objects that GitBook deletes together with others count, too. `managed` contains the addresses of all
    objects that were read in declared lists of the organization.
    """
    # Cascaded objects outside the declared places count as known, too: otherwise a share could exceed 100 %.
    cascaded = {effect.address for change in deletes for effect in change.effects if effect.counts}
    return _DeletedShare(count_deletes(deletes).total, len(managed) + len(cascaded - managed))


def deletes_over_limits(limits: EffectiveLimits, changes: Iterable[Change]) -> frozenset[Address]:
    """Return the locations of deletes that each exceed the limits alone, cascaded deletes included."""
    deletes = [change for change in changes if change.action == "delete"]
    managed = {
        name: limits.managed_addresses(name)
        for name in {change.location.organization_key for change in deletes}
    }
    return frozenset(
        change.location
        for change in deletes
        if _deleted_share(managed[change.location.organization_key], [change]).exceeds(limits.limits)
    )


def _exposure_questions(
    limits_in_force: EffectiveLimits, exposures: tuple[Exposure, ...]
) -> Iterator[Question]:
    """Yield a question for each organization with more exposures than `policy.limits` allows.

    An exposure is a change that makes something visible to more people. All questions have the same answer,
    `--confirm "expose N"` with the number of all exposures.
    """
    allowed = limits_in_force.limits.exposures
    counts = Counter(exposure.location.organization_key for exposure in exposures)
    answer = Answer(EXPOSE, str(len(exposures)))
    for organization, count in sorted(counts.items()):
        if allowed is not None and count > allowed:
            refusal = refusals.EXPOSURES.refusal(
                organization,
                answers=(
                    WayOut(
                        address=organization,
                        add=answer.flag,
                        means='confirm all changes marked "opens access"',
                    ),
                ),
                ways=format_count(count, "way"),
                allowed=allowed,
                since=limits_in_force.source,
                answer=answer.flag,
            )
            yield Question(answer, refusal)


def _brief_exposure_question(exposures: tuple[Exposure, ...]) -> Iterator[Question]:
    """Ask about objects that are visible to more people for a moment during the apply, if there are any.

    The user must always confirm their number with `--confirm "expose for a moment N"`.
    """
    momentary = [exposure for exposure in exposures if exposure.moment]
    answer = Answer(EXPOSE_BRIEFLY, str(len(momentary)))
    if momentary:
        addresses = list(dict.fromkeys(exposure.address for exposure in momentary))
        refusal = refusals.FOR_A_MOMENT.refusal(
            addresses[0],
            names=shorten_list(addresses),
            answer=answer.flag,
            answers=(WayOut(address=addresses[0], add=answer.flag, means="allow this access for a moment"),),
        )
        yield Question(answer, refusal)


class OpenDeletes(Struct, frozen=True):
    """The deletes of content that need a decision which no user has made."""

    need_address: Mapping[Identity, Removal]
    """By object whose address a user must confirm: why its entry does not count as removed in git."""
    need_number: Mapping[Identity, Removal]
    """Objects that were removed in git, and whose deletes need the number of all deletes."""
    confirmed_by_address: frozenset[Identity]
    """The objects whose addresses a user confirmed."""
    requested_answers: frozenset[Answer]
    """The answers with the address of an object that needs a decision, whether or not they were given."""
    number: Answer
    """The answer with the number of all deletes."""
    is_number_given: bool
    """Whether that answer was given."""
    is_number_asked: bool
    """Whether the number must be confirmed unless other answers contain the addresses."""

    @property
    def need_number_unanswered(self) -> tuple[Identity, ...]:
        """Return the objects that need the number of all deletes; none if the user gave the number."""
        return () if self.is_number_given else tuple(self.need_number)

    @property
    def unanswered(self) -> tuple[Identity, ...]:
        """Return every object whose delete needs a confirmation that no user has given."""
        return (*self.need_address, *self.need_number_unanswered)


def undecided_deletes(decisions: Decisions) -> OpenDeletes:
    """Return the deletes of content that need a confirmation, and which of these the user has given.

    Two groups of content are left out, because another question covers each group: content of a restructured
    navigation (planner/restructuring.py), and objects that the ids file assigned to an entry earlier
    (planner/rebound_ids.py).
    """
    sides = decisions.sides
    number_answer = Answer(DELETE, str(decisions.deletions.count.total))
    in_policy = {
        identity
        for identity in decisions.deletions.all_deleted
        if sides.policy.is_listed_as_removed(identity)
    }
    needed = dict(_content_to_decide(decisions, in_policy))
    answers = {identity: Answer(DELETE, str(sides.names.address(identity))) for identity in needed}
    answered = {identity for identity, answer in answers.items() if sides.answers.contains(answer)}
    undecided = {identity: removal for identity, removal in needed.items() if identity not in answered}
    return OpenDeletes(
        need_address={
            identity: removal for identity, removal in undecided.items() if removal.missing_evidence
        },
        need_number={
            identity: removal for identity, removal in undecided.items() if not removal.missing_evidence
        },
        confirmed_by_address=frozenset(in_policy | answered),
        requested_answers=frozenset(answers.values()),
        number=number_answer,
        is_number_given=sides.answers.contains(number_answer),
        is_number_asked=any(not removal.missing_evidence for removal in needed.values()),
    )


def _content_to_decide(
    decisions: Decisions, named: Collection[Identity]
) -> Iterator[tuple[Identity, Removal]]:
    """Yield the deleted content that needs a confirmation, by address, with what git tells of its removal.

    Yield only the outermost objects, because confirming an object confirms everything inside. Content needs a
    confirmation if its entry was not removed in git, if it is not empty, or if its prune pattern is new.
    `named` contains the objects that the policy names as removed; these are left out, as well as content that
    another question covers.
    """
    sides, deletions = decisions.sides, decisions.deletions
    content = [identity for identity in deletions.all_deleted if sides.registry[identity[0]].has_content]
    restructured = restructured_addresses(sides.names, decisions.restructuring)
    asked_elsewhere = previous_bindings(sides).keys() if content else ()
    objects = sides.snapshot.objects
    covered = {*content, *named}
    for identity in sorted(content, key=sides.names.address):
        deleted_ancestors = {
            ancestor
            for ancestor in sides.snapshot.ancestors(objects[identity])
            if deletions.deletes(ancestor)
        }
        address = sides.names.address(identity)
        if identity in named or identity in asked_elsewhere or deleted_ancestors & covered:
            continue
        if any(address.is_at_or_below(place) for place in restructured):
            continue
        is_revert = sides.desired.policy.deletable_ids is not None
        removal = Removal() if is_revert else sides.removals.find(identity)
        if removal.missing_evidence or removal.is_prune_new or sides.is_nonempty(identity):
            yield identity, removal


class DeleteQuestion(Struct, frozen=True):
    """A question about deletes: why they need a confirmation, what a user can do, and the answers."""

    sentence: str
    resolution: str
    answers: tuple[WayOut, ...]


class DeleteQuestions(Struct, frozen=True):
    """The result of all questions about the deletes of a plan."""

    decision: DeleteDecision
    refusal: Refusal | None
    requested_answers: frozenset[Answer]
    """Every answer that could be asked for, whether or not it was given."""
    note: Note | None = None
    """A note about what confirms the deletes instead of a number."""


def delete_questions(
    decisions: Decisions, undecided_deletes: OpenDeletes, limits: EffectiveLimits, deletes: Sequence[Change],
    exceeded_limits: Sequence[ExceededLimits], excluded: Collection[Identity] = (),
) -> DeleteQuestions:  # fmt: skip
    """Return what a user must confirm about the deletes of a plan, and one refusal of the plan until then.

    Args:
        decisions: The decisions about all objects.
        undecided_deletes: The deletes of content without a confirmation.
        limits: The limits on deletes.
        deletes: The changes that delete objects.
        exceeded_limits: The limits that `exceeded_limits` returns for these deletes.
        excluded: The objects whose deletes belong to the question which object an entry is
            (planner/identity_questions.py).
    """
    sides, roots = decisions.sides, decisions.deletions.addresses
    limited = _deletes_under_limits(decisions, deletes)
    total = decisions.deletions.count.total
    without_policy = [
        delete for delete in limited if not sides.policy.is_listed_as_removed(roots[delete.location])
    ]
    may_exceed_limits = bool(exceeded_delete_limits(limits, without_policy))
    unanswered_by_number = undecided_deletes.need_number_unanswered
    # A merged pull request that listed the deletes confirms them, as long as the limits allow their number.
    need_number = [] if sides.options.reviewed and not exceeded_limits else unanswered_by_number
    needs_number = bool(need_number or exceeded_limits)
    objects = [
        identity for identity in (*undecided_deletes.need_address, *need_number) if identity not in excluded
    ]
    # The question offers to name these objects in the policy. The number may be needed nevertheless.
    in_policy = objects if sides.options.reviewed else tuple(undecided_deletes.need_address)
    unconfirmed = [
        delete
        for delete in limited
        if roots[delete.location] not in {*undecided_deletes.confirmed_by_address, *in_policy}
    ]
    offers_number = not set(need_number) <= set(in_policy) or bool(
        exceeded_delete_limits(limits, unconfirmed)
    )
    writer = _QuestionWriter(sides, undecided_deletes, objects, needs_number, exceeded_limits, offers_number)
    question = writer.build() if objects or (exceeded_limits and not excluded) else None
    refusal = note = None
    if question is not None:
        refusal = (LIMITS if exceeded_limits else CONTENT).refusal(
            exceeded_limits[0].organization if exceeded_limits else sides.names.address(objects[0]),
            answers=question.answers,
            words=question.sentence,
            way_out=question.resolution,
        )
    if unanswered_by_number and not needs_number:
        text = "merging the pull request that lists this plan confirms the "
        text += f"{format_count(total, 'delete')} of the plan"
        note = Note(address=str(sides.names.address(unanswered_by_number[0])), text=text)
    number_answers = (
        {undecided_deletes.number} if undecided_deletes.is_number_asked or may_exceed_limits else set()
    )
    return DeleteQuestions(
        decision=DeleteDecision(
            number=total if needs_number else None,
            names=tuple(str(sides.names.address(identity)) for identity in undecided_deletes.need_address),
        ),
        refusal=refusal,
        requested_answers=undecided_deletes.requested_answers | number_answers,
        note=note,
    )


def exceeded_limits(
    decisions: Decisions,
    undecided_deletes: OpenDeletes,
    limits_in_force: EffectiveLimits,
    deletes: Sequence[Change],
) -> list[ExceededLimits]:
    """Return the limits of `policy.limits` that the deletes exceed; [] if the user confirmed their number.

    Deletes that the user confirmed by address do not count, nor those in a navigation that is re-created.
    """
    roots = decisions.deletions.addresses
    limited = _deletes_under_limits(decisions, deletes)
    unnamed = [
        delete for delete in limited if roots[delete.location] not in undecided_deletes.confirmed_by_address
    ]
    if undecided_deletes.is_number_given:
        return []
    return exceeded_delete_limits(limits_in_force, unnamed, some_named=len(unnamed) < len(limited))


def _deletes_under_limits(decisions: Decisions, deletes: Sequence[Change]) -> list[Change]:
    """Return the deletes that limits apply to: all but those in a navigation that the plan re-creates."""
    recreated = confirmed_addresses(decisions.sides.names, decisions.restructuring)
    return [
        delete for delete in deletes if not any(delete.location.is_at_or_below(place) for place in recreated)
    ]


def delete_question(
    decisions: Decisions, undecided_deletes: OpenDeletes, objects: Sequence[Identity], over_limits: bool
) -> DeleteQuestion:
    """Return the question about the deletes of some objects that need a confirmation.

    This is used if the deletes belong to the question which object an entry is
    (planner/identity_questions.py). `over_limits`: whether the plan has more deletes than the limits allow.
    """
    needs_number = over_limits or any(identity in undecided_deletes.need_number for identity in objects)
    return _QuestionWriter(decisions.sides, undecided_deletes, objects, needs_number).build()


class _QuestionWriter(Struct, frozen=True):
    """Write the question about the deletes of some objects: the reasons, and the steps to confirm or keep.

    `asks_for_number`: whether the question asks for the number of all deletes.
    """

    sides: Sides
    undecided: OpenDeletes
    objects: Sequence[Identity]
    asks_for_number: bool
    exceeded_limits: Sequence[ExceededLimits] = ()
    offers_number: bool = True
    """Whether the number is also needed if the policy names the objects."""

    def build(self) -> DeleteQuestion:
        """Return the question, with every step by which the user can confirm or avoid the deletes.

        The steps are, where they apply: include a file again, fetch the git history, confirm with flags, name
        the objects in the policy, write entries to keep the objects. The answers are for tools.
        """
        names = {identity: str(self.sides.names.address(identity)) for identity in self.objects}
        need_address = [identity for identity in self.objects if identity in self.undecided.need_address]
        number_answer = self.undecided.number if self.asks_for_number else None
        removals = (self.undecided.need_address.get(identity) for identity in self.objects)
        answers = [
            WayOut(
                address="include",
                add=file,
                means="put this file back into include, or move its entries into an included file",
            )
            for file in dict.fromkeys(removal.file for removal in removals if removal is not None)
            if file is not None
        ]
        steps = [f"include {join_with_and([answer.add for answer in answers])} again"] if answers else []
        if any(
            self.undecided.need_address[identity].missing_evidence == COMMITS_MISSING
            for identity in need_address
        ):
            steps.append("fetch the whole history: set fetch-depth: 0 in actions/checkout")
        address_answers = [Answer(DELETE, names[identity]) for identity in need_address]
        flags = " ".join(
            answer.flag for answer in (*([number_answer] if number_answer else []), *address_answers)
        )
        steps.append(f"to delete {self._object_or_objects}, add {flags}")
        # All names, however many: a person copies the line into the policy.
        in_policy = self.objects if self.sides.options.reviewed else need_address
        if in_policy and self.sides.desired.policy.deletable_ids is None:
            addresses = (address_for_policy(self.sides.former_names, identity) for identity in in_policy)
            line = f"removed: [{', '.join(addresses)}]"
            both = f", and add {number_answer.flag}" if number_answer and self.offers_number else ""
            steps.append(f"or add {line} to policy{both}")
            answers.append(WayOut(address="policy", add=line, means="confirm the deletes of these objects"))
        if number_answer:
            address = names[self.objects[0]] if self.objects else self.exceeded_limits[0].organization
            means = "confirm all deletes of this plan"
            answers.append(WayOut(address=address, add=number_answer.flag, means=means))
        answers += [
            WayOut(address=answer.subject, add=answer.flag, means="delete this object")
            for answer in address_answers
        ]
        steps += self._keep_commands(need_address, names)
        return DeleteQuestion(self._sentence(), "; ".join(steps), tuple(answers))

    def _keep_commands(
        self, need_address: Sequence[Identity], names: Mapping[Identity, str]
    ) -> Iterator[str]:
        """Yield the command (`dpsync import --add`) that writes entries for the objects, to keep them.

        Yield nothing if none of the objects lacks an entry, or if it is unclear which file gets the entries.
        """
        desired, registry = self.sides.desired, self.sides.registry
        without_entry = [
            names[identity]
            for identity in need_address
            if self.undecided.need_address[identity].missing_evidence.startswith((NO_ENTRY, KEPT_BY_APPLY))
            and not registry[identity[0]].is_node
        ]
        if without_entry and (desired.overlay or not desired.environments):
            into = ["--into", desired.overlay] if desired.overlay else []
            are_all = len(without_entry) == len(self.objects)
            objects = self._object_or_objects if are_all else shorten_list(without_entry)
            yield f"to keep {objects}, run {format_command('import', '--add', *without_entry, *into)}"

    @property
    def _object_or_objects(self) -> str:
        return "the object" if len(self.objects) == 1 else "the objects"

    def _sentence(self) -> str:
        """Return the question as a sentence, such as 'Deleting team "Ops" needs your confirmation: REASONS'.

        The reasons are the exceeded limits, the reasons of the objects, and Git Sync, each reason once.
        """
        addresses = {identity: str(self.sides.names.address(identity)) for identity in self.objects}
        names = [addresses[identity] for identity in self.objects]
        objects = f"{len(names)} objects with contents ({shorten_list(names)})"
        if not self.objects:
            objects = f"{self.undecided.number.subject} objects"
        elif len(self.objects) == 1:
            live = self.sides.snapshot.objects[self.objects[0]]
            objects = f'{self.sides.kind(live).noun} "{self.sides.names.label(live)}"'
        by_reason: dict[str, list[str]] = defaultdict(list)
        for identity in self.objects:
            if reason := self._reason(identity):
                by_reason[reason].append(addresses[identity])
        reasons = [str(limit) for limit in self.exceeded_limits]
        for reason, reason_names in by_reason.items():
            is_shared_by_all = len(reason_names) == len(self.objects)
            reasons.append(reason if is_shared_by_all else f"{shorten_list(reason_names)}: {reason}")
        synced = [
            f"{address} to {repository.name}"
            for identity, address in addresses.items()
            if (repository := self.sides.snapshot.objects[identity].synced_repository) is not None
        ]
        if synced:
            reasons.append(f"Git Sync connects {shorten_list(synced)}")
        return f"Deleting {objects} needs your confirmation{': ' if reasons else ''}{'; '.join(reasons)}"

    def _reason(self, identity: Identity) -> str:
        """Return why the delete of an object needs a confirmation, "" if only the exceeded limits are why."""
        if identity in self.undecided.need_address:
            return self.undecided.need_address[identity].missing_evidence
        if self.undecided.need_number[identity].is_prune_new:
            return "the same commit removes the entry and adds a matching pattern to policy: prune"
        return "" if self.exceeded_limits else self._contents_reason(identity)

    def _contents_reason(self, identity: Identity) -> str:
        """Return why an object whose entry was removed in git needs a confirmation: it may not be empty.

        A plan does not read pages, so it cannot tell whether a space is empty. Other objects may be in use.
        """
        registry = self.sides.registry
        kind, users = registry[identity[0]], self.sides.dependents.get(identity, ())
        noun = kind.noun
        if kind.page_tree_path is not None:
            return (
                f"dpsync asks before it deletes any {noun}, because a plan does not read pages and cannot "
                f"tell whether a {noun} is empty"
            )
        if not kind.can_be_empty:
            return (
                f"dpsync asks before it deletes any {noun}, because the API cannot restore a deleted {noun}"
            )
        if not users:
            return f"dpsync has not read all objects that can be in the {noun} or refer to the {noun}"
        if len(self.objects) > 1:
            return f"the {noun} is in use"
        kinds = Counter(registry[name].delete_noun or registry[name].noun for name, _ in users)
        counts = [format_count(count, user_noun) for user_noun, count in sorted(kinds.items())]
        return f"the {noun} is in use: {join_with_and(counts)}"


def address_for_policy(former_names: FormerNames, identity: Identity) -> str:
    """Return the address by which `policy.removed` can name an object without an entry.

    That is a former address of the object, if no entry and no other object has the address; otherwise, an
    address with the title and id in brackets. The address is quoted for a YAML list between brackets.
    """
    used_addresses = former_names.desired.entries.keys() | former_names.desired.unsupported.keys()
    for address in sorted(former_names.addresses_of(identity)):
        is_free = address not in used_addresses and not address.last_segment.startswith("[")
        if is_free and former_names.objects_at(address) == frozenset({identity}):
            return _quoted(str(address))
    return _quoted(str(former_names.address_with_id(identity)))


def _quoted(address: str) -> str:
    """Return an address as an item of a YAML list between brackets."""
    plain = address.isascii() and all(letter.isalnum() or letter in "/._-@" for letter in address)
    return address if plain else json_text(address)
