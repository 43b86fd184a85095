"""`manage.py vapidkey` writes a new private key for Web Push to stdout."""

from typing import Any

from django.core.management.base import BaseCommand

from reviews.notifications.push import vapid


class Command(BaseCommand):
    help = "Prints a new value for VAPID_PRIVATE_KEY. A new key ends every subscription."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(vapid.new_private_key())
