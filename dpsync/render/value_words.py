"""Describe fields and kinds in sentences for users, for `dpsync explain` and the documentation.

- Fields: `value_sentences` describes the allowed values, `rule_sentences` the rules for writing a field.
- Kinds: `location_phrase` says where entries are, `key_words` what their key is, `address_words` gives
  example addresses, `identity_words` says how an object is found, `kind_rule_sentences` all other rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsync.importing.write_yaml import on_one_line
from dpsync.kinds.examples import key_example, value_example
from dpsync.kinds.field_descriptions import KIND_NOTES, field_description
from dpsync.kinds.kind import EntryMapping, Field, Kind, ListOrder, SingleEntry, TreeNode
from dpsync.kinds.registry import Registry
from dpsync.kinds.types import (
    Enum,
    Flag,
    Json,
    List,
    Object,
    OneOf,
    OwnReference,
    Page,
    Reference,
    Table,
    Text,
    Type,
)
from dpsync.kinds.types.texts import Certificate, LongText, Markdown
from dpsync.kinds.value_descriptions import value_descriptions
from dpsync.model.text import plural

_MAX_LISTED_VALUES = 12
"""The largest number of values that are described one by one."""
_MAX_DEFAULT_CHARS = 30
"""The largest number of characters of a default."""


def value_sentences(registry: Registry, type_: Type, path: str) -> list[str]:
    """Return sentences about the allowed values of a type; [] if its other rules say enough.

    `path` is the path of the field with its kind, such as `site.visibility`.
    """
    match type_:
        case Page():
            return ["Write the id or the path of the page."]
        case Text():
            return list(_text_sentences(type_))
        case Enum(words=words, null_word=null_word):
            return choice_sentences(path, (*words, *([null_word] if null_word else [])))
        case OwnReference(noun=noun):
            return [
                *choice_sentences(path, value_descriptions(path)),
                f"`{{ id: … }}`: The id of {noun} that already exists.",
            ]
        case Reference(kinds=kinds):
            nouns = [registry[name].noun_with_article for name in kinds if name in registry]
            return [f"Write the key of {join_words(nouns, 'or')}."]
        case Object(exactly_one=True, parts=parts):
            return [f"Write exactly one of the keys {join_words((f'`{name}`' for name in parts), 'or')}."]
        case List(item_type=item_type, max_items=max_items):
            return _list_sentences(registry, item_type, max_items)
        case Json():
            schema = type_.json_schema
            if type_.is_shaped:
                members = schema.get("items", {}) if schema.get("type") == "array" else schema
                return [f"Keys: {', '.join(f'`{name}`' for name in members.get('properties', ()))}."]
            nouns_by_type = {"object": "a mapping", "array": "a list of mappings"}
            noun = nouns_by_type.get(schema.get("type", ""), "any value")
            secrets = "To use a secret as a value, write `{ env: NAME }`."
            return [
                f"Write {noun} or `{{ file: PATH }}`.",
                *([secrets] if type_.may_contain_secrets else []),
            ]
        case Table(key_type=key_type, value_type=value_type):
            names = list(_text_sentences(key_type, " of each key")) if isinstance(key_type, Text) else []
            return (
                [*names, *_text_sentences(value_type, " of each value")]
                if isinstance(value_type, Text)
                else names
            )
        case Markdown():
            return ["Write Markdown or `{ file: PATH }`."]
        case LongText(max_length=max_length):
            limit = [f"Length: up to {max_length} characters."] if max_length else []
            noun = "the certificate" if isinstance(type_, Certificate) else "a text"
            return [f"Write {noun} or `{{ file: PATH }}`.", *limit]
        case Flag() | Object() | OneOf():
            return []
    raise TypeError(f"no words for {type(type_).__name__}")


def _list_sentences(registry: Registry, item_type: Type, max_items: int | None) -> list[str]:
    """Return a sentence about the items of a list and their number; [] if there is nothing to say."""
    up_to = f" up to {max_items}" if max_items is not None else ""
    match item_type:
        case Enum(words=words):
            values = ", ".join(f"`{word}`" for word in words)
            return [f"Write a list of{up_to and f'{up_to} of'} these values: {values}."]
        case Reference(kinds=kinds):
            keys = join_words((plural(registry[name].noun) for name in kinds), "or")
            return [f"Write a list of{up_to} keys of {keys}."]
        case Object() | OneOf():
            return [f"Write a list of{up_to} mappings."]
    return [f"Write a list of{up_to} items."] if up_to else []


def choice_sentences(path: str, words: Iterable[str]) -> list[str]:
    """Return a sentence for each value of a choice, or one sentence if there are many values.

    `path` is the path of the field with its kind, such as `site.visibility`.
    """
    descriptions, values = value_descriptions(path), tuple(words)
    if len(values) <= _MAX_LISTED_VALUES and all(value in descriptions for value in values):
        return [f"`{value}`: {descriptions[value]}" for value in values]
    return [f"Write one of {', '.join(f'`{value}`' for value in values)}."]


def _text_sentences(type_: Text, suffix: str = "") -> Iterator[str]:
    """Yield the rules for a text: whether it is a secret, its format and its length.

    `suffix` says which texts of a table are meant, such as " of each key".
    """
    if type_.secret:
        yield "Write `{ env: NAME }`." if not suffix else "Write each value as `{ env: NAME }`."
    elif type_.format is None:
        if type_.pattern_description and not type_.pattern_description.startswith("the name of"):
            _, colon, form = type_.pattern_description.partition(": ")
            yield f"Format{suffix}: {form if colon else type_.pattern_description}."
        if type_.max_length is not None:
            minimum = f"{type_.min_length} to " if type_.min_length else "up to "
            yield (
                f"Length{suffix}: "
                f"{minimum if type_.min_length < type_.max_length else ''}{type_.max_length} characters."
            )


# Rules for writing a field.


def is_reference_key(kind: Kind, field: Field) -> bool:
    """Return whether the key of an entry is the key of another entry, which this field names."""
    return field.name == kind.key_field and isinstance(field.type, Reference)


def rule_sentences(registry: Registry, kind: Kind, field: Field) -> Iterator[str]:
    """Yield the rules for writing a field, apart from its values: required, unique, fixed, default."""
    if field.name == kind.key_field:
        if isinstance(field.type, Reference):
            nouns = join_words([registry[name].noun for name in field.type.kinds], "or")
            yield f"You do not write this field: the key of the entry is the key of the {nouns}."
        else:
            yield "Write this value as the key of the entry."
        return
    if not field.is_declarable:
        yield "GitBook sets this field. You cannot write this field."
        return
    if field.name == kind.default_key_field:
        yield "If the entry does not have this field, dpsync uses the key of the entry."
    elif field.required:
        yield "Required."
    if field.written_in == "create" and field.own_call is None:
        yield "You cannot change this field after the object is created."
    if field.unique_within:
        objects_text = f"Two {plural(kind.noun)} {_scope_words(registry, field.unique_within)}"
        yield f"{objects_text} cannot have the same `{field.name}`."
    if field.exclusive_within:
        objects_text = f"Two {plural(kind.noun)} {_scope_words(registry, field.exclusive_within)}"
        yield f"{objects_text} cannot both have `{field.name}: true`."
    if field.mutually_exclusive_with:
        yield f"An entry cannot have both `{field.name}` and `{field.mutually_exclusive_with}`."
    if not isinstance(field, ListOrder) and "`null`" not in field_description(kind.name, field.name):
        if field.null_effect in ("clear", "empty"):
            yield f"`null` clears `{field.name}`."
        elif field.null_effect == "by hand":
            yield "dpsync cannot clear this field. To clear this field, use GitBook."
    default = on_one_line(field.platform_default)
    if (
        field.platform_default not in (None, {}, [])
        and not field.required
        and len(default) <= _MAX_DEFAULT_CHARS
    ):
        yield f"Default: `{default}`."


def _scope_words(registry: Registry, scope: str) -> str:
    """Return the scope in which values are unique: "with the same parent", "in the same site"."""
    return "with the same parent" if scope == "parent" else f"in the same {registry[scope].noun}"


def part_sentences(field: Field, part: str, required: bool) -> Iterator[str]:
    """Yield when a part of a field's value is required or allowed.

    Args:
        part: The path of the part in the value, such as `color.dark`.
        required: Whether the mapping that contains the part requires it.
    """
    if not field.forms:
        parent_path = ".".join((field.name, *part.split(".")[:-1]))
        if required:
            always = field.required and parent_path == field.name
            yield "Required." if always else f"Required if you write `{parent_path}`."
        return
    if required_values := [f"`{value}`" for value, form in field.forms.items() if part in form.required]:
        yield f"Required if `{field.form_selector}` is {join_words(required_values, 'or')}."
    allowed_values = [f"`{value}`" for value, form in field.forms.items() if part in form.parts]
    if optional_values := [value for value in allowed_values if value not in required_values]:
        yield f"Allowed only if `{field.form_selector}` is {join_words(optional_values, 'or')}."


def value_parts(type_: Type, prefix: str = "") -> Iterator[tuple[str, Type | None, bool]]:
    """Yield all parts of a structured value: path, type (None for a short form), and whether it is required.

    `prefix` is the path of the value with a dot at its end, such as `color.`.
    """
    match type_:
        case Object(parts=parts, required=required):
            for name, part in parts.items():
                yield f"{prefix}{name}", part, name in required
                yield from value_parts(part, f"{prefix}{name}.")
        case OneOf(tag=tag, forms=forms):
            yield from ((f"{prefix}{word}", None, False) for word in getattr(type_, "short_words", ()))
            yield f"{prefix}{tag}", Enum(tuple(forms)), True
            parts_by_form = [list(value_parts(form, prefix)) for form in forms.values()]
            types_by_path = {path: inner for parts in parts_by_form for path, inner, _ in parts}
            for path, inner in types_by_path.items():
                yield path, inner, all((path, inner, True) in parts for parts in parts_by_form)
        case List(item_type=items) | Table(value_type=items):
            yield from value_parts(items, prefix)


def join_words(words: Iterable[str], link: str = "and") -> str:
    """Return "a, b and c" for the words a, b and c."""
    *first_words, last_word = words
    return f"{', '.join(first_words)} {link} {last_word}" if first_words else last_word


def heading(kind: Kind) -> str:
    """Return the noun of a kind as a heading."""
    return kind.noun[0].upper() + kind.noun[1:]


def location_phrase(registry: Registry, kind: Kind) -> str:
    """Return where entries of a kind are in the files: "the key `sites` of an organization"."""
    parents = [registry[name] for name in kind.parents]
    match kind.shape:
        case TreeNode(yaml_type=type_):
            roots = [parent.noun_with_article for parent in parents if not isinstance(parent.shape, TreeNode)]
            locations = [f"the key `{kind.key}` of {join_words(roots, 'or')}"]
            parent_nouns = [
                other.noun_with_article
                for other in registry.kinds.values()
                if isinstance(other.shape, TreeNode) and kind.name in other.shape.child_kinds
            ]
            locations += [f"the key `children` of {join_words(parent_nouns, 'or')}"] if parent_nouns else []
            return f"{' or '.join(locations)}, with `type: {type_}`"
        case EntryMapping() if not parents:
            return f"the key `{kind.key}` at the top of the file"
    return f"the key `{kind.key}` of {join_words((parent.noun_with_article for parent in parents), 'or')}"


def key_words(registry: Registry, kind: Kind) -> str:
    """Return what the key of an entry is: a name of your choice, or a field; "" for a kind without keys."""
    match kind.shape:
        case SingleEntry():
            return ""
        case TreeNode():
            return "`key`, a name of your choice"
        case EntryMapping(key_field=key_field):
            example = f"such as {key_example(registry, kind)}"
            return f"the {key_field}, {example}" if key_field else f"a name of your choice, {example}"


def address_words(registry: Registry, kind: Kind) -> list[str]:
    """Return an example of an address of a kind for each kind of parent that its entries can have."""
    key = key_example(registry, kind)
    if kind.parent is None:
        return [key]
    addresses = []
    for parent in (registry[name] for name in kind.parents):
        is_nested = isinstance(kind.shape, TreeNode) and isinstance(parent.shape, TreeNode)
        for parent_address in address_words(registry, parent):
            list_address = parent_address if is_nested else f"{parent_address}/{kind.key.replace('.', '/')}"
            addresses.append(list_address if isinstance(kind.shape, SingleEntry) else f"{list_address}/{key}")
    return addresses


def identity_words(kind: Kind) -> str:
    """Return how dpsync finds the object of an entry that has no `id`, in sentences.

    "" if the position or the key of the entry suffices.
    """
    if isinstance(kind.shape, SingleEntry) or kind.key_field is not None:
        return ""
    members = {
        str(key).partition(".")[0] for key in kind.natural_keys if "." in str(key) and "$" not in str(key)
    }
    ways = [f"one of the texts in `{name}`" for name in sorted(members)]
    for key in kind.natural_keys if not members else ():
        names = (key,) if isinstance(key, str) else key
        fields = []
        for name in names:
            child_field = name.removeprefix("$child.")
            fields.append(f"`{name}`" if child_field == name else f"the `{child_field}` of the first child")
        ways.append(" and ".join(fields))
    if kind.sole_key is not None:
        ways.append(f"`{kind.sole_key}` if only one {kind.noun} has this `{kind.sole_key}`")
    order = f"by {', otherwise by '.join(ways)}"
    if len(ways) > 2:
        order = "in this order: " + ", ".join(f"({n}) by {way}" for n, way in enumerate(ways, 1))
    sentence = f"If the entry has no `id`, dpsync finds an existing {kind.noun} {order}."
    if not kind.tie_breakers:
        return sentence
    parent = "the parent in the navigation"
    tie_breakers = [
        parent if kind.field(name).is_parent_reference else f"`{name}`" for name in kind.tie_breakers
    ]
    return (
        f"{sentence} If several {plural(kind.noun)} match, dpsync also compares {join_words(tie_breakers)}."
    )


def kind_rule_sentences(registry: Registry, kind: Kind) -> Iterator[str]:
    """Yield the rules for creating, changing and deleting objects of a kind, as sentences for users."""
    noun, objects = kind.noun, plural(kind.noun)
    yield from KIND_NOTES.get(kind.name, ())
    if isinstance(kind.shape, SingleEntry) and kind.parent is not None:
        single = "object of this type" if " to " in kind.noun else kind.noun.partition(" of ")[0]
        quantity = "" if single.endswith("s") else "exactly one "
        verbs = "can create and change" if kind.create is not None else "can change"
        parent_noun = registry[kind.parents[0]].noun
        yield f"Each {parent_noun} has {quantity}{single}, which dpsync {verbs} but not delete."
    if identity := identity_words(kind):
        yield identity
    if kind.shorthand_field is not None and not kind.is_always_shorthand:
        field, key = kind.field(kind.shorthand_field), key_example(registry, kind)
        value = on_one_line(value_example(registry, kind, field))
        yield f"You can write `{key}: {value}` instead of `{key}: {{ {field.name}: {value} }}`."
    if isinstance(kind.shape, TreeNode) and kind.shape.min_children:
        children = join_words((registry[name].noun for name in kind.shape.child_kinds), "or")
        yield (
            f"{kind.noun_with_article.capitalize()} needs at least {kind.shape.min_children} "
            f"{children} in `children`."
        )
    if kind.order:
        yield (
            f"dpsync gives {objects} the same order in GitBook as in your file, and does not move {objects} "
            "without an entry."
        )
    if kind.platform_work.outputs:
        output_noun = registry[kind.platform_work.outputs.kind].noun
        yield (
            f"To refer to the {output_noun} that GitBook creates for {kind.noun_with_article}, use the "
            f"key of the {noun}."
        )
    for verb in kind.platform_work.user_actions:
        address = address_words(registry, kind)[0]
        command = f'`dpsync apply --confirm "{verb} {address}"`'
        yield f"To {verb} {kind.noun_with_article} again, use a command such as {command}."
    if kind.has_content:
        exception_text = (
            f", unless the {noun} is empty and no object refers to the {noun}" if kind.can_be_empty else ""
        )
        yield f"Deleting {kind.noun_with_article} needs your confirmation{exception_text}."
    if kind.lifecycle.on_delete == "lifted":
        yield f"A plan that deletes {kind.noun_with_article} must also empty the {noun}."
    if kind.delete is None and not isinstance(kind.shape, SingleEntry):
        yield f"dpsync cannot delete {kind.noun_with_article}."
    if kind.guard:
        parent_noun = registry[kind.parents[0]].noun
        yield f"dpsync refuses a plan that removes the last `{kind.guard.value}` of the {parent_noun}."
        if kind.guard.protects_token_user:
            yield f"dpsync refuses a plan that removes the role `{kind.guard.value}` from your own user."
    if kind.git_sync is not None:
        synced_fields = [
            *kind.git_sync.fields,
            *([registry.tree_key(kind.name)] if kind.git_sync.includes_tree else []),
        ]
        fields = join_words(f"`{name}`" for name in synced_fields)
        label = "fields" if len(synced_fields) > 1 else "field"
        yield (
            f"While Git Sync manages {kind.noun_with_article}, dpsync changes the {label} {fields} "
            "only if the entry has "
            "`takeover: true`."
        )
