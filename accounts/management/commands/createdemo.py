"""`manage.py createdemo` creates a demo account in a database without accounts."""

import secrets
import shlex
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from accounts import services
from accounts.models import User

EMAIL = "demo@example.com"


class Command(BaseCommand):
    help = "Creates a demo account with a key and prints both once. Does nothing if it exists."
    requires_system_checks = ()  # `migrate` has run them; they load every page

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if User.objects.exists():
            return
        password = secrets.token_urlsafe(12)
        user = services.create_account(email=EMAIL, name="Demo", password=password, verified=True)
        _, key = services.create_api_key(user=user, name="Demo", hourly_limit=1000)
        authorization = shlex.quote(f"Authorization: Bearer {key}")
        self.stdout.write(
            "A demo account, shown only now:\n"
            f"  address   {settings.SITE_URL}\n"
            f"  email     {EMAIL}\n"
            f"  password  {password}\n"
            f"  API key   {key}\n"
            "Try it:\n"
            f"  curl -H {authorization} {settings.SITE_URL}/v1/test"
        )
