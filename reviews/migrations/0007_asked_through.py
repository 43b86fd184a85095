"""Adds what asked for the program, such as MCP."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0006_answerers_and_exports")]
    operations = [
        migrations.AddField(
            "request",
            "asked_through",
            models.CharField(max_length=100, default="", db_default=""),
        ),
    ]
