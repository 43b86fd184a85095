"""`manage.py exportperson EMAIL` prints a person's data as JSON."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.management.people import get_account
from reviews.person_export import export


class Command(BaseCommand):
    help = "Prints everything that the service stores of a person as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="any address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        for part in export(get_account(options["email"])):
            self.stdout.write(part, ending="")
