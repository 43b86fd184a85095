"""Markdown of a request's text as safe HTML. Pure.

No HTML of the author's gets through, no image (who looks at it, its host would learn), and all
headings have one rank, so that they fit below the page's own. Code is coloured with classes, never
with styles.
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
    *("ul", "ol", "li", "h2", "h3", "h4"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href"}, "span": {"class"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
MAX_LENGTH = 20_000  # characters; beyond, colours cost more than they tell
MAX_CELLS = 2000  # 2,000 characters could ask for sixty thousand, which take seconds
_CODE = HtmlFormatter(nowrap=True, classprefix="hl-")
_MARKS = re.compile(r"^```\w*|^[\s#>]*[-+]\s+|^[\s#>]+|[*`]+|^[\s|:-]+$", re.MULTILINE)
_LINK = re.compile(r"<a href=")


@lru_cache(maxsize=512)
def render(text: str, *, level: int = 3) -> str:
    """The HTML, to be trusted; `level` is the rank of its headings. About 10 ms for 2,000
    characters with code."""
    parser = _UNRULED if cells(text) > MAX_CELLS else _PARSER
    html = parser.render(text, {"level": level})
    if parser is _PARSER and len(html) > MAX_LENGTH:
        html = _PLAIN.render(text, {"level": level})
    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return _LINK.sub('<a target="_blank" href=', cleaned)


def cells(text: str) -> int:
    """How many a table of these lines could have: each row is filled up to the widest."""
    lines = text.replace("\r", "\n").split("\n")
    return len(lines) * (1 + max(line.count("|") for line in lines))


def headline(text: str) -> str:
    """The words in one line, without most of the Markdown."""
    return " ".join(_MARKS.sub("", text).replace("|", " ").split()) or text


def _coloured(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, _CODE))


def _image(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """A link to the picture: nothing is fetched unless somebody asks for it."""
    token = tokens[place]
    words = token.content.strip() or "Picture"
    return f'<a href="{escape(token.attrGet("src") or "")}">{escape(words)}</a>'


def _heading(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    tokens[place].tag = f"h{env['level']}"
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
_UNRULED = _parser().disable("table")
