"""`manage.py eraseperson EMAIL` erases a person: their account, loops, requests, keys and name."""

import time
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.emails import is_address
from accounts.management.people import get_account
from reviews import erasing

LONGEST = 24 * 3600.0


class Command(BaseCommand):
    help = "Erases a person. What they answered for others stays under a pseudonym."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="any address of the account")
        parser.add_argument("--no-input", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        person = get_account(options["email"])
        if not options["no_input"]:
            self.stderr.write(
                f"This deletes the account {person.email} with its loops, requests and answers to"
                " them, keys and devices, for good. Type the address to go on:"
            )
            if not is_address(read_line(), person.email):
                raise CommandError("Nothing was deleted.")
        with suppress(erasing.AlreadyErased):  # another terminal has just done so
            erasing.begin(person=person)
        if not erasing.finish(person.pk, until=time.monotonic() + LONGEST):
            raise CommandError("This took too long. The service goes on with it.")
        person.refresh_from_db()
        self.stderr.write(f"Done. Others now see {person.name} ({person.pk}).")


def read_line() -> str:
    """Reads an address; '' without a terminal."""
    try:
        return input()
    except EOFError:
        return ""
