"""Calls that tests of comments make, on a space and on a change request of it."""

from collections.abc import Iterator
from typing import Any

from companion_calls import START, Api

HOURS = "/spaces/support/comments/support-hours"
YES = f"{HOURS}/replies/hours-yes"
SPACE = "/spaces/support"
CHANGE = "/spaces/support/change-requests/change-a"
PLACES = (SPACE, CHANGE)


def places(acme: Api) -> Iterator[str]:
    """Yield a space and a change request, which have the same operations, each in the initial state."""
    world = acme.state()
    for place in PLACES:
        acme.clock.now = START
        acme.server.reset(world)
        yield place


def text(markdown: str) -> Any:
    return {"body": {"markdown": markdown}}


def post(api: Api, where: str = SPACE, markdown: str = "New", **more: Any) -> Any:
    return api.post(f"{where}/comments", {**text(markdown), **more})


def reply(api: Api, to: str, markdown: str = "New") -> Any:
    return api.post(f"{to}/replies", text(markdown))


def paragraph(*leaves: tuple[str, list[str]]) -> Any:
    made = [
        {"object": "leaf", "text": said, "marks": [{"object": "mark", "type": mark} for mark in marks]}
        for said, marks in leaves
    ]
    return {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": made}]}
