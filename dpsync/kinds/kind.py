"""The vocabulary of a kind: words only, no behaviour.

Every layer reads these words; none knows a kind by name. What follows from the words alone is worked out once
for each declaration, because it is asked for once for each thing.

Templates. In paths: `{organization}` and other kinds' names are ids of ancestors, `{parent}` is the parent's
own URL, `{id}` the object's id, `{value}` and `{old}` the ids a field refers to. In bodies: "$fields" is
everything that goes along, "$id", "$value", "$old", "$wire" (a node's type on the wire), "$position",
"$child.NAME" (a field of the first child), "$NAME" (a field, or the id of an ancestor of that kind). A "..."
key spreads its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from dpsync.kinds.types import Many, Object, OneOf, Page, Reference, Text, Type

if TYPE_CHECKING:
    from dpsync.model.change import Repeat

_AN = re.compile(r"[AEIOaeiou]|[FHLMNRX][A-Z]{2}\b")
"""How a noun begins that takes "an": with a vowel, or with a letter that is said with one in front (MCP)."""
ANY = "*"
"""In a `via` map: every value that has no call of its own."""


class Call(Struct, frozen=True, kw_only=True):
    """One writing request. `gives` is where the answer has the new id ("$NAME": a field known before)."""

    method: str
    path: str
    body: Any = "$fields"
    gives: str = "id"
    """A name ("id", "user.id"), "$NAME" for a field of its own, or a text with such names in braces."""
    also_creates: str | None = None
    """Where the answer has the id of the first child that the platform makes along with it."""
    whole: bool = False
    """The body replaces what there is: undeclared members, at any depth, are sent again as they are live."""
    read_only: tuple[str, ...] = ()
    """Members of an answer that this body, where it is `whole`, does not take."""
    complete: bool = False
    """Every field goes along: as it is declared, else as it is live. What is neither is lost."""
    answers: str | None = None
    """The `object` that a proper answer has; another answer means that it did not happen."""
    repeat: Repeat
    """Whether it may be sent again when nobody knows what became of it."""


def Post(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    return Call(method="POST", path=path, body=body, repeat=repeat, **words)


def Put(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    return Call(method="PUT", path=path, body=body, repeat=repeat, **words)


def Patch(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    return Call(method="PATCH", path=path, body=body, repeat=repeat, **words)


def Delete(path: str = "{self}", *, repeat: Repeat) -> Call:
    return Call(method="DELETE", path=path, body=None, repeat=repeat)


class ByHand(Struct, frozen=True):
    """What a person must do, since no request can. `{key}` is the entry's key."""

    todo: str


class Pages(Struct, frozen=True):
    """A paged list of full objects."""

    path: str
    unpaged: bool = False
    """Whether one answer has all of it: then none of a page is asked for."""


class One(Struct, frozen=True):
    """One object by its own URL."""

    path: str = "{self}"


class Tree(Struct, frozen=True):
    """One answer that holds every node below the owner, in order."""

    path: str
    root: str
    otherwise: Lists | None = None
    """Where it is read on a server that has no such answer."""


class Lists(Struct, frozen=True):
    """The nodes of a tree in several lists, holders before what they hold; each says what it is in.

    What stands between siblings of different lists is not known then.
    """

    paths: tuple[str, ...]

    @property
    def path(self) -> str:
        """The first one, which names the read."""
        return self.paths[0]


