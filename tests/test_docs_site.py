"""The documentation as a site, as `make docs` writes it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes.stack import ROOT

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert (built.stdout + built.stderr, built.returncode) == ("", 0)
    return folder


def test_every_page_is_in_the_menu(site: Path) -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    assert pages == set(re.findall(r": (\S+\.md)$", menu, re.M))
    assert all((site / page).with_suffix(".html").is_file() for page in pages)


def test_nothing_comes_from_another_host(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]+src=\"?([^\s\">]+)", text)
        loaded += re.findall(r"<link[^>]+rel=\"?stylesheet\"?[^>]*href=\"?([^\s\">]+)", text)
        assert [each for each in loaded if re.match(r"(https?:)?//", each)] == [], page.name


def test_a_link_out_of_the_site_is_a_path(site: Path) -> None:
    operations = (site / "operations.html").read_text(encoding="utf-8")
    assert "<code>.env.example</code>" in operations
    assert 'href="../' not in operations


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_code_in_a_list_stays_in_it(page: Path) -> None:
    """GitHub takes code that is indented by less for a part of the item, and the site does not."""
    assert re.findall(r"^ {1,3}```", page.read_text(encoding="utf-8"), re.M) == []
