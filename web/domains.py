"""Writes a domain in the one form in which it is stored and compared. Pure."""

import idna


def to_ascii(domain: str) -> str:
    """Returns the domain in lowercase, one with other letters in the form of the DNS.

    IDNA 2008 with the mapping of UTS 46: ß stays a letter of its own. Raises UnicodeError.
    """
    if domain.isascii():
        return domain.lower()
    return idna.encode(domain, uts46=True, transitional=False).decode()


def fold(domain: str) -> str:
    """Returns the same form, and what is no domain in lowercase."""
    try:
        return to_ascii(domain)
    except UnicodeError:
        return domain.lower()


def to_unicode(domain: str) -> str:
    """Returns the domain in its own letters, and what is no domain unchanged."""
    try:
        return idna.decode(domain)
    except UnicodeError:
        return domain
