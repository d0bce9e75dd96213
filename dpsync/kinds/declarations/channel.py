"""Declare the channels of a site's AI agent (`Kind`): services such as Slack in which people talk to it.

A person must allow the agent in the service; no request can.
Output: a `Kind`, from which dpsync derives the file schema, the comparison with GitBook, and the requests.
"""

from dpsync.kinds.kind import Delete, EntryMapping, Field, Kind, ListRead, Patch, PlatformWork, Post, Trouble
from dpsync.kinds.types import Enum, List, Object, Text

_NAME = Text(
    1, None, r"[a-zA-Z0-9_*-]+", pattern_description='a name, or a pattern with "*", such as support-*'
)
_REPOSITORY = Text(
    3, None, r"[a-zA-Z0-9._*-]+/[a-zA-Z0-9._*-]+", pattern_description="a repository (acme/docs, acme/*)"
)
_ALLOWED = {
    "allowedChannels": List(_NAME, is_set=True),
    "allowedTeams": List(_NAME, is_set=True),
    "allowedRepositories": List(_REPOSITORY, is_set=True),
}
_BY_TYPE = {
    "builtin:slack": "allowedChannels",
    "builtin:linear": "allowedTeams",
    "builtin:github": "allowedRepositories",
    "builtin:discord": "allowedChannels",
}
CHANNEL = Kind(
    name="channel", parent="site", key="channels", shape=EntryMapping(), url_path="{parent}/channels/{id}",
    read=ListRead("{parent}/channels"),
    natural_keys=("type",),  # not unique on the platform
    title_field="type",
    create=Post("{parent}/channels", {"setupSettings": {}, "...": "$fields"}, repeat="look_up"),
    update=Patch("{self}", repeat="safe"), delete=Delete(repeat="safe"),
    platform_work=PlatformWork(
        trouble=Trouble(
            "status", "a person must still allow the agent in GitBook",
            "open the channel in the settings of the site in GitBook, and finish the setup",
            accepted_values=("active",),
        )
    ),
    creation_widens_access=True,
    fields=(
        Field("type", Enum(tuple(_BY_TYPE)), written_in="create", required=True),
        # Written with the type beside it. Empty lists allow everything.
        Field(
            "setupSettings", Object(_ALLOWED, noun="the settings of a channel"), value_when_absent={},
            can_widen_access=True, widens_when="changed", form_selector="type",
            forms={
                type_: Object({name: _ALLOWED[name]}, noun=f"the settings of {type_}")
                for type_, name in _BY_TYPE.items()
            },
            own_call=Patch("{self}", {"type": "$type", "setupSettings": "$value"}, repeat="safe"),
        ),
        Field(
            "role", Enum(("support", "collaborator")), can_widen_access=True, in_responses="always",
            widens_when=("support", "collaborator"),
        ),
        Field("status", Text(), written_in="neither"),
    ),
)  # fmt: skip
