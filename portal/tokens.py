"""The pages of a person's review tokens: list, create, show the secret once, revoke."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import key_tokens, review_tokens
from accounts.key_format import REVIEW_PREFIX
from accounts.models import ReviewToken
from accounts.notices import read_origin
from portal.access import page
from portal.token_form import TokenForm
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, action, form_page
from web.keyset import read_cursor, read_page
from web.languages import gettext_lazy as _lazy
from web.reauthentication import confirmed

PER_PAGE = 25
PURPOSE = "review"
PAGE_EXPIRED = _lazy("This page had expired. Nothing was created. Please submit it again.")
SHOWN_ONCE = _lazy("A token is shown only once. If you didn’t store this one, create another.")


@page
def tokens(request: SignedInRequest) -> HttpResponse:
    """Lists the person's tokens, the newest first, in three statements."""
    rows = ReviewToken.objects.of_person(request.user.pk)
    window = read_page(rows, after=read_cursor(request), size=PER_PAGE)
    context = {"window": window, "now": timezone.now()}
    return render(request, "portal/tokens/list.html", context)


@recoverable
@form_page
@confirmed
def create(request: SignedInRequest) -> HttpResponse:
    form = TokenForm(request.POST or None, initial={"token": issue(request)})
    refill(request, form, "new-review-token")
    if form.is_bound:
        secret = key_tokens.read(request.POST.get("token", ""), PURPOSE, request.user.pk)
        if secret is None:
            form = TokenForm({**request.POST.dict(), "token": issue(request)})
            form.add_error(None, PAGE_EXPIRED)
        elif form.is_valid():
            made = review_tokens.create_once(
                user=request.user,
                secret=secret,
                name=form.cleaned_data["name"],
                expires_at=form.expires_at,
                origin=read_origin(request),
            )
            return redirect_to_secret(request, made)
    status = 422 if form.is_bound else 200
    return render(request, "portal/tokens/new.html", {"form": form}, status=status)


@page
def show(request: SignedInRequest, token_id: str) -> HttpResponse:
    """Shows the secret of a new token, on the first GET only."""
    cookie = request.COOKIES.get(settings.NEW_KEY_COOKIE, "")
    secret = key_tokens.read(cookie, PURPOSE, request.user.pk)
    made = None
    if request.method == "GET" and secret is not None:
        made = review_tokens.mark_shown(user=request.user, token_id=token_id, secret=secret)
    if made is None:
        messages.info(request, SHOWN_ONCE)
        return redirect("review-tokens")
    context = {"made": made, "secret": secret, "site_url": settings.SITE_URL}
    response = render(request, "portal/tokens/secret.html", context)
    key_tokens.forget(response, path=reverse("review-tokens"))
    return response


@action("review-tokens", without="token_id")
def revoke(request: SignedInRequest, token_id: str) -> HttpResponse:
    """Revokes a token; calls with it are refused once this has returned."""
    try:
        is_new = review_tokens.revoke(user_id=request.user.pk, token_id=token_id)
    except ReviewToken.DoesNotExist:
        raise Http404 from None
    if is_new:
        messages.success(request, _("Revoked. Calls with this token are refused from now on."))
    else:
        messages.info(request, _("This token had already ended."))
    return redirect("review-tokens")


def issue(request: SignedInRequest) -> str:
    return key_tokens.issue(PURPOSE, request.user.pk, REVIEW_PREFIX)


def redirect_to_secret(request: SignedInRequest, made: ReviewToken) -> HttpResponse:
    """Redirects to the page of the secret, or to the list if it was already shown."""
    if made.shown_at is not None:
        messages.info(request, SHOWN_ONCE)
        return redirect("review-tokens")
    response = redirect("review-token", token_id=made.pk)
    key_tokens.keep(response, request.POST["token"], path=reverse("review-tokens"))
    return response
