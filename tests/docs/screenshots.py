"""Take pictures of the site: a kind page on a phone and on a desktop, and the results of a search.

    make screenshots

The pictures are in build/; look at them after changing the site.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.browser import chromium

from .built_site import build, search, served
from .markdown import ROOT

PICTURES: Final = ROOT / "build"
SIZES: Final = {"phone": (375, 812), "desktop": (1280, 900)}
PAGE: Final = "kinds/site.html"


def main() -> None:
    """Write site-phone.png, site-desktop.png and site-search.png."""
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        build(Path(folder))
        with served(Path(folder)) as address, chromium() as browser:
            for name, (width, height) in SIZES.items():
                with browser.new_page(viewport={"width": width, "height": height}) as opened:
                    opened.goto(f"{address}/{PAGE}")
                    opened.screenshot(path=PICTURES / f"site-{name}.png", full_page=True)
            width, height = SIZES["desktop"]
            with browser.new_page(viewport={"width": width, "height": height}) as opened:
                search(opened, address, "rename a team")
                opened.screenshot(path=PICTURES / "site-search.png")
    print(f"{PICTURES}: site-phone.png, site-desktop.png, site-search.png")


if __name__ == "__main__":
    main()