class RowFormat(Struct, frozen=True, dict=True):
    """Entries may stand in a file of rows (CSV) too, which `file:` names beside the others.

    Its columns are the natural key, the fields that are texts, words or flags, and those of the `forms`: by
    the columns that a row fills, the fields that these say. "$NAME" is what stands in that column.
    """

    forms: Mapping[tuple[str, ...], Mapping[str, Any]]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of all forms."""
        return tuple(dict.fromkeys(name for names in self.forms for name in names))


class Entries(Struct, frozen=True):
    """A mapping of local keys. With `natural` the key of an entry *is* that field.

    `default` is the field that has the key's value where none is written.
    """

    natural: str | None = None
    default: str | None = None
    rows: RowFormat | None = None


class Single(Struct, frozen=True):
    """One per parent. `always`: it exists with its parent; else a 404 means that it was never set."""

    always: bool = False


class Node(Struct, frozen=True):
    """An entry of an ordered tree. `children` is where the answer has what it holds, `holds` which kinds."""

    type: str
    wire: str
    children: str | None = None
    holds: tuple[str, ...] = ()
    alone: bool = False
    """At the root it stands only among its own kind."""
    wraps_when: Mapping[str, Any] = field(default_factory=dict)
    """Field values of the owner with which the platform wraps top-level nodes in a node of this kind."""
    least: int = 0
    """How many children it must have."""
    file_always: tuple[str, ...] = ()
    """The fields that it always has in the platform's own navigation file."""
    file_fields: tuple[str, ...] = ()
    """The fields that it may have there."""
    file_content: tuple[str, ...] = ()
    """The fields of what it shows that it may have there."""
    file_single: tuple[str, tuple[str, ...]] | None = None
    """The YAML key of the customization below the node, and the customization fields that the
    platform's navigation file also contains."""

    @property
    def file_names(self) -> tuple[str, ...]:
        """Return all fields of the node that the platform's navigation file may contain."""
        return (*self.file_always, *self.file_fields)


class Order(Struct, frozen=True):
    """Siblings have an order that a call changes. `pointer` names a sibling inside the call's `$position`."""

    call: Call
    pointer: Any
    apart: bool = False
    """Only siblings of one kind have an order among each other."""
    otherwise: Order | None = None
    """The order by another call, for a server that lacks this one."""


class Outputs(Struct, frozen=True):
    """Objects of another kind that belong to this one: referable, never matched, imported or pruned alone."""

    kind: str
    read: str
    made: tuple[str, str] | None = None
    """A field, and its value once there must be one."""


class Guard(Struct, frozen=True):
    """One holder of this value must always remain; with `own`, the token's own user is never touched."""

    field: str
    value: str
    own: bool = False


class Url(Struct, frozen=True):
    """Where people see one. Below the URL of its parent it has a segment of its own."""

    at: str
    """Where an answer has it; nowhere while nobody sees it."""
    part: str
    """The field with its segment."""
    bare: str | None = None
    """A flag of the one that is seen at the URL of its parent, without a segment of its own."""
    hosts: tuple[str, ...] = ()
    """Fields with a host, and a path perhaps, at which it is in place of all that: the first that is set."""
    label: str | None = None
    """The field of its parent that the host begins with where it has none of its own."""
    preview: str | None = None
    """Where an answer has the URL of the preview, which shows unpublished content to members."""


class Redirects(Struct, frozen=True):
    """How an object of this kind redirects visitors from a path of its parent.

    The field `path` contains the path, which may end in `*` and is case-insensitive.
    """

    path: str
    active_when: Mapping[str, tuple[Any, ...]]
    """Field values with which the redirect is active."""
    to: Mapping[str, Mapping[str, Any]]
    """By kind the fields of an entry that leads there; "$key" is how the entry is named."""


class Restore(Struct, frozen=True):
    """One that was deleted can be brought back for some `days`; then answers have something at `deleted`."""

    call: Call
    deleted: str
    days: int


class Add(Struct, frozen=True):
    """A call that makes one under the id of its pin, where `field` is declared to be `value`."""

    call: Call
    field: str
    value: Any


class Busy(Struct, frozen=True):
    """While `field` has one of these values the platform is at work on it, by itself."""

    field: str
    values: tuple[str, ...]


class Trouble(Struct, frozen=True):
    """`field` says that something is wrong on the platform: by any value but these `fine` ones and none.

    `means` says what that is; the field `detail` may say it in the platform's words. No request changes it.
    `todo` says what a person does about it.
    """

    field: str
    means: str
    todo: str
    fine: tuple[Any, ...] = ()
    detail: str | None = None


class Lifecycle(Struct, frozen=True):
    """What happens to some kinds between being made and being deleted."""

    restore: Restore | None = None
    transfer: Call | None = None
    """A call that gives it, with everything in it, to another of what it is below: `$NAME` is the new one."""
    add: Add | None = None
    on_delete: Literal["gone", "lifted"] = "gone"


