"""Data sets of old programs: checksums of files."""

from __future__ import annotations

import paddle_lite_py as paddle


def test_checksums_of_files(tmp_path):
    (tmp_path / "a").write_bytes(b"data")
    assert paddle.dataset.common.md5file(str(tmp_path / "a")) == "8d777f385d3dfec8815d20f7496026dc"
