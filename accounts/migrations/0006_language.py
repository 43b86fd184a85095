from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0005_stored_responses"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=10),
        ),
        migrations.AddField(
            model_name="user",
            name="browser_language",
            field=models.CharField(db_default="en", default="en", max_length=10),
        ),
    ]
