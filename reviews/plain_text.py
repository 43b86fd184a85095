"""Turns the Markdown of a request's text into one plain line. Pure.

`extract_headline` returns the line that represents a request in the inbox, the dashboard, pushes
and subjects of emails. `excerpt` returns the beginning of the whole text.
"""

import html
import re
from collections.abc import Iterator

from web.sanitize import to_one_line

MAX_HEADLINE = 140  # characters
MAX_EXCERPT = 120  # characters
MAX_READ = 2_000  # characters of a text in which the headline is looked for
MAX_SHORT_LINE = 60  # characters; a longer line goes on in the next one
MIN_SENTENCE = 16  # characters; a shorter beginning, such as "Hello!", includes the next sentence

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
_LEADING_MARKS = re.compile(r"(?:\s{0,3}(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))*\s*")
# No bracket inside: otherwise a text of brackets would take quadratic time.
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\[\n]*\)")
_EMPHASIS = re.compile(r"\*\*|__|~~|`|(?<!\\)\*(?=\S)|(?<=[^\s\\])\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+$")
_MARKS = re.compile(
    r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$|(?=[ \t|:-]*+$)[ \t|:-]*?---[ \t|:-]*+$)"
    r"|^\||\|$"
)
_BAR = re.compile(r"\s\|\s")
_END = re.compile(r"(?<![.!?…؟।])[.!?…؟।]++[\"'”’»)\]*_`]*+(?=\s)|[。！？]+[」』”’）]*|\n")
# A dot after these, after a single letter or after a number does not end a sentence.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:\w|\d+|e\.g|i\.e|z\.B|d\.h|u\.a|No|Nr|Dr|Mr|Mrs|Ms|Prof|St|vs|cf|ca|approx|bzw"
    r"|etc|Inc|Ltd|Co)\.$"
)


def extract_headline(text: str, max_length: int = MAX_HEADLINE) -> str:
    """Returns the first heading or the first sentence, whichever comes first, without Markdown.

    Skips code, tables and rules. A text of nothing else gives its beginning, and one of invisible
    characters an ellipsis.
    """
    for line, is_heading in _read_blocks(text[:MAX_READ].splitlines()):
        plain = _strip_inline(line if is_heading else _first_sentence(line))
        if any(map(str.isalnum, plain)):
            return cut(plain, max_length)
    return excerpt(text, max_length) or cut(to_one_line(text), max_length) or "…"


def excerpt(text: str, max_length: int = MAX_EXCERPT) -> str:
    """Returns the beginning of a text in one plain line of at most `max_length` characters."""
    return cut(_strip_inline(_BAR.sub(" ", _MARKS.sub("", text))), max_length)


def cut(line: str, max_length: int) -> str:
    """Cuts a line at a word, or inside the last word if that is most of it."""
    if len(line) <= max_length:
        return line
    short = line[: max_length - 1]
    head, blank, _ = short.rpartition(" ")
    return (head if blank and len(head) > max_length // 2 else short).rstrip() + "…"


def _read_blocks(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Yields headings and paragraphs in their order, and whether each is a heading."""
    paragraph: list[str] = []
    fence = ""
    for place, line in enumerate(lines):
        bare = line[_measure_marks(line) :]
        opening = _FENCE.match(bare)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) else fence
        elif paragraph and _UNDERLINE.match(line):
            yield "\n".join(paragraph), True
            paragraph = []
        elif opening or _HEADING.match(bare) or not bare.strip() or _RULE.match(bare):
            if paragraph:
                yield "\n".join(paragraph), False
            paragraph, fence = [], opening[1] if opening else ""
            if heading := _HEADING.match(bare):
                yield _CLOSING_MARKS.sub("", bare[heading.end() :]), True
        elif not (_is_in_table(lines, place) or (not paragraph and _is_indented_code(line))):
            if paragraph and bare != line:  # the next point of a list
                yield "\n".join(paragraph), False
                paragraph = []
            paragraph.append(bare)
    if paragraph:
        yield "\n".join(paragraph), False


def _measure_marks(line: str) -> int:
    """Returns the length of the marks of quotes and lists before a line's words."""
    marks = _LEADING_MARKS.match(line)
    return marks.end() if marks and marks[0].strip() else 0


def _is_indented_code(line: str) -> bool:
    return line.startswith(("    ", "\t"))


def _is_in_table(lines: list[str], place: int) -> bool:
    """Tells whether a line with columns belongs to a table: its block of such lines has a rule."""
    if "|" not in lines[place]:
        return False
    following = lines[place + 1] if place + 1 < len(lines) else ""
    previous = lines[place - 1] if place else ""
    return any(
        "|" in near and (_TABLE_RULE.match(near) or near.lstrip().startswith("|"))
        for near in (previous, lines[place], following)
    )


def _strip_inline(text: str) -> str:
    """Removes the marks of links, emphasis and code, and reads entities; one clean line."""
    plain = _EMPHASIS.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    return to_one_line(html.unescape(_ESCAPE.sub(r"\1", plain)))


def _first_sentence(paragraph: str) -> str:
    """Returns the first sentence, and the next ones while it is very short.

    The end of a short line also ends a sentence, because pages show the break.
    """
    for end in _END.finditer(paragraph):
        so_far, rest = paragraph[: end.end()], paragraph[end.end() :].lstrip()
        is_over = not rest[:1].islower() and not _ABBREVIATION.search(so_far)
        if end[0] == "\n":
            is_over = is_over and len(so_far.splitlines()[-1]) < MAX_SHORT_LINE
        if len(so_far) >= MIN_SENTENCE and is_over:
            return so_far
    return paragraph