class PlatformWork(Struct, frozen=True):
    """What the platform does with some kinds by itself, or when it is told to."""

    outputs: Outputs | None = None
    busy: Busy | None = None
    trouble: Trouble | None = None
    processed: str | None = None
    """The field whose value the platform processes after the request; `trouble` describes failures."""
    acts: Mapping[str, Call] = field(default_factory=dict)
    """What one can be told to do, by the word that asks for it: no state, so never done unasked."""


class Synced(Struct, frozen=True):
    """The platform itself keeps a part of one as a repository has it, while answers have an object at `at`.

    That part has an owner, and dpsync leaves it alone: the `fields`, the fields `inherited` where one is kept
    so together with what shows it, and with `tree` every node of the tree that it holds.
    """

    at: str
    repository: str
    """Of that object: the member with the name of the repository. It may be left out."""
    provider: str
    """The member that says which service has the repository."""
    status: str
    """The member that says how it is connected; `active` where it says nothing."""
    together: str
    """The member that is there where one is kept so together with what shows it."""
    installation: str
    """The member with the id of the platform's installation. It may be left out."""
    fields: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    tree: bool = False
    asked_again: bool = False
    """Whether that may begin between a plan and its apply: then it is read again before a node is written."""

    def decided(self, together: bool) -> tuple[str, ...]:
        """The fields that the repository decides; `together`: it is that of what shows the object."""
        return (*self.fields, *(self.inherited if together else ()))


class RuleComparison(Struct, frozen=True):
    """How to tell which of two lists of rules, such as merge rules, is stricter."""

    items: str
    """The key of the list of rules in the field's value."""
    name: str
    """The key of the rule's name."""
    people: str
    """The key under which a rule lists people."""
    message: str
    """The key of the rule's message. Changing the message loosens nothing."""
    all_of: tuple[str, ...]
    """Names of rules that all listed people must meet. More people make such a rule stricter."""
    one_of: tuple[str, ...]
    """Names of rules that one of the listed people must meet. Fewer people make such a rule stricter."""
    implied_by: Mapping[str, tuple[str, ...]]
    """By rule name, the names of stricter rules: whoever meets a stricter rule also meets the rule."""


class Lifted(Struct, frozen=True):
    """A value that binds people is more open when something is taken out of it, or becomes another.

    The values `free` bind nobody. What holds one of the words `opens` opens by being put in.
    """

    free: tuple[Any, ...] = ()
    opens: tuple[str, ...] = ()
    rules: RuleComparison | None = None
    inherits: Any = None
    """The value that means "use the organization's value of this field", such as `{type: inherit}`."""


Raised = tuple[Any, ...] | Lifted | Literal["changed", "set", "added", "linked", "hosts"]
"""How something becomes more visible or more powerful by a field.

By a later one of these values; by what is lifted of it; by any other value; by any other but none; by what
is added to a list; by a URL that it did not hold before; by a host that no URL of it named before.
"""


Access = Literal["who", "role", "level", "inside", "shows"]
"""What a field says about access.

To whom something is given; which role somebody has there; the level of everybody else; the collection that
gives its own access; the space that a site gives its own access. A kind with "who" and no "role" is a
membership, one with "role" and no "who" is a member.
"""


