"""Colours code in the text of a request, with classes and never with styles. Pure.

Pygments has hundreds of lexers, and some take seconds for 2,000 characters that were made for it.
Only the languages listed here are coloured, each tried with hostile code in the tests, and only
MAX_CODE characters of a text, because the time of some grows with the square.
"""

from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

MAX_CODE = 1_000  # characters of code in one text; the worst take 0.1 s
# By the names that people write behind the fence.
LANGUAGES = frozenset({
    *("bash", "sh", "shell", "zsh"),
    *("c", "cpp", "c++", "csharp", "cs", "c#", "java", "kotlin", "swift", "go", "golang"),
    *("css", "html", "xml", "http", "json", "yaml", "yml", "toml", "ini"),
    *("javascript", "js", "typescript", "ts", "php", "python", "py", "ruby", "rb", "lua"),
    *("rust", "rs", "sql", "diff", "dockerfile", "docker", "make", "makefile", "powershell"),
})  # fmt: skip
_FORMATTER = HtmlFormatter(nowrap=True, classprefix="hl-")


def highlight_code(code: str, language: str, _: str = "") -> str:
    """Returns the code as HTML, coloured if its language is listed."""
    if language.lower() not in LANGUAGES:
        return escape(code)
    return str(highlight(code, get_lexer_by_name(language), _FORMATTER))
