"""The Django app of requests, answers and feedback."""

from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
