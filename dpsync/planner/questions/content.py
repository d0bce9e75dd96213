"""What holds content goes only where somebody named it: in the policy's `removed`, or by an answer.

`prune` says that undeclared things are deleted, and not which: an entry may be missing because a file is no
longer included. So everything that holds content is held against `removed`, also what goes along with a
delete. The limits are asked about as well, whatever is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from dpsync.model.entries.snapshot import Identity
from dpsync.model.findings.question import Refusal, WayOut
from dpsync.model.findings.refusals import CONTENT
from dpsync.model.texts.json_text import json_text
from dpsync.model.texts.words import counted, some
from dpsync.planner.decide.decisions import Decisions
from dpsync.planner.decide.restructuring import restructured_addresses
from dpsync.planner.inputs.answers import DELETE_CONTENT, DELETE_ONE, Answer
from dpsync.planner.inputs.history import FormerNames
from dpsync.planner.inputs.names import Names
from dpsync.planner.questions.rebinds import formerly


class UnnamedContent(Struct, frozen=True):
    """The content that would go without being named, and what was asked about it."""

    everything: tuple[Identity, ...]
    """All that nobody has named, in the order of addresses."""
    unanswered: tuple[Identity, ...]
    """The same objects, or () if the user gave the answer with their number."""
    asked: frozenset[Answer]


def content_refusals(
    decided: Decisions, unnamed: UnnamedContent, asked_about: Collection[Identity]
) -> Iterator[Refusal]:
    """One refusal for all content that would go and is neither named nor answered about.

    Not about content of `asked_about`: its deletion is a part of a question in planner/questions/identity.py.
    """
    sides = decided.sides
    to_delete = [identity for identity in unnamed.unanswered if identity not in asked_about]
    if not to_delete:
        return
    asked_for = delete_question(decided, to_delete, len(unnamed.unanswered))
    yield CONTENT.at(
        sides.names.address(to_delete[0]),
        answers=asked_for.answers,
        words=asked_for.words,
        way_out=asked_for.way_out,
    )


class DeleteQuestion(Struct, frozen=True):
    """The question whether content may be deleted: its words, the way out, and the answers."""

    words: str
    way_out: str
    answers: tuple[WayOut, ...]


def delete_question(decided: Decisions, to_delete: Sequence[Identity], number: int) -> DeleteQuestion:
    """The question whether some of the unnamed content may go. `number`: how many things all of it is."""
    sides = decided.sides
    answer = Answer(DELETE_CONTENT, str(number))
    names = [str(sides.names.address(identity)) for identity in to_delete]
    # All names, however many: a person copies the line into the policy.
    removed = f"removed: [{', '.join(_lines(sides.former, to_delete))}]"
    left_out = _not_included(sides.former, to_delete)
    first = "".join(f"{_said(sides.names, file, items)}. " for file, items in left_out.items())
    it, them = ("it", "it") if len(to_delete) == 1 else ("all of it", "them")
    once = it if number == len(to_delete) else f"all {number} that have content"
    if sides.desired.policy.only is not None:
        return DeleteQuestion(
            words=f"{counted(len(to_delete), 'object')} with content would be deleted: {some(names)}",
            way_out=f"to delete {them}, add {answer.flag}",
            answers=(WayOut(address=names[0], add=answer.flag, means=f"delete {once}, in this run only"),),
        )
    include = f"include {' and '.join(left_out)} again; or, " if left_out else ""
    return DeleteQuestion(
        words=f"{first}{counted(len(to_delete), 'thing')} with content would be deleted, "
        f"and nobody has named {them}: {some(names)}"
        f"{_strangers(sides.names, to_delete)}{_synced(sides.names, to_delete)}",
        way_out=f"{include}if {it} may go, add to policy {removed} or say {answer.flag}",
        answers=(
            *(
                WayOut(address="include", add=file, means="its entries belong to the configuration")
                for file in left_out
            ),
            WayOut(address="policy", add=removed, means=f"{it} may go"),
            WayOut(address=names[0], add=answer.flag, means=f"{once} may go, this once"),
        ),
    )


def unnamed_content(decided: Decisions) -> UnnamedContent:
    """Return the content that this plan deletes and that neither the policy nor an answer names.

    Content below a named object counts as named. Two groups of content are left out, because another question
    covers each group: content of a restructured navigation (planner/decide/restructuring.py), and objects
    that the ids file assigned to an entry earlier (planner/questions/rebinds.py).

    In `--confirm "delete content N"`, N may either exclude or include the objects that another answer names.
    Therefore, the user can give all answers that one plan prints in the same run.
    """
    sides = decided.sides
    restructured = restructured_addresses(sides.names, decided.restructuring)
    content = [one for one in decided.deletions.everything if sides.registry[one[0]].content]
    asked_by_name = formerly(sides) if content else {}
    candidates = [
        identity
        for identity in content
        if not any(sides.names.address(identity).is_in(place) for place in restructured)
        and identity not in asked_by_name
    ]
    not_in_policy = _unnamed_objects(decided, candidates, sides.policy.removed)
    asked: set[Answer] = set()

    def is_answered(identity: Identity) -> bool:
        by_name = Answer(DELETE_ONE, str(sides.names.address(identity)))
        asked.add(by_name)
        return sides.answers.gives(by_name)

    unnamed_objects = _unnamed_objects(decided, not_in_policy, is_answered)
    numbers = {
        Answer(DELETE_CONTENT, str(len(unnamed))) for unnamed in (not_in_policy, unnamed_objects) if unnamed
    }
    is_confirmed = any(map(sides.answers.gives, numbers))
    return UnnamedContent(
        unnamed_objects, () if is_confirmed else unnamed_objects, frozenset(asked | numbers)
    )


def _unnamed_objects(
    decided: Decisions, identities: Iterable[Identity], is_named_directly: Callable[[Identity], bool]
) -> tuple[Identity, ...]:
    """Return the objects that are neither named nor inside of a named, deleted object; sorted by address."""
    sides = decided.sides

    @cache
    def is_named(identity: Identity) -> bool:
        around = sides.snapshot.objects[identity].parent
        if is_named_directly(identity):
            return True
        return around is not None and decided.deletions.covers(around) and is_named(around)

    left = (identity for identity in identities if not is_named(identity))
    return tuple(sorted(left, key=sides.names.address))


def _lines(former: FormerNames, to_delete: Collection[Identity]) -> list[str]:
    """What to write into `removed`; a line for a thing is one for what lies in it as well."""
    those = set(to_delete)
    outermost = (
        identity
        for identity in to_delete
        if not those & {*former.snapshot.above(former.snapshot.objects[identity])}
    )
    return [_quoted(_line(former, identity)) for identity in outermost]


def _line(former: FormerNames, identity: Identity) -> str:
    """The address that an object had, where that means it and nothing else; otherwise its title and id."""
    known = former.desired.resources.keys() | former.desired.unserved.keys()
    for address in sorted(former.of(identity)):
        free = address not in known and not address.last.startswith("[")
        if free and former.meant(address) == frozenset({identity}):
            return str(address)
    return str(former.exactly(identity))


def _quoted(address: str) -> str:
    """An address as an item of a YAML list between brackets."""
    plain = address.isascii() and all(letter.isalnum() or letter in "/._-@" for letter in address)
    return address if plain else json_text(address)


def _not_included(former: FormerNames, to_delete: Collection[Identity]) -> dict[str, list[Identity]]:
    """By file that is no part of the configuration, what goes that has an entry in it."""
    found: dict[str, list[Identity]] = defaultdict(list)
    for file in former.desired.not_included:
        for identity in to_delete:
            names = former.of(identity)
            if names & file.entries or former.before(identity, file.entries.__contains__) & file.entries:
                found[file.file].append(identity)
    return found


def _said(names: Names, file: str, items: Collection[Identity]) -> str:
    listed = [str(names.address(identity)) for identity in items]
    return f"{file} declares {some(listed)}, and nothing includes it"


def _synced(names: Names, to_delete: Sequence[Identity]) -> str:
    """What is said of those that the platform syncs with a repository."""
    live = {identity: names.snapshot.objects[identity].synced for identity in to_delete}
    listed = [f"{names.address(one)} with {by.name}" for one, by in live.items() if by is not None]
    return f"; the platform syncs {some(listed)}" if listed else ""


def _strangers(names: Names, to_delete: Collection[Identity]) -> str:
    """What is said of those that were never declared here, as far as anybody knows."""
    records = names.snapshot.records
    lines = (*records.lines.values(), *records.earlier.values())
    known = {id for line in lines for id in (line.id, line.also)}
    listed = [
        str(names.address(identity))
        for identity in to_delete
        if names.snapshot.objects[identity].id not in known and identity not in names.earlier_addresses
    ]
    if not listed:
        return ""
    whose = "them" if len(listed) == len(to_delete) and len(listed) > 1 else some(listed)
    whose = "it" if len(listed) == len(to_delete) == 1 else whose
    return f"; neither the ids file nor the git base has an entry for {whose}: somebody else may rely on it"
