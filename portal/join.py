"""Joining a loop: by code, join link or QR code."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_ratelimit.core import get_usage

from accounts.models import User
from loops import qr
from loops.admission import AddressUnconfirmed, NotAdmitted, needs_confirmation
from loops.models import Loop
from loops.services import InviteNotFound, find_invite, join_loop
from portal.join_form import CodeForm
from web import return_page
from web.bidi import isolate
from web.error_pages import not_found, too_many_requests
from web.languages import translate
from web.phrases import join_alternatives

CodeView = Callable[[HttpRequest, str], HttpResponse]


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def enter_code(request: HttpRequest) -> HttpResponse:
    form = CodeForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return redirect("join", code=form.cleaned_data["code"])
    status = 422 if form.is_bound else 200
    return render(request, "portal/join/enter_code.html", {"form": form}, status=status)


def limit_wrong_codes(view: CodeView) -> CodeView:
    """Limits wrong codes per IP address and per person; above the limit no code is looked up.

    Valid codes are not counted, so that a whole office may join at once.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, code: str) -> HttpResponse:
        wait = seconds_to_wait(request)
        if wait:
            return too_many_requests(request, retry_after=wait)
        try:
            return view(request, code)
        except InviteNotFound:
            read_usages(request, increment=True)
            raise

    return wrapped


def seconds_to_wait(request: HttpRequest) -> int:
    """Returns the seconds until this IP address and person may try another code, 0 if now."""
    spent = [usage for usage in read_usages(request) if usage["count"] >= usage["limit"]]
    return max((max(1, usage["time_left"]) for usage in spent), default=0)


def read_usages(request: HttpRequest, *, increment: bool = False) -> list[dict[str, int]]:
    """Returns the rate limit counts of the IP address and the person; none without the cache."""
    rate = settings.JOIN_CODE_RATE
    keys = ["ip", "user"] if request.user.is_authenticated else ["ip"]
    counts = [
        get_usage(request, "join-code", key=key, rate=rate, increment=increment) for key in keys
    ]
    return [usage for usage in counts if usage is not None]


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def join(request: HttpRequest, code: str) -> HttpResponse:
    try:
        return show_invitation(request, code)
    except InviteNotFound:
        return render(request, "portal/join/code_unknown.html", status=404)


@limit_wrong_codes
def show_invitation(request: HttpRequest, code: str) -> HttpResponse:
    loop = find_invite(code)
    path = reverse("join", kwargs={"code": loop.invite_code})
    person = request.user
    if request.method == "POST":
        if not isinstance(person, User):
            return redirect_to_login(path)
        return accept(request, person, loop)
    is_member = isinstance(person, User) and Loop.objects.of_member(person.pk).contains(loop)
    context = {
        "loop": loop,
        "path": path,
        "is_member": is_member,
        "needs_confirmation": needs_confirmation(loop),
        "domains": translate(join_alternatives(loop.allowed_domains)),
    }
    return render(request, "portal/join/join.html", context)


def accept(request: HttpRequest, person: User, loop: Loop) -> HttpResponse:
    try:
        join_loop(user=person, code=loop.invite_code)
    except NotAdmitted as refusal:
        return refuse(request, loop, refusal)
    messages.success(request, _("You’ve joined %(name)s.") % {"name": isolate(loop.name)})
    return redirect("inbox")


def refuse(request: HttpRequest, loop: Loop, refusal: NotAdmitted) -> HttpResponse:
    """Explains what the person has to do first; the confirmation leads back to this page."""
    return_page.remember(request)
    context = {
        "loop": loop,
        "is_unconfirmed": isinstance(refusal, AddressUnconfirmed),
        "domains": translate(join_alternatives(loop.allowed_domains)),
    }
    return render(request, "portal/join/refused.html", context, status=403)


@require_safe
@cache_control(private=True, max_age=300)
def qr_code(request: HttpRequest, code: str) -> HttpResponse:
    try:
        return render_qr_code(request, code)
    except InviteNotFound:
        return not_found(request)


@limit_wrong_codes
def render_qr_code(request: HttpRequest, code: str) -> HttpResponse:
    return HttpResponse(qr.render_png(find_invite(code).join_url), content_type="image/png")
