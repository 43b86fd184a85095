"""`manage.py rotatekeys` encrypts all stored secrets with the first of ENCRYPTION_KEYS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import vault
from config import key_rotation


class Command(BaseCommand):
    help = (
        "Encrypts every stored secret with the first of ENCRYPTION_KEYS. To change the key:"
        " append the new one on every node, move it to the front on every node, run this, and take"
        " the old one out."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = key_rotation.reseal_all()
        except vault.Unreadable as error:
            raise CommandError(f"{error} Nothing was changed.") from None
        self.stderr.write(f"Secrets of {count} accounts now use the first key.")
