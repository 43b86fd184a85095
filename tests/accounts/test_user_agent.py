"""What a device is called, by its user agent."""

import pytest

from accounts.user_agent import format_browser

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
