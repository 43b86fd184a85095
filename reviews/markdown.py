"""Renders the Markdown of a request's text as safe HTML. Pure.

HTML from the author is escaped. Images become links, because an image tells its host who looks at
it. All headings have one level, so that they fit below the page's own. Code is coloured by
`reviews.highlighting`.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from reviews.highlighting import MAX_CODE, highlight_code

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "span"),
    *("ul", "ol", "li", "h2", "h3", "h4"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href"}, "span": {"class"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
MAX_LENGTH = 20_000  # characters of HTML; longer code is not coloured, it costs too much
MAX_CELLS = 2000  # 2,000 characters can make 60,000 cells, which take seconds
_MARKS = re.compile(r"^```\w*|^[\s#>]*[-+]\s+|^[\s#>]+|[*`]+|^[\s|:-]+$", re.MULTILINE)
_LINK = re.compile(r"<a href=")


@lru_cache(maxsize=512)
def render(text: str, *, level: int = 3) -> str:
    """Renders safe HTML; `level` is the level of its headings.

    2,000 characters with code take about 10 ms, and hostile ones 0.1 s.
    """
    parser = _WITHOUT_TABLES if count_cells(text) > MAX_CELLS else _PARSER
    html = parser.render(text, {"level": level, "code_left": MAX_CODE})
    if parser is _PARSER and len(html) > MAX_LENGTH:
        html = _WITHOUT_COLOURS.render(text, {"level": level, "code_left": 0})
    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return _LINK.sub('<a target="_blank" href=', cleaned)


def count_cells(text: str) -> int:
    """Counts the cells of a table of these lines, whose rows are all as wide as the widest."""
    lines = text.replace("\r", "\n").split("\n")
    return len(lines) * (1 + max(line.count("|") for line in lines))


def extract_headline(text: str) -> str:
    """Returns the words in one line, without most of the Markdown."""
    return " ".join(_MARKS.sub("", text).replace("|", " ").split()) or text


def _render_fence(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Renders a block of code, in colours while the text has not used up its MAX_CODE."""
    env["code_left"] -= len(tokens[place].content)
    if env["code_left"] < 0:
        options = type(options)({**options, "highlight": None})
    return RendererHTML.fence(self, tokens, place, options, env)


def _render_image(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Renders a link to the image, which is fetched only if somebody follows it."""
    token = tokens[place]
    words = token.content.strip() or "Picture"
    return f'<a href="{escape(token.attrGet("src") or "")}">{escape(words)}</a>'


def _render_heading(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    tokens[place].tag = f"h{env['level']}"
    return str(self.renderToken(tokens, place, options, env))


def _build_parser(**options: Any) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, **options})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("heading_open", _render_heading)
    parser.add_render_rule("heading_close", _render_heading)
    return parser


_PARSER = _build_parser(highlight=highlight_code)
_WITHOUT_COLOURS = _build_parser()
_WITHOUT_TABLES = _build_parser().disable("table")
