"""Folders of compiled code: the user's alone, or not used."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from paddle_lite_py.core import config
from paddle_lite_py.core.private_files import NotPrivateError, private_folder, secret

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners and modes")
CODE = """
import jax, paddle_lite_py as paddle
from paddle_lite_py.core import config
print(paddle.ones([2]).tolist(), jax.config.jax_compilation_cache_dir, config.kept_in(), len(config.user_secret()))
"""


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_is_made_and_closed(tmp_path):
    assert mode(private_folder(tmp_path / "a" / "b")) == 0o700
    (tmp_path / "read").mkdir(mode=0o755)
    assert mode(private_folder(tmp_path / "read")) == 0o700


@pytest.mark.parametrize("bits", [0o777, 0o775, 0o1777])
def test_folders_that_others_can_write_to_are_refused(tmp_path, bits):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(bits)
    with pytest.raises(NotPrivateError, match="others can write to .* chmod 700"):
        private_folder(tmp_path / "open")
    assert mode(tmp_path / "open") == bits


def test_folders_of_others_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(NotPrivateError, match="belongs to another user"):
        private_folder(tmp_path)


def test_a_secret_is_made_once_and_read_by_its_owner_alone(tmp_path):
    first = secret(tmp_path / "secret")
    assert len(first) == 32 and secret(tmp_path / "secret") == first and mode(tmp_path / "secret") == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]
    (tmp_path / "secret").chmod(0o644)
    with pytest.raises(NotPrivateError, match="is no secret"):
        secret(tmp_path / "secret")


def test_an_open_cache_is_not_used_and_told_once(tmp_path):
    environment = os.environ | {config.CACHE_VARIABLE: str(tmp_path)}
    run = lambda: subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)  # noqa: E731
    assert run().stdout.split()[2:] == [str(p) for p in [*tmp_path.glob("jaxlib-*")] * 2] + ["32"]
    (folder,) = tmp_path.glob("jaxlib-*")
    folder.chmod(0o777)
    (folder / "planted").write_text("")
    done = run()
    assert done.stdout == "[1.0, 1.0] None None 32\n"
    assert done.stderr.count("compiled programs are not kept") == 1 and "others can write to" in done.stderr


def test_the_secret_is_the_users_and_outlives_the_compiled_programs(tmp_path):
    code = "from paddle_lite_py.core import config; print(config.user_secret().hex())"
    environment = os.environ | {config.CACHE_VARIABLE: str(tmp_path)}
    found = [subprocess.check_output([sys.executable, "-c", code], env=environment, text=True) for _ in range(2)]
    assert found[0] == found[1] == f"{(tmp_path / config.SECRET).read_bytes().hex()}\n"
