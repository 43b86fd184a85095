"""Writes the domains of addresses in the form of the DNS, as new ones are."""

from django.db import migrations

from db.operations import WriteDomainsInAscii


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_emailed_codes"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]
    operations = [
        WriteDomainsInAscii("accounts_user", "id"),
        WriteDomainsInAscii("account_emailaddress", "id"),
        WriteDomainsInAscii("accounts_reservedid", "user_id"),
    ]
