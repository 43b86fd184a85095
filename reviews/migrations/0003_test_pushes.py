from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0002_triggers_and_vacuum")]
    operations = [
        migrations.AddField(
            model_name="pushsubscription",
            name="test_sent_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="pushsubscription",
            name="test_result",
            field=models.CharField(blank=True, db_default="", default="", max_length=500),
        ),
    ]
