"""Removes the emails that wait for somebody who is erased."""

from collections.abc import Collection

from accounts import vault
from mailing.models import QueuedMail
from mailing.stored_message import to_message


def forget_mail_to(addresses: Collection[str]) -> int:
    """Removes queued emails to these addresses (in lowercase); returns how many.

    It opens every email that waits, of which there are 10,000 at most.
    """
    found = [
        pk
        for pk, sealed in QueuedMail.objects.values_list("pk", "sealed").iterator()
        if is_to(bytes(sealed), addresses)
    ]
    return QueuedMail.objects.filter(pk__in=found).delete()[0]


def is_to(sealed: bytes, addresses: Collection[str]) -> bool:
    """Tells whether a sealed email goes to one of the addresses; False if nobody can open it."""
    try:
        message = to_message(vault.open_sealed(sealed))
    except vault.Unreadable:
        return False
    return any(address.lower() in addresses for address in message.recipients())
