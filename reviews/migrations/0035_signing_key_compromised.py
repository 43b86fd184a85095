"""A key that signs receipts can be compromised."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0034_grants")]
    operations = [
        migrations.AddField(
            model_name="signingkey",
            name="compromised_at",
            field=models.DateTimeField(null=True),
        ),
    ]
