"""Run a command with a Postgres and a Valkey beside it: `python -m tests.rig pytest -m both`."""

import os
import subprocess
import sys

from . import given
from .backends import Postgres, Valkey

with Postgres(given.DATABASE_URL) as postgres, Valkey(given.REDIS_URL) as valkey:
    env = {"TEST_ON": "servers", "DATABASE_URL": postgres.url, "REDIS_URL": valkey.url}
    code = subprocess.call([sys.executable, "-m", *sys.argv[1:]], env=os.environ | env)
sys.exit(code)
