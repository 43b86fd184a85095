"""URLs of the site."""

from django.urls import include, path

from accounts import admin as operator
from config.metrics_page import show_metrics
from web import health, security_txt

urlpatterns = [
    path("", include("api.urls")),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", show_metrics),
    path(".well-known/security.txt", security_txt.security_txt),
    path("admin/", operator.site.urls),
    path("accounts/", include("signin.urls")),
    path("dashboard/", include("dashboard.urls")),
    path("", include("portal.urls")),
]

handler400 = "config.error_handlers.bad_request"
handler403 = "config.error_handlers.forbidden"
handler404 = "config.error_handlers.not_found"
handler429 = "web.error_pages.too_many_requests"  # django-allauth's
handler500 = "config.error_handlers.server_error"
