"""What the environment gave to the tests, read before they change it."""

import os

DATABASE_URL = os.environ.get("DATABASE_URL", "")
REDIS_URL = os.environ.get("REDIS_URL", "")

# A person's own settings must not decide what a test sees.
NOT_FOR_TESTS = (
    "ALLOWED_HOSTS", "DEBUG", "ENGINE", "FETCH_ALLOW_NETWORKS", "FETCH_PAGES",
    "FETCH_PORTS", "HOST", "PORT", "PUBLIC_URL",
    "RESEARCH_MODEL", "SEARCH_PROVIDERS", "SECRET_KEY", "SOUNDINGS_PASSWORD", "SOUNDINGS_USER",
)  # fmt: skip
