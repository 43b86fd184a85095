"""The URLs below /accounts/ for signing up, signing in and securing an account."""

from django.urls import include, path

from signin import code
from signin.email import email_addresses

urlpatterns = [
    path("email/", email_addresses, name="account_email"),
    path("login/code/", code.sign_in_by_code, name="sign-in-by-code"),
    path("login/code/confirm/", code.type_code, name="type-code"),
    path("signup/code/", code.sign_up_by_code, name="sign-up-by-code"),
    path("", include("allauth.account.urls")),
    path("2fa/", include("allauth.mfa.urls")),
]
