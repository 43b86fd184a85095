"""Who may open a page of the dashboard, and what becomes of a page that is out of date."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts.pages import SignedInRequest
from config.ids import normalize_id
from loops.models import Loop
from reviews import services
from reviews.models import Request, RequestQuerySet

Page = Callable[..., HttpResponse]


class Stale(Exception):
    """Somebody removed what the page was about; the words say what. `back` names a page."""

    def __init__(self, words: str, *, back: str = "loops", **ids: str) -> None:
        super().__init__(words)
        self.url = reverse(back, kwargs=ids)


def page(view: Page) -> Page:
    """For reading."""
    return require_safe(_guarded(view))


def form_page(view: Page) -> Page:
    """Shows a form and takes it."""
    return require_http_methods(["GET", "HEAD", "POST"])(_guarded(view))


def action(back: str) -> Callable[[Page], Page]:
    """A form's target. Whoever comes by GET, such as back from the sign-in page, is led to the
    page called `back`, which has the form."""

    def decorate(view: Page) -> Page:
        @wraps(view)
        def posted(http: SignedInRequest, **ids: str) -> HttpResponse:
            if http.method in ("GET", "HEAD"):
                main = {name: value for name, value in ids.items() if name != "member_id"}
                return redirect(reverse(back, kwargs=main))
            if http.method != "POST":
                return HttpResponseNotAllowed(["POST"])
            return view(http, **ids)

        return _guarded(posted)

    return decorate


def _guarded(view: Page) -> Page:
    @login_required
    @never_cache
    @wraps(view)
    def guarded(http: SignedInRequest, **ids: str) -> HttpResponse:
        try:
            return view(http, **ids)
        except Stale as stale:
            messages.info(http, str(stale))
            return redirect(stale.url)

    return guarded


def find_loop(http: SignedInRequest, raw_id: str) -> Loop:
    """The account's loop. Raises Http404, and Stale for one that was deleted."""
    mine = Loop.objects.filter(creator_id=http.user.pk)
    loop: Loop | None = mine.filter(pk=normalize_id(raw_id)).first()
    if loop is None:
        raise Http404
    if loop.deleted_at is not None:
        raise Stale(f"The loop {loop.name} was deleted.")
    return loop


def created_by(http: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.created_by(http.user.pk)
    return requests


def find_request(http: SignedInRequest, raw_id: str) -> Request:
    """The account's request as it stands, settled. Raises Http404."""
    request_id = normalize_id(raw_id)
    if request_id is None:
        raise Http404
    try:
        return services.read_request(request_id, allowed=created_by(http))
    except Request.DoesNotExist:
        raise Http404 from None


def behind(http: SignedInRequest) -> str | None:
    """The id that a page of a listing begins behind, None on the first page. Raises Http404."""
    raw_id = http.GET.get("before")
    if not raw_id:
        return None
    known = normalize_id(raw_id)
    if known is None:
        raise Http404
    return known
