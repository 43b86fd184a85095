"""Reads environment variables strictly. An empty variable counts as unset.

An error names the invalid variable and says what to set.
"""

import os
import re
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

SWITCHES = {
    **dict.fromkeys(("true", "on", "yes", "1"), True),
    **dict.fromkeys(("false", "off", "no", "0"), False),
}
RATE = re.compile(r"\d{1,9}/([1-9]\d{0,8})?[smhd]")  # as django-ratelimit reads it
MAX_SECONDS = 2_000_000  # PostgreSQL counts milliseconds in 31 bits


def read_text(name: str, default: str = "") -> str:
    """Reads a text and strips it."""
    text = os.environ.get(name, "").strip()
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ImproperlyConfigured(f"{name} is no UTF-8; set it to a text that is.") from None
    return text or default


def require(name: str, what_to_set: str) -> str:
    """Reads a variable that has no default. Raises ImproperlyConfigured."""
    if value := read_text(name):
        return value
    raise ImproperlyConfigured(
        f"{name} is not set. {what_to_set} (`make run` sets it by itself: is it up, with this"
        " DATA_DIR?)"
    )


def read_list(name: str) -> list[str]:
    """Reads texts separated by commas."""
    return [part.strip() for part in read_text(name).split(",") if part.strip()]


def read_switch(name: str) -> bool:
    """Reads whether something is on; it is off by default."""
    text = read_text(name, "off").lower()
    if text not in SWITCHES:
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to true or false.")
    return SWITCHES[text]


def read_choice(name: str, choices: tuple[str, ...]) -> str:
    """Reads one of the choices; the first is the default."""
    text = read_text(name, choices[0]).lower()
    if text not in choices:
        known = ", ".join(choice for choice in choices if choice)
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to one of: {known}.")
    return text


def read_number(name: str, *, default: int, at_least: int, at_most: int) -> int:
    """Reads a whole number."""
    text = read_text(name, str(default))
    is_number = re.fullmatch(r"-?[0-9]{1,18}", text)
    if not is_number or not at_least <= int(text) <= at_most:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to a whole number from {at_least} to {at_most}."
        )
    return int(text)


def read_seconds(name: str, *, default: float, more_than: float = 0, other: str = "") -> float:
    """Reads a number of seconds, or a factor of them; `other` says what `more_than` is."""
    text = read_text(name, f"{default:g}")
    if not re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,9})?", text):
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to a number such as {default:g}.")
    seconds = float(text)
    if not more_than < seconds <= MAX_SECONDS:
        least = f"{more_than:g} ({other})" if other else f"{more_than:g}"
        bound = f"more than {least}" if seconds <= more_than else f"at most {MAX_SECONDS}"
        raise ImproperlyConfigured(f"{name} is {seconds:g}; set it to {bound}.")
    return seconds


def read_days(name: str, *, default: int, at_least: int, at_most: int = 30_000) -> int | None:
    """Reads a number of days to keep something; 0 becomes None, for ever."""
    days = read_number(name, default=default, at_least=0, at_most=at_most)
    if 0 < days < at_least:
        raise ImproperlyConfigured(
            f"{name} is {days}; set it to {at_least} to {at_most} days, or to 0 to keep for ever."
        )
    return days or None


def read_rate(name: str, default: str) -> str:
    """Reads how often something may happen, such as 30/m."""
    text = read_text(name, default)
    if not RATE.fullmatch(text):
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to a number for a second, minute, hour or day, such as"
            f" {default}."
        )
    return text


def is_web_address(text: str) -> bool:
    """Tells whether it is an absolute http or https address."""
    try:
        parts = urlsplit(text)
        _ = parts.port
        (parts.hostname or "").encode("idna")  # a label must not be empty or too long
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
