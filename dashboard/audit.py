"""The page of the audit log: who did what to this account."""

from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.actions import describe_action
from accounts.models import AuditEntry, User
from accounts.queries import AuditFilter, read_audit
from dashboard.forms.audit import AuditFilterForm
from web.days import midnight
from web.guards import SignedInRequest, page
from web.keyset import KeysetPage, read_cursor
from web.languages import translate
from web.replica import prefer_replica


@page
@prefer_replica
def audit(request: SignedInRequest) -> HttpResponse:
    filters = AuditFilterForm(request.GET, auto_id="filter-%s")
    window, status = KeysetPage([]), 422
    if filters.is_valid():
        chosen, after = filters.cleaned_data, read_cursor(request)
        audit_filter = AuditFilter(
            kind=chosen["kind"],
            who=chosen["who"],
            since=chosen["since"] and midnight(chosen["since"]),
            until=chosen["until"] and midnight(chosen["until"], days_later=1),
        )
        window, status = read_audit(request.user, filters=audit_filter, after=after), 200
    context = {
        "filters": filters,
        "is_filtered": any(filters[name].value() for name in filters.fields),
        "window": window,
        "days_kept": settings.KEEP_AUDIT_DAYS,
        "entries": [describe_entry(entry, request.user) for entry in window.rows],
    }
    return render(request, "dashboard/audit.html", context, status=status)


def describe_entry(entry: AuditEntry, reader: User) -> dict[str, Any]:
    """Returns the parts of the entry's sentence: who did what, and whether it failed."""
    return {
        "entry": entry,
        "who": format_actor(entry.actor, reader),
        "what": translate(describe_action(entry.action)),
        "is_failure": entry.action.endswith("failed"),
    }


def format_actor(actor: User | None, reader: User) -> str:
    """Returns the name under which the reader knows the actor."""
    if actor is None:
        return _("Someone")
    if actor.pk == reader.pk:
        return _("You")
    return (
        _("The operator (%(email)s)") % {"email": actor.email}
        if actor.is_staff
        else actor.name or actor.email
    )
