"""Contents as PDF."""

import io
from typing import Any

import httpx
from companion_calls import Api
from content_calls import GUIDES, OPEN, written
from covers import covers
from pypdf import PdfReader

from tests.no_tls import NO_TLS
from tests.patience import PATIENCE


def pdf(api: Api, at: str = OPEN, **query: Any) -> PdfReader:
    """Fetch the PDF from the URL that the API answers, without a token."""
    answer = httpx.get(api.get(f"{at}/pdf", **query)["url"], **NO_TLS, timeout=PATIENCE)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    return PdfReader(io.BytesIO(answer.content), strict=True)


def text_in(reader: PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


@covers("getChangeRequestPDF", 200)
def test_pdf_contains_text_of_every_page(api: Api) -> None:
    reader = pdf(api)
    assert reader.metadata is not None
    assert reader.metadata.title == "Guides"
    found = text_in(reader)
    for words in (
        "Hello. Set up payments, then sell.", "acme-shop install --edition small",
        "1. Download the installer.", "• Installed", "| Credit | **2 %** |",
        "Search finds at most 100 things.", "Status",
    ):  # fmt: skip
        assert words in found


@covers("getChangeRequestPDF", 400, 404)
def test_pdf_can_contain_single_page_or_subtree(api: Api) -> None:
    one = text_in(pdf(api, page="getting-started", only=True))
    assert one == "Getting started"
    below = text_in(pdf(api, page="getting-started"))
    assert "Download the installer." in below
    assert "Hello." not in below
    api.refused(404, "GET", f"{OPEN}/pdf", params={"page": "none"})
    api.refused(400, "GET", f"{OPEN}/pdf", params={"only": "true"})


def test_pdf_supports_unicode_and_long_text(api: Api) -> None:
    alphabets = "Grüße, “quoted” – €5; (\\) 日本語, Ελληνικά, кириллица"
    long = "\n\n".join(f"Paragraph {number} " + "goes on and on " * 20 for number in range(60))
    made = written(api, f"{alphabets.replace(chr(92), chr(92) * 2)}\n\n{'x' * 500}\n\n{long}\n")
    reader = pdf(api, made, page="welcome", only=True)
    found = text_in(reader)
    assert alphabets in found
    assert "Paragraph 59 goes on" in found
    assert found.replace(" ", "").count("x") >= 500
    assert len(reader.pages) > 3


def test_forged_pdf_url_returns_404(api: Api) -> None:
    url = api.get(f"{OPEN}/pdf")["url"]
    other = api.get(f"{OPEN}/pdf", page="welcome")["url"]
    named, seal = other.rpartition("/")[2].split(".")
    wrong = [
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        f"{url.rpartition('/')[0]}/{named}",
        f"{url}x",
        url[:-65],
    ]
    for address in (*wrong, url.replace(url.rpartition(".")[2], seal)):
        answer = httpx.get(address, **NO_TLS, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, 404)


def test_pdf_url_is_valid_until_space_is_deleted(api: Api) -> None:
    url = api.get(f"{OPEN}/pdf")["url"]
    api.post(f"{OPEN}/merge")
    assert httpx.get(url, **NO_TLS, timeout=PATIENCE).status_code == 200
    api.delete(GUIDES)
    assert httpx.get(url, **NO_TLS, timeout=PATIENCE).status_code == 404
