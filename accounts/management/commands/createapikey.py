"""`manage.py createapikey EMAIL` creates a key and prints only the key on stdout."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import services
from accounts.code_services import create_holder, find_holder
from accounts.management.people import read_address
from accounts.models import PERMISSIONS
from accounts.notices import notify


class Command(BaseCommand):
    help = "Creates an API key and prints it once. Creates the account if it is new."
    requires_system_checks = ()  # `migrate` has run them; they load every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="Command line", help="what the key is for")
        parser.add_argument(
            "--permissions",
            default=",".join(PERMISSIONS),
            help="comma-separated; all by default: %(default)s",
        )
        parser.add_argument("--limit", type=int, help="calls per hour, instead of the default")

    def handle(self, *args: Any, **options: Any) -> None:
        email, limit = read_address(options["email"]), options["limit"]
        if limit is not None and not 1 <= limit <= 2**31 - 1:
            raise CommandError("--limit must be between 1 and 2147483647.")
        if not 1 <= len(options["name"].strip()) <= 100:
            raise CommandError("--name must be between 1 and 100 characters.")
        permissions = [part.strip() for part in options["permissions"].split(",") if part.strip()]
        try:
            secret = self.create(email, options["name"], permissions, limit)
        except services.UnknownPermission as error:
            raise CommandError(f"--permissions: {error}") from None
        self.stdout.write(secret)

    @transaction.atomic
    def create(self, email: str, name: str, permissions: list[str], limit: int | None) -> str:
        holder = find_holder(email) or create_holder(email=email, name="")
        if holder is None:
            raise CommandError(f"There is no account {email!r} any more; try again.")
        user = holder.user
        if holder.is_new:
            self.stderr.write(f"Account {user.email} created; it has no password yet.")
        if not user.is_active:
            raise CommandError(f"The account {user.email} is deactivated.")
        key, secret = services.create_api_key(
            user=user, name=name, permissions=permissions, hourly_limit=limit
        )
        notify(account=user, action="key.created", subject=services.describe_key(key))
        return secret
