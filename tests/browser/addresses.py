"""The service's own addresses, and one for each page of an error, to be looked at."""

from django.urls import path

from config import urls, views
from config.urls import handler400, handler403, handler404, handler429, handler500

__all__ = ["handler400", "handler403", "handler404", "handler429", "handler500", "urlpatterns"]

urlpatterns = [
    path("errors/400/", views.bad_request),
    path("errors/403/", views.forbidden),
    path("errors/403-form/", views.form_expired),
    path("errors/429/", views.too_many_requests),
    path("errors/500/", views.server_error),
    path("errors/503/", views.unavailable),
    *urls.urlpatterns,
]
