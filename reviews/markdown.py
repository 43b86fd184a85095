"""Markdown of a request's text as safe HTML. Pure.

No HTML of the author's gets through, no image (what a picture shows, its host would learn), and
no heading outranks the page's own. Code is coloured with classes, never with styles.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "span"),
    *("ul", "ol", "li", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href"}, "span": {"class"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
LOWERED = 2  # h1 becomes h3
LONGEST = 20_000  # characters; beyond, colours cost more than they tell
_CODE = HtmlFormatter(nowrap=True, classprefix="hl-")
_LINK = re.compile(r"<a href=")


@lru_cache(maxsize=512)
def render(text: str) -> str:
    """The HTML, to be trusted. About 10 ms for 2,000 characters with code."""
    html = _PARSER.render(text)
    if len(html) > LONGEST:
        html = _PLAIN.render(text)
    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return _LINK.sub('<a target="_blank" href=', cleaned)


def _coloured(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, _CODE))


def _image(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """The words that stand for the picture."""
    return escape(tokens[place].content)


def _heading(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    token = tokens[place]
    token.tag = f"h{min(6, int(token.tag[1]) + LOWERED)}"
    return str(self.renderToken(tokens, place, options, env))


def _parser(**options: Any) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, **options})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


_PARSER = _parser(highlight=_coloured)
_PLAIN = _parser()
