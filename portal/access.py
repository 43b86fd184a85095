"""Page guards of the portal, and look-ups limited to requests that the person may review."""

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
from portal.posted import Posted
from reviews import services
from reviews.models import Answer, Request, RequestQuerySet
from web.form_recovery import PERSON, has_room
from web.guards import SignedInRequest, set_old_token_handler, warn_page_expired

Page = Callable[..., HttpResponse]
Action = Callable[[SignedInRequest, Request], HttpResponse]


def page(view: Page) -> Page:
    """Decorates a page that any signed-in person may read."""
    return require_safe(login_required(never_cache(_with_gone_page(view))))


def action(view: Action) -> Page:
    """Decorates a view that takes a form about a request, and finds the request for it.

    A GET, for example after signing in, redirects to the request. If the session has ended, the
    answer is saved for the next sign-in of the person.
    """

    @never_cache
    @wraps(view)
    def posted(request: SignedInRequest, request_id: str) -> HttpResponse:
        if not request.user.is_authenticated:
            save_answer(request, request_id)
            return redirect_to_login(reverse("review", kwargs={"request_id": request_id}))
        if request.method in ("GET", "HEAD"):
            return redirect("review", request_id=request_id)
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return view(request, find_request(request, request_id))

    set_old_token_handler(posted, save_answer)
    return _with_gone_page(posted)


def save_answer(request: HttpRequest, request_id: str) -> None:
    """Saves the posted answer of a person who has to sign in, or did so in another tab."""
    posted, person = Posted.read(request), request.POST.get(PERSON)
    if posted and has_room(request):
        saved_answers.save_answer(request.session, request_id, posted, person=person)
    elif request.user.is_authenticated:
        warn_page_expired(request)


def _with_gone_page(view: Page) -> Page:
    """Decorates a view: if the request is gone, renders a page with the unsent answer.

    The request may also be removed while the view runs.
    """

    @wraps(view)
    def wrapped(request: SignedInRequest, **ids: str) -> HttpResponse:
        try:
            return view(request, **ids)
        except (Http404, Request.DoesNotExist):
            posted = Posted.read(request)
            draft = posted.format_draft(", ".join(filter(None, posted.list_values())))
            return render(request, "portal/gone.html", {"draft": draft}, status=404)

    return wrapped


def select_requests(request: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.reviewable_by(request.user.pk)
    return requests


def read_own_answer(user_id: str, request_id: str) -> Answer | None:
    """Returns the person's answer with its request, or None."""
    answers = Answer.objects.of_reviewer(user_id).select_related("request__loop")
    answer: Answer | None = answers.filter(request_id=request_id).first()
    return answer


def find_request(
    request: SignedInRequest, request_id: str, *, among: RequestQuerySet | None = None
) -> Request:
    """Returns the request if the person is an active member of its loop. Raises Http404."""
    try:
        return services.read_request(
            request_id, allowed=select_requests(request) if among is None else among
        )
    except Request.DoesNotExist:
        raise Http404 from None
