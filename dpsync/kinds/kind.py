"""Define the classes with which a kind of object is declared: fields, requests, shape, platform behavior.

No other layer knows a kind by name: each reads these declarations. docs/kind-internals.md explains each
class. Requests use templates. In paths, `{organization}` and other kind names are ids of ancestors,
`{parent}` is the parent's URL, `{id}` the object's id, `{value}` and `{old}` the new and old id in a field.
In bodies, "$fields" stands for all fields to send, "$id", "$value", "$old", "$wire" (a node's type),
"$position", "$child.NAME" (a field of the first child) and "$NAME" (a field, or an ancestor's id). A "..."
key spreads its value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from dpsync.kinds.types import List, Object, OneOf, Page, Reference, Text, Type

if TYPE_CHECKING:
    from dpsync.model.change import Repeat

_AN = re.compile(r"[AEIOaeiou]|[FHLMNRX][A-Z]{2}\b")
"""Matches nouns that take "an": with an initial vowel, or an abbreviation spoken like "em" (MCP)."""
ANY = "*"
"""Key of a `own_call` map for every value without its own call."""


class Call(Struct, frozen=True, kw_only=True):
    """A writing request. `id_source` is the path of the new id in the response ("$NAME": a known field)."""

    method: str
    path: str
    body: Any = "$fields"
    id_source: str = "id"
    """A name ("id", "user.id"), "$NAME" for a field of its own, or a text with such names in braces."""
    first_child_id_path: str | None = None
    """Path in the response of the id of the first child, which the platform creates with the object."""
    replaces_object: bool = False
    """Whether the body replaces the object, so that undeclared live members, at any depth, are sent again."""
    read_only: tuple[str, ...] = ()
    """Members of a response that a `replaces_object` body does not accept."""
    sends_every_field: bool = False
    """Whether the body has every field, with the declared or else the live value. Other values are lost."""
    success_object: str | None = None
    """The `object` in a successful response. With another value, the change was not made."""
    repeat: Repeat
    """Whether the request may be sent again if its result is unknown."""


def Post(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    """Return a POST request (see `Call`)."""
    return Call(method="POST", path=path, body=body, repeat=repeat, **words)


def Put(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    """Return a PUT request (see `Call`)."""
    return Call(method="PUT", path=path, body=body, repeat=repeat, **words)


def Patch(path: str, body: Any = "$fields", *, repeat: Repeat, **words: Any) -> Call:
    """Return a PATCH request (see `Call`)."""
    return Call(method="PATCH", path=path, body=body, repeat=repeat, **words)


def Delete(path: str = "{self}", *, repeat: Repeat) -> Call:
    """Return a DELETE request without a body (see `Call`)."""
    return Call(method="DELETE", path=path, body=None, repeat=repeat)


class ManualStep(Struct, frozen=True):
    """An action that a person must do, because no request can. `{key}` is the key of the entry."""

    todo: str


class ListRead(Struct, frozen=True):
    """A read of a paged list of complete objects."""

    path: str
    is_unpaged: bool = False
    """Whether one response has the whole list, so that no page parameters are sent."""


class SingleRead(Struct, frozen=True):
    """A read of one object by its own URL."""

    path: str = "{self}"


class TreeRead(Struct, frozen=True):
    """A read whose one response has all nodes below the owner, in order."""

    path: str
    root_member: str
    fallback: NodeListsRead | None = None
    """How to read the tree on a server without this request."""


class NodeListsRead(Struct, frozen=True):
    """A read of the nodes of a tree from several lists, parents first. A field of each node names its parent.

    The order of siblings from different lists is unknown.
    """

    paths: tuple[str, ...]

    @property
    def path(self) -> str:
        """The first path, which identifies the read."""
        return self.paths[0]


class RowFormat(Struct, frozen=True, dict=True):
    """Format of a table (CSV), named by `file:`, whose rows are entries too.

    The columns are the natural key, the fields of simple types, and the columns of `forms`. Each form maps a
    set of filled columns to field values, in which "$NAME" is the content of the column.
    """

    forms: Mapping[tuple[str, ...], Mapping[str, Any]]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of all forms."""
        return tuple(dict.fromkeys(name for names in self.forms for name in names))


