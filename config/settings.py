"""Django settings. Every value that an operator may change is an environment variable;
`.env.example` lists them all."""

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from config import database_urls, environment, logging, telemetry, variables
from config.database_urls import TimeLimits
from config.redis_urls import read_redis
from config.variables import read_number, read_seconds, read_text, require

BASE_DIR = Path(__file__).resolve().parent.parent

DATA_DIR = Path(read_text("DATA_DIR", str(BASE_DIR / ".data")))
if not read_text("DATABASE_URL") and (DATA_DIR / "env").exists():
    environment.read_file(DATA_DIR / "env")  # `make run` is running: use its servers
if not read_text("PROMETHEUS_MULTIPROC_DIR"):
    os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)  # its library takes '' for this folder

# Core

require("SECRET_KEY", "Set it to 50 or more random characters.")
SECRET_KEY = os.environ["SECRET_KEY"]  # with its space, if any: what it has signed stays valid
SECRET_KEY_FALLBACKS = variables.read_list("SECRET_KEY_FALLBACKS")
DEBUG = variables.read_switch("DEBUG")
SITE_URL = environment.read_site("SITE_URL")
_site = urlsplit(SITE_URL)
ALLOWED_HOSTS = variables.read_list("ALLOWED_HOSTS") or [str(_site.hostname)]
CSRF_TRUSTED_ORIGINS = [f"{_site.scheme}://{_site.netloc}"]
IS_HTTPS = _site.scheme == "https"
ROOT_URLCONF = "config.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
LANGUAGES = [("en", "English"), ("de", "Deutsch")]  # docs/languages.md: how one is added
LOCALE_PATHS = [BASE_DIR / "locale"]
SITE_ID = None
TRUSTED_PROXIES = read_number("TRUSTED_PROXIES", default=0, at_least=0, at_most=100)

INSTALLED_APPS = [
    "config",
    "db",
    "web",
    "accounts",
    "webhooks",
    "mailing",
    "loops",
    "reviews",
    "signin",
    "portal",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "accounts.apps.SessionsConfig",  # allauth.usersessions
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
]

MIDDLEWARE = [
    "web.observing.ObservingMiddleware",
    "web.middleware.DatabaseLimitsMiddleware",
    "web.middleware.ProbeMiddleware",
    "web.middleware.TextMiddleware",
    "web.middleware.PollingMiddleware",
    "web.middleware.TrustedProxyMiddleware",
    "web.middleware.MetricsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "api.middleware.ApiMiddleware",  # calls below /v1 skip what follows
    "web.languages.LanguageMiddleware",
    "web.middleware.HeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Lengths reveal no secret: other sites get no session, tokens are masked anew, it adds padding.
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "accounts.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.middleware.PreferencesMiddleware",
    "web.middleware.OutageMiddleware",
]

# Traces go to OTEL_EXPORTER_OTLP_ENDPOINT.
TRACING = telemetry.read_tracing()
if TRACING:
    MIDDLEWARE.insert(1, "web.tracing.TracingMiddleware")

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "web.languages.describe",
                "web.quiet.describe",
            ],
        },
    },
]

# Data

# config/asgi.py says web, config/celery.py worker.
PROCESS_KIND = variables.read_choice("PROCESS_KIND", ("command", "web", "worker"))
WEB_LOCK_SECONDS = read_seconds("WEB_LOCK_SECONDS", default=2)
WEB_DATABASE_SECONDS = read_seconds(
    "WEB_DATABASE_SECONDS", default=8, more_than=WEB_LOCK_SECONDS + 1, other="WEB_LOCK_SECONDS + 1"
)
WORKER_LOCK_SECONDS = read_seconds("WORKER_LOCK_SECONDS", default=10)
WORKER_DATABASE_SECONDS = read_seconds(
    "WORKER_DATABASE_SECONDS",
    default=300,
    more_than=WORKER_LOCK_SECONDS,
    other="WORKER_LOCK_SECONDS",
)
# a migration that waits for a lock stops everybody who comes after it
MIGRATE_LOCK_SECONDS = read_seconds("MIGRATE_LOCK_SECONDS", default=0.5)
MIGRATE_STATEMENT_SECONDS = read_seconds("MIGRATE_STATEMENT_SECONDS", default=10)
MIGRATE_PATIENCE_SECONDS = read_seconds("MIGRATE_PATIENCE_SECONDS", default=600)
DATABASE_POOLER = variables.read_choice("DATABASE_POOLER", ("", "transaction"))
_databases = database_urls.read_databases(
    require("DATABASE_URL", "Set it to postgres://user:password@host:5432/name."),
    pooler=DATABASE_POOLER,
    kind=PROCESS_KIND,
    limits={
        # the server ends a statement a second before the whole call is cut off
        "web": TimeLimits(lock=WEB_LOCK_SECONDS, statement=WEB_DATABASE_SECONDS - 1),
        "worker": TimeLimits(lock=WORKER_LOCK_SECONDS, statement=WORKER_DATABASE_SECONDS),
    }.get(PROCESS_KIND, TimeLimits(lock=30, statement=0)),
)
DATABASES = {"default": _databases.used}
DIRECT_DATABASE, POOLED_DATABASE = _databases.direct, _databases.pooled
REPLICA_DATABASE = _databases.replica

