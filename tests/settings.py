"""The settings of the tests: the project's own, in a directory that goes away afterwards.

The tests run embedded, on a SQLite file and the in-memory layer, unless `TEST_ON=servers` keeps
the DATABASE_URL and REDIS_URL of the environment (`python -m tests.rig` brings them).
"""

import atexit
import os
import shutil
import tempfile

from tests.rig import given

if os.environ.get("TEST_ON") != "servers":
    os.environ.update(DATABASE_URL="", REDIS_URL="")
os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="soundings-test-")
atexit.register(shutil.rmtree, os.environ["DATA_DIR"], ignore_errors=True)
for name in given.NOT_FOR_TESTS:
    os.environ.pop(name, None)
os.environ["SEARCH_PROVIDERS"] = "library"  # a test that asks for more brings its own web

from project.settings import *  # noqa: E402, F403
from project.settings import DATA_DIR, DATABASES  # noqa: E402

# A file: a SQLite database in memory, shared between threads, fails at once with "table is locked".
DATABASES["default"]["TEST"] = (
    {"NAME": str(DATA_DIR / "test.sqlite3")} if "sqlite" in DATABASES["default"]["ENGINE"] else {}
)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
