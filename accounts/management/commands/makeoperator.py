"""`manage.py makeoperator EMAIL` gives or removes access to /admin/."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts import operator_services
from accounts.management.people import get_account


class Command(BaseCommand):
    help = "Gives an account access to the operator pages at /admin/, or removes it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--remove", action="store_true", help="remove the access again")

    def handle(self, *args: Any, **options: Any) -> None:
        account = get_account(options["email"])
        is_operator = not options["remove"]
        operator_services.appoint_operator(account=account, is_operator=is_operator)
        may = "may enter" if is_operator else "may no longer enter"
        self.stderr.write(f"{account.email} {may} /admin/.")
