"""Declare the channels of a site's AI agent. A person must allow the agent in the service; no request can."""

from dpsync.kinds.kind import Delete, Entries, Field, Kind, Pages, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.types import Enum, Many, Object, Text

_NAME = Text(1, None, r"[a-zA-Z0-9_*-]+", meaning='a name, or a pattern with "*", such as support-*')
_REPOSITORY = Text(3, None, r"[a-zA-Z0-9._*-]+/[a-zA-Z0-9._*-]+", meaning="a repository (acme/docs, acme/*)")
_ALLOWED = {
    "allowedChannels": Many(_NAME, as_set=True),
    "allowedTeams": Many(_NAME, as_set=True),
    "allowedRepositories": Many(_REPOSITORY, as_set=True),
}
_BY_TYPE = {
    "builtin:slack": "allowedChannels",
    "builtin:linear": "allowedTeams",
    "builtin:github": "allowedRepositories",
    "builtin:discord": "allowedChannels",
}
CHANNEL = Kind(
    name="channel",
    parent="site",
    key="channels",
    shape=Entries(),
    at="{parent}/channels/{id}",
    read=Pages("{parent}/channels"),
    identity=("type",),  # not unique on the platform
    title="type",
    create=Post("{parent}/channels", {"setupSettings": {}, "...": "$fields"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"),
    delete=Delete(repeat="safe"),
    platform=PlatformWork(
        trouble=Trouble(
            "status",
            "a person must still allow the agent in GitBook",
            "open the channel in the settings of the site in GitBook, and finish the setup",
            fine=("active",),
        )
    ),
    security=True,
    fields=(
        Field("type", Enum(tuple(_BY_TYPE)), on="create", required=True),
        # Written with the type beside it. Empty lists allow everything.
        Field("setupSettings", Object(_ALLOWED, what="the settings of a channel"), absent={}, security=True,
              raised="changed", formed_by="type",
              forms={type_: Object({name: _ALLOWED[name]}, what=f"the settings of {type_}")
                     for type_, name in _BY_TYPE.items()},
              via=Patch("{self}", {"type": "$type", "setupSettings": "$value"}, repeat="safe")),
        Field("role", Enum(("support", "collaborator")), security=True, in_answers="always",
              raised=("support", "collaborator")),
        Field("status", Text(), on="neither"),
    ),
)  # fmt: skip
