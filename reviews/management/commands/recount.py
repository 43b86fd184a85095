"""`manage.py recount`: whether the totals of lists are what counting says."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews import counters


class Command(BaseCommand):
    help = "Counts all requests and compares with the kept totals. The service may keep running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repair", action="store_true", help="repair wrong totals")

    def handle(self, *args: Any, **options: Any) -> None:
        found = counters.repair() if options["repair"] else counters.differences()
        for wrong in found:
            self.stdout.write(
                f"{wrong.scope_id} {wrong.status} {wrong.priority}:"
                f" kept {wrong.counted}, counted {wrong.n}"
            )
        if found and not options["repair"]:
            raise CommandError(f"{len(found)} totals are wrong. Use --repair to fix them.")
        self.stdout.write(f"{len(found)} totals repaired." if found else "All totals are correct.")
