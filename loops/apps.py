"""Loops: named groups of reviewers."""

from django.apps import AppConfig


class LoopsConfig(AppConfig):
    name = "loops"
