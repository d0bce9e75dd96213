"""Write the reference of all kinds, docs/kinds/, from their declarations.

    python -m tools.kinds_page

Each kind has a page with an example and a table of its fields. Facts that only maintainers need are on
another page: tools/kind_internals.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from dpsync.importing.write_yaml import on_one_line
from dpsync.kinds.examples import entry_example, part_example, value_example
from dpsync.kinds.field_descriptions import (
    ENTRY_KEYWORD_DESCRIPTIONS,
    KIND_DESCRIPTIONS,
    field_description,
    kind_page_file_name,
)
from dpsync.kinds.kind import Field, Kind, SingleEntry
from dpsync.kinds.profiles import PUBLISHED
from dpsync.kinds.registry import Registry, build_registry
from dpsync.kinds.shared.fields import LANGUAGES, LEVEL, ROLE, ROLES
from dpsync.kinds.types import Enum, Type
from dpsync.kinds.value_descriptions import value_descriptions
from dpsync.model.text import plural
from dpsync.render.explanations import example_text
from dpsync.render.value_words import (
    address_words,
    heading,
    is_reference_key,
    join_words,
    kind_rule_sentences,
    part_sentences,
    rule_sentences,
    value_parts,
    value_sentences,
)

FOLDER: Final = Path(__file__).parents[1] / "docs" / "kinds"
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Organization and people": (
        "organization", "member", "team", "team_member", "member_permission", "team_permission", "saml",
    ),
    "Spaces": ("space", "collection", "translation", "translation_access", "glossary_term", "openapi"),
    "Sites": (
        "site", "section", "section_group", "site_space", "external_link", "redirect", "customization",
        "site_space_customization", "share_link", "visitor_auth", "adaptive_schema",
    ),
    "AI agents": (
        "agent_instructions", "agent_settings", "channel", "context_connection", "mcp_server", "topic",
    ),
    "Integrations": ("installation", "installation_site", "installation_space", "published_integration"),
}  # fmt: skip
"""The kinds in the order of the list, by heading."""
_HEAD = """\
# Object types

An object type (kind) is a type of GitBook object that dpsync manages, such as a site or a team. Each object
type has a page with an example and a table of all fields.
"""
_RULES = """\
## Rules for all object types

- The key of an entry is a name of your choice, unless the page of the object type says otherwise. To refer
  to an object, other entries use the key.
- To refer to an object that has no entry in your files, write `{ id: ID }` instead of a key.
- To rename an object, change the title of the object and keep the key of the entry.
- If you leave a field out, dpsync does not change the field in GitBook.
- `null` clears a field only if the description of the field says that `null` clears the field.
- To keep a long text or a JSON value in a separate file, write `{ file: PATH }`.
- To read a secret from an environment variable, write `{ env: NAME }`.
- If an object has no entry, dpsync deletes the object only if `policy: prune` names the list of the object,
  such as `teams`.
- If dpsync must re-create an object to change a field, the plan shows the object as re-created. dpsync never
  re-creates an object with content, such as a site or a space.
- If a new entry resembles an existing object with content, `dpsync plan` asks whether you renamed the
  object.
- The tables show GitBook's limits, such as the length of a title. dpsync's local GitBook server
  (companion) also accepts some values outside these limits.

An entry can also have these keys. Only entries in the navigation of a site have `type`, `key` and
`children`.

