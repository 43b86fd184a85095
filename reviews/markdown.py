"""Renders the Markdown of a request's text as safe HTML. Pure.

HTML from the author is escaped. Images become links, because loading an image reveals the reader to
its host. All headings have one level, so that they fit below the page's own. Code is coloured by
`reviews.highlighting`. Wide code and tables scroll in a frame that the keyboard reaches.
"""

import re
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

import nh3
from markdown_it import MarkdownIt

from reviews.highlighting import DIFFS, MAX_CODE, highlight_code
from reviews.markdown_rules import build_base
from web.phrases import say

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "span"),
    *("ul", "ol", "li", "h2", "h3", "h4"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href"}, "span": {"class"}, "code": {"class"}, "ol": {"start"}}
DIRECTED = {name: {"dir": "auto"} for name in ("ul", "ol", "blockquote")}
SCHEMES = {"http", "https", "mailto"}
MAX_LENGTH = 20_000  # characters of HTML; colouring longer code costs too much
MAX_CELLS = 2000  # 2,000 characters can make 60,000 cells, which take seconds
# What is added to the cleaned HTML. No text can contain these tags, because HTML is escaped.
_FRAME = 'tabindex="0" role="group" aria-label'
_TO_ADD = re.compile(r'<a href=|<pre>(?:<code class="diff">)?|</?table>')


class Names(NamedTuple):
    """The names for screen readers of scrolling parts and of links to images."""

    code: str = say("Code")
    changes: str = say("Changes")
    table: str = say("Table")
    picture: str = say("Picture")


IN_ENGLISH = Names()


def _add(tag: str, names: Names) -> str:
    """Returns the placeholder of a tag in the cleaned HTML."""
    return {
        "<a href=": '<a target="_blank" href=',
        "<pre>": f'<pre {_FRAME}="{escape(names.code)}">',
        '<pre><code class="diff">': f'<pre {_FRAME}="{escape(names.changes)}"><code class="diff">',
        "<table>": f'<div class="table-frame" {_FRAME}="{escape(names.table)}"><table dir="auto">',
        "</table>": "</table></div>",
    }[tag]


@lru_cache(maxsize=512)
def render(text: str, *, level: int = 3, names: Names = IN_ENGLISH) -> str:
    """Renders safe HTML; `level` is the level of its headings, `names` are translated.

    2,000 characters with code take about 10 ms, and hostile ones 0.1 s.
    """
    parser = _WITHOUT_TABLES if count_cells(text) > MAX_CELLS else _PARSER
    env = {"level": level, "picture": names.picture}
    html = parser.render(text, {**env, "code_left": MAX_CODE})
    if parser is _PARSER and len(html) > MAX_LENGTH:
        html = _WITHOUT_COLOURS.render(text, {**env, "code_left": 0})
    cleaned = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        set_tag_attribute_values=DIRECTED,
        url_schemes=SCHEMES,
        link_rel="nofollow noopener noreferrer",
    )
    return _TO_ADD.sub(lambda found: _add(found[0], names), cleaned)


def count_cells(text: str) -> int:
    """Counts the cells of a table of these lines, whose rows are all as wide as the widest."""
    lines = text.replace("\r", "\n").split("\n")
    return len(lines) * (1 + max(line.count("|") for line in lines))


def _render_fence(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Renders a block of code, coloured up to MAX_CODE characters of the text.

    Diffs do not count, because colouring them costs little.
    """
    code, language = tokens[place].content, tokens[place].info.strip().partition(" ")[0]
    is_diff = language.lower() in DIFFS
    if not is_diff:
        env["code_left"] -= len(code)
    highlight = options.highlight if env["code_left"] >= 0 or is_diff else None
    shown = highlight(code, language, "") if highlight else escape(code)
    opening = '<code class="diff">' if is_diff else "<code>"
    return f"<pre>{opening}{shown}</code></pre>\n"


def _render_image(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    """Renders a link to the image. A browser loads the image only after a click."""
    token = tokens[place]
    words = token.content.strip() or env["picture"]
    return f'<a href="{escape(token.attrGet("src") or "")}">{escape(words)}</a>'


def _render_heading(self: Any, tokens: Any, place: int, options: Any, env: Any) -> str:
    tokens[place].tag = f"h{env['level']}"
    return str(self.renderToken(tokens, place, options, env))


def _build_parser(**options: Any) -> MarkdownIt:
    parser = build_base({"html": False, "breaks": True, **options})
    parser.enable(["table", "strikethrough"])
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("heading_open", _render_heading)
    parser.add_render_rule("heading_close", _render_heading)
    return parser


_PARSER = _build_parser(highlight=highlight_code)
_WITHOUT_COLOURS = _build_parser()
_WITHOUT_TABLES = _build_parser().disable("table")