class Field(Struct, frozen=True, dict=True):
    """One managed property.

    It has the platform's name, in YAML and on the wire, unless `read` or `write` say otherwise.
    """

    name: str
    type: Type
    on: Literal["create", "update", "both", "neither"] = "both"
    read: str | Mapping[str, str] | None = "="
    """Where an answer has it, dotted. "=" is the name itself, "" the whole answer; None cannot be read.

    A mapping says where its parts are, when they lie apart.
    """
    own_read: Mapping[str, str] = field(default_factory=dict)
    """Parts of a value that have a request of their own, by the path that answers with one, as plain text.

    It is sent for entries that declare the part, and for no others.
    """
    write: str | None = None
    create_as: str | None = None
    """Its name in the creating call, where that differs from `write`."""
    via: Call | Mapping[Any, Call] | None = None
    otherwise: Call | Mapping[Any, Call] | None = None
    """Its `via` where the server's updating call does not take it."""
    null: Literal["refused", "clear", "empty", "by hand"] = "refused"
    """What a declared null does. "by hand": there should be none, and only a person can take one away."""
    absent: Any = None
    nest: bool = False
    one_per: str | None = None
    instead_of: str | None = None
    """Another field of its kind: at most one of the two has a value, and giving one takes the other away."""
    unique: str | None = None
    after: tuple[str, ...] = ()
    exposure: tuple[Any, ...] | Lifted = ()
    """By what people see more: its values from the least to the most, or what binds them.

    A change that shows more is written last, one that shows less first.
    """
    security: bool = False
    """Whether something becomes more visible or more powerful by it.

    `policy: watch: access` covers it: import leaves its line out only for the default value, which the policy
    then watches.
    """
    raised: Raised | None = None
    """By which change of it: a plan lists that. With `exposure` that says so."""
    access: Access | None = None
    """What it says about who may do what. A plan resolves the roles before and after, and lists who gains."""
    required: bool = False
    inline: bool = False
    """Whether the words of its short forms may stand in the entry itself, without the name of the field."""
    in_answers: Literal["always", "or null", "sometimes"] | None = None
    """Whether every answer has it with a value, or at least with null; else no member and null mean `absent`.

    Where nothing is said: always, if an entry must have it and nothing stands for its absence.
    """
    formed_by: str | None = None
    """Another field, by whose value this one has one of its `forms`; by any other value it has none."""
    forms: Mapping[str, Object] = field(default_factory=dict)
    """By that value which members a value of this one must have, and may have."""
    means: str | None = None
    """The kind whose id this text is, where there is such an object: without that this one cannot be."""
    platform_default: Any = None
    """What a new one has where nothing is said. It is only ever left out by import, never filled in."""
    on_profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By profile the words of this declaration that are others on such a server."""

    @cached_property
    def default_value(self) -> Any:
        """Return the value of a field that nobody has set. None also stands for an unknown default value."""
        return self.absent if self.platform_default is None else self.platform_default

    @cached_property
    def watchable(self) -> bool:
        """Whether drift can compare the field with its default value where no entry declares the field."""
        readable = self.source is not None and self.on != "neither" and not self.nest
        return readable and (self.default_value is not None or self.null in ("clear", "empty"))

    def form(self, by: Any) -> Type:
        """The type of its values beside this value of the field that forms it."""
        if self.formed_by is None or by is None:
            return self.type
        return self.forms.get(str(by)) or Object({}, what=f"the {self.name} of {by}")

    def needed(self, fields: Mapping[str, Any]) -> bool:
        """Whether an entry with these fields must have it, too."""
        if self.required or self.formed_by is None:
            return self.required
        form = self.forms.get(str(fields.get(self.formed_by)))
        return form is not None and bool(form.required)

    @cached_property
    def source(self) -> str | Mapping[str, str] | None:
        return self.name if self.read == "=" else self.read

    @cached_property
    def member(self) -> str | None:
        """The member of an answer that has it, where it is one of the answer itself: nearly always."""
        return (
            self.source if isinstance(self.source, str) and "." not in self.source and self.source else None
        )

    @cached_property
    def may_be_unread(self) -> bool:
        """Whether a value of it may have a part that the platform never gives back."""
        return self.source is None or self.type.may_be_unread

    @cached_property
    def exposes(self) -> Raised | None:
        """`raised`, settled: how something becomes more visible or more powerful by it, None when never."""
        return self.raised or self.exposure or None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The kinds of objects that a value of it may name."""
        return (*self.type.refers, self.means) if self.means else self.type.refers

    @cached_property
    def declarable(self) -> bool:
        """Whether an entry may have it; what the platform alone sets is only read."""
        return self.on != "neither"

    @cached_property
    def blank_is_none(self) -> bool:
        """Whether an empty text in an answer says that there is no value: it could not be one."""
        too_short = isinstance(self.type, Text) and self.type.least > 0 and not self.required
        return self.null == "empty" or too_short

    @cached_property
    def wire(self) -> str:
        return self.write or self.name

    @cached_property
    def answered(self) -> Literal["always", "or null", "sometimes"]:
        """`in_answers`, settled."""
        return self.in_answers or ("always" if self.required and self.absent is None else "sometimes")

    def setting(self, value: Any) -> Call | None:
        """The call of its own that gives it a value, None when there is none for that."""
        if self.via is None or isinstance(self.via, Call):
            return self.via
        key = value if value is None or isinstance(value, bool | str) else ANY
        return self.via.get(key, self.via.get(ANY) if value is not None else None)


