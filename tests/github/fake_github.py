"""A GitHub of its own on loopback: comments, reviews, issues and labels, with the limits that matter.

Branches and files are in fake_git.py.

It does what GitHub's documentation says of these few operations, pages and permissions included, and keeps a
log of what was asked. Times are counted, not measured: each write is a second later than the one before.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.github.fake_git import FakeGit

BOT = "github-actions[bot]"
LONGEST = 65_536
REPOSITORY = "acme/docs"
Answer = tuple[int, Any, dict[str, str]]


@dataclass(frozen=True)
class Token:
    """Whose token it is, and what it may write."""

    login: str = BOT
    writes: frozenset[str] = frozenset({"pull-requests", "issues", "contents"})
    graphql: bool = True


@dataclass
class FakeGitHub:
    """One repository. Tests put things into it, and look at what came of them."""

    tokens: dict[str, Token] = field(default_factory=lambda: {"token": Token()})
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    pulls: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The pull requests of a commit."""
    late: int = 0
    """How many more times GitHub does not know yet which pull requests a commit came with."""
    default_branch: str = "main"
    tips: dict[str, str] = field(default_factory=dict)
    """The last commits of branches that `git` knows nothing of."""
    requests: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Pull requests by their numbers."""
    git: FakeGit = field(default_factory=lambda: FakeGit(REPOSITORY.partition("/")[0]))
    labels: dict[str, str] = field(default_factory=dict)
    """Their descriptions."""
    asked: list[str] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    """What the next requests get instead of an answer."""
    before: Callable[[str, str], None] = lambda _method, _path: None
    """Called before each request: what somebody else does in between."""
    moment: int = 0
    numbers: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __enter__(self) -> FakeGitHub:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_one(self) -> None:
                length = int(self.headers.get("content-length", 0))
                content = json.loads(self.rfile.read(length)) if length else None
                status, body, headers = outer.answer(
                    self.command, self.path, content, self.headers.get("authorization", "")
                )
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_one

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def writes(self) -> list[str]:
        return [one for one in self.asked if not one.startswith("GET") and "graphql" not in one]

    # What tests put into it.

    def now(self) -> str:
        self.moment += 1
        return f"2026-01-01T{self.moment // 3600:02d}:{self.moment // 60 % 60:02d}:{self.moment % 60:02d}Z"

    def comment(self, issue: int, body: str, login: str = BOT) -> dict[str, Any]:
        self.numbers += 1
        url = f"https://github.example/{REPOSITORY}/pull/{issue}#issuecomment-{self.numbers}"
        found = {"id": self.numbers, "body": body, "user": {"login": login}, "html_url": url, "issue": issue}
        more = {"node_id": f"IC_{self.numbers}", "edits": [], "created_at": self.now()}
        self.comments[self.numbers] = {**found, **more, "updated_at": more["created_at"]}
        return self.comments[self.numbers]

    def edit(self, id_: int, body: str, login: str = BOT) -> dict[str, Any]:
        """Somebody edits a comment; who may write to the repository may edit all of them."""
        comment = self.comments[id_]
        at = self.now()
        comment["edits"].append({"login": login, "at": at})
        comment |= {"body": body, "updated_at": at}
        return comment

    def issue(self, title: str, body: str, login: str = BOT, **more: Any) -> dict[str, Any]:
        self.numbers += 1
        url = f"https://github.example/{REPOSITORY}/issues/{self.numbers}"
        found = {"number": self.numbers, "title": title, "body": body, "state": "open", "html_url": url}
        self.issues[self.numbers] = {**found, "user": {"login": login}, "updated_at": self.now(), **more}
        return self.issues[self.numbers]

    def review(self, login: str, state: str = "APPROVED") -> None:
        self.reviews.append({"user": {"login": login}, "state": state, "submitted_at": self.now()})

    def merge(
        self, sha: str, number: int, head: str = "", base: str = "main", commits: tuple[str, ...] = ()
    ) -> None:
        """Merge a pull request: it makes the commit `sha`, and brings along the `commits` before it.

        Its head is the one that it was planned with last, unless another one is named.
        """
        request = self.requests.setdefault(number, {"number": number})
        request |= {"state": "closed", "merged_at": self.now(), "merge_commit_sha": sha}
        request["base"] = {**request.get("base", {}), "ref": base}
        request["head"] = {**request.get("head", {}), "sha": head or request.get("head", {}).get("sha", sha)}
        for commit in (*commits, sha):
            self.pulls.setdefault(commit, []).append(request)

    def bodies(self, issue: int) -> list[str]:
        return [one["body"] for one in self.comments.values() if one["issue"] == issue]

    # What it answers.

    def answer(self, method: str, target: str, content: Any, authorization: str) -> Answer:
        url = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self.lock:
            self.before(method, url.path)
            self.asked.append(f"{method} {url.path}")
            if self.answers:
                return self.answers.pop(0)
            token = self.tokens.get(authorization.removeprefix("Bearer "))
            if token is None:
                return 401, {"message": "Bad credentials"}, {}
            if url.path == "/graphql":
                return 200, self._graph(content, token), {}
            path = url.path.removeprefix(f"/repos/{REPOSITORY}")
            status, body = self._route(method, path, content, token, query)
            if status == 200 and isinstance(body, list):
                return self._page(body, url.path, query)
            return status, body, {}

    def _graph(self, content: dict[str, Any], token: Token) -> dict[str, Any]:
        """Answer the two known GraphQL queries. GraphQL and REST use different logins for a bot."""
        if not token.graphql:
            return {"data": None, "errors": [{"message": "Resource not accessible"}]}
        if "viewer {" in content["query"]:
            return {"data": {"viewer": {"login": token.login}}}
        wanted = content["variables"]["id"]
        found = next((one for one in self.comments.values() if one["node_id"] == wanted), None)
        if found is None:
            return {"data": {"node": None}, "errors": [{"type": "NOT_FOUND", "message": "no such node"}]}
        author, edits = found["user"]["login"], found["edits"]
        # The first of them is the text as it was written.
        all_ = [{"login": author, "at": found["created_at"]}, *edits][::-1] if edits else []
        start = int(content["variables"].get("after") or 0)
        return {"data": {"node": {
            "viewerDidAuthor": author == token.login, "body": found["body"], "createdAt": found["created_at"],
            "lastEditedAt": edits[-1]["at"] if edits else None, "author": _actor(author),
            "editor": _actor(edits[-1]["login"]) if edits else None,
            "userContentEdits": {
                "pageInfo": {"hasNextPage": start + 100 < len(all_), "endCursor": str(start + 100)},
                "nodes": [{"editor": _actor(one["login"])} for one in all_[start : start + 100]],
            } if edits else None,
        }}}  # fmt: skip

    def _page(self, items: list[Any], path: str, query: dict[str, str]) -> Answer:
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        more = "&".join(f"{name}={value}" for name, value in query.items() if name != "page")
        links = {}
        if page * size < len(items):
            first = f'<{self.url}{path}?{more}&page=1>; rel="first"'
            links = {"Link": f'{first}, <{self.url}{path}?{more}&page={page + 1}>; rel="next"'}
        return 200, items[(page - 1) * size : page * size], links

    def _route(
        self, method: str, path: str, content: Any, token: Token, query: dict[str, str]
    ) -> tuple[int, Any]:
        parts = [part for part in re.split("/", path) if part]
        if (method, *parts[:3]) == ("GET", "git", "ref", "heads"):
            name = "/".join(parts[3:])
            if name in self.tips and name not in self.git.branches:
                return 200, {"object": {"sha": self.tips[name], "type": "commit"}}
        found = self.git.answer(method, parts, content, token.writes, query)
        if found is not None:
            return found
        may = "pull-requests" in token.writes or "issues" in token.writes
        if method != "GET" and not may:
            return 403, {"message": "Resource not accessible by integration"}
        if isinstance(content, dict) and len(content.get("body", "")) > LONGEST:
            return 422, {"message": "body is too long (maximum is 65536 characters)"}
        match method, *parts:
            case "GET", "issues", number, "comments":
                return 200, [one for one in self.comments.values() if one["issue"] == int(number)]
            case "POST", "issues", number, "comments":
                return 201, self.comment(int(number), content["body"], token.login)
            case "PATCH", "issues", "comments", id_ if int(id_) in self.comments:
                return 200, self.edit(int(id_), content["body"], token.login)
            case "DELETE", "issues", "comments", id_ if int(id_) in self.comments:
                del self.comments[int(id_)]
                return 204, None
            case "GET", "issues":
                return 200, self._issues(token, query)
            case "POST", "issues" if "issues" in token.writes:
                self.labels |= dict.fromkeys(content.get("labels", ()), "")
                labels = [{"name": name} for name in content.get("labels", ())]
                return 201, self.issue(content["title"], content["body"], token.login, labels=labels)
            case "PATCH", "issues", number if int(number) in self.issues and "issues" in token.writes:
                self.issues[int(number)] |= {**content, "updated_at": self.now()}
                return 200, self.issues[int(number)]
            case "GET", "labels", name if name in self.labels:
                return 200, {"name": name, "description": self.labels[name]}
            case "POST", "labels" if "issues" in token.writes:
                return self._label(content["name"], content, content["name"] not in self.labels, 201)
            case "PATCH", "labels", name if "issues" in token.writes:
                return self._label(name, content, name in self.labels, 200)
            case "DELETE", "labels", name if name in self.labels and "issues" in token.writes:
                del self.labels[name]
                return 204, None
            case "GET", "pulls", _, "reviews":
                return 200, self.reviews
            case "GET", "pulls", number if int(number) in self.requests:
                return 200, self.requests[int(number)]
            case "POST", "issues", "comments", id_, "reactions" if int(id_) in self.comments:
                self.comments[int(id_)].setdefault("reactions", []).append(content["content"])
                return 201, {"id": 1, "content": content["content"]}
            case "GET", "commits", sha, "pulls":
                self.late -= 1
                return 200, self.pulls.get(sha, []) if self.late < 0 else []
            case ("GET",):
                return 200, {"full_name": REPOSITORY, "default_branch": self.default_branch}
            case "POST" | "PATCH" | "DELETE", "issues" | "labels", *_:
                return 403, {"message": "Resource not accessible by integration"}
        return 404, {"message": "Not Found"}

    def _label(self, name: str, content: Any, fits: bool, status: int) -> tuple[int, Any]:
        if not fits or len(content["description"]) > 100:
            return 422, {"message": "Validation Failed", "errors": [{"code": "already_exists"}]}
        self.labels[name] = content["description"]
        return status, {"name": name, **content}

    def _issues(self, _token: Token, query: dict[str, str]) -> list[dict[str, Any]]:
        found = sorted(self.issues.values(), key=lambda one: -int(one["number"]))
        if "creator" in query:
            found = [one for one in found if one["user"]["login"] == query["creator"]]
        return [one for one in found if query.get("state", "open") in ("all", one["state"])]


def _actor(login: str) -> dict[str, str] | None:
    """Return an author in GraphQL, or None if the account was deleted."""
    name, bot, _ = login.partition("[bot]")
    return {"__typename": "Bot" if bot else "User", "login": name} if login else None
