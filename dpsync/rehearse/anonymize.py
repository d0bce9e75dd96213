"""Make a world (the data of a local server) anonymous: replace each person, domain and URL consistently.

People get a number, and with it another id, name and e-mail address; their pictures and times are left out.
Everybody gets the lowest role, except one administrator. Names and addresses of people are also replaced in
other texts, in every spelling. Descriptions and documents are left out, because they may name unknown people.
Titles and page paths stay apart from names, addresses and domains in them: plans depend on them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from dpsync.kinds.registry import build_registry
from dpsync.kinds.types import Enum
from dpsync.model.urls import is_loopback
from dpsync.rehearse.domains import EMAIL_PATTERN, HOST_PATTERN, URL_PATTERN, Domains
from dpsync.rehearse.world_draft import Json

_DEFAULT_ROLE: Final = "read"
"""The role of everyone except the administrator."""
_PROSE_MEMBERS: Final = frozenset({
    "agentInstructions", "commitMessage", "configuration", "customInstructions", "description", "document",
    "failureReason", "filter", "glossary", "instructions", "message", "setupSettings", "text", "urlUnfurl",
})  # fmt: skip
"""Members in which somebody writes freely. What a link or a site is called is not among them."""
_PERSONAL_MEMBERS: Final = frozenset(
    {"photoURL", "lastSeenAt", "joinedAt", "author", "committer", "avatarURL"}
)
"""Members that are of one person and of nobody else: they are left out."""
_ENUM_MEMBERS: Final = frozenset({
    "type", "kind", "object", "role", "visibility", "status", "plan", "backend", "defaultLevel",
    "defaultRole", "editMode", "processingState", "rule", "locale", "language", "key",
})  # fmt: skip
"""Members that have one of few words: a person who is called so is not meant."""
_REPOSITORY_MEMBERS: Final = frozenset({"repoName", "url", "branch", "ref"})
_CODE_MEMBERS: Final = frozenset({"basename", "condition", "expression", "path", "slug", "source"})
"""Members whose words have dots between them: only a domain that is certainly one elsewhere is one there."""
_GITBOOK: Final = "https://api.gitbook.com"
_IDENTIFYING_TEXT: Final = re.compile(f"{URL_PATTERN}|{EMAIL_PATTERN}|{HOST_PATTERN}", re.IGNORECASE)
"""A text that may identify somebody: a URL, an address or a domain."""
_NAME_SEPARATORS: Final = re.compile(r"(?:[\s._+-]|%20)*")
_WORD: Final = re.compile(r"%20|[^\W\d_]+|\d+")
_ID: Final = re.compile(r"[\w-]{4,}")
_MAX_NAME_WORDS: Final = 8
"""Words, and runs of digits, that one name has."""
_MIN_NAME_CHARS: Final = 3
"""Characters of a part of a name that is looked for by itself."""
_EMPTY_SPECIFICATION: Final = '{"openapi": "3.1.0", "info": {"title": "text", "version": "0"}, "paths": {}}'
# Of nobody: the subject is "anonymous".
CERTIFICATE: Final = """\
-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUDeA5JFdPyIBqO2uq1SNri5Qd0qkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJYW5vbnltb3VzMCAXDTI2MTEyMzE5MTcwMFoYDzIxMjYxMDMw
MTkxNzAwWjAUMRIwEAYDVQQDDAlhbm9ueW1vdXMwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARVknyTlmwaXbgVCdqaCpfVe6cjcJVb4UK1ratrhc/DX0+FXhZ6SJWr
0qVbwjCI9vVnKyyh+7pEGO2Q7Tjn4n7Io1MwUTAdBgNVHQ4EFgQUsTWMMKFAV7eX
JsglQQQ8OMmVGbkwHwYDVR0jBBgwFoAUsTWMMKFAV7eXJsglQQQ8OMmVGbkwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEA68Pmg/H3MIY362GmiLWM
xLZdFZZEk6R4LfsQUokznSECIQCK3S9RNF3T/np5CmUjQQsXxIzpTURHBEvi7X/i
QZaIiA==
-----END CERTIFICATE-----
"""


class Anonymizer:
    """Replaces the people, domains and URLs in a world (the companion's data).

    `world()` returns the data, `caller` is the id of its administrator.
    """

    def __init__(self, data: Json, caller: str) -> None:
        self._data = data
        self._users: list[Json] = data.get("users", [])
        self._ids = {user["id"]: f"person-{number}" for number, user in enumerate(self._users, 1)}
        self._admin = caller
        self._known = set(_ids(data)) - self._ids.keys()
        self._domains = Domains(data)
        self._addresses: dict[str, str] = {
            user["email"].casefold(): self._replace_email(self._ids[user["id"]], user["email"])
            for user in self._users
            if user.get("email")
        }
        self._names = _Names(self._users, self._ids)

    @property
    def caller(self) -> str:
        """Return the new id of the administrator."""
        return self._ids.get(self._admin, self._admin)

    def world(self) -> Json:
        """Return the local server's data (the world) without any text that identifies a person."""
        data = {
            name: self._anonymize_value(value, (name,))
            for name, value in self._data.items()
            if name != "users"
        }
        for organization in data.get("organizations", []):
            self._give_equal_roles(organization)
        return {"users": [self._person(user) for user in self._users], **data}

    def _person(self, user: Json) -> Json:
        """Return a user as "Person 1", with a replaced id and e-mail address and no other data."""
        id = self._ids[user["id"]]
        person: Json = {"id": id, "displayName": f"Person {id.removeprefix('person-')}"}
        if user.get("email"):
            person["email"] = self._addresses[user["email"].casefold()]
        if "emailVerified" in user:
            person["emailVerified"] = user["emailVerified"]
        return person

    def _give_equal_roles(self, organization: Json) -> None:
        """Give everybody the same role, because a role may identify a person.

        Changes the data in place. The administrator stays one, because the copy's token is theirs.
        """
        for member in organization.get("members", []):
            member["role"] = "admin" if member["user"] == self.caller else _DEFAULT_ROLE
        for team in organization.get("teams", []):
            for member in team.get("members", []):
                member["role"] = "member"
        for list_name in ("collections", "spaces", "sites"):
            for target in organization.get(list_name, []):
                users = (target.get("permissions") or {}).get("users")
                if users:
                    target["permissions"]["users"] = dict.fromkeys(users, _DEFAULT_ROLE)

    def _anonymize_value(self, data: Any, path: tuple[str, ...]) -> Any:
        """Return a JSON value without personal members, and with each text and key replaced.

        `path` has the names of the members that lead to the value.
        """
        if isinstance(data, dict):
            return {
                self._anonymize_key(name): self._anonymize_value(value, (*path, name))
                for name, value in data.items()
                if name not in _PERSONAL_MEMBERS
            }
        if isinstance(data, list):
            return [self._anonymize_value(value, path) for value in data]
        return self._replace_text(data, path) if isinstance(data, str) else data

    def platform(self, url: str) -> str:
        """Return the URL of the platform, replaced unless it is GitBook's or a loopback address."""
        return url if url == _GITBOOK or is_loopback(url) else self._anonymize_text(url)

    def _anonymize_key(self, name: str) -> str:
        """Return the key of a mapping, replaced if it is a person's id, an address or a domain."""
        return self._ids.get(name) or (
            self._anonymize_text(name, is_code=True) if {"@", "."} & {*name} else name
        )

    def _replace_text(self, text: str, path: tuple[str, ...]) -> str:
        """Return the replacement of a text, which depends on the members that lead to it (`path`).

        Words of the API (enums) and ids of objects stay, so that references still work. Prose becomes "text".
        In other texts, names, addresses, domains and URLs are replaced.
        """
        if not text or path[-1] in _ENUM_MEMBERS or text in _enum_words():
            return self._ids.get(text, text)
        if text in self._known:  # an id of an object: references to the object must still match
            return self._replace_addresses(text, is_code=True)
        if text in self._ids:
            return self._ids[text]
        if path[-1] == "certificate":
            return CERTIFICATE
        if "gitSync" in path and path[-1] in _REPOSITORY_MEMBERS:
            return "https://git.example/owner/repository" if path[-1] == "url" else "owner/repository"
        if path[0] == "records" and path[-1] == "text":
            return _EMPTY_SPECIFICATION
        if _PROSE_MEMBERS.intersection(path) or ("shareLinks" in path and path[-1] == "name"):
            return text if path[-1] in ("id", "token") else "text"
        if path[-1] == "externalIds":
            return "external"
        return self._anonymize_text(text, path[-1] in _CODE_MEMBERS)

    def _anonymize_text(self, text: str, is_code: bool = False) -> str:
        """Return the text with names, addresses and domains replaced. A replacement is not replaced again.

        With `is_code`, a word with dots is a domain only if the domain is known from elsewhere.
        """
        normalized = unicodedata.normalize("NFC", text)
        if "." not in normalized and "://" not in normalized:  # most texts
            return self._names.replace_names(normalized)
        parts, end = [], 0
        for match in _IDENTIFYING_TEXT.finditer(normalized):
            if (replacement := self._replacement(match, is_code)) is not None:
                parts += [self._names.replace_names(normalized[end : match.start()]), replacement]
                end = match.end()
        return "".join([*parts, self._names.replace_names(normalized[end:])])

    def _replace_addresses(self, text: str, is_code: bool) -> str:
        """Return the text with addresses, domains and URLs replaced, but not names."""
        return _IDENTIFYING_TEXT.sub(lambda match: self._replacement(match, is_code) or match[0], text)

    def _replacement(self, match: re.Match[str], is_code: bool) -> str | None:
        """Return the replacement of a URL, an e-mail address or a domain that `_IDENTIFYING_TEXT` matched.

        An address gets the same replacement each time. None means that a word with a dot is no domain.
        With `is_code`, such a word is a domain only if the domain is known from a URL.
        """
        if match["host"] is not None:
            return self._domains.replace_url(match["scheme"], match["host"], match["path"])
        if match["bare"] is not None:
            return self._domains.replace_bare_host(match["bare"], match["below"] or "", is_code)
        address = match[0].replace("%40", "@").casefold()
        if address not in self._addresses:
            number = 1 + sum(
                known_address.startswith("address-") for known_address in self._addresses.values()
            )
            self._addresses[address] = self._replace_email(f"address-{number}", address)
        return self._addresses[address]

    def _replace_email(self, name: str, address: str) -> str:
        """Return an e-mail address with another name, at the replacement of the address's domain."""
        return f"{name}@{self._domains.replace_host(address.rpartition('@')[2])}"


def _ids(data: Any) -> Iterator[str]:
    """Yield every id in the data, at any depth. References by these ids must work after the replacement."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name == "id" and isinstance(value, str):
                yield value
            else:
                yield from _ids(value)
    elif isinstance(data, list):
        for value in data:
            yield from _ids(value)


def _normalized_name(name: str) -> str:
    """Return a name without case, accents and separators, to compare spellings."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    return "".join(char for char in folded if char.isalnum())


class _Names:
    """Finds the names of people in texts, in every spelling, and replaces them by ids."""

    def __init__(self, users: Iterable[Json], ids: Mapping[str, str]) -> None:
        self._ids = ids
        self._person_by_name: dict[str, str] = {}
        forms = [(words, ids[user["id"]]) for user in users for words in _name_forms(user)]
        for words, person in sorted(forms, key=lambda form: -len(form[0])):  # whole names go first
            plain = _normalized_name("".join(words))
            if len(plain) >= _MIN_NAME_CHARS and not plain.isdecimal():
                self._person_by_name.setdefault(plain, person)
        unspaced = {
            name: ids[user["id"]]
            for user in users
            # A name in a script without spaces can be anywhere in a text.
            if (name := user.get("displayName") or "")
            and len(name) > 1
            and any(unicodedata.category(char) == "Lo" for char in name)
        }
        self._unspaced_names = unspaced
        each = "|".join(re.escape(name) for name in sorted(unspaced, key=len, reverse=True))
        self._unspaced_pattern = re.compile(each) if each else None

    def replace_names(self, text: str) -> str:
        """Return the text with the new ids of people in place of their names and old ids.

        Names in scripts without spaces are replaced first, anywhere in the text, then whole words: at each
        word, the longest name that begins there.
        """
        if self._unspaced_pattern is not None:
            text = self._unspaced_pattern.sub(lambda match: self._unspaced_names[match[0]], text)
        text = _ID.sub(lambda match: self._ids.get(match[0], match[0]), text)
        words = list(_WORD.finditer(text))
        parts, end, index = [], 0, 0
        while index < len(words):
            last, person = self._longest_name_at(text, words, index)
            if person is not None:
                parts += [text[end : words[index].start()], person]
                end = words[last].end()
            index = last + 1
        return "".join([*parts, text[end:]])

    def _longest_name_at(self, text: str, words: list[re.Match[str]], start: int) -> tuple[int, str | None]:
        """Find the longest name of a person that begins at the word with the index `start`.

        Return (index of the name's last word, person's id), or (`start`, None) if no name begins there.
        """
        best, best_person, joined = start, None, ""
        for index in range(start, min(start + _MAX_NAME_WORDS, len(words))):
            if index > start and not _NAME_SEPARATORS.fullmatch(
                text, words[index - 1].end(), words[index].start()
            ):
                break
            joined += "" if words[index][0] == "%20" else _normalized_name(words[index][0])
            if (person := self._person_by_name.get(joined)) is not None:
                best, best_person = index, person
        return best, best_person


def _name_forms(user: Json) -> Iterator[tuple[str, ...]]:
    """Yield the ways to write a person's name, each as words: in both orders, and each word alone."""
    for text in (user.get("displayName") or "", (user.get("email") or "").partition("@")[0]):
        words = tuple(word for word in re.split(r"[\W_]+", unicodedata.normalize("NFC", text)) if word)
        if words:
            yield words
            yield words[::-1]
            yield from ((word,) for word in words)


@cache
def _enum_words() -> frozenset[str]:
    """Return the words of all enums: as values, these words never name a person."""
    registry = build_registry().with_all_kinds
    types = [field.type for kind in registry.kinds.values() for field in kind.fields]
    return frozenset(word for type_ in types if isinstance(type_, Enum) for word in type_.words)
