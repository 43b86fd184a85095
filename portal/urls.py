"""The addresses of the portal that are about requests."""

from django.urls import path

from portal import answering, claiming, home, inbox, polling, my_loops, work

QUESTION = "inbox/<str:request_id>/"

urlpatterns = [
    path("", home.home, name="home"),
    path("inbox/", inbox.inbox, name="inbox"),
    path("inbox/state/", polling.inbox, name="inbox-state"),
    path(QUESTION, answering.show, name="review"),
    path(f"{QUESTION}state/", polling.question, name="review-state"),
    path(f"{QUESTION}answer/", answering.answer, name="answer"),
    path(f"{QUESTION}done/", answering.done, name="done"),
    path(f"{QUESTION}claim/", claiming.claim, name="claim"),
    path(f"{QUESTION}renew/", claiming.renew, name="renew"),
    path(f"{QUESTION}release/", claiming.release, name="release"),
    path("loops/", my_loops.my_loops, name="my-loops"),
    path("loops/<str:loop_id>/leave/", my_loops.leave, name="leave-loop"),
    path("my-work/", work.work, name="work"),
]
