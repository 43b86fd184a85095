"""URLs whose name and password only their owner may read, in Python and in SQL alike."""

import logging

import pytest

from web.web_urls import hide_credentials

HIDDEN = [
    ("https://example.com/hook", "https://example.com/hook"),
    ("https://user:pw@example.com/hook?a=b@c#d@e", "https://***@example.com/hook?a=b@c#d@e"),
    ("https://token@example.com", "https://***@example.com"),
    ("HTTPS://a:b@c@example.com:8443/", "HTTPS://***@example.com:8443/"),
    ("https://:@example.com/", "https://***@example.com/"),
    ("https://user:p\\w@[::1]:80/", "https://***@[::1]:80/"),
    ("https://example.com/?next=https://u:p@b.example/", "https://example.com/?next=https://***@b.example/"),
    ("https://example.com/@me", "https://example.com/@me"),
    ("http://ünter:straße@example.com/", "http://***@example.com/"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "shown"), HIDDEN)
def test_it_hides_name_and_password(url: str, shown: str) -> None:
    assert hide_credentials(url) == shown


def test_no_line_of_the_log_has_a_password() -> None:
    formatter = logging.getLogger().handlers[0].formatter
    assert formatter is not None
    try:
        raise ValueError("https://user:s3cret@receiver.example/ is broken")
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
    for message, arguments, failure in (
        ("connecting to %s", ("redis://:s3cret@cache.example/0",), None),
        ("webhook.failed", (), trace),
    ):
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, message, arguments, failure)
        line = formatter.format(record)
        assert "***@" in line
        assert "s3cret" not in line
