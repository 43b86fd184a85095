"""In the pseudo-locale no word of ours is left in English: every text is marked."""

import re

from django.test import Client
from pytest_django import Settings

from tests.browser.scene import set_the_scene
from tests.languages.pages import Piece, read_pieces, walk

WORD = re.compile(r"[A-Za-z]{2,}")
# A number for a browser has a decimal point in every language.
SPELLED = re.compile(r'\b(?:x|y|x1|x2|y1|y2|cx|cy|width|height|min|max|step|value|delay:)="?\d*,\d')
OF_PEOPLE = {"bdi", "code", "pre", "kbd", "time", "option"}
NAMES = re.compile(
    r"Review Loop|webhook-id|whsec_|API|URL|JSON|CSV|UTC|GMT|curl|Python|JavaScript|English|Deutsch"
    r"|Pseudo|Claude|Cursor|VS Code|HTTP|(?:loops|requests):(?:read|write)|https?://\S+|\S+@\S+"
    r"|\b[0-9a-f]{24}\b|%\(\w+\)s|Ctrl|Enter"
)


def is_ours(piece: Piece) -> bool:
    """Whether a text is ours, and not a person's or a program's.

    Those have a direction of their own, a language of their own or are not to be translated.
    """
    for tag, attributes in piece.around[1:]:
        if tag in OF_PEOPLE or "dir" in attributes or "lang" in attributes:
            return False
        if attributes.get("translate") == "no":
            return False
    return True


def leftover(piece: Piece) -> str:
    """The words of a text that are still English."""
    text = re.sub("\u2068.*?\u2069", "", piece.text)
    return " ".join(WORD.findall(NAMES.sub("", text)))


def test_no_english_is_left(db: None, settings: Settings, pseudo_locale: str) -> None:
    settings.ROOT_URLCONF = "tests.browser.paths"
    scene = set_the_scene()
    faults = {}
    for stop, html in walk(scene, **{"Accept-Language": pseudo_locale}):
        assert f'lang="{pseudo_locale}" dir="rtl"' in html, stop.title
        assert not SPELLED.search(html), stop.title
        for piece in read_pieces(html):
            if is_ours(piece) and leftover(piece):
                where = f"{piece.around[-1][0]} {piece.attribute}".strip()
                faults[f"{where}: {piece.text[:100]}"] = stop.title
    listed = "\n".join(f"{title}: {fault}" for fault, title in faults.items())
    assert faults == {}, listed


def test_the_pages_before_signing_in_follow_the_browser(db: None, pseudo_locale: str) -> None:
    response = Client().get("/", headers={"Accept-Language": f"{pseudo_locale}, en;q=0.5"})
    assert 'dir="rtl"' in response.content.decode()
    assert response["Content-Language"] == pseudo_locale
    assert "Accept-Language" in response["Vary"]
