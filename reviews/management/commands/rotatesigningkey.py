"""`manage.py rotatesigningkey` replaces the key that signs receipts."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.models import SigningKey
from reviews.receipts import signing_keys


class Command(BaseCommand):
    help = (
        "Creates a new key that signs receipts, and prints its id. The old private key is removed;"
        " its public key stays in /.well-known/jwks.json until its last receipt expires."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--compromised",
            nargs="?",
            const="",
            metavar="ID",
            help="somebody else has the private key: its public key is removed at once, and its"
            " receipts verify no longer. Without an id it is the key that signs.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        kid = options["compromised"]
        if not kid:
            self.stdout.write(signing_keys.rotate(is_compromised=kid is not None))
            return
        try:
            self.stdout.write(signing_keys.withdraw(kid))
        except SigningKey.DoesNotExist:
            raise CommandError(f"No key that signs receipts has the id {kid}.") from None
