"""`manage.py backup FILE` writes a backup of the database."""

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backups import Refused
from config.backups.making import make_backup, name_backup, remove_oldest


class Command(BaseCommand):
    help = (
        "Writes a backup of the database to a file, with pg_dump. It appears once it is complete."
        " It has no ENCRYPTION_KEYS: keep them in another place."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="or a folder: the file is named by the time")
        parser.add_argument(
            "--keep", type=int, help="of a folder: how many backups stay, the oldest ones go"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # raises SystemExit, so that a stopped backup removes its partial file
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: sys.exit(128 + number))
        path, keep = options["file"].absolute(), options["keep"]
        if keep is not None and (keep < 1 or not path.is_dir()):
            raise CommandError("--keep needs a folder that exists, and a number from 1.")
        if path.is_dir():
            path /= name_backup(datetime.now(UTC))
        try:
            manifest = make_backup(path)
        except Refused as reason:
            raise CommandError(str(reason)) from None
        if keep is not None:
            remove_oldest(path, keep)
        self.stdout.write(
            f"Wrote {path}: {manifest.size / 1e6:.1f} MB of PostgreSQL {manifest.postgres}.\n"
            f"To use it, ENCRYPTION_KEYS needs the key with the fingerprint"
            f" {', '.join(manifest.keys)}. The file does not contain it."
        )
