"""`manage.py exportperson EMAIL` prints everything that is a person's as JSON."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from reviews.management.people import find_person
from reviews.person_export import export


class Command(BaseCommand):
    help = "Prints everything that the service stores of a person as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="any address of the account")

    def handle(self, *args: Any, **options: Any) -> None:
        for part in export(find_person(options["email"])):
            self.stdout.write(part, ending="")
