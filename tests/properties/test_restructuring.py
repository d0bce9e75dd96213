"""Navigations that change their kind, beside everything else that changes: two applies at most."""

from __future__ import annotations

from dpsync.api import Options, Session
from dpsync.model.diagnostic import DiagnosticError
from dpsync.model.journal import Report
from dpsync.model.refusals import CANNOT_HIDE, NO_FIRST_SPACE
from tests.agreed import agreed
from tests.agreed import answers as agreed_to

from .configurations import Written, document, world
from .faults import Kill, Killed
from .laws import AMBIGUOUS, TAKEN_OVER, discard_if, law, said
from .mutations import Managed, wanted_organization
from .organizations import Draw, Organization, Site, add_node, live_organization, new_place, repair
from .platform import Case, Platform


def turned(draw: Draw) -> tuple[Case, tuple[str, ...]]:
    """Return an organization whose live sites get the other type of navigation, and answers to allow it."""
    live = live_organization(draw, "acme", draw.number(2, 4))
    wanted = wanted_organization(draw, live, Managed(), draw.number(1, 10))
    for site in wanted.sites if wanted.spaces else ():
        if site.id is not None and site.structure:
            turn(draw, wanted, site)
    repair(draw, wanted, strict=True)
    made = Case({}, {}, [live], [wanted])
    made.world = world(made.live)
    written = Written(draw, live, wanted, Managed(), explicit=True).configuration()
    made.configuration = document({"acme": written})
    return made, tuple(f"restructure acme/sites/{site.key}" for site in wanted.sites)


def turn(draw: Draw, wanted: Organization, site: Site) -> None:
    places = [node for node in site.nodes("space") if draw.chance(0.6)]
    site.structure, site.flat = [], not site.flat
    if site.flat:
        site.structure = [new_place(draw, wanted) for _ in range(draw.number(1, 4))]
        return
    for _ in range(draw.number(1, 4)):
        add_node(draw, wanted, site)
    if places and site.nodes("section"):
        for place in places:  # some of what was at the root, as new entries
            place.id = None
        draw.pick(site.nodes("section")).children[:0] = places


def apply(platform: Platform, session: Session, answers: tuple[str, ...]) -> Report:
    options = Options(confirm=answers)
    with platform.client() as client:
        try:
            planned = agreed(session, client, options)
            if moment := agreed_to(planned.plan, "expose for a moment"):  # where a platform has no drafts
                planned = agreed(session, client, Options(confirm=(*answers, *moment)))
        except DiagnosticError as error:
            discard_if({item.code for item in error.diagnostics} <= AMBIGUOUS, "ambiguous")
            raise
        codes = {item.code for item in planned.plan.refusals}
        cannot_begin = any(item.message == NO_FIRST_SPACE.message for item in planned.plan.refusals)
        discard_if(bool(codes) and codes <= TAKEN_OVER - {"restructure"}, "recognised as something else")
        discard_if(cannot_begin, "nothing to show")
        discard_if(codes == {"own-user"}, "nobody can ask whose token it is")
        first = CANNOT_HIDE.way_out.format(field="published")
        by_hand = any(item.way_out == first for item in planned.plan.refusals)
        discard_if(by_hand, "no request of this platform unpublishes the site")
        assert planned.plan.refusals == ()
        return session.apply(client, planned, secrets={})


@law(40)
def test_confirmed_restructure_converges_in_two_applies(platform: Platform, draw: Draw) -> None:
    made, answers = turned(draw)
    platform.start(made)
    session = platform.session(made.configuration)
    report = apply(platform, session, answers)
    if not report.complete:
        report = apply(platform, session, answers)
    assert report.complete, said(report)
    platform.writes()
    assert platform.apply(session).writes == 0


@law(40)
def test_interrupted_restructure_is_finished_by_same_command(platform: Platform, draw: Draw) -> None:
    made, answers = turned(draw)
    platform.start(made)
    session = platform.session(made.configuration)
    at, options = draw.number(0, 8), Options(confirm=answers)
    with platform.client(lambda inner: Kill(inner, at, draw.pick(["before", "after"]))) as client:
        try:
            planned = agreed(session, client, options)
            discard_if(bool(planned.plan.refusals), "refused")
            session.apply(client, planned, secrets={})
        except DiagnosticError as error:
            discard_if({item.code for item in error.diagnostics} <= AMBIGUOUS, "ambiguous")
            raise
        except Killed:
            pass
    report = apply(platform, session, answers)
    if not report.complete:
        report = apply(platform, session, answers)
    assert report.complete, said(report)
