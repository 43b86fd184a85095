"""The paths of the reviewer's pages."""

from django.urls import path

import web.path_converters  # noqa: F401 (registers <id:…>)
from portal import (
    answering,
    app_files,
    claiming,
    grants,
    home,
    inbox,
    join,
    my_loops,
    notifications,
    polling,
    several,
    tokens,
    work,
)

QUESTION = "inbox/<id:request_id>/"
SETTINGS = "settings/notifications/"
TOKENS = "settings/tokens/"
DEVICE = f"{SETTINGS}devices/<id:device_id>/"

urlpatterns = [
    path("", home.home, name="home"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/state/", polling.inbox, name="inbox-state"),
    path("inbox/several/", several.choose, name="several"),
    path("inbox/several/review/", several.review, name="review-several"),
    path("inbox/several/send/", several.send, name="answer-several"),
    path(QUESTION, answering.show, name="review"),
    path(f"{QUESTION}state/", polling.question, name="review-state"),
    path(f"{QUESTION}answer/", answering.answer, name="answer"),
    path(f"{QUESTION}done/", answering.done, name="done"),
    path(f"{QUESTION}claim/", claiming.claim, name="claim"),
    path(f"{QUESTION}renew/", claiming.renew, name="renew"),
    path(f"{QUESTION}release/", claiming.release, name="release"),
    path("loops/", my_loops.my_loops, name="my-loops"),
    path("loops/<id:loop_id>/leave/", my_loops.leave, name="leave-loop"),
    path("my-work/", work.work, name="work"),
    path("join/", join.enter_code, name="enter-code"),
    path("join/<str:code>", join.join, name="join"),
    path("join/<str:code>/", join.join),  # as some programs rewrite links
    path("qr/<str:code>.png", join.qr_code, name="qr-code"),
    path(SETTINGS, notifications.notifications, name="notifications"),
    path(f"{SETTINGS}mail/", notifications.choose_mails, name="choose-mails"),
    path(f"{SETTINGS}devices/", notifications.subscribe, name="subscribe"),
    path(f"{DEVICE}switch/", notifications.switch, name="switch-device"),
    path(f"{DEVICE}remove/", notifications.remove, name="remove-device"),
    path(f"{DEVICE}test/", notifications.test, name="test-device"),
    path(TOKENS, tokens.tokens, name="review-tokens"),
    path(f"{TOKENS}new/", tokens.create, name="new-review-token"),
    path(f"{TOKENS}<id:token_id>/", tokens.show, name="review-token"),
    path(f"{TOKENS}<id:token_id>/revoke/", tokens.revoke, name="revoke-review-token"),
    path("settings/grants/", grants.grants, name="my-grants"),
    path("settings/grants/<id:grant_id>/revoke/", grants.revoke, name="revoke-my-grant"),
    path("unsubscribe/<str:token>/", notifications.unsubscribe, name="unsubscribe"),
    path("manifest.webmanifest", app_files.manifest, name="manifest"),
    path("sw.js", app_files.service_worker, name="service-worker"),
    path("offline/", app_files.offline, name="offline"),
]
