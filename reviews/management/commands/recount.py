"""`manage.py recount` checks the counters of requests, and repairs them on demand."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews import counters


class Command(BaseCommand):
    help = "Counts all requests and compares with the kept totals. The service may keep running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair wrong totals")

    def handle(self, *args: Any, **options: Any) -> None:
        differences = counters.repair() if options["repair"] else counters.find_differences()
        for wrong in differences:
            self.stdout.write(
                f"{wrong.scope_id} {wrong.status} {wrong.priority}:"
                f" kept {wrong.kept}, counted {wrong.actual}"
            )
        count = len(differences)
        if differences and not options["repair"]:
            raise CommandError(f"{count} totals are wrong. Use --repair to fix them.")
        self.stdout.write(f"{count} totals repaired." if differences else "All totals are correct.")
