"""The service's own addresses, and one for each page of an error, to be looked at."""

from django.urls import path

from config import urls
from config.urls import handler400, handler403, handler404, handler429, handler500
from web import error_pages

__all__ = ["handler400", "handler403", "handler404", "handler429", "handler500", "urlpatterns"]

urlpatterns = [
    path("errors/400/", error_pages.bad_request),
    path("errors/403/", error_pages.forbidden),
    path("errors/403-form/", error_pages.form_expired),
    path("errors/429/", error_pages.too_many_requests),
    path("errors/500/", error_pages.server_error),
    path("errors/503/", error_pages.unavailable),
    *urls.urlpatterns,
]
