"""Texts made to take long: rendered and searched within a bound of CPU time, far above what the
usual ones need."""

import itertools

import nh3
import pytest
from django.db import connection
from pygments.lexers import get_lexer_by_name

from accounts.models import User
from reviews import highlighting, markdown
from reviews.highlighting import LANGUAGES, MAX_CODE, highlight_code
from reviews.models import Request
from reviews.plain_text import excerpt, extract_headline
from reviews.queries import search
from tests.cpu import TooMuchCpu, limited_cpu
from tests.reviews.conftest import Make

BOUND = 1.0  # seconds of CPU time; hostile code takes 0.1, hostile Markdown 0.05
CODE_BOUND = 0.3  # the quadratic lexers take more
MAX_TEXT = 2_000  # characters of a request
# Pairs of a beginning and of what is repeated after it. Each of the first ones made some lexer of
# Pygments quadratic or worse.
HOSTILE = [
    ("a", "\n "), ("", "\n\t"),
    ("a", " "), ("", "\na"), ("", "a \n"), ("{", "_"), ("{", "1e"), ('"', "\t"), ("", "a "),
    ("", "a\n"), ("'", '\\"'), ("<<", "a"), ("<<'", "a"), ("a ", '\\"'), ("/*", "e"), ("", "a<"),
    ("a", "&"), ("<style>{", "_"), ("<script>", '\\"'), ("<a ", "a"), ('"', "\\"),
    ("<?php ", '\\"'),
    ("", "a."), ("", "a("), ("", "(a,"), ("", "$("), ("", "${"), ("", "#{"), ("", "::"), ("", "=>"),
    ("", '"""'), ("", "'''"), ("", "<!--"), ("", "<?"), ("", "{{"), ("", "{%"), ("", "- "),
    ("", ": "), ("", "\u2028"), ("", "é"), ("#", "a "), ("", "[["), ("", "r#"), ("", "@a "),
    *(("", sign) for sign in "\n\t\"'`()[]{}<>/*\\#$@%&=-+:;,.|~^!?_1"),
]  # fmt: skip
# Quadratic or worse in Pygments, and so not coloured.
LEFT_OUT = ["autohotkey", "easytrieve", "jlcon", "autoit", "scala"]
LEXERS = {type(get_lexer_by_name(language)): language for language in sorted(LANGUAGES)}


def repeated(prefix: str, pump: str, length: int) -> str:
    return prefix + pump * ((length - len(prefix)) // len(pump))


@pytest.mark.parametrize("language", [*LEXERS.values(), *LEFT_OUT])
def test_hostile_code(language: str) -> None:
    markdown.render(f"```{language}\nwarm = 1\n```")  # compiles the lexer, once for the process
    for prefix, pump in HOSTILE:
        code = repeated(prefix, pump, MAX_CODE - 1)
        with limited_cpu(CODE_BOUND, (language, prefix, pump)):
            markdown.render(f"```{language}\n{code}\n```")


@pytest.mark.parametrize("language", ["autohotkey", "easytrieve", "scala"])
def test_a_slow_lexer_is_noticed(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlighting, "LANGUAGES", {language})
    markdown.render.cache_clear()  # may know the texts, without colours
    with pytest.raises(TooMuchCpu):
        test_hostile_code(language)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_listed_language_is_coloured(language: str) -> None:
    code = '<a b="c">\n# 1 "x" if for def // -\n+ class: [a]\nGET / HTTP/1.1\n'
    assert "<span" in highlight_code(code, language)


@pytest.mark.parametrize("language", [*LEFT_OUT, "nonsense", "", "../x", "PYTHON3"])
def test_another_language_is_not(language: str) -> None:
    assert highlight_code("if <b>", language) == "if &lt;b&gt;"


def test_beyond_a_size_there_are_no_colours() -> None:
    short, long = "x = 1\n" * 100, "x = 1\n" * 170
    assert "<span" in markdown.render(f"```python\n{short}```")
    assert "<span" not in markdown.render(f"```python\n{long}```")
    two = markdown.render(f"```python\n{short}```\n```python\n{short}```")
    assert two.count("<pre") == 2
    assert "<span" in two.partition("</pre>")[0]
    assert "<span" not in two.partition("</pre>")[2]


MARKS = [
    "*", "_", "`", "~~", "[", "]", "(", ")", "![", "](", "<", ">", "&", "\\", "|", "|\n", "\n",
    "    ", "- ", "> ", "1. ", "# ", "```", "---\n", "a", "<!--", "http://a", "[a]: b\n", "&#",
    "\r", "あ**", "。",
]  # fmt: skip


@pytest.mark.parametrize("first", ["", *MARKS])
def test_hostile_markdown(first: str) -> None:
    for second in MARKS:
        # The one after the other, again and again, is the same in either order.
        mixed = [repeated("", first + second, MAX_TEXT)] if first <= second else []
        for text in (
            *mixed,
            repeated(first * (MAX_TEXT // 2 // max(len(first), 1)), second, MAX_TEXT),
        ):
            with limited_cpu(BOUND, (first, second)):
                markdown.render(text)
                extract_headline(text)
                excerpt(text)


def test_a_table_of_many_cells() -> None:
    text = "a|" * 200 + "\n" + "-|" * 200 + "\n" + "a\n" * 320
    assert len(text) < MAX_TEXT
    with limited_cpu(BOUND):
        markdown.render(text)


def test_much_html_is_not_coloured() -> None:
    """A pair of characters for each span: 1,000 characters of code can make 50,000 of HTML."""
    code = "1+" * (MAX_CODE // 2 - 1)
    assert '<span class="' in markdown.render(f"```python\n{code[:100]}\n```")
    assert '<span class="' not in markdown.render(f"```python\n{code}\n```")


@pytest.mark.parametrize(
    "part",
    [
        "<", "<a", "<a ", "<a>", "<b>", "</p>", "<p><b>", "<table>", "<td>", "<svg><style>", "&",
        "&amp", "<!--", "<![CDATA[", '<a href="', "<a href=javascript:", "<template>", "\0",
        "<a><b></a>", "<ul><li>", "<math><mi>", "<select><option>", "<blockquote>",
    ],
)  # fmt: skip
def test_hostile_html(part: str) -> None:
    """As much as the text of a request can become, though it never has such tags."""
    html = part * (markdown.MAX_LENGTH // len(part))
    with limited_cpu(BOUND, part):
        nh3.clean(html, tags=markdown.TAGS, attributes=markdown.ATTRIBUTES)


TYPED = [
    "'", "\\", "&", "|", "!", "(", ":*", "<->", "a ", "é ", "„a", "a.",
    "文", "٣", "\u0301", "-1 ",
]  # fmt: skip


@pytest.mark.django_db
def test_hostile_searches(owner: User, make: Make) -> None:
    for pump in ("a ", "文", "a.", "é ", "1 "):
        make(request_text=repeated("", pump, MAX_TEXT))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '5s'")
    for first, second in itertools.product(["", *TYPED], TYPED):
        typed = repeated("", first + second, 1_000)
        with limited_cpu(BOUND, (first, second)):
            found = search.find_newest(
                Request.objects.all(), account_id=owner.pk, typed=typed, count=50
            )
            assert len(found) <= 5


def test_a_search_is_of_twelve_words_at_most() -> None:
    """Each word is one more look into the index."""
    query = search.parse_words(" ".join(f"w{number}" for number in range(500)))
    assert query.split(" & ") == [f"'w{number}':*" for number in range(12)]
