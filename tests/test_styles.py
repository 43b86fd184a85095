"""The compiled stylesheet and the sprite are those of the sources. Only one test wants Node."""

import re
import shutil
from pathlib import Path

import pytest

from loops.icons import ICONS, NEUTRAL, get_symbol
from styles import sources
from styles.__main__ import TOOL, build_sprite, compile_styles

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
ICON = re.compile(r"""{% icon "([^"]+)"|symbol="([^"]+)"|{% nav_link "[^"]+" "[^"]+" "([^"]+)\"""")


def symbols() -> set[str]:
    return set(re.findall(r'<symbol id="([^"]+)"', sources.SPRITE.read_text(encoding="utf-8")))


def test_the_stylesheet_is_not_stale() -> None:
    assert sources.compiled_from() == sources.digest(), "run `make styles` and commit what it made"


def test_the_sprite_has_every_icon_that_is_drawn() -> None:
    listed = {"-".join(reversed(name.split("/"))) for name in sources.icon_names()}
    assert symbols() == listed, "run `make styles`"
    for path in TEMPLATES:
        for names in ICON.findall(path.read_text(encoding="utf-8")):
            assert set(names) - {""} <= symbols(), path


def test_every_icon_of_a_loop_is_drawn_and_any_other_string_is_neutral() -> None:
    assert len({get_symbol(name) for name in ICONS}) == len(ICONS) == 30
    assert {get_symbol(name) for name in ICONS} <= symbols()
    assert get_symbol("x" * 50) == get_symbol("") == NEUTRAL


def test_class_names_are_found_whole() -> None:
    html = """<a class="btn {% if x == "y" %}btn-primary{% else %}max-sm:hidden{% endif %}"
      >{% icon "plus" class="size-6 grid-cols-[1fr_auto]" %} class </a>"""
    found = {"btn", "btn-primary", "max-sm:hidden", "size-6", "grid-cols-[1fr_auto]"}
    assert sources.class_names(html) == found


def test_no_class_name_is_put_together_at_run_time() -> None:
    for path in TEMPLATES:
        found = re.findall(r'class="[^"{]*?([\w-]+-){{', path.read_text(encoding="utf-8"))
        assert set(found) <= {"series-"}, path  # of charts.css, which always has all three


def test_layouts_follow_the_width_in_letters() -> None:
    """A media query would not know the size of the text: docs/design.md, Widths."""
    for path in sorted(sources.STYLES.glob("*.css")):
        assert not re.search(r"@media[^{]*width", path.read_text(encoding="utf-8")), path.name


def test_no_registry_stands_in_the_lock_file() -> None:
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text(encoding="utf-8")


def test_compiling_again_gives_the_same_bytes() -> None:
    if not (shutil.which("node") and TOOL.exists()):
        pytest.skip("Node or node_modules is not there: the hash above stands for it")
    assert compile_styles() == sources.COMPILED.read_text(encoding="utf-8")
    assert build_sprite() == sources.SPRITE.read_text(encoding="utf-8")
