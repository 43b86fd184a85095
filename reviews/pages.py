"""The portal: what waits for me, one question, and what became of my answer."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from csp.decorators import csp_update
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.pages import SignedInRequest
from config.ids import normalize_id
from reviews import context, forms, services, states
from reviews.models import Request, RequestQuerySet
from reviews.responses import InvalidAnswer, parse_answer

PER_PAGE = 50
Page = Callable[..., HttpResponse]
Action = Callable[[SignedInRequest, Request], HttpResponse]


def with_images(view: Page) -> Page:
    """Clients name images anywhere; on other pages nothing comes from elsewhere."""
    decorate: Callable[[Page], Page] = csp_update({"img-src": ["https:", "http:"]})  # type: ignore[assignment]
    return decorate(view)


@require_safe
def home(http: HttpRequest) -> HttpResponse:
    if http.user.is_authenticated:
        return redirect("inbox")
    return render(http, "reviews/home.html")


@require_safe
@login_required
@never_cache
def inbox(http: SignedInRequest) -> HttpResponse:
    waiting = Request.objects.waiting_for(http.user.pk).for_inbox()
    page = Paginator(waiting, PER_PAGE).get_page(http.GET.get("page"))
    page.object_list = [item.as_seen() for item in page.object_list]
    return render(http, "reviews/inbox.html", {"page": page})


@require_safe
@login_required
@never_cache
@with_images
def show(http: SignedInRequest, request_id: str) -> HttpResponse:
    return question_page(http, find_request(http, request_id))


def action(view: Action) -> Page:
    """A form's target, with the request found. Whoever comes by GET, such as back from the
    sign-in page, is led to the question."""

    @login_required
    @never_cache
    @wraps(view)
    def posted(http: SignedInRequest, request_id: str) -> HttpResponse:
        if http.method in ("GET", "HEAD"):
            return redirect("review", request_id=request_id)
        if http.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        return view(http, find_request(http, request_id))

    return posted


@action
def claim(http: SignedInRequest, item: Request) -> HttpResponse:
    try:
        services.claim_request(request=item, reviewer_id=http.user.pk)
    except services.NotAReviewer:
        raise Http404 from None
    except services.TransitionLost:
        messages.warning(http, "That came too late: here is what it has become.")
    return redirect("review", request_id=item.pk)


@action
def release(http: SignedInRequest, item: Request) -> HttpResponse:
    try:
        services.release_claim(request=item, reviewer_id=http.user.pk)
    except services.TransitionLost:
        messages.info(http, "You did not hold this question any more.")
    return redirect("review", request_id=item.pk)


@with_images
@action
def answer(http: SignedInRequest, item: Request) -> HttpResponse:
    typed = http.POST.getlist("answer")
    try:
        value = parse_answer(item.response_type, item.response_config, typed)
        services.answer_request(request=item, reviewer_id=http.user.pk, answer=value)
    except InvalidAnswer as fault:
        if services.renew_claim(request=item, reviewer_id=http.user.pk):
            item = find_request(http, item.pk)
        return question_page(http, item, typed=typed, error=str(fault))
    except services.NotAReviewer:
        raise Http404 from None
    except services.TransitionLost as lost:
        return question_page(http, lost.request, typed=typed)
    return redirect("done", request_id=item.pk)


@require_safe
@login_required
@never_cache
def done(http: SignedInRequest, request_id: str) -> HttpResponse:
    mine = reviewed(http).filter(response_by_id=http.user.pk)
    item = find_request(http, request_id, among=mine)
    following = Request.objects.answerable_by(http.user.pk).only("id").first()
    answer = forms.in_words(item, item.response_data)
    return render(http, "reviews/done.html", {"item": item, "answer": answer, "next": following})


def reviewed(http: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.reviewed_by(http.user.pk)
    return requests


def find_request(
    http: SignedInRequest, raw_id: str, *, among: RequestQuerySet | None = None
) -> Request:
    """The request, if the person is an active member of its living loop. Raises Http404."""
    request_id = normalize_id(raw_id)
    if request_id is None:
        raise Http404
    try:
        return services.read_request(request_id, allowed=reviewed(http) if among is None else among)
    except Request.DoesNotExist:
        raise Http404 from None


def question_page(
    http: SignedInRequest, item: Request, *, typed: Sequence[str] = (), error: str = ""
) -> HttpResponse:
    """The question with its form, or with what has become of it; `typed` is kept either way.

    422 where the answer was refused, 409 where it came too late.
    """
    is_answerable = services.is_answerable(item, reviewer_id=http.user.pk)
    shown: dict[str, Any] = {
        "item": item,
        "is_open": item.status in states.OPEN,
        "is_mine": item.claimed_by_id == http.user.pk,
        "context": context.outline(item.context),
        "context_is_short": context.is_short(item.context),
        "default": forms.in_words(item, item.default_response),
    }
    status = 200
    if item.response_by_id:
        shown["answer"] = forms.in_words(item, item.response_data)
    if is_answerable:
        shown["form"] = forms.build(item, typed, error)
        status = 422 if error else status
    if http.method == "POST" and not is_answerable:
        shown["draft"] = forms.draft_in_words(item, typed)
        status = 409
    return render(http, "reviews/request.html", shown, status=status)
