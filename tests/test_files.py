import os
from pathlib import Path

import pytest

from panconv.files import check_writable, replacing


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), replacing(path) as temporary:  # noqa: PT012
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o444 == 0o444


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    check_writable(tmp_path / "new" / "folder" / "file")
    with pytest.raises(ValueError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(ValueError, match="cannot be written to"):
        check_writable(tmp_path / "file" / "below")
    with pytest.raises(ValueError, match="cannot be written to"):
        check_writable(Path("/proc/nowhere/file"))  # even for root
    assert os.listdir(tmp_path) == ["file"]
    with replacing(tmp_path / "new" / "folder" / "file") as temporary:
        temporary.write_text("made")
    assert (tmp_path / "new" / "folder" / "file").read_text() == "made"