_redis = read_redis(
    require("REDIS_URL", "Set it to redis://host:6379/0 or unix:///path/redis.sock."),
    number=read_number("REDIS_DATABASE", default=0, at_least=0, at_most=9_999)
    if read_text("REDIS_DATABASE")
    else None,
)
CACHES = {"default": {"BACKEND": "web.cache.FailOpenRedisCache", **_redis.build_cache()}}
CACHES["default"]["KEY_PREFIX"] = "reviewloop"

# Accounts and sessions

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [{"NAME": "accounts.passwords.GoodPassword"}]
LOGIN_URL = "account_login"
ON_SIGN_OUT = ["reviews.notifications.services.forget_browsers"]  # accounts imports no reviews
ON_ADDRESS_CONFIRMED = ["loops.services.pass_invitations"]  # nor loops
LOGIN_REDIRECT_URL = "inbox"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # e-mail is unique by lower("email")
    "security.W005",  # HSTS for subdomains,
    "security.W021",  # and the preload list: other hosts of the operator may have no HTTPS
]
ACCOUNT_ADAPTER = "signin.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
SIGN_UP = variables.read_choice("SIGN_UP", ("open", "invited", "closed", "domains"))
SIGN_UP_DOMAINS = environment.read_domains("SIGN_UP_DOMAINS")
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_FORM_CLASS = "signin.forms.NameOfSignUp"
ACCOUNT_FORMS = {
    "add_email": "signin.password_forms.AddressForm",
    "login": "signin.password_forms.SignInForm",
    "signup": "signin.password_forms.SignUpForm",
    "reauthenticate": "signin.password_forms.PasswordReauthForm",
    "change_password": "signin.password_forms.ChangeForm",
    "set_password": "signin.password_forms.SetForm",
    "reset_password": "signin.password_forms.ForgottenForm",
    "reset_password_from_key": "signin.password_forms.ResetForm",
}
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_CONFIRM_EMAIL_ON_GET = False
ACCOUNT_LOGIN_ON_PASSWORD_RESET = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Review Loop: "
ACCOUNT_SESSION_REMEMBER = None  # people choose; accounts.session_store ends sessions
ACCOUNT_RATE_LIMITS = {
    "request_login_code": "20/m/ip,3/m/key,10/h/key,20/d/key",
    "reset_password": "20/m/ip,5/m/key,20/d/key",
    "confirm_email": "1/180s/key,20/d/key",
    # key: the address and its source, then the address alone (signin.guessing)
    "password_failed": "10/m/ip,5/5m/key",
    "password_failed_anywhere": "100/h/key",
}
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60  # seconds
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _site.scheme
MFA_ADAPTER = "signin.mfa.TwoFactorAdapter"
MFA_FORMS = {
    "activate_totp": "signin.mfa.ActivationForm",
    "authenticate": "signin.mfa.TotpSecondStepForm",
    "reauthenticate": "signin.mfa.TotpReauthForm",
    "add_webauthn": "signin.passkey_forms.PasskeyForm",
    "edit_webauthn": "signin.passkey_forms.RenameForm",
    "login_webauthn": "signin.passkey_forms.SignInForm",
    "authenticate_webauthn": "signin.passkey_forms.PasskeySecondStepForm",
    "reauthenticate_webauthn": "signin.passkey_forms.PasskeyReauthForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # fingerprint, face or PIN, also as a second step
MFA_ALLOW_UNVERIFIED_EMAIL = True  # the first proof of the mailbox ends a stranger's second factor
MFA_TOTP_ISSUER = "Review Loop"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s by which a phone's clock may differ
SESSION_ENGINE = "accounts.session_store"
SESSION_IDLE = timedelta(
    hours=read_number("SESSION_IDLE_HOURS", default=8, at_least=1, at_most=9_999)
)
SESSION_LONGEST = timedelta(
    hours=read_number("SESSION_HOURS", default=24, at_least=1, at_most=9_999)
)
REMEMBERED_IDLE = timedelta(
    days=read_number("REMEMBERED_IDLE_DAYS", default=14, at_least=1, at_most=9_999)
)
REMEMBERED_LONGEST = timedelta(
    days=read_number("REMEMBERED_DAYS", default=90, at_least=1, at_most=9_999)
)
# Browsers accept a cookie with this prefix only over HTTPS, from this host, for all of its paths.
_host_prefix = "__Host-" if IS_HTTPS else ""
SESSION_COOKIE_NAME = f"{_host_prefix}sessionid"
CSRF_COOKIE_NAME = f"{_host_prefix}csrftoken"
MESSAGE_COOKIE_NAME = f"{_host_prefix}messages"
KNOWN_BROWSER_COOKIE = f"{_host_prefix}browser"
NEW_KEY_COOKIE = "__Secure-fresh-key" if IS_HTTPS else "fresh-key"  # for the pages of keys only
MESSAGE_STORAGE = "web.message_storage.MessageStorage"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "web.error_pages.form_expired"

_email = environment.read_mail_server("EMAIL_URL")
vars().update(_email)
MAIL_SERVER_BACKEND = _email["EMAIL_BACKEND"]
if MAIL_SERVER_BACKEND == "django.core.mail.backends.smtp.EmailBackend":
    EMAIL_BACKEND = "mailing.backend.QueueBackend"  # a worker sends; no request waits for a server
EMAIL_TIMEOUT = 10  # seconds
# Where email is only printed or dropped, nobody can confirm an address.
REQUIRE_CONFIRMED_ADDRESSES = urlsplit(read_text("EMAIL_URL", "consolemail:")).scheme not in (
    "consolemail",
    "dummymail",
)
environment.check_sign_up(SIGN_UP, SIGN_UP_DOMAINS, sends_mail=REQUIRE_CONFIRMED_ADDRESSES)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = environment.read_sender(
    "DEFAULT_FROM_EMAIL", default=f"Review Loop <noreply@{_site.hostname}>"
)

# Limits

API_HOURLY_LIMIT = read_number("API_HOURLY_LIMIT", default=100, at_least=1, at_most=2**31 - 1)
REVIEW_HOURLY_LIMIT = read_number(
    "REVIEW_HOURLY_LIMIT", default=1_000, at_least=1, at_most=2**31 - 1
)
FAILED_KEY_RATE = variables.read_rate("FAILED_KEY_RATE", "1000/m")
JOIN_CODE_RATE = variables.read_rate("JOIN_CODE_RATE", "30/m")
CLAIM_LEASE_SECONDS = read_number("CLAIM_LEASE_SECONDS", default=600, at_least=1, at_most=604_800)
RATELIMIT_FAIL_OPEN = True

# What is sent: webhooks, pushes and emails

DELIVERIES_ARE_ON = variables.read_choice("DELIVERIES", ("on", "off")) == "on"
ENCRYPTION_KEYS = environment.read_fernet_keys("ENCRYPTION_KEYS")
WEBHOOK_TIMEOUT_SECONDS = read_seconds("WEBHOOK_TIMEOUT_SECONDS", default=15)
WEBHOOK_LEASE_SECONDS = read_seconds(
    "WEBHOOK_LEASE_SECONDS",
    default=60,
    more_than=WEBHOOK_TIMEOUT_SECONDS,
    other="WEBHOOK_TIMEOUT_SECONDS",
)
WEBHOOK_SCHEDULE_SCALE = read_seconds("WEBHOOK_SCHEDULE_SCALE", default=1)
WEBHOOK_PAUSE_SECONDS = read_seconds("WEBHOOK_PAUSE_SECONDS", default=30)
WEBHOOK_THREADS = read_number("WEBHOOK_THREADS", default=16, at_least=1, at_most=1_000)
WEBHOOK_PER_HOST = read_number("WEBHOOK_PER_HOST", default=4, at_least=1, at_most=1_000)
WEBHOOK_FAILURES_BEFORE_EMAIL = read_number(
    "WEBHOOK_FAILURES_BEFORE_EMAIL", default=5, at_least=0, at_most=1_000_000
)
WEBHOOK_OPEN_NETWORKS = environment.read_networks("WEBHOOK_OPEN_NETWORKS")
PUSH_OPEN_NETWORKS = environment.read_networks("PUSH_OPEN_NETWORKS")
WEBHOOK_CA_FILE = read_text("WEBHOOK_CA_FILE") or None

# Notifications

VAPID_PRIVATE_KEY = environment.read_vapid_key("VAPID_PRIVATE_KEY")
VAPID_SUBJECT = environment.read_vapid_subject("VAPID_SUBJECT", sender=DEFAULT_FROM_EMAIL)

# The API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],  # api.authentication does it
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_SCHEMA_CLASS": "api.openapi.document.ContractSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Review Loop",
    "VERSION": "1.0.0",
    "DESCRIPTION": "Programs ask people for a decision: loops, requests, answers, feedback.",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/v1",
    "PREPROCESSING_HOOKS": ["api.openapi.document.strip_slashes"],
    "POSTPROCESSING_HOOKS": ["api.openapi.document.complete"],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# Background tasks

CELERY_BROKER_URL = _redis.build_broker_url()
CELERY_BROKER_USE_SSL = _redis.tls or False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_DISABLE_PREFETCH = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # None: retry for as long as Redis is away
CELERY_TASK_PUBLISH_RETRY = False  # beat sends it again in a second; a request must not wait
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 5,
    **_redis.build_broker_options(),
}
CELERY_TASK_ROUTES = {
    "db.tasks.*": {"queue": "deadlines"},
    "reviews.tasks.*": {"queue": "deadlines"},
    "reviews.notifications.tasks.*": {"queue": "notifications"},
    "mailing.tasks.*": {"queue": "notifications"},
    "webhooks.tasks.*": {"queue": "webhooks"},
}
CELERY_BEAT_SCHEDULER = "config.beat:Scheduler"
# One tick a second starts the sweeps that have something to do (`db.sweeps`).
CELERY_BEAT_SCHEDULE = {
    "db.tasks.tick": {"task": "db.tasks.tick", "schedule": 1.0, "options": {"expires": 2.0}}
}
CELERY_BEAT_SCHEDULE["webhooks.tasks.watch_hosts"] = {
    "task": "webhooks.tasks.watch_hosts",
    "schedule": 10.0,
    "options": {"expires": 20.0},
}
CELERY_BEAT_SCHEDULE |= {
    task: {"task": task, "schedule": 600.0, "options": {"expires": 60.0}}
    for task in (
        "reviews.notifications.tasks.forget_old",
        "accounts.tasks.forget_sessions",
        "accounts.tasks.forget_responses",
        "accounts.tasks.forget_codes",
        "webhooks.tasks.forget_events",
        "reviews.tasks.prune_requests",
        "webhooks.tasks.prune_deliveries",
        "accounts.tasks.prune_logs",
    )
}