class EntryMapping(Struct, frozen=True):
    """Shape of a mapping from local keys to entries. With `key_field`, the key is the value of that field.

    `default_key_field` names the field whose value is the key if the entry does not declare the field.
    """

    key_field: str | None = None
    default_key_field: str | None = None
    row_format: RowFormat | None = None


class SingleEntry(Struct, frozen=True):
    """Shape of an object that exists at most once per parent.

    With `exists_with_parent` it exists with its parent. Otherwise, a 404 means that it was never set.
    """

    exists_with_parent: bool = False


class TreeNode(Struct, frozen=True):
    """Shape of an entry in an ordered tree.

    `children_member` is the response member with the children, `child_kinds` their kinds.
    """

    yaml_type: str
    wire_type: str
    children_member: str | None = None
    child_kinds: tuple[str, ...] = ()
    excludes_other_kinds_at_root: bool = False
    """Whether a node at the root may have only siblings of its own kind."""
    wraps_top_level_when: Mapping[str, Any] = field(default_factory=dict)
    """Field values of the owner with which the platform wraps top-level nodes in a node of this kind."""
    min_children: int = 0
    """Minimum number of children."""
    navigation_file_required: tuple[str, ...] = ()
    """The fields that the node always has in the platform's navigation file (Git Sync)."""
    navigation_file_optional: tuple[str, ...] = ()
    """The fields that the node may have in this file."""
    navigation_file_content: tuple[str, ...] = ()
    """The fields of the object that the node shows, which the node may have in this file."""
    navigation_file_customization: tuple[str, tuple[str, ...]] | None = None
    """The YAML key of the customization below the node, and the customization fields that the
    platform's navigation file also contains."""

    @property
    def navigation_file_fields(self) -> tuple[str, ...]:
        """All fields of the node that the platform's navigation file may contain."""
        return (*self.navigation_file_required, *self.navigation_file_optional)


class SiblingOrder(Struct, frozen=True):
    """Order of siblings that a call changes.

    `sibling_reference` is a sibling's reference in the call's `$position`.
    """

    call: Call
    sibling_reference: Any
    orders_kinds_separately: bool = False
    """Whether only siblings of the same kind are ordered among each other."""
    fallback: SiblingOrder | None = None
    """The order by another call, for a server without this call."""


class Outputs(Struct, frozen=True):
    """Objects of another kind that the platform creates for this kind.

    Files can refer to outputs, but dpsync never matches, imports or prunes them on their own.
    """

    kind: str
    id_field: str
    required_when: tuple[str, str] | None = None
    """A field and the value with which the output must exist."""


class LastHolderGuard(Struct, frozen=True):
    """Value of a field that at least one object must keep.

    With `protects_token_user`, dpsync never changes the token's user.
    """

    field: str
    value: str
    protects_token_user: bool = False


class Url(Struct, frozen=True):
    """URL at which people see an object. It has its own segment below the URL of its parent."""

    response_path: str
    """Path of the URL in a response. The URL is absent while nobody sees the object."""
    segment_field: str
    """The field with the segment of the object."""
    without_segment_flag: str | None = None
    """The flag of the object that people see at the URL of the parent, without its own segment."""
    host_fields: tuple[str, ...] = ()
    """Fields with a host and an optional path that replace the URL. The first field with a value counts."""
    host_label_field: str | None = None
    """The field of the parent with the first label of the host, if no field in `host_fields` is set."""
    preview_path: str | None = None
    """Path in a response of the preview URL, which shows unpublished content to members."""


class Redirects(Struct, frozen=True):
    """How an object of this kind redirects visitors from a path of its parent.

    The field `source_field` contains the path, which may end in `*` and is case-insensitive.
    """

    source_field: str
    active_when: Mapping[str, tuple[Any, ...]]
    """Field values with which the redirect is active."""
    targets_by_kind: Mapping[str, Mapping[str, Any]]
    """By kind, the fields of a redirect to an object of this kind; "$key" is the key of its entry."""


