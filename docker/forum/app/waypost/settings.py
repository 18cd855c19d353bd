"""Settings of the forum: MariaDB, sessions in signed cookies, nothing from outside."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/srv/forum")
BASE = Path(__file__).resolve().parent

# A replica has no secrets: fixed keys make every container accept the sessions of every other.
SECRET_KEY = "arena-forum-replica-key-which-protects-nothing-0123456789"
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_X_FORWARDED_HOST = False
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
APPEND_SLASH = False

SITE_NAME = "Waypost"

INSTALLED_APPS = ["waypost.apps.WaypostConfig"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "waypost.session.MemberMiddleware",
]
ROOT_URLCONF = "waypost.urls"
WSGI_APPLICATION = "waypost.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE / "templates"],
        "OPTIONS": {"environment": "waypost.templating.environment", "auto_reload": False},
    }
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": "forum",
        "USER": "arena",
        "OPTIONS": {
            "unix_socket": "/run/forum/mariadb.sock",
            "charset": "utf8mb4",
            "init_command": "SET sql_mode='STRICT_TRANS_TABLES'",
        },
        "ATOMIC_REQUESTS": True,
        "CONN_MAX_AGE": None,
    }
}
FILE_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024  # whatever nginx lets through: no file of its own
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_COOKIE_NAME = "waypost_session"
SESSION_COOKIE_AGE = 10 * 365 * 24 * 3600
CSRF_COOKIE_NAME = "waypost_csrf"
CSRF_FAILURE_VIEW = "waypost.views.errors.stale_form"
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["stderr"], "level": "ERROR"},
    "loggers": {"django": {"level": "ERROR"}},  # refusals are answers, not errors
}
