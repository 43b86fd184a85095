"""`manage.py rotatesigningkey` replaces the key that signs receipts."""

from typing import Any

from django.core.management.base import BaseCommand

from reviews.receipts import signing_keys


class Command(BaseCommand):
    help = (
        "Creates a new key that signs receipts, and prints its id. The old private key is removed;"
        " its public key stays in /.well-known/jwks.json until its last receipt expires."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(signing_keys.rotate())
