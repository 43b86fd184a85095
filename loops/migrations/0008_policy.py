"""Adds the policy of loops."""

from django.db import migrations

from db.columns import ExactJSONField


class Migration(migrations.Migration):
    dependencies = [("loops", "0007_ids_of_invitations")]
    operations = [migrations.AddField("loop", "policy", ExactJSONField(null=True))]
