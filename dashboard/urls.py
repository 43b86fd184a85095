"""The paths of the account holder's pages, below /dashboard/."""

from django.urls import path

import web.path_converters  # noqa: F401 (registers <id:…>)
from dashboard import (
    audit,
    deliveries,
    keys,
    loops,
    members,
    new_request,
    overview,
    profile,
    request_page,
    requests,
    resending,
    sharing,
    webhook_secret,
)

LOOP, REQUEST = "loops/<id:loop_id>/", "requests/<id:request_id>/"
MEMBER = f"{LOOP}members/<id:member_id>/"

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("loops/", loops.loops, name="loops"),
    path("loops/new/", loops.create, name="new-loop"),
    path(LOOP, loops.show, name="loop"),
    path(f"{LOOP}edit/", loops.edit, name="edit-loop"),
    path(f"{LOOP}delete/", loops.delete, name="delete-loop"),
    path(f"{LOOP}invite/", members.invite, name="invite-member"),
    path(f"{MEMBER}resend/", members.resend, name="resend-invitation"),
    path(f"{MEMBER}remove/", members.remove, name="remove-member"),
    path(f"{LOOP}sheet/", sharing.sheet, name="loop-sheet"),
    path(f"{LOOP}rotate/", sharing.rotate, name="rotate-code"),
    path("requests/", requests.requests, name="requests"),
    path("requests/new/", new_request.new, name="new-request"),
    path("requests/new/curl/", new_request.preview, name="preview-request"),
    path(REQUEST, request_page.show, name="request"),
    path(f"{REQUEST}request.json", request_page.as_api, name="request-json"),
    path(f"{REQUEST}cancel/", request_page.cancel, name="cancel-request"),
    path(f"{REQUEST}feedback/", request_page.feedback, name="request-feedback"),
    path("deliveries/", deliveries.deliveries, name="deliveries"),
    path("deliveries/test/", deliveries.send_test, name="send-test"),
    path("deliveries/resend-dead/", resending.resend_dead, name="resend-dead"),
    path("deliveries/resend-selected/", resending.resend_selected, name="resend-selected"),
    path("deliveries/<id:delivery_id>/", deliveries.delivery, name="delivery"),
    path("deliveries/<id:delivery_id>/result/", deliveries.test_result, name="test-result"),
    path("deliveries/<id:delivery_id>/resend/", resending.resend, name="resend"),
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", keys.create, name="new-key"),
    path("keys/<id:key_id>/", keys.show, name="key"),
    path("keys/<id:key_id>/secret/", keys.show_secret, name="key-secret"),
    path("keys/<id:key_id>/stored/", keys.store, name="key-stored"),
    path("keys/<id:key_id>/switch/", keys.switch, name="switch-key"),
    path("keys/<id:key_id>/roll/", keys.roll, name="roll-key"),
    path("keys/<id:key_id>/revoke/", keys.revoke, name="revoke-key"),
    path("keys/<id:key_id>/delete/", keys.delete, name="delete-key"),
    path("webhook-secret/", webhook_secret.webhook_secret, name="webhook-secret"),
    path("webhook-secret/reveal/", webhook_secret.reveal, name="reveal-secret"),
    path("webhook-secret/set/", webhook_secret.set_own, name="set-secret"),
    path("webhook-secret/rotate/", webhook_secret.rotate, name="rotate-secret"),
    path("webhook-secret/end-overlap/", webhook_secret.end_overlap, name="end-overlap"),
    path("audit/", audit.audit, name="audit"),
    path("account/", profile.account, name="account"),
    path("account/sessions/", profile.session_list, name="sessions"),
    path("account/sessions/end/", profile.end_sessions, name="end-sessions"),
]