"""
_ROLE_LINK = "Write a [role](index.md#roles)."
_LEVEL_LINK = "Write a [role](index.md#roles) or `inherit`."
_LANGUAGE_LINK = "Write a [language code](index.md#language-codes)."
_LINKS: Final[Mapping[Any, str]] = {
    Enum(LANGUAGES): _LANGUAGE_LINK, ROLE: _ROLE_LINK, Enum(ROLES): _ROLE_LINK, LEVEL: _LEVEL_LINK,
}  # fmt: skip
"""The sentences about types whose values the index lists."""
_RULES_LINK = "See [merge rules](index.md#merge-rules)."


def pages(registry: Registry) -> dict[str, str]:
    """Return the text of each page by its file name; `registry` has every kind."""
    made = {
        kind_page_file_name(kind.noun): kind_page(registry, kind) for kind in registry.in_dependency_order
    }
    return {"index.md": index(registry), **made}


def index(registry: Registry) -> str:
    """Return the page with the list of all kinds, and with the values that several kinds share."""
    parts = [_HEAD]
    for group, names in GROUPS.items():
        parts.append(f"## {group}\n")
        parts += [f"- {_link(registry[name])}" for name in names]
        parts.append("")
    parts.append(_RULES + "\n".join([*_table_head("key"), *_entry_rows(registry)]) + "\n")
    roles = [f"|`{role}`|{sentence}|" for role, sentence in value_descriptions("role").items()]
    parts.append("\n".join(["## Roles\n", "|role|meaning|", "|---|---|", *roles]) + "\n")
    codes = ", ".join(
        f"`{code}` ({name.rstrip('.')})" for code, name in value_descriptions("language").items()
    )
    parts.append(f"## Language codes\n\nThese language codes are allowed: {codes}.\n")
    rules = registry["space"].field("mergeRules")
    rows = "\n".join(_part_rows(registry, registry["space"], rules)).replace(" in the space", "")
    parts.append("\n".join(["## Merge rules\n", *_table_head(), rows]))
    return "\n".join(parts).replace("](index.md#", "](#") + "\n"


def _entry_rows(registry: Registry) -> Iterator[str]:
    examples = {"id": "team-7", "previously": "writers", "new": True, "takeover": True, "type": "section",
                "key": "guides"}  # fmt: skip
    for name, sentence in ENTRY_KEYWORD_DESCRIPTIONS.items():
        example = examples.get(name) or entry_example(registry, registry["section"])["sites"]["docs"][
            "structure"][0]["children"]  # fmt: skip
        yield _row(name, [sentence], example)


def _link(kind: Kind) -> str:
    return f"[{heading(kind)}]({kind_page_file_name(kind.noun)})"


def kind_page(registry: Registry, kind: Kind) -> str:
    """Return the page about a kind, with the limits of GitBook's current API."""
    today = registry.for_files_of_profile(PUBLISHED.name)
    addresses = [f"`{address}`" for address in address_words(registry, kind)]
    facts = [f"Address: {join_words(addresses, 'or')}."]
    facts += [_with_links(sentence) for sentence in kind_rule_sentences(registry, kind)]
    shown = [field for field in today[kind.name].fields if not field.is_parent_reference]
    if fixed := [
        f"`{field.name}` ({_phrase(field_description(kind.name, field.name))})"
        for field in shown
        if not field.is_declarable and field.name != kind.key_field
    ]:
        facts.append(f"dpsync cannot change the field{'s' if len(fixed) > 1 else ''} {join_words(fixed)}.")
    if children := _children(registry, kind):
        owner = (
            "the " + kind.noun
            if isinstance(kind.shape, SingleEntry) and kind.parent is not None
            else kind.noun_with_article
        )
        facts.append(f"{_sentence(owner)} can contain {join_words(children)}.")
    rows = [
        row
        for field in shown
        if field.is_declarable or field.name == kind.key_field
        for row in (
            _field_row(registry, today[kind.name], field),
            *(() if field.name == "mergeRules" else _part_rows(registry, today[kind.name], field)),
        )
    ]
    lacking = Registry(registry.declared.values(), PUBLISHED)
    if kind.name in lacking:
        lacked = lacking[kind.name].unsupported_fields
        rows = [_marked(row) if row.split("`")[1] in lacked else row for row in rows]
    return "\n".join([
        f"# {heading(kind)}\n", f"{KIND_DESCRIPTIONS.get(kind.name, '')}\n",
        f"```yaml\n{example_text(entry_example(registry, kind))}```\n",
        *(f"- {fact}" for fact in facts), "", *_table_head(), *rows, "",
    ])  # fmt: skip


