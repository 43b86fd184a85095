"""`manage.py restore FILE` restores a backup and turns deliveries off."""

import signal
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backlog import count_waiting
from config.backups import Refused
from config.backups.restoring import restore_backup


class Command(BaseCommand):
    help = (
        "Restores a backup into an empty database. Nothing is sent afterwards until"
        " `manage.py deliveries on`. If it fails, the database is as before."
    )
    requires_system_checks = ()  # the database may be empty

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--replace", action="store_true", help="delete what the database has, tables and rows"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # raises SystemExit, so that psql is ended and rolls back
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        try:
            restored = restore_backup(options["file"].absolute(), replace=options["replace"])
        except Refused as reason:
            raise CommandError(str(reason)) from None
        manifest = restored.manifest
        self.stdout.write(f"Restored the backup of {manifest.made_at}, version {manifest.version}.")
        if restored.missing:
            self.stdout.write(
                f"It lacks {len(restored.missing)} migrations of this version. Next:"
                " manage.py migrate"
            )
        else:
            phrase, hosts = count_waiting()
            self.stdout.write(f"Deliveries are off; {phrase} wait.")
            for line in hosts:
                self.stdout.write(f"    {line}")
        self.stdout.write("Restart web servers, workers and beat if they run. To send again:")
        self.stdout.write("    manage.py deliveries on")