CELERY_BEAT_SCHEDULE["reviews.tasks.finish_erasing"] = {
    "task": "reviews.tasks.finish_erasing",
    "schedule": 30.0,
    "options": {"expires": 30.0},
}

# How long things are kept, in days; None is for ever. Streams read events of the last three days,
# and a delivery is retried for three: what they need stays for four at least.

KEEP_REQUESTS_DAYS = variables.read_days("KEEP_REQUESTS_DAYS", default=0, at_least=4)
KEEP_TEXTS_DAYS = variables.read_days("KEEP_TEXTS_DAYS", default=0, at_least=4)
KEEP_DELIVERIES_DAYS = variables.read_days("KEEP_DELIVERIES_DAYS", default=90, at_least=4)
KEEP_ATTEMPTS_DAYS = variables.read_days("KEEP_ATTEMPTS_DAYS", default=30, at_least=4)
KEEP_USAGE_DAYS = variables.read_days("KEEP_USAGE_DAYS", default=400, at_least=31)
KEEP_AUDIT_DAYS = variables.read_days("KEEP_AUDIT_DAYS", default=0, at_least=31)

# Static files and browsers

STATIC_URL = "/static/"
STATIC_ROOT = Path(read_text("STATIC_ROOT", str(BASE_DIR / "staticfiles")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "web.storage.StaticStorage"},
}
WHITENOISE_USE_FINDERS = not (STATIC_ROOT / "staticfiles.json").exists()
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_MAX_AGE = 3600  # seconds; files with a hash in their name never expire
# Without a trusted proxy that says how a request arrived, a redirect would never end. Programs and
# probes are not redirected: they may call from inside, and a redirect would hide a leaking key.
SECURE_SSL_REDIRECT = IS_HTTPS and TRUSTED_PROXIES > 0
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^v1/"]
HSTS_SECONDS = read_number("HSTS_SECONDS", default=31_536_000, at_least=0, at_most=315_360_000)
SECURE_HSTS_SECONDS = HSTS_SECONDS if IS_HTTPS else 0
SECURITY_CONTACT = environment.read_contact("SECURITY_CONTACT")
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "base-uri": [NONE],
        "object-src": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Logs and metrics

LOG_LEVEL = variables.read_choice("LOG_LEVEL", ("info", "debug", "warning", "error")).upper()
LOG_FORMAT = variables.read_choice("LOG_FORMAT", ("logfmt", "json"))
ACCESS_LOG = variables.read_switch("ACCESS_LOG")
SENTRY_DSN = telemetry.read_sentry_dsn()
LOGGING = logging.configure_logging(LOG_LEVEL, LOG_FORMAT, reports_errors=bool(SENTRY_DSN))
METRICS_TOKEN = read_text("METRICS_TOKEN")
METRICS_NETWORKS = environment.read_networks("METRICS_NETWORKS")
METRICS_HOST = read_text("METRICS_HOST", "127.0.0.1")
METRICS_PORT = read_number(
    "METRICS_PORT", default=0, at_least=0, at_most=65_535
)  # of the worker; 0 is none
