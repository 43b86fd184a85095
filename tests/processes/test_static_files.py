"""What the pages of `make run` load: compressed, and kept by browsers for ever."""

import re

import requests

from tests.processes.stack import Stack

MAX_BYTES = {"css": 25_000, "js": 30_000}  # bytes, compressed


def get(stack: Stack, path: str) -> requests.Response:
    """As a browser asks, without unpacking."""
    headers = {"Accept-Encoding": "br, gzip"}
    return requests.get(stack.site + path, headers=headers, stream=True, timeout=10)


def loaded(html: str, kind: str) -> list[str]:
    return re.findall(rf'(?:src|href)="(/static/[^"#]+\.{kind})"', html)


def test_pages_load_little_and_only_once(running: Stack) -> None:
    html = requests.get(running.site + "/join/", timeout=10).text
    for kind, most in MAX_BYTES.items():
        paths = loaded(html, kind)
        assert paths
        weight = 0
        for path in paths:
            answer = get(running, path)
            assert answer.headers["Content-Encoding"] == "br", path
            assert "immutable" in answer.headers["Cache-Control"], path
            weight += len(answer.raw.read())
        assert weight <= most, (kind, weight)


def test_what_a_stylesheet_names_is_there(running: Stack) -> None:
    html = requests.get(running.site + "/", timeout=10).text
    (path,) = loaded(html, "css")
    fonts = re.findall(
        r"url\(\"?\.\./(fonts/[^\")]+)", requests.get(running.site + path, timeout=10).text
    )
    assert len(fonts) == 2
    for name in [f"/static/{font}" for font in fonts] + re.findall(r'/static/icons\.[^"#]+', html):
        answer = get(running, name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]
