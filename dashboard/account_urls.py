"""The addresses of the account's pages, below /dashboard/."""

from django.urls import path

from dashboard import audit, keys, profile, webhook_secret

urlpatterns = [
    path("keys/", keys.keys, name="keys"),
    path("keys/new/", keys.create, name="new-key"),
    path("keys/<str:key_id>/", keys.show, name="key"),
    path("keys/<str:key_id>/secret/", keys.show_secret, name="key-secret"),
    path("keys/<str:key_id>/stored/", keys.store, name="key-stored"),
    path("keys/<str:key_id>/switch/", keys.switch, name="switch-key"),
    path("keys/<str:key_id>/roll/", keys.roll, name="roll-key"),
    path("keys/<str:key_id>/revoke/", keys.revoke, name="revoke-key"),
    path("keys/<str:key_id>/delete/", keys.delete, name="delete-key"),
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