class ListOrder(Field, frozen=True, kw_only=True):
    """A list in an entry that says in which order the things stand that are placed in it.

    It is compared with a list of the platform, and carried out by moving these things; it is never sent.
    """

    type: Type = Type()
    on: Literal["create", "update", "both", "neither"] = "neither"
    read: None = None
    of: str
    """The kind of what is in the list."""
    by: str
    """The field of that kind which places a thing in this one; null places it in what it belongs to."""
    present: Pages | None
    """Where the present order is read; None where the list of all things of that kind has it."""
    order: Order | None
    """How they are moved among each other; None on a server that cannot move them."""

    def __post_init__(self) -> None:
        force_setattr(self, "type", Many(Reference.to(self.of), as_set=True))

    @cached_property
    def declarable(self) -> bool:
        return True


class Kind(Struct, frozen=True, dict=True):
    """One thing that can be managed. docs/kind-internals.md explains each word."""

    name: str
    parent: tuple[str, ...] | str | None
    key: str
    shape: Entries | Single | Node
    at: str
    read: Pages | One | Tree | Lists
    fields: tuple[Field, ...]
    label: str = ""
    """What people call one of them."""
    list_noun: str = ""
    """The noun in the lists of plans and drift, if it is not the usual one."""
    delete_noun: str = ""
    """The noun by which deletes are counted, if it is not the one of the lists."""
    delete_effect: str = ""
    """What a delete means for people, if the noun does not say it."""
    id: str = "id"
    """Where an answer has its id, dotted; a text with such names in braces where its URL needs several."""
    of_output: bool = False
    """Whether it is a part of what its parent puts out: then its id is that of the output."""
    own_id: bool = True
    """Whether the id names one everywhere.

    That of a person who is in several places does not: there is one below each parent.
    """
    title: str = "title"
    """The field that people know an undeclared one by."""
    title_at: str | None = None
    """The dotted path in an API answer to the title of the object to which the title field refers."""
    url: Url | None = None
    """Where people see it, and what that is made of."""
    visible_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By field the values with which people see it, and what is in it."""
    redirects: Redirects | None = None
    """From where it leads people elsewhere."""
    changed: str | None = None
    """Where an answer says when it was last changed."""
    identity: tuple[str | tuple[str, ...], ...] = ()
    """Natural keys: a field, a member of one ("translations.en"), "$child.NAME", or several of these."""
    tie_breakers: tuple[str, ...] = ()
    sole_key: str | None = None
    """A field that identifies one when no natural key does, and only without a choice.

    A single live object that no entry has must bear its value, for a single entry.
    """
    find: Pages | None = None
    """Where it is looked up by its natural key when it has no parent."""
    create: Call | ByHand | None = None
    update: Call | None = None
    delete: Call | None = None
    order: Order | None = None
    shorthand: str | None = None
    content: bool = False
    """Whether something hangs on one that a new one would not have: pages, members, children, sign-in."""
    can_be_empty: bool = False
    """Whether nothing hangs on one of them without children and without anything that refers to it."""
    after: tuple[str, ...] = ()
    guard: Guard | None = None
    lifecycle: Lifecycle = Lifecycle()
    platform: PlatformWork = PlatformWork()
    security: bool = False
    """Whether one more of them makes something more visible or more powerful, whatever its fields are."""
    lets_in: bool = False
    """Whether what one shows by its `exposure` is what it belongs to: it lets people in there."""
    keeps_out: bool = False
    """Whether one fewer of them makes something more visible or more powerful: it kept people out."""
    pages: str | None = None
    """Where the tree of the pages that one holds is read."""
    others: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By member the values with which what its list has is something else, that nobody declares here."""
    shown_in: Pages | None = None
    """The list of the objects that show this one: no others need to be looked into for its places."""
    inherits: str | None = None
    """The kind whose values answers have where this one has none of its own: import leaves those out.

    There is one of it in what this one is in.
    """
    on_profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By profile the words of this declaration, but its fields, that are others on such a server."""
    synced: Synced | None = None
    """What the platform itself keeps as a repository has it."""

    @cached_property
    def parents(self) -> tuple[str, ...]:
        return (self.parent,) if isinstance(self.parent, str) else self.parent or ()

    @cached_property
    def noun(self) -> str:
        return self.label or self.name.replace("_", " ")

    @cached_property
    def one(self) -> str:
        """The noun with its article; a plural noun has none."""
        if self.noun.endswith(("settings", "instructions")):
            return self.noun
        return f"{'an' if _AN.match(self.noun) else 'a'} {self.noun}"

    def identity_of(self, id: str, parent: tuple[str, str] | None) -> tuple[str, str]:
        """What names one object among all live ones: its kind and id, with the parent's where it needs it."""
        return self.name, id if self.own_id or parent is None else "/".join((*parent, id))

    @cached_property
    def id_segments(self) -> int:
        """Number of URL path segments that make up the id of an object."""
        return self.id.count("/") + 1 if "{" in self.id else 1

    @cached_property
    def in_tree(self) -> bool:
        """Whether it is read with the whole tree that it is a node of."""
        return isinstance(self.shape, Node)

    @cached_property
    def natural(self) -> str | None:
        return self.shape.natural if isinstance(self.shape, Entries) else None

    def creating(self, pin: str | None, fields: Mapping[str, Any]) -> Call | ByHand | None:
        """The call that makes an entry: that of its pin where there is one for it."""
        add = self.lifecycle.add
        if add is not None and pin is not None and fields.get(add.field) == add.value:
            return add.call
        return self.create

    @cached_property
    def identity_fields(self) -> tuple[str, ...]:
        """The fields of its own that its natural keys are made of."""
        parts = (part for key in self.identity for part in ((key,) if isinstance(key, str) else key))
        return tuple(dict.fromkeys(part.partition(".")[0] for part in parts if not part.startswith("$")))

    @cached_property
    def recorded(self) -> bool:
        """Whether the ids file has a line for each of them: its natural keys may change, or be shared.

        Where the key of an entry, or a field that is the id, says which one is meant, nothing is recorded.
        """
        certain = self.natural is not None or any(
            self.field(name).source == self.id for name in self.identity_fields
        )
        return self.parent is not None and bool(self.identity) and not certain

    @cached_property
    def mistakable(self) -> bool:
        """Whether it is asked before one is made: content, and no key says for certain which one is meant."""
        return self.content and self.recorded

    @cached_property
    def has_also(self) -> bool:
        """Whether a line has a second id: of what is made along with one, or put out for it."""
        along = isinstance(self.create, Call) and self.create.also_creates is not None
        return along or self.platform.outputs is not None

    @cached_property
    def can_be_renamed(self) -> bool:
        """Whether what one is recognised by can be written to one that is live."""
        fields = [self.field(name) for name in self.identity_fields]
        writable = any(item.on in ("update", "both") and item.source != self.id for item in fields)
        return self.parent is not None and self.update is not None and writable

    @cached_property
    def default(self) -> str | None:
        return self.shape.default if isinstance(self.shape, Entries) else None

    @cached_property
    def only_short(self) -> bool:
        """A free-form value is always the whole entry: its own keys could be mistaken for fields."""
        return self.shorthand is not None and self.field(self.shorthand).type.takes_mapping

    @cached_property
    def comes_along(self) -> bool:
        """Whether one is there as soon as its parent is: then it is only ever changed."""
        return isinstance(self.shape, Single) and self.shape.always

    @cached_property
    def lasting(self) -> frozenset[str]:
        """Its fields but those that say what the platform is doing."""
        busy, trouble = self.platform.busy, self.platform.trouble
        passing = {busy.field if busy else None}
        passing |= {trouble.field, trouble.detail} if trouble else set()
        return frozenset(item.name for item in self.fields if item.name not in passing)

    def is_busy(self, fields: Mapping[str, Any]) -> bool:
        """Whether the platform is at work on one that has these fields."""
        busy = self.platform.busy
        return busy is not None and fields.get(busy.field) in busy.values

    def trouble(self, fields: Mapping[str, Any]) -> str | None:
        """What the platform reports as wrong with one; None when nothing is, or while it is at work on it."""
        trouble = self.platform.trouble
        if trouble is None or self.is_busy(fields):
            return None
        value = fields.get(trouble.field)
        if value is None or value in trouble.fine:
            return None
        detail = fields.get(trouble.detail) if trouble.detail else None
        return f"{trouble.means} ({value}{f': {detail}' if detail else ''})"

    @cached_property
    def hides(self) -> Field | None:
        """The field whose least exposed value hides one, with what is in it, whatever else it says."""
        for item in self.fields:
            scale = item.exposure if isinstance(item.exposure, tuple) else ()
            if item.name in self.visible_when and scale and scale[0] not in self.visible_when[item.name]:
                return item
        return None

    @cached_property
    def access(self) -> Mapping[Access, Field]:
        """Its fields that say who may do what, by what they say."""
        return {field.access: field for field in self.fields if field.access is not None}

    @cached_property
    def gives_access(self) -> bool:
        """Whether one of them gives somebody a role in one place."""
        return {"who", "role"} <= self.access.keys()

    def resolves(self, field: Field) -> bool:
        """Whether what a field opens follows from the roles before and after, and not from its own values."""
        return field.access is not None and (field.access != "role" or self.gives_access)

    @cached_property
    def list_orders(self) -> tuple[ListOrder, ...]:
        return tuple(field for field in self.fields if isinstance(field, ListOrder))

    @cached_property
    def nest(self) -> Field | None:
        return next((field for field in self.fields if field.nest), None)

    @cached_property
    def read_fields(self) -> tuple[Field, ...]:
        """Those of its fields that answers have."""
        return tuple(field for field in self.fields if field.source is not None)

    @cached_property
    def writable_fields(self) -> tuple[Field, ...]:
        """Those of its fields that some call can write."""
        return tuple(field for field in self.fields if field.on != "neither")

    @cached_property
    def unread_fields(self) -> tuple[Field, ...]:
        """Those of its fields whose values may have a part that the platform never gives back."""
        return tuple(field for field in self.fields if field.may_be_unread)

    @cached_property
    def own_read_fields(self) -> tuple[Field, ...]:
        """Those of its fields of which a part has a request of its own."""
        return tuple(field for field in self.fields if field.own_read)

    @cached_property
    def page_fields(self) -> tuple[Field, ...]:
        """Return the fields whose value may contain a reference to a page."""
        return tuple(
            item
            for item in self.fields
            if isinstance(item.type, OneOf)
            and any(isinstance(part, Page) for one in item.type.forms.values() for part in one.parts.values())
        )

    @cached_property
    def reference_fields(self) -> tuple[Field, ...]:
        """Those of its fields whose values may name other objects."""
        return tuple(field for field in self.fields if field.names)

    @cached_property
    def written_fields(self) -> dict[str, Field]:
        """The fields that may be written inside an entry: neither its key nor its place says them."""
        fields = (field for field in self.fields if not field.nest and field.name != self.natural)
        return {field.name: field for field in fields}

    def field(self, name: str) -> Field:
        return self._by_name[name]

    @cached_property
    def inline_words(self) -> dict[str, str]:
        """The words of short forms that may stand in an entry itself, each with its field."""
        return {
            word: one.name
            for one in self.fields
            if one.inline and isinstance(one.type, OneOf)
            for word in one.type.short_words
        }

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}
