"""Colours code in the text of a request, with classes and never with styles. Pure.

Pygments has hundreds of lexers, and some take seconds for 2,000 characters that were made for it.
Only the languages listed here are coloured, each tried with hostile code in the tests, and only
MAX_CODE characters of a text, because the time of some grows with the square. Diffs are
coloured here, whatever their length.
"""

import re
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

MAX_CODE = 1_000  # characters of code in one text; the worst take 0.1 s
# By the names that people write after the fence.
LANGUAGES = frozenset({
    *("bash", "sh", "shell", "zsh"),
    *("c", "cpp", "c++", "csharp", "cs", "c#", "java", "kotlin", "swift", "go", "golang"),
    *("css", "html", "xml", "http", "json", "yaml", "yml", "toml", "ini"),
    *("javascript", "js", "typescript", "ts", "php", "python", "py", "ruby", "rb", "lua"),
    *("rust", "rs", "sql", "dockerfile", "docker", "make", "makefile", "powershell"),
})  # fmt: skip
DIFFS = frozenset({"diff", "patch"})
# The beginnings of a diff's lines, and their classes.
_DIFF_LINES = {
    "+": "hl-gi", ">": "hl-gi", "-": "hl-gd", "<": "hl-gd", "@@": "hl-gu",
    "diff ": "hl-gh", "index ": "hl-gh", "Index: ": "hl-gh", "===": "hl-gh",
}  # fmt: skip
_DIFF_MARK = re.compile("|".join(map(re.escape, _DIFF_LINES)))
# The two lines that name the files. A removed line may begin with three dashes as well.
_DIFF_NAMES = re.compile(r"^--- [^\n]*\n\+\+\+ [^\n]*$", re.MULTILINE)
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")


def highlight_code(code: str, language: str, _: str = "") -> str:
    """Returns the code as HTML, coloured if its language is listed."""
    if language.lower() in DIFFS:
        return _mark_diff(code)
    if language.lower() not in LANGUAGES:
        return escape(code)
    return str(highlight(code, get_lexer_by_name(language), _FORMATTER))


def _mark_diff(code: str) -> str:
    """Returns a diff as HTML, a span for each line that is not context.

    The signs stay, because colour must not be the only mark of a change.
    """
    names = {place for found in _DIFF_NAMES.finditer(code) for place in _line_starts(found)}
    lines, place = [], 0
    for line in code.splitlines(keepends=True):
        mark = _DIFF_MARK.match(line)
        kind = "hl-gh" if place in names else _DIFF_LINES[mark[0]] if mark else ""
        lines.append(f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line))
        place += len(line)
    return "".join(lines)


def _line_starts(found: re.Match[str]) -> tuple[int, int]:
    return found.start(), found.start() + found[0].index("\n") + 1
