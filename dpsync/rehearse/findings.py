"""Collect what a rehearsal shows: short exposures, the estimated time, and what it could not check.

A short exposure is something that is public only during the apply. `PublicHistory` compares what is public
after each write, from the data of the local server alone and without the planner's rules. `estimate_time`
predicts the time of an apply from the reading time and the dependencies of the steps. `unverifiable` yields a
sentence for each thing that no response of GitBook shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from msgspec import Struct

from dpsync.apply.executor import Schedule
from dpsync.client.recording import Recording
from dpsync.model.change import Step
from dpsync.model.plan import Estimate, Plan, Unproven, UnprovenKind
from dpsync.model.text import format_count
from dpsync.rehearse.world import World
from dpsync.rehearse.world_draft import Json


def estimate_time(recording: Recording, steps: Sequence[Step], requests: int, parallelism: int) -> Estimate:
    """Estimate how many seconds an apply takes on GitBook, from the durations of the recorded reads.

    `requests` is the number of requests that carried out the steps in a rehearsal; each is assumed to take
    the mean time of a read. An apply plans before and after its steps, so the reading time counts twice.
    """
    latency = recording.latency
    each = latency * requests / len(steps) if steps else 0.0
    writing = makespan(steps, each, parallelism)
    reading = recording.seconds
    return Estimate(
        seconds=round(2 * reading + writing, 3),
        reading=round(reading, 3),
        writing=round(writing, 3),
        latency=round(latency, 4),
        parallelism=parallelism,
    )


def makespan(steps: Sequence[Step], each: float, parallelism: int) -> float:
    """Return the seconds until all steps have ended, by simulating the order of an apply.

    A step starts when the steps that it depends on have ended. Each step takes `each` seconds, and at most
    `parallelism` steps run at once. `running` is a heap of (end time, step id).
    """
    schedule, time = Schedule(steps), 0.0
    running: list[tuple[float, str]] = []
    while True:
        while len(running) < max(1, parallelism) and (id := schedule.take_ready_step()) is not None:
            heappush(running, (time + each, id))
        if not running:
            return time
        time, ended = heappop(running)
        schedule.end_step(ended, succeeded=True)


def unverifiable(
    plan: Plan, world: World, *, refused: Iterable[str], guessed: Iterable[str], fetched: Iterable[str],
    secrets: Iterable[str], differing: Iterable[str],
) -> Iterator[Unproven]:  # fmt: skip
    """Yield a sentence for each thing that a rehearsal on a local copy cannot check, for the report.

    Args:
        refused: API paths that the token may not read.
        guessed: API paths of lists that the plan did not read, so the local server has them empty.
        fetched: URLs from which GitBook will fetch a document.
        secrets: names of the environment variables whose values the steps send.
        differing: objects that differ in the local copy, but that no step depends on.
    """
    yield Unproven(what="token", message="The rehearsal cannot check whether your token has write access.")
    if world.space_count:
        yield Unproven(
            what="content",
            message="The copy has no pages and no comments. The content of "
            f"{world.space_count_text} was not checked.",
        )
    if world.script_count:
        number = format_count(world.script_count, "integration")
        message = f"The copy has no scripts and no pictures. The scripts of {number} were not checked."
        yield Unproven(what="scripts", message=message)
    platform_work = (item.address for items in (plan.trouble, plan.accepted, plan.waiting) for item in items)
    moments = (item.address for item in plan.exposures if item.moment)
    names: dict[UnprovenKind, Iterable[str]] = {
        "secrets": secrets, "fetched": fetched, "refused": refused, "unread": guessed,
        "assumed": world.assumed, "unknown": (answer.path for answer in world.unknown),
        "differing": differing, "platform": platform_work, "public": moments,
    }  # fmt: skip
    for category, values in names.items():
        if subjects := tuple(sorted(set(values))):
            yield Unproven(what=category, message=_MESSAGES[category], about=subjects)


_MESSAGES: dict[UnprovenKind, str] = {
    "secrets": "Instead of the values of these environment variables, the rehearsal sent placeholders",
    "fetched": "The rehearsal did not check whether GitBook can fetch these URLs",
    "refused": "Your token cannot read these API paths (status 403)",
    "unread": "The plan did not read these lists, so the rehearsal treated these lists as empty",
    "assumed": "The plan did not read these objects, so the rehearsal assumed that these objects exist",
    "unknown": "The local server cannot store what GitBook returned for these API paths",
    "differing": "In the copy, these objects differ from GitBook, but no step depends on these objects",
    "platform": "GitBook is still processing these objects, or reports a problem with these objects",
    "public": "The apply will make these objects public for a short time",
}


PublicFact = tuple[str, str]
"""A group of visitors, and what they see."""


class _Visitor(Struct, frozen=True):
    """A group of visitors.

    `visible_to` are the visibilities of sites that the visitors can open. `sees_only_listed`: the visitors
    find only listed content. `is_restricted`: a condition keeps the visitors out.
    """

    name: str
    visible_to: tuple[str, ...]
    sees_only_listed: bool = False
    is_restricted: bool = True


_VISITORS: Final = (
    _Visitor("everyone", ("public",), sees_only_listed=True),
    _Visitor("anyone who has the URL", ("public", "unlisted")),
    _Visitor("anyone who has a share link", ("public", "unlisted", "share-link"), is_restricted=False),
    _Visitor(
        "anyone who signs in", ("public", "unlisted", "share-link", "visitor-auth"), is_restricted=False
    ),
)


def facts_of_site(site: Mapping[str, Any], initial_ids: set[str]) -> set[PublicFact]:
    """Return pairs (group of visitors, description of content that the group sees) for a site.

    `site` is the site's data in the local server. `initial_ids` has the ids from before the rehearsal: only
    share links with such ids count, because nobody has the URL of a new share link.
    """
    return {
        (visitor.name, description)
        for visitor in _VISITORS
        if _is_open(site, visitor, initial_ids)
        for description in _visible_parts(site, visitor)
    }


def facts_of_specifications(specifications: Iterable[Json]) -> set[PublicFact]:
    """Return pairs ("everyone", description) for the public OpenAPI specifications, with their sources."""
    return {
        (
            _VISITORS[0].name,
            f"the OpenAPI specification {specification['slug']} "
            f"from {specification.get('sourceURL') or 'an uploaded file'}",
        )
        for specification in specifications
        if specification.get("visibility") == "public"
    }


def _is_open(site: Mapping[str, Any], visitor: _Visitor, initial_ids: set[str]) -> bool:
    """Return whether a group of visitors can open a site.

    A site that needs a share link is open only if it has an active link from before the rehearsal
    (`initial_ids`): nobody has the URL of a new share link yet.
    """
    if not site.get("published") or site["visibility"] not in visitor.visible_to:
        return False
    if site["visibility"] != "share-link" or visitor.name != "anyone who has a share link":
        return True
    return any(link["active"] and link["id"] in initial_ids for link in site.get("shareLinks") or ())


def _visible_parts(site: Mapping[str, Any], visitor: _Visitor) -> Iterator[str]:
    """Yield a description of each part of an open site that a group of visitors sees.

    The parts are the site, nodes of the navigation with their spaces and links, and redirects.
    """
    yield f"the site {site['id']}"
    visible_ids: set[str] = set()
    for node in _visible_nodes(site.get("structure") or (), visitor):
        visible_ids.add(node["id"])
        yield f"{node['type']} {node['id']} of the site {site['id']}"
        if (space := node.get("space")) is not None:
            yield f"the space {space}"
        elif (url := node.get("url")) is not None:
            yield f"the link {node['id']} to {url}"
    for redirect in site.get("redirects") or ():
        destination = redirect["destination"]
        node = destination.get("siteSectionId") or destination.get("siteSpaceId")
        if not redirect.get("draft") and (node is None or node in visible_ids):
            target = destination.get("url") or node
            yield f"the redirect {redirect['source']} of the site {site['id']} to {target}"


def _visible_nodes(nodes: Iterable[Json], visitor: _Visitor) -> Iterator[Json]:
    """Yield the nodes of a navigation, at any depth, that a group of visitors sees."""
    for node in nodes:
        if node.get("draft") or (visitor.is_restricted and node.get("condition")):
            continue
        if visitor.sees_only_listed and node.get("hidden"):
            continue
        yield node
        yield from _visible_nodes(node.get("children", ()), visitor)


class PublicHistory:
    """Records everything that is public after each write of a rehearsal, to find short exposures."""

    def __init__(self) -> None:
        self._facts_by_site: dict[str, set[PublicFact]] = {}
        self._start: set[PublicFact] = set()
        self.changes: list[tuple[str, str, frozenset[PublicFact]]] = []
        """Each write after which a site showed something else, with the site and all that it showed then."""

    @property
    def sites(self) -> set[str]:
        """Return the ids of the sites that were compared."""
        return set(self._facts_by_site)

    def set_start(self, by_site: Mapping[str, set[PublicFact]]) -> None:
        """Set what is public before the first write, by site."""
        self._facts_by_site = dict(by_site)
        self._start = set().union(*by_site.values())

    def record_write(self, write: str, by_site: Mapping[str, set[PublicFact]]) -> None:
        """Record the public content of sites after a write (such as "PATCH /orgs/o1/sites/s1").

        Only sites whose public content differs from the last time are recorded.
        """
        for site, facts in by_site.items():
            if facts != self._facts_by_site.get(site, set()):
                self._facts_by_site[site] = facts
                self.changes.append((write, site, frozenset(facts)))

    def short_exposures(self) -> list[tuple[str, PublicFact]]:
        """Return content that was public during the apply, but neither before nor after it.

        Each item is (first write that exposed the content, (group of visitors, description)).
        """
        allowed = self._start.union(*self._facts_by_site.values())
        first_writes: dict[PublicFact, str] = {}
        for write, _, facts in self.changes:
            for fact in sorted(facts - allowed):
                first_writes.setdefault(fact, write)
        return [(write, fact) for fact, write in first_writes.items()]
