"""What the Markdown of requests has beyond CommonMark: East Asian emphasis and bare links. Pure.

CommonMark wants a blank between `**` and the word behind it where punctuation is before it.
Chinese and Japanese have no blanks, so `**重要。**次` showed its asterisks. The rule here is that
of the "CJK-friendly" amendment (https://github.com/tats-u/markdown-cjk-friendly): beside an East
Asian character, emphasis opens where no blank follows it, and closes where none precedes it.
"""

import re
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import isWhiteSpace
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_inline.state_inline import Scanned, StateInline
from markdown_it.token import Token

# Letters and punctuation of Chinese, Japanese and Korean, without the full-width blank.
_EAST_ASIAN = (
    "\u1100-\u11ff\u2e80-\u2fff\u3001-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uffee\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_IS_EAST_ASIAN = re.compile(f"[{_EAST_ASIAN}]")
_FULL_WIDTH_MARKS = (
    "\u2018\u2019\u201c\u201d\u2026"  # quotes and the ellipsis
    "\u3000-\u3004\u3008-\u3020\u3030\ufe30-\ufe4f"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
# Pasted with a link, or made to mislead. Persian addresses have the joiners U+200C and U+200D.
_INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
# Never with a name before the host, which is made to mislead.
_URL = re.compile(
    rf"https?://(?![^\s/?#]*@)(?:(?![_{_EAST_ASIAN}])\w)(?:(?![{_EAST_ASIAN}])[\w.-])*(?::\d+)?"
    rf"(?:[/?#](?:(?![{_FULL_WIDTH_MARKS}]|\*\*[{_EAST_ASIAN}])[^\s{_INVISIBLE}<>\"`\\|])*)?",
    re.IGNORECASE,
)
_TRAILING = "?!.,:;'*_~"
_BRACKETS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class BareLink:
    """A link without marks around it."""

    url: str


class BareLinks:
    """Finds bare links of http and https for the "linkify" rule of markdown-it."""

    def match_at_start(self, text: str) -> BareLink | None:
        """Returns the link at the beginning, without the punctuation of its sentence."""
        found = _URL.match(text)
        return BareLink(_trim(found[0])) if found else None


def _trim(url: str) -> str:
    """Removes punctuation and closing brackets that were not opened from the end."""
    surplus = {end: url.count(end) - url.count(begin) for end, begin in _BRACKETS.items()}
    end = len(url)
    while end and (url[end - 1] in _TRAILING or surplus.get(url[end - 1], 0) > 0):
        if url[end - 1] in surplus:
            surplus[url[end - 1]] -= 1
        end -= 1
    return url[:end]


class _State(StateInline):
    def scanDelims(self, start: int, canSplitWord: bool) -> Scanned:  # noqa: N802, N803
        scanned = super().scanDelims(start, canSplitWord)
        end = start + scanned.length
        before = self.src[start - 1] if start else " "
        behind = self.src[end] if end < self.posMax else " "
        if not canSplitWord or not _IS_EAST_ASIAN.search(before + behind):
            return scanned
        return Scanned(
            can_open=not isWhiteSpace(ord(behind)),
            can_close=not isWhiteSpace(ord(before)),
            length=scanned.length,
        )


class _Inline(ParserInline):
    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _State(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Parser(MarkdownIt):
    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        """Shows a link as it was written.

        Decoded, `%E2%80%AE` would reverse what follows, and an xn-- domain may look like another.
        """
        return link


def build_base(options: dict[str, Any]) -> MarkdownIt:
    """Builds a parser of CommonMark with these rules."""
    parser = _Parser()
    parser.inline = _Inline()
    parser.configure("commonmark", {**options, "linkify": True})
    parser.linkify = BareLinks()  # all that the rule below asks for
    parser.inline.ruler.enable(["linkify"])
    return parser
