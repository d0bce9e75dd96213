"""What a workflow on GitHub gives to a run, as far as it can be told without writing anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsync.render.json.documents import Check

_PARTS = (
    ("contents", "/contents", "apply pushes the branch of the ids file"),
    ("pull-requests", "/pulls", "plan and apply write their comment"),
    ("issues", "/issues", "drift opens its issue"),
)
"""The permission, a list that needs it, and what dpsync writes with it."""


def workflow(env: Mapping[str, str]) -> Iterator[Check]:
    """Nothing outside a workflow. The token of GITHUB_TOKEN is asked what it may read."""
    if not env.get("GITHUB_ACTIONS"):
        return
    from dpsync.config.git_base.default_base import event_of
    from dpsync.github.runner.place import find_place

    try:
        place = find_place(env, event_of(env))
    except ValueError as wrong:
        yield Check(topic="workflow", level="problem", said=str(wrong), mend="run it in a job of a workflow")
        return
    yield Check(
        topic="workflow", level="ok", said=f"{place.repository}, {place.event}", source="GITHUB_ACTIONS"
    )
    if place.fork:
        mend = "plan with /dpsync plan in a comment, after you have read the change (docs/github-action.md)"
        said = "the change comes from a fork: it has no secrets and may write nothing"
        yield Check(topic="workflow", level="note", said=said, mend=mend)
    token = env.get("GITHUB_TOKEN", "")
    if not token:
        mend = "env: { GITHUB_TOKEN: ${{ github.token }} } for this step; the action gets it by itself"
        said = "GITHUB_TOKEN is not set: its permissions cannot be looked at"
        yield Check(topic="permissions", level="note", said=said, mend=mend)
        return
    yield from _permissions(env.get("GITHUB_API_URL", "https://api.github.com"), token, place.repository)


def _permissions(url: str, token: str, repository: str) -> Iterator[Check]:
    from dpsync.github.requests.api import GitHub
    from dpsync.github.requests.transport import GitHubError

    github = GitHub(url, token, repository)
    try:
        for name, path, use in _PARTS:
            try:
                github.ask("GET", path, query={"per_page": "1"})
            except GitHubError as error:
                mend = f"permissions: {{ {name}: write }} in the job: {use}"
                said = f"{name}: may not be read ({error.status or 'no answer'})"
                yield Check(topic="permissions", level="problem", said=said, mend=mend)
                continue
            said = f"{name}: may be read; whether it may be written shows when {use}"
            yield Check(topic="permissions", level="ok", said=said, source="GITHUB_TOKEN")
    finally:
        github.close()
