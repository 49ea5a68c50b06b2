"""What the environment says, read."""

from __future__ import annotations

import stat
import string
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from project import environment

WORD = st.text(string.ascii_letters + string.digits + "@:/?#%& ü", min_size=1)


def test_no_database_url_means_a_sqlite_file_in_the_data_directory(tmp_path: Path) -> None:
    database = environment.database("", tmp_path)
    assert database["NAME"] == str(tmp_path / "soundings.sqlite3")
    assert database["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in database["OPTIONS"]["init_command"]


def test_a_sqlite_url_names_its_file(tmp_path: Path) -> None:
    assert environment.database("sqlite:////srv/a%20b.db", tmp_path)["NAME"] == "/srv/a b.db"
    assert environment.database("sqlite:///a.db", tmp_path)["NAME"] == "a.db"


@given(user=WORD, password=WORD, name=WORD)
def test_every_quoted_part_of_a_postgres_url_comes_back(
    user: str, password: str, name: str
) -> None:
    quoted = [quote(part, safe="") for part in (user, password, name)]
    url = "postgres://{}:{}@db.example:5433/{}?sslmode=require".format(*quoted)
    database = environment.database(url, Path("/"))
    assert (database["USER"], database["PASSWORD"], database["NAME"]) == (user, password, name)
    assert (database["HOST"], database["PORT"]) == ("db.example", "5433")
    assert database["OPTIONS"]["sslmode"] == "require"
    assert "lock_timeout=2s" in database["OPTIONS"]["options"]


def test_a_postgres_url_may_name_a_socket() -> None:
    database = environment.database("postgresql://me@/app?host=/run/pg", Path("/"))
    assert (database["HOST"], database["PORT"], database["USER"]) == ("/run/pg", "", "me")
    assert "host" not in database["OPTIONS"]


@pytest.mark.parametrize(
    "url", ["mysql://a/b", "postgres://host", "postgres://h:x/n", "sqlite://host/x", "nonsense"]
)
def test_a_database_url_that_means_nothing_is_told(url: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="DATABASE_URL"):
        environment.database(url, tmp_path)


def test_a_quiet_redis_connection_is_not_given_up() -> None:
    layer = environment.channel_layer("redis://127.0.0.1:6379/1")
    assert layer["BACKEND"] == "channels_redis.pubsub.RedisPubSubChannelLayer"
    assert layer["CONFIG"]["hosts"][0]["socket_timeout"] is None


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("", ""),
        ("https://a.example/", "https://a.example"),
        ("https://A.Example:443", "https://a.example"),
        ("http://b:81", "http://b:81"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
    ],
)
def test_an_origin_is_written_as_browsers_write_it(url: str, origin: str) -> None:
    assert environment.origin(url) == origin


@pytest.mark.parametrize(
    "url",
    ["a.example", "ftp://a", "https://a/b", "https://", "http://a:x", "http://[::1", "https://u@a"],
)
def test_a_public_url_that_is_no_origin_is_told(url: str) -> None:
    with pytest.raises(ValueError, match="PUBLIC_URL"):
        environment.origin(url)


def test_only_a_host_with_an_address_has_an_origin() -> None:
    hosts = ["box.lan", "[::1]", ".example.org", "a:1"]
    assert environment.origins(hosts, 8000) == ["http://box.lan:8000", "http://[::1]:8000"]


@pytest.mark.parametrize("text", ["0", "65536", "-1", "x", "8000 ", "1e3", "999999999"])
def test_a_port_that_is_none_is_told(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PORT"):
        environment.port(text)


def test_no_port_means_8000() -> None:
    assert environment.port("") == 8000


def test_the_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    key = environment.secret_key(tmp_path)
    assert len(key) >= environment.MIN_KEY
    assert environment.secret_key(tmp_path) == key
    mode = (tmp_path / environment.KEY_FILE).stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [environment.KEY_FILE]


def test_first_starts_at_the_same_time_agree_on_the_key(tmp_path: Path) -> None:
    keys: list[str] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        keys.append(environment.secret_key(tmp_path))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


def test_without_a_place_for_the_key_none_can_be_guessed(tmp_path: Path) -> None:
    nowhere = tmp_path / "file" / "below"
    (tmp_path / "file").write_text("")
    assert environment.secret_key(nowhere) != environment.secret_key(nowhere)