class Restore(Struct, frozen=True):
    """Request that restores a deleted object within `days`. Responses then have a value at `deleted_path`."""

    call: Call
    deleted_path: str
    days: int


class CreateWithId(Struct, frozen=True):
    """Request that creates an object with the id of its pin, if `field` is declared with `value`."""

    call: Call
    field: str
    value: Any


class BusyState(Struct, frozen=True):
    """Values of `field` while the platform is processing an object."""

    field: str
    values: tuple[str, ...]


class Trouble(Struct, frozen=True):
    """Field that reports a problem that no request can fix: any value but None and `accepted_values`.

    `message` describes the problem, `detail_field` is the field with the platform's description, and `todo`
    says what a person can do.
    """

    field: str
    message: str
    todo: str
    accepted_values: tuple[Any, ...] = ()
    detail_field: str | None = None


class Lifecycle(Struct, frozen=True):
    """Requests and behavior of some kinds between their creation and deletion."""

    restore: Restore | None = None
    transfer: Call | None = None
    """A call that moves an object with its contents to another parent; `$NAME` is the new parent's id."""
    create_with_id: CreateWithId | None = None
    on_delete: Literal["gone", "lifted"] = "gone"


class PlatformWork(Struct, frozen=True):
    """Work that the platform does for some kinds on its own, or on request."""

    outputs: Outputs | None = None
    busy: BusyState | None = None
    trouble: Trouble | None = None
    processed_field: str | None = None
    """The field whose value the platform processes after the request.

    `trouble` describes failures.
    """
    user_actions: Mapping[str, Call] = field(default_factory=dict)
    """Actions that users can request, by name. They are no state, so a plan never runs them on its own."""


class GitSync(Struct, frozen=True):
    """Git Sync: the platform keeps part of an object in sync with a repository.

    Responses have an object at `response_path`. dpsync leaves that part alone: the `fields`, with
    `includes_tree` every node of the object's tree, and the `fields_synced_with_owner` fields if the object
    is synced together with the object that shows it.
    """

    response_path: str
    repository: str
    """Member of the object at `url_path` with the name of the repository. May be absent."""
    provider: str
    """Member with the service that hosts the repository."""
    status: str
    """Member with the state of the connection. `active` needs no mention."""
    synced_with_owner_member: str
    """Member that is present if the object is synced together with the object that shows it."""
    installation: str
    """Member with the id of the integration's installation. May be absent."""
    fields: tuple[str, ...] = ()
    fields_synced_with_owner: tuple[str, ...] = ()
    includes_tree: bool = False
    is_rechecked_before_write: bool = False
    """Whether Git Sync may start between plan and apply, so that it is checked before a node is written."""

    def synced_fields(self, synced_with_owner: bool) -> tuple[str, ...]:
        """Return the fields that the repository decides.

        Args:
            synced_with_owner: Whether the object is synced together with the object that shows it.
        """
        return (*self.fields, *(self.fields_synced_with_owner if synced_with_owner else ()))


class RuleComparison(Struct, frozen=True):
    """How to tell which of two lists of rules, such as merge rules, is stricter."""

    rules_key: str
    """The key of the list of rules in the field's value."""
    name_key: str
    """The key of the rule's name."""
    people_key: str
    """The key under which a rule lists people."""
    message_key: str
    """The key of the rule's message. Changing the message loosens nothing."""
    rules_for_all_people: tuple[str, ...]
    """Names of rules that all listed people must meet. More people make such a rule stricter."""
    rules_for_any_person: tuple[str, ...]
    """Names of rules that one of the listed people must meet. Fewer people make such a rule stricter."""
    implied_by: Mapping[str, tuple[str, ...]]
    """By rule name, the names of stricter rules: whoever meets a stricter rule also meets the rule."""


class Restriction(Struct, frozen=True):
    """Restriction of people by a value: removing or replacing a part of the value gives more access.

    The values `unrestricted_values` restrict nobody. Adding a part with one of the words in `opening_words`
    gives more access, too.
    """

    unrestricted_values: tuple[Any, ...] = ()
    opening_words: tuple[str, ...] = ()
    rule_comparison: RuleComparison | None = None
    inherit_value: Any = None
    """The value that means "use the organization's value of this field", such as `{type: inherit}`."""


