"""The addresses below /dashboard/ that are about loops and requests."""

from django.urls import path

from dashboard import new_request, loops, members, overview, request_page, requests, sharing

LOOP, REQUEST = "loops/<str:loop_id>/", "requests/<str:request_id>/"
MEMBER = f"{LOOP}members/<str:member_id>/"

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
]
