"""The settings. The environment is read here, once; nothing else in the code asks for it."""

import os
from pathlib import Path
from typing import Any

import django_stubs_ext

from . import environment

django_stubs_ext.monkeypatch()  # so that a view may be a ListView[Run]
BASE_DIR = Path(__file__).resolve().parent.parent
env = os.environ.get

# What the environment decides -------------------------------------------------------------------
DEBUG = environment.flag(env("DEBUG", ""))
DATA_DIR = environment.data_dir(Path(env("DATA_DIR") or BASE_DIR / "var").resolve())
DATABASE_URL = env("DATABASE_URL", "")  # empty: a SQLite file in DATA_DIR
REDIS_URL = env("REDIS_URL", "")  # empty: the channel layer of this process alone
ENGINE = env("ENGINE") or "research.engine.local.LocalEngine"
HOST = env("HOST") or "127.0.0.1"
PORT = environment.port(env("PORT", ""))
PUBLIC_URL = env("PUBLIC_URL", "").rstrip("/")  # under which address people come in
SECRET_KEY = env("SECRET_KEY") or environment.secret_key(DATA_DIR)
RESEARCH_MODEL = env("RESEARCH_MODEL") or "keyless"  # a model string, for every role
RESEARCH_MODELS = {  # … or one for a role
    role: env(f"RESEARCH_MODEL_{role.upper()}", "") for role in ("leader", "researcher", "writer")
}
SEARCH_PROVIDERS = environment.distinct(*environment.words(env("SEARCH_PROVIDERS", ""))) or [
    "library", "duckduckgo", "wikipedia", "arxiv",
]  # fmt: skip
DUCKDUCKGO_URL = env("DUCKDUCKGO_URL") or "https://html.duckduckgo.com/html/"
WIKIPEDIA_URL = (env("WIKIPEDIA_URL") or "https://{language}.wikipedia.org").rstrip("/")
ARXIV_URL = (env("ARXIV_URL") or "https://export.arxiv.org").rstrip("/")
FETCH_ALLOW_NETWORKS = environment.networks(  # besides the public ones, such as an intranet's
    "FETCH_ALLOW_NETWORKS", env("FETCH_ALLOW_NETWORKS", "")
)
FETCH_PORTS = environment.numbers("FETCH_PORTS", env("FETCH_PORTS", ""), [80, 443], 65535)
FETCH_PAGES = environment.count("FETCH_PAGES", env("FETCH_PAGES", ""), 60, 10_000)  # a run
FIRST_USER = env("SOUNDINGS_USER") or "admin"
FIRST_PASSWORD = env("SOUNDINGS_PASSWORD", "")  # empty: one is made and shown once
LOG_LEVEL = (env("LOG_LEVEL") or "INFO").upper()

# Where to find it -------------------------------------------------------------------------------
try:
    PUBLIC_ORIGIN = environment.origin(PUBLIC_URL)
except ValueError:  # the check tells
    PUBLIC_ORIGIN = ""
SECURE = PUBLIC_ORIGIN.startswith("https://")
LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = environment.words(env("ALLOWED_HOSTS", "")) or environment.distinct(
    environment.host_of(PUBLIC_ORIGIN), *LOCAL_HOSTS, environment.bracketed(HOST)
)
WEBSOCKET_ORIGINS = environment.distinct(
    PUBLIC_ORIGIN,
    *environment.origins(LOCAL_HOSTS if PUBLIC_ORIGIN else [*LOCAL_HOSTS, *ALLOWED_HOSTS], PORT),
)

# Django -----------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "project.apps.ProjectConfig",
    "research.apps.ResearchConfig",
    "streaming.apps.StreamingConfig",
    "channels",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "project.security.ContentSecurityPolicy",
    "project.security.storable_addresses",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "project.urls"
ASGI_APPLICATION = "project.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
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
            ],
        },
    },
]

try:
    DATABASES: dict[str, dict[str, Any]] = {"default": environment.database(DATABASE_URL, DATA_DIR)}
except ValueError:  # the check tells
    DATABASES = {"default": {"ENGINE": "django.db.backends.dummy"}}
try:
    CHANNEL_LAYERS = {"default": environment.channel_layer(REDIS_URL)}
except ValueError:  # the check tells
    CHANNEL_LAYERS = {"default": environment.channel_layer("")}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = ["research.signin.SignInBackend"]
LOGIN_URL = "/signin/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/signin/"

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [path for path in (BASE_DIR / "static",) if path.is_dir()]

# Only under https may a cookie be for https alone: over http nobody could sign in.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE
SESSION_COOKIE_NAME = "soundings_session"  # cookies know no ports: neighbours share the host
CSRF_COOKIE_NAME = "soundings_csrf"
LANGUAGE_COOKIE_NAME = "soundings_language"
LANGUAGE_COOKIE_AGE = 31_536_000
SESSION_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [PUBLIC_ORIGIN] if PUBLIC_ORIGIN else []
SECURE_SSL_REDIRECT = SECURE
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]  # probes come from inside, over http
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_621_440  # of a request that brings no files
MB = 1_000_000
UPLOAD_FILE_BYTES = MB * environment.count("UPLOAD_FILE_MB", env("UPLOAD_FILE_MB", ""), 20, 50)
UPLOAD_REQUEST_BYTES = MB * environment.count(
    "UPLOAD_REQUEST_MB", env("UPLOAD_REQUEST_MB", ""), 64, 1000
)
DATA_UPLOAD_MAX_NUMBER_FILES = 200
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "project.logs.OneLine"}},
    "handlers": {
        # The level again: some libraries set their own loggers to DEBUG when they are imported.
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "level": LOG_LEVEL},
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        # Django's own handlers would say everything twice, or only while debugging.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "propagate": True},
        "daphne": {"level": "WARNING"},
        # One line a request, with its URL.
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "ddgs": {"level": "WARNING"},
        "primp": {"level": "WARNING"},
    },
}

# The stream: any field of `streaming.conf.Conf`, in upper case ----------------------------------
STREAMING: dict[str, Any] = {
    "ACCESS": "research.access.may_watch",
    "AUTHENTICATE": "research.access.user_of_token",
    "STILL_IN": "research.access.still_in",
    "STILL_VISIBLE": "research.access.still_visible",
    "FOLD": "research.fold.fold",
}
