"""The text of a request as HTML: formatted, and without anything dangerous."""

import re

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
