"""What changes mean for readers of the documentation: what they may see, at which URLs, in which order."""

from __future__ import annotations

from typing import Any

from dpsync.model.frozen import Frozen
from dpsync.model.plans.addressed import Addressed


class Exposure(Addressed):
    """Something that becomes more visible or more powerful.

    `field` is empty where the thing itself does it: it is new, or goes and kept people out.
    """

    field: str = ""
    before: Any = None
    after: Any = None
    words: str
    """What happens, for people."""
    missing: tuple[str, ...] = ()
    """What the files lack, so that the plan cannot tell who gains access."""
    moment: bool = False
    """Whether it is so only while the plan is carried out, and neither before nor afterwards."""


class UrlImpact(Addressed):
    """A public URL that changes, begins or ends. Both ends are None while people see nothing there.

    Where the new one cannot be told before, `known` is false and `why` says why.
    """

    before: str | None = None
    after: str | None = None
    known: bool = True
    why: str = ""
    shows: str | None = None
    """The address of what is seen at the old URL afterwards."""
    redirected: str | None = None
    """The address of a redirect that leads on from the old URL already."""
    place: str = ""
    """The mapping of entries that a redirect belongs in."""
    redirect: dict[str, Any] | None = None
    """The entry to add there that leads from the old URL to where this is then: its key with its fields."""


class SitePreview(Addressed):
    """A live site that the plan changes, and the URL of its preview in GitBook.

    The preview shows the live site, also what is not published. It does not show the plan.
    """

    title: str
    url: str


class NavigationNode(Frozen):
    """A group, section, place or link of a navigation, as readers see it."""

    address: str
    kind: str
    title: str
    path: str | None = None
    """Its segment in URLs, or where it leads."""
    marks: tuple[str, ...] = ()
    """Its flags that are set: default, hidden, draft."""
    inside: tuple[NavigationNode, ...] = ()
    also: tuple[str, ...] = ()
    """Where else readers see the same afterwards: what comes to one place, and stays at another."""


class NavigationChange(Frozen):
    """A navigation that changes, from its root down. `known` is false where nobody can tell."""

    address: str
    before: tuple[NavigationNode, ...] = ()
    after: tuple[NavigationNode, ...] = ()
    known: bool = True
