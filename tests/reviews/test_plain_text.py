"""The one line that stands for a request, and the beginning of its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.plain_text import excerpt, extract_headline

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("## Should we refund?\n\nThe parcel **broke**.", "Should we refund?"),
        ("Refund it?\n===\n\nThe parcel broke.", "Refund it?"),
        ("### Closed ###\nmore", "Closed"),
        ("May this reply go out? It is long.\n\n## Later", "May this reply go out?"),
        ("Hello! May this **reply** go out? It is.", "Hello! May this reply go out?"),
        ("Is 3.5 kg, e.g. for Dr. Roe, too much? No.", "Is 3.5 kg, e.g. for Dr. Roe, too much?"),
        (
            "これは正しい商品の写真だと思いますか？次の文です。",
            "これは正しい商品の写真だと思いますか？",
        ),
        ("هل نرد المبلغ إلى العميل؟ نعم", "هل نرد المبلغ إلى العميل؟"),
        ("Refund order #4821\nCustomer: Bob", "Refund order #4821"),
        (f"{'long ' * 12}\nlines go on. End.", f"{'long ' * 12}lines go on."),
        ("```diff\n- a\n+ b\n```\n\nMay this go in?", "May this go in?"),
        (f"{TABLE}\n\nWhich row is right?", "Which row is right?"),
        (TABLE, "a b 1 2"),
        ("---\n\n# Real", "Real"),
        ("> quoted words\n- one", "quoted words"),
        ("Either:\n- this\n- that", "Either:"),
        ("1. First\n2. Second", "First"),
        ("[Order](https://a.example) of *Ada*, `x_y` &amp; \\*co\\*", "Order of Ada, x_y & *co*"),
        ("```python\nx = 1\n```", "x = 1"),
        ("a\u202eb\x00c", "ab c"),
        ("***", "***"),
        ("\u200b\n\ufeff", "…"),
        ("word " * 40, "word " * 26 + "word…"),
    ],
)
def test_the_first_heading_or_sentence(text: str, shown: str) -> None:
    assert extract_headline(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Should we refund order 4821?", "Should we refund order 4821?"),
        ("# Refund?\n\n**Order** `4821` of [Ada](https://a.example)", "Refund? Order 4821 of Ada"),
        ("![Receipt](https://tracker.example/p.png) fine?", "Receipt fine?"),
        ("> quoted\n- one\n- two", "quoted one two"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("a\u202eb\x00c", "ab c"),
        ("snake_case stays", "snake_case stays"),
        ("word " * 40, "word " * 22 + "word…"),
        ("x" * 300, "x" * 119 + "…"),
    ],
)
def test_the_beginning_in_plain_words(text: str, shown: str) -> None:
    assert excerpt(text) == shown


@given(
    st.text(max_size=2000) | st.text("#>-*_`~|[]()!.? a\n\\", max_size=200),
    st.integers(min_value=10, max_value=200),
)
def test_one_line_of_bounded_length(text: str, longest: int) -> None:
    for shown in (excerpt(text, longest), extract_headline(text, longest)):
        assert len(shown) <= longest
        if text.strip():
            assert "\n" not in shown
