"""What a workflow on GitHub gives to a run, as far as it can be told without writing anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsync.render.documents import Check

_PARTS = (
    ("contents", "/contents", "dpsync apply commits the ids file"),
    ("pull-requests", "/pulls", "dpsync plan and dpsync apply write comments"),
    ("issues", "/issues", "dpsync drift opens an issue"),
)
"""The permission, a list that needs it, and what dpsync writes with it."""


def workflow(env: Mapping[str, str]) -> Iterator[Check]:
    """Nothing outside a workflow. The token of GITHUB_TOKEN is asked what it may read."""
    if not env.get("GITHUB_ACTIONS"):
        return
    from dpsync.config.git_base import event_of
    from dpsync.github.workspace import find_place

    try:
        place = find_place(env, event_of(env))
    except ValueError as wrong:
        yield Check(
            topic="workflow",
            level="problem",
            said=str(wrong),
            mend="run dpsync doctor in a job of a GitHub workflow",
        )
        return
    yield Check(
        topic="workflow", level="ok", said=f"{place.repository}, {place.event}", source="GITHUB_ACTIONS"
    )
    if place.fork:
        mend = 'review the change, then write the comment "/dpsync plan" (see docs/github-action.md)'
        said = "the change comes from a fork, so this job has no secrets and cannot write to the repository"
        yield Check(topic="workflow", level="note", said=said, mend=mend)
    token = env.get("GITHUB_TOKEN", "")
    if not token:
        mend = 'add "env: { GITHUB_TOKEN: ${{ github.token }} }" to this step of the workflow'
        said = "dpsync cannot check the permissions of the job, because GITHUB_TOKEN is not set"
        yield Check(topic="permissions", level="note", said=said, mend=mend)
        return
    yield from _permissions(env.get("GITHUB_API_URL", "https://api.github.com"), token, place.repository)


def _permissions(url: str, token: str, repository: str) -> Iterator[Check]:
    from dpsync.github.api import GitHub
    from dpsync.github.transport import GitHubError

    github = GitHub(url, token, repository)
    try:
        for name, path, use in _PARTS:
            try:
                github.ask("GET", path, query={"per_page": "1"})
            except GitHubError as error:
                mend = f'add "permissions: {{ {name}: write }}" to the job, because {use}'
                said = f'the job cannot read "{name}" (status: {error.status or "no response"})'
                yield Check(topic="permissions", level="problem", said=said, mend=mend)
                continue
            said = (
                f'the job can read "{name}". The job also needs the permission "{name}: write", which dpsync '
                f"cannot check, because {use}"
            )
            yield Check(topic="permissions", level="ok", said=said, source="GITHUB_TOKEN")
    finally:
        github.close()
