"""Take pictures of what people see: a plan in a terminal, on the HTML page and in a pull request's comment.

    make screenshots

The plan has every sort of change. The pictures are in build/; look at them after changing any output.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dpsync.render.paint import wrap_text
from dpsync.server.http.app import build_companion
from dpsync.server.process.threaded_server import ThreadedServer
from dpsync.server.store import open_store
from tests.browser import chromium
from tests.github.page import comment, page, title

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "build"
STYLES: Final = {
    "1": "font-weight:bold", "2": "opacity:.6", "31": "color:#ff7b72", "32": "color:#7ee787",
    "33": "color:#e3b341", "35": "color:#d2a8ff", "36": "color:#76e3ea",
}  # fmt: skip
EDITS: Final = (
    ("dpsync.yaml", "prune: [sites/*/structure]", "prune: [sites/*/structure, teams]"),
    ("dpsync.yaml", "policy:\n", "policy:\n  removed: ['teams/[Legacy]']\n"),
    ("sites/docs.yaml", "path: api\n", "path: developer-api\n"),
)
"""What the example does besides: it deletes a team, and moves a section to another URL."""


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    store = open_store(":memory:")
    with ThreadedServer(build_companion(store)) as server, TemporaryDirectory() as folder:
        server.reset()
        project = Path(shutil.copytree(ROOT / "examples" / "acme", Path(folder) / "acme"))
        for name, before, after in EDITS:
            path = project / name
            path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
        shown = {form: plan(server.url, project, form) for form in ("text", "markdown", "html")}
        report = Path(folder) / "report.html"
        report.write_text(shown["html"], encoding="utf-8")
        with chromium() as browser:
            for name, html in (
                ("terminal", terminal(f"$ dpsync plan\n{wrap_text(shown['text'], 110)}")),
                ("comment", page(title("Open", "Much at once"), comment(shown["markdown"]))),
            ):
                with browser.new_page(viewport={"width": 1000, "height": 400}) as opened:
                    opened.set_content(html)
                    opened.screenshot(path=PICTURES / f"{name}.png", full_page=True)
            # The page paints only what is in the window.
            with browser.new_page(viewport={"width": 1200, "height": 2000}) as opened:
                opened.goto(report.as_uri())
                opened.screenshot(path=PICTURES / "report.png")
    store.close()
    print(f"{PICTURES}: terminal.png, comment.png, report.png")


def plan(url: str, project: Path, form: str) -> str:
    command = [
        sys.executable,
        "-m",
        "dpsync",
        "plan",
        "-C",
        str(project),
        "--format",
        form,
        "--color",
        "always",
    ]
    environment = {**os.environ, "DPSYNC_URL": url, "DPSYNC_TOKEN": "ada-token"}
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if not ended.stdout:
        sys.exit(f"{form}: {ended.stderr}")
    return ended.stdout.replace(f" -C {project}", "")


def terminal(text: str) -> str:
    """Return a page that shows a text with its colors, as a terminal of 110 columns does."""
    parts = re.split(r"\x1b\[([\d;]*)m", text)
    html, styles = escape(parts[0]), list[str]()
    for code, after in zip(parts[1::2], parts[2::2], strict=True):
        styles = [] if code in ("", "0") else [*styles, STYLES.get(code, "")]
        html += f'<span style="{";".join(styles)}">{escape(after)}</span>'
    style = (
        "margin:0;padding:16px;background:#0d1117;color:#e6edf3;font:13px/1.4 monospace;white-space:pre-wrap"
    )
    return f'<body style="margin:0"><pre style="{style}">{html}</pre></body>'


if __name__ == "__main__":
    main()
