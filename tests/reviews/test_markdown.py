"""The text of a request as HTML: formatted, and without anything dangerous."""

import re
import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.markdown import ATTRIBUTES, TAGS, render

FRAME = 'tabindex="0" role="group" aria-label="%s"'
DIFF = """```diff
--- a/x.sql
+++ b/x.sql
@@ -1 +1 @@
-old <b>
--- a comment
+new
 same
```"""


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("plain & simple", "<p>plain &amp; simple</p>\n"),
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("**b** _i_ ~~s~~ `c`", "<p><strong>b</strong> <em>i</em> <s>s</s> <code>c</code></p>\n"),
        ("# Top", "<h3>Top</h3>\n"),
        ("###### Deep", "<h3>Deep</h3>\n"),
        ("- a\n- b", '<ul dir="auto">\n<li>a</li>\n<li>b</li>\n</ul>\n'),
        ("3. a", '<ol start="3" dir="auto">\n<li>a</li>\n</ol>\n'),
        ("```none\n<x>\n```", f"<pre {FRAME % 'Code'}><code>&lt;x&gt;\n</code></pre>\n"),
        ("<b onclick=x>hi</b>", "<p>&lt;b onclick=x&gt;hi&lt;/b&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
    ],
)
def test_rendering(text: str, html: str) -> None:
    assert render(text) == html


def test_headings_have_the_rank_that_the_page_wants() -> None:
    assert render("# a\n### b", level=2) == "<h2>a</h2>\n<h2>b</h2>\n"


def test_links_lead_out_without_telling_where_from() -> None:
    assert render("[x](https://a.example/?b=1&c=2)") == (
        '<p><a target="_blank" href="https://a.example/?b=1&amp;c=2"'
        ' rel="nofollow noopener noreferrer">x</a></p>\n'
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**重要。**次の", "<strong>重要。</strong>次の"),
        ("これは**「重要」**です", "これは<strong>「重要」</strong>です"),
        ("*重要。*次", "<em>重要。</em>次"),
        ("~~重要。~~次", "<s>重要。</s>次"),
        ("**중요.**다음", "<strong>중요.</strong>다음"),
        ("**“重要”**的", "<strong>“重要”</strong>的"),
        ("**(a)**の", "<strong>(a)</strong>の"),
        ("あ ** い ** う", "あ ** い ** う"),
        ("あ\u3000**\u3000い", "あ\u3000**\u3000い"),
        ("a_重要_x", "a_重要_x"),
        ('2**"3"**4', '2**"3"**4'),
        ("\\*\\*重要。\\*\\*次", "**重要。**次"),
    ],
)
def test_emphasis_in_texts_without_blanks(text: str, html: str) -> None:
    assert render(text) == f"<p>{html}</p>\n"


def in_brackets(text: str) -> str:
    """The rendered text, with the target of each link, and its words in brackets."""
    link = r'<a target="_blank" href="([^"]*)" rel="nofollow noopener noreferrer">(.*?)</a>'
    return re.sub(link, r"[\2](\1)", render(text)).removeprefix("<p>").removesuffix("</p>\n")


@pytest.mark.parametrize(
    ("before", "url", "after"),
    [
        ("see ", "https://a.example/x?b=1#c", ". And"),
        ("(", "http://127.0.0.1:8000/x", ")!"),
        ("", "https://a.example/A_(b)", ")."),
        ("（", "https://a.example/x", "）次"),
        ("重要：", "https://a.example/x", "。次の"),
        ("", "https://a.example/京都", "、次"),
        ("", "https://a.example", "を見て"),
        ("「", "HTTPS://a.example/", "」"),
        ("", "https://a.example/x", "！？…”"),
        ("", "https://a.example/x", '"; &lt;b&gt;'),
        ("", "https://a.example/x", "\u200b\u202egpj"),
        ("", "https://a.example/", "\u2066"),
        ("", "https://xn--80ak6aa92e.example/", ""),
        ("", "https://a.example/%E2%80%AEgpj", ""),
    ],
)
def test_a_bare_link_ends_before_the_punctuation(before: str, url: str, after: str) -> None:
    target = url.replace("京都", "%E4%BA%AC%E9%83%BD")
    written = f"{before}{url}{after}".replace("&lt;", "<").replace("&gt;", ">")
    assert in_brackets(written) == f"{before}[{url}]({target}){after}"