WideningRule = tuple[Any, ...] | Restriction | Literal["changed", "set", "added", "linked", "hosts"]
"""Changes of a field that make something more visible or powerful.

A later one of these values; a lifted restriction; any other value ("changed"); any other value but None
("set"); an item added to a list ("added"); a new URL ("linked"); a URL with a new host ("hosts").
"""


AccessMeaning = Literal["who", "role", "level", "inside", "shows"]
"""Meaning of a field for access.

"who": the person or team with access; "role": their role; "level": the role of everybody else; "inside": the
collection whose access applies; "shows": the space to which the access of a site applies. A kind with "who"
but no "role" is a membership, a kind with "role" but no "who" is a member.
"""


class Field(Struct, frozen=True, dict=True):
    """A managed property of a kind.

    The name in YAML and on the wire is `name`, unless `read_path` or `write_name` differ.
    """

    name: str
    type: Type
    written_in: Literal["create", "update", "both", "neither"] = "both"
    read_path: str | Mapping[str, str] | None = "="
    """Dotted path in a response. "=" is the field's name, "" the whole response, None: not readable.

    A mapping has the paths of the parts of the value.
    """
    separate_read_paths: Mapping[str, str] = field(default_factory=dict)
    """Parts of the value with their own GET path, which returns plain text.

    The request is sent only for entries that declare the part.
    """
    write_name: str | None = None
    create_name: str | None = None
    """The field's name in the create call, if it differs from `write_name`."""
    own_call: Call | Mapping[Any, Call] | None = None
    fallback_call: Call | Mapping[Any, Call] | None = None
    """The `own_call` for a server whose update call does not accept the field."""
    null_effect: Literal["refused", "clear", "empty", "by hand"] = "refused"
    """What a declared null does. "by hand": no value is expected, and only a person can remove one."""
    value_when_absent: Any = None
    is_parent_reference: bool = False
    exclusive_within: str | None = None
    mutually_exclusive_with: str | None = None
    """Another field of the kind. At most one of the two has a value, and setting one clears the other."""
    unique_within: str | None = None
    written_after: tuple[str, ...] = ()
    exposure: tuple[Any, ...] | Restriction = ()
    """The values from the least to the most exposed, or a restriction of people.

    A change to more exposure is written last, a change to less exposure first.
    """
    can_widen_access: bool = False
    """Whether the field can make something more visible or powerful.

    `policy: watch: access` covers it: import leaves its line out only for the default value, which the policy
    then watches.
    """
    widens_when: WideningRule | None = None
    """The changes that a plan lists as giving more access, if they do not follow from `exposure`."""
    access_meaning: AccessMeaning | None = None
    """The meaning for access. A plan computes the roles before and after, and lists who gains access."""
    required: bool = False
    allows_inline_words: bool = False
    """Whether the words of the short forms may be directly in the entry, without the field's name."""
    in_responses: Literal["always", "or null", "sometimes"] | None = None
    """Whether every response has the field with a value, or at least with null.

    If only "sometimes", an absent member and null mean `value_when_absent`. The default is "always" for a
    required field without `value_when_absent`, and otherwise "sometimes".
    """
    form_selector: str | None = None
    """Another field whose value selects one of the `forms`. Other values of it select no form."""
    forms: Mapping[str, Object] = field(default_factory=dict)
    """By the value of the field in `form_selector`, the required and allowed members of this field."""
    refers_to_kind: str | None = None
    """The kind to whose object the text refers by id. Without that object, this object cannot exist."""
    platform_default: Any = None
    """The value of a new object without this field. Import leaves it out, and dpsync never fills it in."""
    profile_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By profile, the words of this declaration that differ on such a server."""

    @cached_property
    def default_value(self) -> Any:
        """The value of a field that nobody has set. None also stands for an unknown default value."""
        return self.value_when_absent if self.platform_default is None else self.platform_default

    @cached_property
    def is_watchable(self) -> bool:
        """Whether drift can compare the field with its default value if no entry declares the field."""
        readable = (
            self.response_path is not None and self.written_in != "neither" and not self.is_parent_reference
        )
        return readable and (self.default_value is not None or self.null_effect in ("clear", "empty"))

    def type_for(self, selector_value: Any) -> Type:
        """Return the type of this field if the field in `form_selector` has the value `selector_value`."""
        if self.form_selector is None or selector_value is None:
            return self.type
        return self.forms.get(str(selector_value)) or Object({}, noun=f"the {self.name} of {selector_value}")

    def is_required(self, fields: Mapping[str, Any]) -> bool:
        """Return whether an entry with these fields must also have this field."""
        if self.required or self.form_selector is None:
            return self.required
        form = self.forms.get(str(fields.get(self.form_selector)))
        return form is not None and bool(form.required)

    @cached_property
    def response_path(self) -> str | Mapping[str, str] | None:
        """Return the dotted path of the value in a response, or of its parts; None if it is unreadable."""
        return self.name if self.read_path == "=" else self.read_path

    @cached_property
    def response_member(self) -> str | None:
        """The top-level response member with the value; None if it is nested or has several parts."""
        return (
            self.response_path
            if isinstance(self.response_path, str) and "." not in self.response_path and self.response_path
            else None
        )

    @cached_property
    def may_be_write_only(self) -> bool:
        """Whether a value may have a part that the platform never returns."""
        return self.response_path is None or self.type.may_be_write_only

    @cached_property
    def widening_rule(self) -> WideningRule | None:
        """The changes that make something more visible or powerful (`widens_when` or `exposure`), if any."""
        return self.widens_when or self.exposure or None

    @cached_property
    def referenced_kinds(self) -> tuple[str, ...]:
        """The kinds of objects to which a value may refer."""
        return (
            (*self.type.referenced_kinds, self.refers_to_kind)
            if self.refers_to_kind
            else self.type.referenced_kinds
        )

    @cached_property
    def is_declarable(self) -> bool:
        """Whether an entry may have the field. Fields that only the platform sets are read-only."""
        return self.written_in != "neither"

    @cached_property
    def empty_text_is_none(self) -> bool:
        """Whether an empty text in a response means that there is no value."""
        too_short = isinstance(self.type, Text) and self.type.min_length > 0 and not self.required
        return self.null_effect == "empty" or too_short

    @cached_property
    def wire_name(self) -> str:
        """Return the name of the field in requests."""
        return self.write_name or self.name

    @cached_property
    def response_presence(self) -> Literal["always", "or null", "sometimes"]:
        """`in_responses`, or the default that follows from `required` and `value_when_absent`."""
        return self.in_responses or (
            "always" if self.required and self.value_when_absent is None else "sometimes"
        )

    def call_for_value(self, value: Any) -> Call | None:
        """Return the field's own call that sets a value; None if there is none."""
        if self.own_call is None or isinstance(self.own_call, Call):
            return self.own_call
        key = value if value is None or isinstance(value, bool | str) else ANY
        return self.own_call.get(key, self.own_call.get(ANY) if value is not None else None)


