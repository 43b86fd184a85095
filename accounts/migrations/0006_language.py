from db.operations import AddFields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0005_stored_responses"),
    ]

    operations = [
        AddFields(
            "user",
            language=models.CharField(blank=True, db_default="", default="", max_length=10),
            browser_language=models.CharField(db_default="en", default="en", max_length=10),
        ),
    ]
