"""What a lock screen shows of a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.user_agent import format_browser
from reviews.notifications.wording import excerpt


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


@given(st.text(max_size=2000), st.integers(min_value=10, max_value=200))
def test_one_line_of_bounded_length(text: str, longest: int) -> None:
    shown = excerpt(text, longest)
    assert len(shown) <= longest
    assert "\n" not in shown
    assert shown == shown.strip()


CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0"


@pytest.mark.parametrize(
    ("user_agent", "label"),
    [
        (f"Mozilla/5.0 (Linux; Android 10; K) {CHROME} Mobile Safari/537.36", "Chrome on Android"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {CHROME} Edg/149.0", "Edge on Windows"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1",
            "Safari on iPhone",
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "Firefox on Linux",
        ),
        ("", "Browser"),
    ],
)
def test_a_device_is_called_what_its_owner_calls_it(user_agent: str, label: str) -> None:
    assert format_browser(user_agent, unknown="Browser") == label
