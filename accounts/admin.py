"""The operator's pages at /admin/: accounts, keys, tokens, usage and audit log, without secrets.

The site is separate from Django's default site, on which other apps would register their tables.
"""

from functools import wraps
from typing import Any

from allauth.mfa.utils import is_mfa_enabled
from django.contrib import admin, messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model, PositiveIntegerField, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import operator_services, review_tokens, services
from accounts.models import ApiKey, AuditEntry, ReviewToken, UsageRow, User
from web.number_fields import WholeNumberField

NO_SECOND_FACTOR = (
    "This account can change all others, but only a password protects it. Turn on two-factor"
    " sign-in under Account."
)


class OperatorSite(admin.AdminSite):
    """Django's admin behind our sign-in, which has throttles and two-factor sign-in."""

    site_title = site_header = "Review Loop, operator"
    index_title = "Administration"
    site_url = "/dashboard/"
    enable_nav_sidebar = False

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        guarded = super().admin_view(view, cacheable)

        def without_nul(request: HttpRequest, *args: Any, **ids: Any) -> HttpResponse:
            # Django passes ids and filters to PostgreSQL unchecked, and PostgreSQL refuses NUL
            if "\0" in request.path or "%00" in request.META["QUERY_STRING"]:
                raise Http404
            response: HttpResponse = guarded(request, *args, **ids)
            return response

        return wraps(view)(without_nul)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if request.user.is_authenticated and not self.has_permission(request):
            raise PermissionDenied
        return redirect_to_login(request.GET.get("next") or request.path)

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("account_logout")

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("account_change_password")

    def index(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not is_mfa_enabled(request.user):
            messages.warning(request, NO_SECOND_FACTOR)
        return super().index(request, extra_context)


class PermanentRowsAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Refuses to add and delete rows."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        """Allows only the page's own filters; others could reveal a password hash bit by bit."""
        return lookup in {f"{field}__exact" for field in self.list_filter}


class ReadOnlyAdmin(PermanentRowsAdmin):
    """Also refuses to change rows."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


_NUMBERS: Any = {PositiveIntegerField: {"form_class": WholeNumberField}}


class AccountAdmin(PermanentRowsAdmin):
    list_display = ("email", "name", "is_active", "is_staff", "hourly_limit", "created_at")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email", "name", "id")
    ordering = ("-created_at",)
    readonly_fields = ("id", "email", "name", "is_staff", "last_login", "created_at")
    fields = (*readonly_fields, "is_active", "hourly_limit")
    actions = ("end_two_factor",)
    formfield_overrides = _NUMBERS

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        actor = get_operator(request)
        if "is_active" in form.changed_data:
            if obj.pk == actor.pk:
                messages.error(request, "You can’t disable your own account.")
            else:
                operator_services.switch_account(account=obj, is_active=obj.is_active, actor=actor)
        if "hourly_limit" in form.changed_data:
            operator_services.limit_account(account=obj, hourly_limit=obj.hourly_limit, actor=actor)

    @admin.action(description="Turn off two-factor sign-in (lost phone and codes)")
    def end_two_factor(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        ended = [
            account.email
            for account in queryset
            if operator_services.end_two_factor(account=account, actor=get_operator(request))
        ]
        messages.info(request, f"Turned off for: {', '.join(ended) or 'nobody'}.")


class KeyAdmin(PermanentRowsAdmin):
    list_display = ("__str__", "name", "user", "state", "hourly_limit", "expires_at", "created_at")
    list_filter = ("state",)
    list_select_related = ("user",)
    search_fields = ("name", "last_four", "user__email")
    ordering = ("-created_at",)
    readonly_fields = (
        "id", "user", "name", "prefix", "last_four", "permissions", "state", "expires_at",
        "replaced_by", "created_at",
    )  # fmt: skip
    fields = (*readonly_fields, "hourly_limit")
    actions = ("revoke",)
    formfield_overrides = _NUMBERS

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        if "hourly_limit" in form.changed_data:
            operator_services.limit_key(
                key=obj, hourly_limit=obj.hourly_limit, actor=get_operator(request)
            )

    @admin.action(description="Revoke permanently")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        revocable = queryset.filter(state__in=[ApiKey.State.ACTIVE, ApiKey.State.INACTIVE])
        for key in revocable:
            services.set_key_state(key=key, state=ApiKey.State.REVOKED, actor=get_operator(request))
        messages.info(request, f"Revoked: {len(revocable)}.")


class ReviewTokenAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "name", "user", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("name", "last_four", "user__email")
    ordering = ("-created_at",)
    exclude = ("digest", "hour", "calls", "shown_at")
    actions = ("revoke",)

    @admin.action(description="Revoke permanently")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ReviewToken]) -> None:
        revoked = [
            token
            for token in queryset
            if review_tokens.revoke(
                user_id=token.user_id, token_id=token.pk, actor_id=get_operator(request).pk
            )
        ]
        messages.info(request, f"Revoked: {len(revoked)}.")


class UsageAdmin(ReadOnlyAdmin):
    list_display = ("key", "hour", "calls", "credits", "last_at")
    list_select_related = ("key",)
    search_fields = ("key__user__email", "key__name", "key__last_four")
    ordering = ("-hour", "key")


class AuditAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "account", "actor", "action", "subject", "key", "ip")
    list_select_related = ("account", "actor", "key")
    search_fields = ("account__email", "action", "subject")
    ordering = ("-created_at", "-id")


def get_operator(request: HttpRequest) -> User:
    """Returns the operator, the only person whom `admin_view` lets in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


site = OperatorSite(name="admin")
site.register(User, AccountAdmin)
site.register(ApiKey, KeyAdmin)
site.register(ReviewToken, ReviewTokenAdmin)
site.register(UsageRow, UsageAdmin)
site.register(AuditEntry, AuditAdmin)
