"""Reads settings with a format of their own; each error says what to set."""

import base64
import os
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.mail.message import sanitize_address
from django.core.validators import DomainNameValidator
from environ import Env

from config.variables import is_web_address, read_list, read_text, require
from web.domains import to_ascii

NEW_KEY = (
    "python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'"
)


def read_file(path: Path) -> None:
    """Reads unset and empty variables from a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name = line.partition("=")[0]
        if not read_text(name):
            os.environ.pop(name, None)
    Env.read_env(str(path))


def read_fernet_keys(name: str) -> list[str]:
    """Reads one or more Fernet keys, separated by commas, the current one first."""
    text = require(name, f"Set it to a Fernet key; this makes one: {NEW_KEY}")
    keys = [part.strip() for part in text.split(",")]
    for key in keys:
        try:
            Fernet(key)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} has an entry that is no Fernet key; this makes one: {NEW_KEY}"
            ) from None
    return keys


def read_site(name: str) -> str:
    """Reads the address of the service, without a slash at its end."""
    text = require(name, "Set it to the address people use, such as https://review.example.com.")
    if not is_web_address(text):
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to an absolute http or https address."
        )
    parts = urlsplit(text)
    if parts.query or parts.fragment or parts.username is not None:
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to an address without ?, # and @.")
    if not parts.netloc.isascii():
        raise ImproperlyConfigured(
            f"{name} is {text!r}; write its host as browsers send it, such as xn--prfung-4ya.de."
        )
    return text.rstrip("/")


def read_mail_server(name: str) -> dict[str, Any]:
    """Reads how email is sent, as Django's settings; by default it is printed."""
    text = read_text(name, "consolemail://")
    try:
        return dict(Env.email_url_config(text))
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured(
            f"{name} cannot be used; set it to consolemail:// or to"
            " smtp+tls://user:password@host:587, with %xx for special characters."
        ) from None


def read_sender(name: str, *, default: str) -> str:
    """Reads who sends our emails: an address, or a name with one."""
    text = read_text(name, default)
    try:
        is_valid = "@" in sanitize_address(text, "utf-8") and not any(sign < " " for sign in text)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ImproperlyConfigured(f"{name} is {text!r}; set it to an address, such as {default}.")
    return text


def read_networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Reads networks, separated by commas; none by default."""
    try:
        return tuple(ip_network(text) for text in read_list(name))
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name}: {error}; set it to networks such as 10.0.0.0/8, with commas between them."
        ) from None


def read_vapid_key(name: str) -> str:
    """Reads the private key of Web Push: 32 bytes in base64url; '' turns push off."""
    text = read_text(name).rstrip("=")
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


def read_vapid_subject(name: str, *, sender: str) -> str:
    """Reads the contact for push services; by default the sender of our e-mails."""
    text = read_text(name) or f"mailto:{parseaddr(sender)[1]}"
    if not text.startswith(("mailto:", "https://")) or len(text) < 9:
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to an address that push services may write to, such as"
            " mailto:operator@example.com."
        )
    return text


def read_contact(name: str) -> str:
    """Reads the contact for security reports: a mailto: or https: URL; '' for none."""
    text = read_text(name)
    if text and not text.startswith(("mailto:", "https://")):
        raise ImproperlyConfigured(
            f"{name} is {text!r}; set it to mailto:security@example.com or to an https address."
        )
    return text


def read_domains(name: str) -> list[str]:
    """Reads domains, separated by commas, in lowercase ASCII as in `loops.admission`."""
    typed = [text.removeprefix("@") for text in read_list(name)]
    try:
        domains = [to_ascii(text) for text in typed if text]
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
