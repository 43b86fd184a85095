"""`manage.py doctor` checks everything that the service needs, and says what to do."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from config.doctor import examine
from config.findings import OK, WRONG


class Command(BaseCommand):
    help = (
        "Checks settings, connections, versions, migrations, clocks, keys, background work, mail,"
        " push and disk. Exits with 1 if something is wrong."
    )
    requires_system_checks = ()  # it runs them itself

    def handle(self, *args: Any, **options: Any) -> None:
        is_wrong = False
        for finding in examine():
            self.stdout.write(f"{finding.level:<8}{finding.sentence}")
            if finding.level != OK and finding.advice:
                self.stdout.write(f"{'':8}→ {finding.advice}")
            is_wrong |= finding.level == WRONG
        if is_wrong:
            sys.exit(1)
