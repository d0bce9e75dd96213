"""Rehearsals → views: what deviated first, then what was shown, and what could not be checked."""

from __future__ import annotations

from dpsync.model.plan import DIGITS, Rehearsal
from dpsync.render.json.documents import RehearseDocument
from dpsync.render.layout.deviations import deviations
from dpsync.render.layout.plan import facts, plan_view
from dpsync.render.layout.view import Block, Blocks, View, ViewEntry, ViewLine
from dpsync.render.words import rehearsal as words


def rehearsal_view(document: RehearseDocument) -> View:
    """Return everything that is shown of a rehearsal; of a plan that was not rehearsed, the plan."""
    plan, rehearsal = document.plan.plan, document.rehearsal
    if rehearsal is None:
        whole = plan_view(plan, document.plan.digest)
        said = ViewLine("Nothing to rehearse." if plan.can_apply else "Not rehearsed.")
        return View((said, *whole.verdict), whole.blocks, whole.hints, whole.facts, name="rehearse")
    blocks = Blocks([*deviations(plan, rehearsal), *_faults(rehearsal)])
    proven = (ViewEntry("", what, message=text, one_line=True) for what, text in words.proven(rehearsal))
    blocks.add("proven", "What dpsync checked on a copy of the live organization", "none", proven, detail=1)
    left = (ViewEntry("", one.what, message=words.unproven(one), one_line=True) for one in rehearsal.unproven)
    blocks.add("unproven", "Not checked: {}", "note", left, detail=1)
    verdict = (
        ViewLine(words.summary(rehearsal)),
        ViewLine(words.verdict(rehearsal), "good" if rehearsal.fit else "bad"),
    )
    about = (*facts(plan), f"plan {rehearsal.plan[:DIGITS]}, dpsync sent only GET requests to GitBook")
    return View(verdict, tuple(blocks.found), (), about, name="rehearse")


def _faults(rehearsal: Rehearsal) -> list[Block]:
    """Return the rehearsals with faults: those that ended otherwise, then those that converged."""
    blocks = Blocks()
    runs = [
        (run.good, ViewEntry("", str(number), message=words.faults(run), one_line=True))
        for number, run in enumerate(rehearsal.faults, 1)
    ]
    seed = f" (--seed {rehearsal.seed})"
    bad = [entry for good, entry in runs if not good]
    blocks.add(
        "failed-fault",
        f"Failed rehearsals with simulated request failures{seed}: {{}}",
        "error",
        bad,
        fails=True,
    )
    converged = [entry for good, entry in runs if good]
    blocks.add(
        "fault", f"Successful rehearsals with simulated request failures{seed}: {{}}", "none", converged
    )
    return blocks.found
