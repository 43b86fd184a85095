"""`manage.py backup FILE` writes a backup of the database."""

import signal
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backups import Refused
from config.backups.making import make_backup


class Command(BaseCommand):
    help = (
        "Writes a backup of the database to a file, with pg_dump. It appears once it is complete."
        " It has no ENCRYPTION_KEYS: keep them in another place."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        # raises SystemExit, so that a backup that is stopped removes what it has written
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        path: Path = options["file"].absolute()
        try:
            manifest = make_backup(path)
        except Refused as reason:
            raise CommandError(str(reason)) from None
        self.stdout.write(
            f"Wrote {path}: {manifest.size / 1e6:.1f} MB of PostgreSQL {manifest.postgres}.\n"
            f"To use it, ENCRYPTION_KEYS needs the key with the fingerprint"
            f" {', '.join(manifest.keys)}. The file does not contain it."
        )
