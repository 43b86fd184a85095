"""The URLs below /accounts/ for signing up, signing in and securing an account."""

from allauth.account.views import email_verification_sent, password_reset_done
from allauth.mfa.recovery_codes.views import generate_recovery_codes
from allauth.mfa.totp.views import activate_totp, deactivate_totp
from django.urls import include, path, re_path

from signin import code, passkeys
from signin.confirm import ConfirmAddress
from signin.confirming import confirm_by_code
from signin.email import email_addresses
from signin.locking import removable, while_locked
from signin.mfa import SecondStep
from signin.passwords import set_password
from signin.reset import ForgottenPassword, ResetPassword, only_with_mail
from signin.sign_up import SignUp

PASSKEY = "2fa/webauthn/keys/<int:pk>/"

urlpatterns = [
    path("email/", email_addresses, name="account_email"),
    path("confirm-email/<str:key>/", ConfirmAddress.as_view(), name="account_confirm_email"),
    path(
        "confirm-email/",
        only_with_mail(email_verification_sent),
        name="account_email_verification_sent",
    ),
    path("password/reset/", ForgottenPassword.as_view(), name="account_reset_password"),
    path(
        "password/reset/done/",
        only_with_mail(password_reset_done),
        name="account_reset_password_done",
    ),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        ResetPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path("login/code/", code.sign_in_by_code, name="sign-in-by-code"),
    path("login/code/confirm/", code.type_code, name="type-code"),
    path("password/set/", set_password, name="account_set_password"),
    path("reauthenticate/code/", confirm_by_code, name="confirm-by-code"),
    path("signup/", SignUp.as_view(), name="account_signup"),
    path("signup/code/", code.sign_up_by_code, name="sign-up-by-code"),
    path("", include("allauth.account.urls")),
    path("2fa/webauthn/", passkeys.passkeys, name="mfa_list_webauthn"),
    path("2fa/webauthn/add/", while_locked(passkeys.AddPasskey.as_view()), name="mfa_add_webauthn"),
    path("2fa/webauthn/login/", passkeys.SignInWithPasskey.as_view(), name="mfa_login_webauthn"),
    path(
        "2fa/webauthn/reauthenticate/",
        passkeys.ConfirmWithPasskey.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path(
        f"{PASSKEY}edit/",
        removable(passkeys.RenamePasskey.as_view()),
        name="mfa_edit_webauthn",
    ),
    path(
        f"{PASSKEY}remove/",
        removable(passkeys.RemovePasskey.as_view()),
        name="mfa_remove_webauthn",
    ),
    path("2fa/totp/activate/", while_locked(activate_totp), name="mfa_activate_totp"),
    path("2fa/totp/deactivate/", removable(deactivate_totp), name="mfa_deactivate_totp"),
    path(
        "2fa/recovery-codes/generate/",
        while_locked(generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path("2fa/authenticate/", SecondStep.as_view(), name="mfa_authenticate"),
    path("2fa/", include("allauth.mfa.urls")),
]
