"""What the service tells programs and language models about itself: /llms.txt and the guides."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from api.envelope import WAITING
from api.guides import GUIDES, read_guide
from tests.processes.stack import ROOT

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def read(path: str) -> str:
    """A document of the service, which takes no key and no session."""
    response: HttpResponse = Client().get(path)  # type: ignore[assignment]
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    return response.content.decode()


def test_llms_txt_has_the_form_of_llmstxt_org() -> None:
    """A title, a summary, text without headings, and then sections that are lists of links."""
    title, summary, *rest = read("/llms.txt").split("\n\n")
    assert re.fullmatch("# .+", title)
    assert re.fullmatch("> .+", summary)
    sections = "\n\n".join(rest).split("\n## ")
    assert "\n#" not in sections[0]
    for section in sections[1:]:
        name, *lines = section.strip().splitlines()
        assert name
        for line in filter(None, lines):
            assert re.fullmatch(r"- \[[^\]]+\]\(\S+\): .+", line), line
    assert sections[-1].startswith("Optional\n")


def test_llms_txt_links_to_what_there_is(settings: Settings) -> None:
    links = LINK.findall(read("/llms.txt"))
    assert {f"{settings.SITE_URL}/{path}" for path in ("openapi.json", "docs/agents.md")} <= set(
        links
    )
    for link in links:
        assert link.startswith(settings.SITE_URL), link
        assert Client().get(link.removeprefix(settings.SITE_URL)).status_code == 200, link


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_the_file_and_its_links_work(name: str) -> None:
    text = read(f"/{name}")
    assert text == (ROOT / name).read_text(encoding="utf-8")
    for link in LINK.findall(text) if name.endswith(".md") else ():
        path, _, anchor = link.partition("#")
        if urlsplit(link).scheme:
            continue
        target = resolve(name, path) if path else name
        if path:
            assert Client().get(f"/{target}").status_code == 200, link
        assert not anchor or anchor in anchors(target), link


def resolve(name: str, path: str) -> str:
    """The path in the repository that a relative link leads to."""
    return str((ROOT / name).parent.joinpath(path).resolve().relative_to(ROOT))


def anchors(name: str) -> set[str]:
    """The anchors of a file's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_link_of_a_create_leads_to_a_heading() -> None:
    name, _, anchor = WAITING.removeprefix("/").partition("#")
    assert name in GUIDES
    assert anchor in anchors(name)


def test_an_installation_without_the_guides(settings: Settings, tmp_path: Path) -> None:
    read_guide.cache_clear()
    settings.BASE_DIR = tmp_path
    assert Client(raise_request_exception=False).get("/docs/api.md").status_code == 404
    assert read("/llms.txt")


def test_nothing_else_of_the_repository_is_served() -> None:
    for path in ("docs/security.md", "docs/../README.md", "examples/", "docs/", "README.md"):
        assert Client().get(f"/{path}").status_code == 404, path
    assert Client().post("/llms.txt").status_code == 405
