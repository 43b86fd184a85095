from db.operations import AddFields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_triggers_and_vacuum")]
    operations = [
        AddFields(
            "pushsubscription",
            test_sent_at=models.DateTimeField(null=True),
            test_result=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
