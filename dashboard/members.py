"""Actions on the members of a loop: invite, resend the invitation, remove."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django_ratelimit.core import get_usage

from accounts.sign_in_codes import can_send
from dashboard.access import Stale, action, find_loop, loop_gone
from dashboard.forms.loops import InviteForm
from dashboard.loop_page import loop_page
from loops import services
from loops.invitations import InviterUnconfirmed, check_inviter, send_invitation
from loops.models import Loop, Membership
from reviews import services as review_services
from web.form_recovery import recoverable
from web.guards import SignedInRequest
from web.languages import gettext_lazy as _lazy

# Limits of an account: for all invitations, and for those to one address
MAIL_RATE, ADDRESS_RATE = "60/h", "5/h"
# Limits across accounts: for one recipient, and for one IP address
RECIPIENT_RATE, IP_RATE = "10/d", "120/h"
TOO_MANY_INVITATIONS = _lazy(
    "You’ve reached the limit of 60 invitations an hour. Wait {} min, or share the link yourself"
)
TOO_MANY_TO_ADDRESS = _lazy(
    "This address already got 5 invitations this hour. Wait {} min, or share the link yourself"
)
TOO_MANY_TO_RECIPIENT = _lazy(
    "This address already got 10 invitations today. Share the link yourself"
)
TOO_MANY_FROM_IP = _lazy(
    "Too many invitations were sent from your network. Wait {} min, or share the link yourself"
)
CONFIRM_FIRST = _lazy("Confirm your email address first, or share the link yourself")


class TooManyMails(Exception):
    """A limit is reached; the message names it. Another email may be sent after `seconds`."""

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence.format(seconds // 60 + 1))
        self.seconds = max(1, seconds)


@recoverable
@action("loop")
def invite(request: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    form = InviteForm(request.POST, auto_id="invite-%s")
    if form.is_valid():
        email = form.cleaned_data["email"]
        try:
            check_inviter(request.user)
            count_mail(request, email)
            services.invite_member(loop=loop, email=email)
        except InviterUnconfirmed:
            form.add_error("email", CONFIRM_FIRST)
            return loop_page(request, loop, invite_form=form, status=403)
        except TooManyMails as refusal:
            form.add_error("email", str(refusal))
            response = loop_page(request, loop, invite_form=form, status=429)
            response["Retry-After"] = str(refusal.seconds)
            return response
        except services.AlreadyMember:
            form.add_error("email", _("This person is already in the loop"))
        except Loop.DoesNotExist:
            raise loop_gone(loop) from None
        else:
            send_mail(request, loop, email)
            return redirect("loop", loop_id=loop.pk)
    return loop_page(request, loop, invite_form=form, status=422)


@action("loop")
def resend(request: SignedInRequest, loop_id: str, member_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    invited = loop.memberships.filter(account_id=loop.creator_id, member_id=member_id)
    member = invited.filter(status=Membership.Status.PENDING).first()
    if member is None:
        raise Stale(_("This invitation is no longer open."), back="loop", loop_id=loop.pk)
    try:
        check_inviter(request.user)
        count_mail(request, member.email)
    except (InviterUnconfirmed, TooManyMails) as refusal:
        reason = str(refusal) or CONFIRM_FIRST
        messages.error(
            request,
            _("No email was sent to %(email)s. %(reason)s.")
            % {"email": member.email, "reason": reason},
        )
    else:
        send_mail(request, loop, member.email)
    return redirect("loop", loop_id=loop.pk)


@action("loop")
def remove(request: SignedInRequest, loop_id: str, member_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    if member_id == loop.creator_id:
        raise Stale(
            _("You created this loop, so you can’t be removed from it."),
            back="loop",
            loop_id=loop.pk,
        )
    try:
        review_services.remove_member(
            loop_id=loop.pk, account_id=loop.creator_id, member_id=member_id
        )
    except Loop.DoesNotExist:
        raise loop_gone(loop) from None
    except Membership.DoesNotExist:
        raise Stale(_("They’re no longer in the loop."), back="loop", loop_id=loop.pk) from None
    messages.success(request, _("Member removed. Requests they claimed are open again."))
    return redirect("loop", loop_id=loop.pk)


def send_mail(request: SignedInRequest, loop: Loop, email: str) -> None:
    """Sends the invitation and shows a message with the result."""
    if not can_send():
        text = _("%(email)s is invited. This service doesn’t send email: share the link yourself.")
        messages.warning(request, text % {"email": email})
    elif send_invitation(loop=loop, inviter=request.user, email=email):
        messages.success(request, _("Invitation sent to %(email)s.") % {"email": email})
    else:
        messages.warning(
            request,
            _(
                "%(email)s is invited, but we couldn’t send the email. Share the link yourself,"
                " or send it again later."
            )
            % {"email": email},
        )


def count_mail(request: SignedInRequest, email: str) -> None:
    """Counts an invitation. Raises TooManyMails if a limit is reached.

    Counts nothing while the cache is unreachable.
    """
    local, _, domain = email.lower().rpartition("@")
    mailbox = f"{local.partition('+')[0]}@{domain}"  # ada+1@ and ada+2@ are usually one mailbox

    def pair(*_: object) -> str:
        return f"{request.user.pk} {mailbox}"

    def recipient(*_: object) -> str:
        return mailbox

    for group, key, rate, sentence in (
        ("pair", pair, ADDRESS_RATE, TOO_MANY_TO_ADDRESS),
        ("account", "user", MAIL_RATE, TOO_MANY_INVITATIONS),
        ("ip", "ip", IP_RATE, TOO_MANY_FROM_IP),
        ("recipient", recipient, RECIPIENT_RATE, TOO_MANY_TO_RECIPIENT),
    ):
        usage = get_usage(request, f"invitation-{group}", key=key, rate=rate, increment=True)
        if usage and usage["should_limit"]:
            raise TooManyMails(sentence, usage["time_left"])
