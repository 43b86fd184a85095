"""GET /test: checks an API key (docs/contract.md, `test`)."""

from typing import ClassVar

from django.http import HttpResponse

from api.authentication import Call
from api.envelope import ok
from api.failures import UserInformationFailed
from api.views import ApiView
from db.times import iso_from_unix


class KeyCheck(ApiView):
    """/test"""

    permissions: ClassVar = {"GET": None}
    failures: ClassVar = {"GET": UserInformationFailed}
    open_to_inactive_accounts = True

    def get(self, call: Call) -> HttpResponse:
        account, caller = call.account, call.caller
        data = {
            "api_key_id": caller.key_id,
            "user_id": account.id,
            "email": account.email,
            "account_status": "active" if account.is_active else "inactive",
            "rate_limit": {
                "limit": caller.quota.limit,
                "remaining": caller.quota.remaining,
                "reset_at": iso_from_unix(caller.quota.reset),
            },
            "permissions": caller.permissions,
        }
        return ok("API key is valid", data)
