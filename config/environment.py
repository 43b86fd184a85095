"""Reads and checks environment variables; each error message says what to set."""

import base64
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_network

import environ
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import DomainNameValidator

NEW_KEY = (
    "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
)


MAX_DAYS = 30_000


def require(env: environ.Env, name: str, what_to_set: str) -> str:
    """Reads a variable that has no default. Raises ImproperlyConfigured."""
    value = env.str(name, default="")
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set. {what_to_set} (`make run` sets it by itself: is it up, with this"
            " DATA_DIR?)"
        )
    return str(value)


def read_fernet_keys(env: environ.Env, name: str) -> list[str]:
    """Reads one or more Fernet keys, separated by commas, the current one first."""
    text = require(env, name, f"Set it to a Fernet key; this makes one: {NEW_KEY}")
    keys = [part.strip() for part in text.split(",")]
    for key in keys:
        try:
            Fernet(key)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} has an entry that is no Fernet key; this makes one: {NEW_KEY}"
            ) from None
    return keys


def read_networks(env: environ.Env, name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Reads networks, separated by commas; none by default."""
    try:
        return tuple(ip_network(text.strip()) for text in env.list(name, default=[]) if text)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}; set it to networks such as 10.0.0.0/8, with commas between them."
        ) from None


def read_vapid_key(env: environ.Env, name: str) -> str:
    """Reads the private key of Web Push: 32 bytes in base64url; '' turns push off."""
    text = str(env.str(name, default="")).strip().rstrip("=")
    if not text:
        return ""
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if len(raw) != 32:
            raise ValueError(len(raw))
        ec.derive_private_key(int.from_bytes(raw, "big"), ec.SECP256R1())
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is no VAPID private key; this makes one: python manage.py vapidkey"
        ) from None
    return text


def read_vapid_subject(env: environ.Env, name: str, *, sender: str) -> str:
    """Reads the contact for push services; by default the sender of our e-mails."""
    text = str(env.str(name, default="")) or f"mailto:{parseaddr(sender)[1]}"
    if not text.startswith(("mailto:", "https://")) or len(text) < 9:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to an address that push services may write to, such as"
            " mailto:operator@example.com."
        )
    return text


def read_contact(env: environ.Env, name: str) -> str:
    """Reads who may be told of a weakness: a mailto: or https: URL; '' is nobody."""
    text = str(env.str(name, default="")).strip()
    if text and not text.startswith(("mailto:", "https://")):
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to mailto:security@example.com or to an https address."
        )
    return text


def read_time_limit(env: environ.Env, name: str, *, default: float, more_than: float = 0) -> float:
    """Reads a number of seconds."""
    seconds = float(env.float(name, default=default))
    if not seconds > more_than:
        raise ImproperlyConfigured(f"{name} is {seconds:g}; set it to more than {more_than:g}.")
    return seconds


def read_days(env: environ.Env, name: str, *, default: int, at_least: int) -> int | None:
    """Reads how many days something is kept; None, for 0, is for ever."""
    days = int(env.int(name, default=default))
    if days and not at_least <= days <= MAX_DAYS:
        raise ImproperlyConfigured(
            f"{name} is {days}; set it to {at_least} to {MAX_DAYS} days, or to 0 to keep for ever."
        )
    return days or None


def read_choice(env: environ.Env, name: str, choices: tuple[str, ...]) -> str:
    """Reads one of the choices; the first is the default."""
    text = str(env.str(name, default="")).strip().lower() or choices[0]
    if text not in choices:
        known = ", ".join(choice for choice in choices if choice)
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to one of: {known}.")
    return text


def read_domains(env: environ.Env, name: str) -> list[str]:
    """Reads domains, separated by commas, in lowercase ASCII as in `loops.admission`."""
    typed = [text.strip().removeprefix("@") for text in env.list(name, default=[])]
    try:
        domains = [text.lower().encode("idna").decode() for text in typed if text]
        for domain in domains:
            DomainNameValidator(accept_idna=True)(domain)
    except (UnicodeError, ValidationError):
        raise ImproperlyConfigured(
            f"{name} has an entry that is no domain; set it to domains such as example.com, with"
            " commas between them."
        ) from None
    return domains


def check_sign_up(kind: str, domains: list[str], *, sends_mail: bool) -> None:
    """Raises ImproperlyConfigured if SIGN_UP cannot work with the other settings."""
    if kind != "domains":
        return
    if not domains:
        raise ImproperlyConfigured(
            "SIGN_UP is domains, and SIGN_UP_DOMAINS is not set. Set it to domains such as"
            " example.com, with commas between them."
        )
    if not sends_mail:
        raise ImproperlyConfigured(
            "SIGN_UP is domains, and EMAIL_URL names no mail server. Without email nobody can show"
            " that an address is theirs: set EMAIL_URL, or SIGN_UP to open, invited or closed."
        )
