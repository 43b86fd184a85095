"""Writes the domains of invited addresses in the form of the DNS, as new ones are."""

from django.db import migrations

from db.operations import WriteDomainsInAscii


class Migration(migrations.Migration):
    dependencies = [("loops", "0005_index_of_invited")]
    operations = [WriteDomainsInAscii("loops_membership", "id")]
