"""`manage.py passwordlink EMAIL` prints a link with which a person sets a password."""

from argparse import ArgumentParser
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from accounts.code_services import create_holder, find_holder
from accounts.management.people import read_address
from accounts.models import User
from signin.adapter import build_site_url


class Command(BaseCommand):
    help = (
        "Prints a link with which a person sets a new password, once, within three days. For"
        " services that send no email, and with --create for those on which nobody may sign up."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--create", action="store_true", help="create a missing account")
        parser.add_argument("--name", default="", help="the name for a new account")

    def handle(self, *args: Any, **options: Any) -> None:
        email = read_address(options["email"])
        holder = find_holder(email)
        user = holder.user if holder else None
        if user is None and options["create"]:
            user = self.create(email, options["name"].strip())
        if user is None:
            raise CommandError(f"There is no account {email!r}; --create makes one.")
        if not user.is_active:
            raise CommandError(f"The account {user.email} is deactivated.")
        uid, key = user_pk_to_url_str(user), default_token_generator.make_token(user)
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": uid, "key": key})
        self.stdout.write(build_site_url(path))

    def create(self, email: str, name: str) -> User | None:
        holder = create_holder(email=email, name=name)
        if holder and holder.is_new:
            self.stderr.write(f"Account {holder.user.email} created.")
        return holder.user if holder else None