def test_a_bare_link_with_marks_around_it() -> None:
    link = "[https://a.example/x](https://a.example/x)"
    assert in_brackets("**https://a.example/x**") == f"<strong>{link}</strong>"
    assert in_brackets("**https://a.example/x**次") == f"<strong>{link}</strong>次"
    assert in_brackets("~~https://a.example/x~~") == f"<s>{link}</s>"
    assert in_brackets("<https://a.example/x>") == link
    assert in_brackets("<https://a.example/%E2%80%AE>") == (
        "[https://a.example/%E2%80%AE](https://a.example/%E2%80%AE)"
    )
    assert in_brackets("[https://b.example](https://a.example/x)") == (
        "[https://b.example](https://a.example/x)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("http://", "https://.", "ftp://a.example", "javascript://a.example/%0aalert(1)"),
        *("xhttps://a.example", "www.a.example", "ada@a.example", "//a.example/x"),
        *("https://a.example@b.example/", "https://a.example:x@b.example/", "https://[::1]/"),
    ],
)
def test_what_is_no_bare_link(text: str) -> None:
    assert "<a " not in render(text)
    assert "<a " not in render(f"`https://a.example` {text}")


@pytest.mark.parametrize(
    ("prefix", "pump"),
    [
        *(
            ("", pump)
            for pump in ("https://a", "https://", "://", "https://a.", "https://a/)", "あ**")
        ),
        *(("", pump) for pump in ("**あ", "あ*。", "https://a@", "~~あ。", "_あ", "https://a/。")),
        *(("https://a/", pump) for pump in ("(", ")", "()", "*", "。", "?!", "[", "~~")),
        *(("https://", pump) for pump in ("a", "a.", "a:", "あ", "a@")),
        *(("[", pump) for pump in ("https://a ", "**あ")),
    ],
)
def test_twice_the_text_takes_about_twice_the_steps(prefix: str, pump: str) -> None:
    short, long = (count_steps(prefix + pump * (length // len(pump))) for length in (1_000, 2_000))
    assert long < 2.5 * short + 1_000, (short, long)


def count_steps(text: str) -> int:
    """How many lines of Python the rendering takes."""
    steps = 0

    def count(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        render(text, level=4)
    finally:
        sys.settrace(before)
    return steps


def test_a_picture_is_a_link() -> None:
    link = '<a target="_blank" href="https://x.example/cat.png" rel="nofollow noopener noreferrer">'
    assert render("![a <cat>](https://x.example/cat.png)") == f"<p>{link}a &lt;cat&gt;</a></p>\n"
    assert render("![](https://x.example/cat.png)") == f"<p>{link}Picture</a></p>\n"
    assert "<img" not in render("[![a](https://x.example/a.png)](https://x.example/)")
    assert "href" not in render("![a](data:image/svg+xml;base64,PHN2Zz4=)")


def test_tables() -> None:
    html = render("| a |\n|---|\n| 1 |")
    assert html.startswith(f'<div class="table-frame" {FRAME % "Table"}><table dir="auto">')
    assert html.endswith("</table></div>\n")
    assert "<th>a</th>" in html
    assert "<td>1</td>" in html


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_table_that_would_fill_itself_up_is_none(end: str) -> None:
    html = render(end.join(["a|" * 300, "-|" * 300, *["b|"] * 250]))
    assert "<table" not in html
    assert len(html) < 5000


def test_code_is_coloured_by_classes() -> None:
    html = render("```python\ndef f(): ...\n```")
    assert '<span class="hl-k">def</span>' in html
    assert "style" not in html


def test_the_lines_of_a_diff_keep_their_signs() -> None:
    """`--- ` names a file only above `+++ `; below, a line that began with two dashes is gone."""
    html = render(DIFF)
    assert f'<pre {FRAME % "Changes"}><code class="diff">' in html
    assert re.findall(r'<span class="(hl-\w+)">([^<\n]*)\n</span>', html) == [
        ("hl-gh", "--- a/x.sql"),
        ("hl-gh", "+++ b/x.sql"),
        ("hl-gu", "@@ -1 +1 @@"),
        ("hl-gd", "-old &lt;b&gt;"),
        ("hl-gd", "--- a comment"),
        ("hl-gi", "+new"),
    ]
    assert "</span> same\n" in html


def test_a_long_diff_is_coloured_to_its_end() -> None:
    html = render("```diff\n" + f"+{'x' * 60}\n" * 30 + "```\n```python\nx = 1\n```")
    assert html.count('"hl-gi"') == 30
    assert '"hl-mi"' in html


def test_very_many_colours_are_left_out() -> None:
    html = render("```c\n" + "a(" * 990 + "\n```")
    assert "<span" not in html
    assert len(html) < 3000


@given(st.text(max_size=200) | st.text("<>[]()!`\"'=:/ javscript&#x\n*_|-", max_size=200))
def test_only_harmless_tags_get_through(text: str) -> None:
    html = render(text)
    for tag, attributes in re.findall(r"<(\w+)([^>]*)>", html):
        assert tag in {*TAGS, "div"}
        allowed = {"target", "rel", "dir", *ATTRIBUTES.get(tag, set())}
        if tag in ("pre", "div"):
            allowed |= {"class", "tabindex", "role", "aria-label"}
        assert set(re.findall(r'\s([\w-]+)="', attributes)) <= allowed
    assert not re.search(r'href="(?!https?:|mailto:|/|#|\?|[^":]*")', html)
