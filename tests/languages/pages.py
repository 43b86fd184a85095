"""Reads every page of the catalogue with Django's client, and its visible text piece by piece."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from django.test import Client

from tests.browser.catalogue import EVERY_PAGE, SENT, Stop
from tests.browser.scene import Scene
from tests.portal import confirmed

VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
UNSEEN = {"script", "style", "template", "svg use"}
SPOKEN = ("aria-label", "alt", "title", "placeholder", "data-label")
HIDDEN_FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
Element = tuple[str, dict[str, str | None]]


@dataclass(frozen=True)
class Piece:
    """A text and the elements around it, the outermost first; `attribute` is '' for content."""

    text: str
    around: tuple[Element, ...]
    attribute: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.around: list[Element] = []
        self.pieces: list[Piece] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, dict(attrs))
        for name, value in attrs:
            if name in SPOKEN and value:
                self.pieces.append(Piece(value, (*self.around, element), name))
        if tag not in VOID:
            self.around.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self.around and self.around.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text and not {each[0] for each in self.around} & UNSEEN:
            self.pieces.append(Piece(text, tuple(self.around)))


def read_pieces(html: str) -> list[Piece]:
    """Returns all text that people see, or hear from a screen reader."""
    reader = _Reader()
    reader.feed(html)
    return reader.pieces


def walk(scene: Scene, **headers: str) -> Iterator[tuple[Stop, str]]:
    """Opens every page, and sends the forms that the catalogue sends."""
    for stop in EVERY_PAGE:
        person = scene.people()[stop.who]
        client = confirmed(person) if person else Client()
        path = stop.path(scene)
        response = client.get(path, headers=headers, follow=True)
        html = response.content.decode()
        yield stop, html
        if stop.opens == SENT and stop.leads:
            form = dict(HIDDEN_FIELD.findall(html))
            form |= {selector.removeprefix("#id_"): text for selector, text in stop.typed}
            yield stop, client.post(path, form, headers=headers, follow=True).content.decode()
