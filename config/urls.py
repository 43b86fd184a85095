"""Every address. This module and `config.celery` alone look up to the apps."""

from django.urls import include, path, re_path

from accounts import admin as operator
from api.keys import KeyCheck
from signin import code
from signin.email import email_addresses
from api.openapi import pages
from web import health
from api.views import UnknownPath
from portal import join as loop_pages
from api.loops import LoopMembers, Loops
from api.loops import LoopDetail, LoopMember
from api.requests import LoopRequests, RequestDetails, RequestFeedback, Requests
from portal import app_files
from portal import notifications as notification_pages
from dashboard import deliveries as webhook_pages

LOOP = r"^v1/api/loops/(?P<loop_id>[^/]+)"
REQUEST = r"^v1/api/requests/(?P<request_id>[^/]+)"

api = [
    re_path(r"^v1/test/?\Z", KeyCheck.as_view()),
    re_path(r"^v1/api/loops/?\Z", Loops.as_view()),
    re_path(LOOP + r"/?\Z", LoopDetail.as_view()),
    re_path(LOOP + r"/members/?\Z", LoopMembers.as_view()),
    re_path(LOOP + r"/members/(?P<user_id>[^/]+)/?\Z", LoopMember.as_view()),
    re_path(LOOP + r"/requests/?\Z", LoopRequests.as_view()),
    re_path(r"^v1/api/requests/?\Z", Requests.as_view()),
    re_path(REQUEST + r"/?\Z", RequestDetails.as_view()),
    re_path(REQUEST + r"/feedback/?\Z", RequestFeedback.as_view()),
    re_path(r"^v1(?:/[\s\S]*)?\Z", UnknownPath.as_view()),
]

documents = [
    path("openapi.json", pages.openapi, name="openapi"),
    path("docs", pages.docs, name="docs"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
]

notification_urls = [
    path("", notification_pages.notifications, name="notifications"),
    path("mail/", notification_pages.choose_mails, name="choose-mails"),
    path("devices/", notification_pages.subscribe, name="subscribe"),
    path("devices/<str:device_id>/switch/", notification_pages.switch, name="switch-device"),
    path("devices/<str:device_id>/remove/", notification_pages.remove, name="remove-device"),
    path("devices/<str:device_id>/test/", notification_pages.test, name="test-device"),
]

pages = [
    path("", include("portal.urls")),
    path("accounts/email/", email_addresses, name="account_email"),
    path("accounts/login/code/", code.sign_in_by_code, name="sign-in-by-code"),
    path("accounts/login/code/confirm/", code.type_code, name="type-code"),
    path("accounts/signup/code/", code.sign_up_by_code, name="sign-up-by-code"),
    path("accounts/", include("allauth.account.urls")),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    path("admin/", operator.site.urls),
    path("join/", loop_pages.enter_code, name="enter-code"),
    path("join/<str:code>", loop_pages.join, name="join"),
    path("qr/<str:code>.png", loop_pages.qr_code, name="qr-code"),
    path("settings/notifications/", include(notification_urls)),
    path("unsubscribe/<str:token>/", notification_pages.unsubscribe, name="unsubscribe"),
    path("manifest.webmanifest", app_files.manifest, name="manifest"),
    path("sw.js", app_files.service_worker, name="service-worker"),
    path("offline/", app_files.offline, name="offline"),
    path("dashboard/", include("dashboard.urls")),
    path("dashboard/", include("dashboard.account_urls")),
    path("dashboard/deliveries/", webhook_pages.deliveries, name="deliveries"),
    path("dashboard/deliveries/test/", webhook_pages.send_test, name="send-test"),
    path("dashboard/deliveries/resend-dead/", webhook_pages.resend_dead, name="resend-dead"),
    path("dashboard/deliveries/<str:delivery_id>/", webhook_pages.delivery, name="delivery"),
    path("dashboard/deliveries/<str:delivery_id>/resend/", webhook_pages.resend, name="resend"),
]

urlpatterns = [*api, *documents, *pages]

handler400 = "web.error_pages.bad_request"
handler403 = "web.error_pages.forbidden"
handler404 = "web.error_pages.not_found"
handler429 = "web.error_pages.too_many_requests"  # django-allauth's
handler500 = "web.error_pages.server_error"
