"""Each call says whether it may be sent again; what is said fits what it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsync.kinds.kind import Call, Kind, Post
from dpsync.kinds.registry import build_registry

KINDS = list(build_registry().with_all_kinds.kinds.values())


def calls(kind: Kind) -> Iterator[Call]:
    """Every writing call of a kind."""
    add, restore = (
        kind.lifecycle.create_with_id and kind.lifecycle.create_with_id.call,
        kind.lifecycle.restore and kind.lifecycle.restore.call,
    )
    own = [
        kind.create,
        kind.update,
        kind.delete,
        kind.lifecycle.transfer,
        add,
        restore,
        *kind.platform_work.user_actions.values(),
    ]
    yield from (call for call in own if isinstance(call, Call))
    for order in (kind.order, *(listed.move_order for listed in kind.list_orders)):
        if order is not None:
            yield order.call
    for field in kind.fields:
        for via in (field.own_call, field.fallback_call):
            yield from (via,) if isinstance(via, Call) else (via or {}).values()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_api_call_declares_valid_retry_mode(kind: Kind) -> None:
    assert {call.repeat for call in calls(kind)} <= {"safe", "look_up", "never"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_create_call_with_new_id_is_looked_up(kind: Kind) -> None:
    """Its id is in the answer alone, so that a second request would make a second one."""
    if isinstance(kind.create, Call) and "{self}" not in kind.create.path:
        known_before = kind.create.id_source.startswith("$") and "{" not in kind.create.id_source
        assert known_before or kind.create.repeat == "look_up"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_user_action_calls_are_never_retried(kind: Kind) -> None:
    assert {call.repeat for call in kind.platform_work.user_actions.values()} <= {"never"}


def test_api_call_without_repeat_mode_fails() -> None:
    with pytest.raises(TypeError, match="repeat"):
        Post("{parent}/teams")
