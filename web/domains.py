"""Converts domains to the form in which they are stored and compared. Pure."""

import idna


def to_ascii(domain: str) -> str:
    """Returns the domain in the lowercase ASCII form of the DNS.

    IDNA 2008 with the mapping of UTS 46: ß stays a letter of its own. Raises UnicodeError.
    """
    if domain.isascii():
        return domain.lower()
    return idna.encode(domain, uts46=True, transitional=False).decode()


def fold(domain: str) -> str:
    """Returns the same form, or the lowercase text if it is no domain."""
    try:
        return to_ascii(domain)
    except UnicodeError:
        return domain.lower()


def to_unicode(domain: str) -> str:
    """Returns the domain in its own letters, or the text unchanged if it is no domain."""
    try:
        return idna.decode(domain)
    except UnicodeError:
        return domain