def _with_links(sentence: str) -> str:
    return sentence.replace("the site's customization", "the site's [customization](customization.md)")


def _marked(row: str) -> str:
    name, said, example = row.strip("|").split("|")
    return f"|{name}|{said}<br>GitBook's current API cannot change this field.|{example}|"


def _children(registry: Registry, kind: Kind) -> list[str]:
    children = sorted(registry.children(kind.name), key=lambda child: child.noun.casefold())
    return [f"[{_contained(child, kind)}]({kind_page_file_name(child.noun)})" for child in children]


def _contained(child: Kind, parent: Kind) -> str:
    """Return the noun for the objects of a kind in a parent: plural, or with an article if there is one."""
    if isinstance(child.shape, SingleEntry):
        if parent.noun_with_article in child.noun:
            return f"the {child.noun.replace(parent.noun_with_article, f'the {parent.noun}')}"
        return child.noun if child.noun.endswith("s") else child.noun_with_article
    return plural(child.noun)


def _table_head(first: str = "field") -> list[str]:
    return [f"|{first}|meaning|example|", "|---|---|---|"]


def _phrase(sentences: str) -> str:
    """Return the noun phrase at the beginning of the first sentence, so that it can stand in parentheses."""
    first = sentences.partition(". ")[0].partition(":")[0].removesuffix(".")
    return first[0].lower() + first[1:]


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _field_row(registry: Registry, kind: Kind, field: Field) -> str:
    said = [field_description(kind.name, field.name)]
    if not is_reference_key(kind, field):
        said += _values(registry, field.type, f"{kind.name}.{field.name}")
    if field.allows_inline_words:
        words = [f"`{word}`" for word in kind.inline_words]
        said.append(f"In an entry, write {join_words(words, 'or')} directly, without `{field.name}`.")
    if field.name == "mergeRules":
        said.append(_RULES_LINK)
    return _row(
        field.name, [*said, *rule_sentences(registry, kind, field)], value_example(registry, kind, field)
    )


def _part_rows(registry: Registry, kind: Kind, field: Field) -> Iterator[str]:
    short = getattr(field.type, "short_words", ())
    seen = set()
    for path, type_, required in value_parts(field.type):
        if path in seen or (short and path not in short):
            continue
        seen.add(path)
        whole = f"{field.name}.{path}"
        said = [field_description(kind.name, field.name, path)]
        said += _values(registry, type_, f"{kind.name}.{whole}") if type_ is not None else []
        said += part_sentences(field, path, required)
        name = path if field.allows_inline_words else whole
        yield _row(name, said, part_example(registry, kind, field, path, type_))


def _values(registry: Registry, type_: Type, path: str) -> list[str]:
    """Return the sentences about the values of a field, with links to lists that several kinds share."""
    if isinstance(type_, Enum) and type_ in _LINKS:
        return [_LINKS[type_]]
    if path.startswith("site_space_customization."):
        return []
    return value_sentences(registry, type_, path)


def _row(name: str, said: list[str], example: Any) -> str:
    text, after_value = "", False
    for sentence in filter(None, said):
        is_value = sentence.startswith("`") and "`: " in sentence
        text += f"{'<br>' if is_value or after_value else ' '}{sentence}"
        after_value = is_value
    cells = (f"`{name}`", text.strip(), f"`{on_one_line(example)}`")
    return f"|{'|'.join(cell.replace('|', chr(92) + '|') for cell in cells)}|"


def write(folder: Path = FOLDER) -> None:
    """Write all pages, and delete pages of kinds that no longer exist."""
    folder.mkdir(exist_ok=True)
    made = pages(build_registry().with_all_kinds)
    for page in folder.glob("*.md"):
        if page.name not in made:
            page.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
