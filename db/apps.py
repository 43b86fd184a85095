"""The database: what every room's tables stand on."""

from django.apps import AppConfig


class DatabaseConfig(AppConfig):
    name = "db"
