from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0002_vacuum")]
    operations = [
        migrations.AddField(
            model_name="delivery",
            name="newest_first",
            field=models.BooleanField(db_default=False),
        ),
    ]