class ListOrder(Field, frozen=True, kw_only=True):
    """A list in an entry that orders the objects placed in the entry.

    dpsync compares the list with a list on the platform and moves the objects. The list is never sent.
    """

    type: Type = Type()
    written_in: Literal["create", "update", "both", "neither"] = "neither"
    read_path: None = None
    item_kind: str
    """The kind of the objects in the list."""
    place_field: str
    """The field of that kind which places an object in this one; null places the object in its parent."""
    live_order_read: ListRead | None
    """The read of the current order; None if the list of all objects of that kind has the order."""
    move_order: SiblingOrder | None
    """The request that moves the objects; None on a server that cannot move them."""

    def __post_init__(self) -> None:
        force_setattr(self, "type", List(Reference.to(self.item_kind), is_set=True))

    @cached_property
    def is_declarable(self) -> bool:
        """Return True: an entry may have the list, although the list is never sent."""
        return True


class Kind(Struct, frozen=True, dict=True):
    """A type of object that dpsync manages. docs/kind-internals.md explains each word."""

    name: str
    parent: tuple[str, ...] | str | None
    key: str
    shape: EntryMapping | SingleEntry | TreeNode
    url_path: str
    read: ListRead | SingleRead | TreeRead | NodeListsRead
    fields: tuple[Field, ...]
    label: str = ""
    """The noun for one object, if it is not the name."""
    list_noun: str = ""
    """The noun in the lists of plans and drift, if it is not the usual one."""
    delete_noun: str = ""
    """The noun by which deletes are counted, if it is not `list_noun`."""
    delete_effect: str = ""
    """The effect of a delete on people, if it is not obvious from the noun."""
    copy_url_in: str = ""
    """Where a person copies the URL of a new object, if the URL contains a secret: follows "open"."""
    id_path: str = "id"
    """Dotted path of the id in a response, or a text with such paths in braces if the URL needs several."""
    is_part_of_output: bool = False
    """Whether the object is part of its parent's output and has the id of the output."""
    has_unique_id: bool = True
    """Whether the id is unique among all objects of the kind.

    A person's id is not: each parent can have a member or permission with this id.
    """
    title_field: str = "title"
    """The field by which people know an object without an entry."""
    referenced_title_path: str | None = None
    """The dotted path in an API answer to the title of the object to which the title field refers."""
    url: Url | None = None
    """The URL at which people see the object, and its parts."""
    visible_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By field, the values with which people see the object and its contents."""
    redirects: Redirects | None = None
    """How the object redirects visitors."""
    changed_at_path: str | None = None
    """Path in a response of the time of the last change."""
    natural_keys: tuple[str | tuple[str, ...], ...] = ()
    """Natural keys: a field, a member of one ("translations.en"), "$child.NAME", or several of these."""
    tie_breakers: tuple[str, ...] = ()
    sole_key: str | None = None
    """A field that identifies an object if no natural key does.

    It counts only if exactly one unmatched live object has the value, for exactly one entry.
    """
    search_list: ListRead | None = None
    """The list in which an object without a parent is found by its natural key."""
    create: Call | ManualStep | None = None
    update: Call | None = None
    delete: Call | None = None
    order: SiblingOrder | None = None
    shorthand_field: str | None = None
    has_content: bool = False
    """Whether an object has content that a new one would lack: pages, members, children, sign-in."""
    can_be_empty: bool = False
    """Whether an object without children and without references to it has no content."""
    steps_after_kinds: tuple[str, ...] = ()
    guard: LastHolderGuard | None = None
    lifecycle: Lifecycle = Lifecycle()
    platform_work: PlatformWork = PlatformWork()
    creation_widens_access: bool = False
    """Whether each new object makes something more visible or powerful, whatever its fields are."""
    opens_parent: bool = False
    """Whether the `exposure` of an object lets people into its parent."""
    deletion_widens_access: bool = False
    """Whether deleting an object makes something more visible or powerful, because it kept people out."""
    page_tree_path: str | None = None
    """Path of the GET that returns the page tree of an object."""
    foreign_items: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By response member, the values of list items that are no objects of this kind and are left out."""
    owner_list: ListRead | None = None
    """The list of the owners, such as sites, that show an object, so that only these need to be read."""
    inherits_from_kind: str | None = None
    """The kind whose values responses contain if the object has no own values. Import leaves these out.

    The object of that kind belongs to the owner of this object.
    """
    profile_overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By profile, the words of this declaration, without the fields, that differ on such a server."""
    git_sync: GitSync | None = None
    """The part of the object that the platform can sync with a repository (Git Sync)."""

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """Return the kinds of the objects that can contain an object of this kind."""
        return (self.parent,) if isinstance(self.parent, str) else self.parent or ()

    @cached_property
    def noun(self) -> str:
        """Return the noun for one object in messages."""
        return self.label or self.name.replace("_", " ")

    @cached_property
    def noun_with_article(self) -> str:
        """The noun with its article. Plural nouns have no article."""
        if self.noun.endswith(("settings", "instructions")):
            return self.noun
        return f"{'an' if _AN.match(self.noun) else 'a'} {self.noun}"

    def identity_of(self, id: str, parent: tuple[str, str] | None) -> tuple[str, str]:
        """Return the kind and id that identify an object, with the parent's identity if ids are shared."""
        return self.name, id if self.has_unique_id or parent is None else "/".join((*parent, id))

    @cached_property
    def id_segments(self) -> int:
        """Number of URL path segments that make up the id of an object."""
        return self.id_path.count("/") + 1 if "{" in self.id_path else 1

    @cached_property
    def is_node(self) -> bool:
        """Whether objects of the kind are nodes, which are read with their whole tree."""
        return isinstance(self.shape, TreeNode)

    @cached_property
    def key_field(self) -> str | None:
        """Return the field whose value is the key of an entry; None if users choose the keys."""
        return self.shape.key_field if isinstance(self.shape, EntryMapping) else None

    def create_call(self, pin: str | None, fields: Mapping[str, Any]) -> Call | ManualStep | None:
        """Return the request that creates an entry: `lifecycle.create_with_id` if it fits, else `create`.

        `create_with_id` fits if the entry pins the id of the object, and has the required value in a field.
        """
        add = self.lifecycle.create_with_id
        if add is not None and pin is not None and fields.get(add.field) == add.value:
            return add.call
        return self.create

    @cached_property
    def natural_key_fields(self) -> tuple[str, ...]:
        """The kind's own fields in its natural keys."""
        parts = (part for key in self.natural_keys for part in ((key,) if isinstance(key, str) else key))
        return tuple(dict.fromkeys(part.partition(".")[0] for part in parts if not part.startswith("$")))

    @cached_property
    def has_ids_line(self) -> bool:
        """Whether the ids file has a line for each object, because natural keys may change or be shared.

        No line is needed if the key of the entry is data of the object, or if a natural key is its id.
        """
        is_identified_by_key = self.key_field is not None or any(
            self.field(name).response_path == self.id_path for name in self.natural_key_fields
        )
        return self.parent is not None and bool(self.natural_keys) and not is_identified_by_key

    @cached_property
    def asks_before_create(self) -> bool:
        """Whether the user may have to confirm a creation, because the entry may mean an existing object.

        That holds for objects with content that dpsync does not identify by their key.
        """
        return self.has_content and self.has_ids_line

    @cached_property
    def has_second_id(self) -> bool:
        """Whether an ids-file line has a second id: that of the object that GitBook creates with the entry.

        This is the entry's first child (the first site space of a section), or its output (the space of a
        translation).
        """
        has_first_child_id = isinstance(self.create, Call) and self.create.first_child_id_path is not None
        return has_first_child_id or self.platform_work.outputs is not None

    @cached_property
    def can_be_renamed(self) -> bool:
        """Whether a field in the natural keys can be updated."""
        fields = [self.field(name) for name in self.natural_key_fields]
        writable = any(
            field.written_in in ("update", "both") and field.response_path != self.id_path for field in fields
        )
        return self.parent is not None and self.update is not None and writable

    @cached_property
    def default_key_field(self) -> str | None:
        """Return the field whose value is the key of an entry that does not declare the field."""
        return self.shape.default_key_field if isinstance(self.shape, EntryMapping) else None

    @cached_property
    def is_always_shorthand(self) -> bool:
        """Whether an entry is always the free-form value itself, whose keys could be taken for fields."""
        return self.shorthand_field is not None and self.field(self.shorthand_field).type.takes_mapping

    @cached_property
    def exists_with_parent(self) -> bool:
        """Whether the object exists as soon as its parent does, so that dpsync only updates it."""
        return isinstance(self.shape, SingleEntry) and self.shape.exists_with_parent

    @cached_property
    def lasting_fields(self) -> frozenset[str]:
        """The fields except those in which GitBook reports its own work and problems (`busy`, `trouble`)."""
        busy, trouble = self.platform_work.busy, self.platform_work.trouble
        transient = {busy.field if busy else None}
        transient |= {trouble.field, trouble.detail_field} if trouble else set()
        return frozenset(field.name for field in self.fields if field.name not in transient)

    def is_busy(self, fields: Mapping[str, Any]) -> bool:
        """Return whether the platform is processing an object with these fields."""
        busy = self.platform_work.busy
        return busy is not None and fields.get(busy.field) in busy.values

    def reported_problem(self, fields: Mapping[str, Any]) -> str | None:
        """Return the problem that GitBook reports for an object, such as a failed import, as a message.

        None if the value is accepted, or while GitBook is still processing the object. The declaration of the
        kind names the field with the problem (`trouble`).
        """
        trouble = self.platform_work.trouble
        if trouble is None or self.is_busy(fields):
            return None
        value = fields.get(trouble.field)
        if value is None or value in trouble.accepted_values:
            return None
        detail = fields.get(trouble.detail_field) if trouble.detail_field else None
        return f"{trouble.message} ({value}{f': {detail}' if detail else ''})"

    @cached_property
    def hiding_field(self) -> Field | None:
        """The field whose least exposed value hides the object and its contents, whatever else is set."""
        for candidate in self.fields:
            scale = candidate.exposure if isinstance(candidate.exposure, tuple) else ()
            if (
                candidate.name in self.visible_when
                and scale
                and scale[0] not in self.visible_when[candidate.name]
            ):
                return candidate
        return None

    @cached_property
    def access_fields(self) -> Mapping[AccessMeaning, Field]:
        """The fields about access, by their meaning."""
        return {field.access_meaning: field for field in self.fields if field.access_meaning is not None}

    @cached_property
    def gives_access(self) -> bool:
        """Whether an object gives somebody a role in one place."""
        return {"who", "role"} <= self.access_fields.keys()

    def follows_from_roles(self, field: Field) -> bool:
        """Return whether the effect of a field follows from the roles before and after, not its values."""
        return field.access_meaning is not None and (field.access_meaning != "role" or self.gives_access)

    @cached_property
    def list_orders(self) -> tuple[ListOrder, ...]:
        """Return the fields that order the objects placed in an entry of this kind."""
        return tuple(field for field in self.fields if isinstance(field, ListOrder))

    @cached_property
    def parent_reference_field(self) -> Field | None:
        """Return the field that names the object, such as a collection, in which an object is placed."""
        return next((field for field in self.fields if field.is_parent_reference), None)

    @cached_property
    def readable_fields(self) -> tuple[Field, ...]:
        """The fields that responses have."""
        return tuple(field for field in self.fields if field.response_path is not None)

    @cached_property
    def writable_fields(self) -> tuple[Field, ...]:
        """The fields that a call can write."""
        return tuple(field for field in self.fields if field.written_in != "neither")

    @cached_property
    def write_only_fields(self) -> tuple[Field, ...]:
        """The fields whose values may have a part that the platform never returns."""
        return tuple(field for field in self.fields if field.may_be_write_only)

    @cached_property
    def separately_read_fields(self) -> tuple[Field, ...]:
        """The fields with a part that has its own request."""
        return tuple(field for field in self.fields if field.separate_read_paths)

    @cached_property
    def page_fields(self) -> tuple[Field, ...]:
        """The fields whose value may contain a reference to a page."""
        return tuple(
            field
            for field in self.fields
            if isinstance(field.type, OneOf)
            and any(
                isinstance(part, Page) for form in field.type.forms.values() for part in form.parts.values()
            )
        )

    @cached_property
    def reference_fields(self) -> tuple[Field, ...]:
        """The fields whose values may refer to other objects."""
        return tuple(field for field in self.fields if field.referenced_kinds)

    @cached_property
    def declarable_fields(self) -> dict[str, Field]:
        """The fields that an entry may contain, without its key and its position in the tree."""
        fields = (
            field for field in self.fields if not field.is_parent_reference and field.name != self.key_field
        )
        return {field.name: field for field in fields}

    def field(self, name: str) -> Field:
        """Return the field with this name. Raises KeyError."""
        return self._by_name[name]

    @cached_property
    def inline_words(self) -> dict[str, str]:
        """The words of short forms that may be directly in an entry, with their field."""
        return {
            word: field.name
            for field in self.fields
            if field.allows_inline_words and isinstance(field.type, OneOf)
            for word in field.type.short_words
        }

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        """Return the fields by name."""
        return {field.name: field for field in self.fields}
