"""The app for shared database code."""

from django.apps import AppConfig


class DatabaseConfig(AppConfig):
    name = "db"
