"""`manage.py deliveries` shows whether deliveries are on, and turns them on and off."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config.backlog import count_waiting
from db import deliveries


class Command(BaseCommand):
    help = (
        "Says whether webhooks, pushes and emails are sent and what waits. `off` stops them, for"
        " all processes and without a restart; `on` lets them go. A restored backup is off."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("state", nargs="?", choices=["on", "off"])

    def handle(self, *args: Any, **options: Any) -> None:
        if options["state"] == "off":
            deliveries.stop(reason="manage.py deliveries off")
        elif options["state"] == "on":
            deliveries.resume()
        self._say()

    def _say(self) -> None:
        stop = deliveries.read_stop()
        phrase, hosts = count_waiting()
        if stop:
            since = f"{stop.begun_at:%Y-%m-%d %H:%M} UTC"
            self.stdout.write(f"Deliveries are off since {since} ({stop.reason}); {phrase} wait.")
        elif settings.DELIVERIES_ARE_ON:
            self.stdout.write(f"Deliveries are on; {phrase} wait for their turn.")
        else:
            self.stdout.write(f"Deliveries are on in the database; {phrase} wait.")
        for line in hosts:
            self.stdout.write(f"    {line}")
        if stop:
            self.stdout.write("To send them: manage.py deliveries on")
        if not settings.DELIVERIES_ARE_ON:
            self.stdout.write(
                "DELIVERIES=off in this environment: where web servers and workers have it too,"
                " they send nothing until it is removed and they have restarted."
            )
