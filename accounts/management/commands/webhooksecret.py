"""`manage.py webhooksecret EMAIL` prints only the account's webhook secret on stdout."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import secret_services, vault
from accounts.management.people import get_account
from web.pasted import InvisibleCharacter


class Command(BaseCommand):
    help = "Prints the webhook secret of an account; sets or rotates it first, or ends a rotation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        change = parser.add_mutually_exclusive_group()
        change.add_argument("--set", metavar="VALUE", help="use this one, 8 to 256 characters")
        change.add_argument(
            "--rotate",
            action="store_true",
            help="create a new one; the old one stays valid for 24 h",
        )
        change.add_argument("--end-rotation", action="store_true", help="end the old one")
        parser.add_argument(
            "--force", action="store_true", help="rotate even if a rotation is in progress"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        account = get_account(options["email"])
        try:
            if options["set"] is not None:
                secret_services.set_secret(account=account, text=options["set"])
            elif options["rotate"]:
                secret_services.rotate_secret(account=account, force=options["force"])
            elif options["end_rotation"]:
                secret_services.end_rotation(account=account)
            text = secret_services.read_secrets(account.pk).current.text
        except secret_services.UnacceptableSecret as error:
            raise CommandError(str(error)) from None
        except InvisibleCharacter:
            raise CommandError("The secret has an invisible character inside.") from None
        except secret_services.NotIssued:
            raise CommandError(
                "Only secrets that we issued start with whsec_, and this is none of the account's."
            ) from None
        except secret_services.RotationUnderWay:
            raise CommandError(
                "The old secret of the last rotation is still valid. Use --force to end it."
            ) from None
        except vault.Unreadable as error:
            raise CommandError(str(error)) from None
        self.stdout.write(text)
