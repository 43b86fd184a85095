"""Who may open a page of the portal, and what is said where there is nothing to open."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from portal import saved_answers
from reviews import services
from reviews.models import Request, RequestQuerySet
from web.form_recovery import has_room
from web.guards import SignedInRequest, warn_page_expired

Page = Callable[..., HttpResponse]
Action = Callable[[SignedInRequest, Request], HttpResponse]


def page(view: Page) -> Page:
    """For reading, by whoever is signed in."""
    return require_safe(login_required(never_cache(_or_gone(view))))


def action(view: Action) -> Page:
    """A form's target, with the question found. Whoever comes by GET, such as back from the
    sign-in page, is led to the question; whoever is not signed in any more loses nothing."""

    @never_cache
    @wraps(view)
    def posted(request: SignedInRequest, request_id: str) -> HttpResponse:
        if not request.user.is_authenticated:
            keep_answer(request, request_id)
            return redirect_to_login(reverse("review", kwargs={"request_id": request_id}))
        if request.method in ("GET", "HEAD"):
            return redirect("review", request_id=request_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return view(request, find_request(request, request_id))

    vars(posted)["on_old_token"] = keep_answer
    return _or_gone(posted)


def keep_answer(request: HttpRequest, request_id: str) -> None:
    """What was typed by somebody who has to sign in, or has done so in another tab."""
    typed = request.POST.getlist("answer")
    if any(typed):
        if has_room(request):
            saved_answers.keep(request.session, request_id, typed)
    elif request.user.is_authenticated:
        warn_page_expired(request)


def _or_gone(view: Page) -> Page:
    """Says in words of its own what is not there; what somebody was about to send stays."""

    @wraps(view)
    def wrapped(request: SignedInRequest, **ids: str) -> HttpResponse:
        try:
            return view(request, **ids)
        except Http404:
            draft = ", ".join(filter(None, request.POST.getlist("answer")))
            return render(request, "portal/gone.html", {"draft": draft}, status=404)

    return wrapped


def reviewed(request: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.reviewed_by(request.user.pk)
    return requests


def find_request(
    request: SignedInRequest, request_id: str, *, among: RequestQuerySet | None = None
) -> Request:
    """The request, if the person is an active member of its living loop. Raises Http404."""
    try:
        return services.read_request(
            request_id, allowed=reviewed(request) if among is None else among
        )
    except Request.DoesNotExist:
        raise Http404 from None
