import errno
import os
import sys

import pytest
from full_disk import largest_file

from panconv.base import folders
from panconv.base.folders import replacing_folder


def write(path, text="new", check=lambda former: None):
    with replacing_folder(path, check) as temporary:
        (temporary / "file").write_text(text)
        (temporary / f"{text} alone").write_text("")


def test_a_folder_appears_whole_and_takes_the_place_of_another(tmp_path):
    path = tmp_path / "a" / "model"
    with replacing_folder(path, lambda former: None) as temporary:
        (temporary / "file").write_text("old")
        assert not path.exists()
    assert os.listdir(tmp_path / "a") == ["model"]
    write(path)
    assert sorted(os.listdir(path)) == ["file", "new alone"]
    assert os.listdir(tmp_path / "a") == ["model"]
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    os.symlink(path, tmp_path / "link")
    write(tmp_path / "link", "newer")
    assert (tmp_path / "link").is_symlink()
    assert (path / "file").read_text() == "newer"


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
@pytest.mark.parametrize("mode", [0o700, 0o750, 0o775])
def test_permissions_stay(tmp_path, mode):
    write(tmp_path / "model", "old")
    (tmp_path / "model").chmod(mode)
    with replacing_folder(tmp_path / "model", lambda former: None) as temporary:
        assert temporary.stat().st_mode & 0o777 == mode  # while it is written to, too
    assert (tmp_path / "model").stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("exchanging", [True, False])
@pytest.mark.parametrize("empty", [True, False])
def test_what_gets_into_the_former_folder_meanwhile_is_kept(tmp_path, monkeypatch, exchanging, empty):
    def check(former):
        if (former / "mine").exists():
            raise ValueError(f"{former} holds mine")

    path, swap = tmp_path / "model", folders._swap
    path.mkdir() if empty else write(path, "old")

    def late(new, place):
        if not (new / "mine").exists():
            (place / "mine").write_text("mine")
        swap(new, place)

    monkeypatch.setattr(folders, "_swap", late)
    if not exchanging:
        monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    with pytest.raises(ValueError, match=rf"^{path} holds mine$"):
        write(path, check=check)
    assert (path / "mine").read_text() == "mine"
    assert sorted(os.listdir(path)) == (["mine"] if empty else ["file", "mine", "old alone"])
    assert os.listdir(tmp_path) == ["model"]


def test_where_two_folders_cannot_change_places(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "_exchanged", lambda one, other: False)
    write(tmp_path / "model", "old")
    write(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == ["file", "new alone"]
    rename, calls = os.rename, []

    def failing(one, other):
        calls.append(other)
        if len(calls) == 2:
            raise OSError(errno.EIO, "broken")
        rename(one, other)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(ValueError, match=r"cannot write .*model"):
        write(tmp_path / "model", "newest")
    assert sorted(os.listdir(tmp_path / "model")) == ["file", "new alone"]
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere two folders do not change places in one call")
def test_readers_see_one_folder_or_the_other(tmp_path, monkeypatch):
    write(tmp_path / "model", "old")
    monkeypatch.setattr(os, "rename", None)  # which would leave an instant without any
    write(tmp_path / "model")
    assert (tmp_path / "model" / "file").read_text() == "new"


def test_what_goes_wrong_leaves_the_former_folder(tmp_path):
    write(tmp_path / "model", "old")
    with pytest.raises(UnicodeEncodeError):
        write(tmp_path / "model", "\ud800")
    with largest_file(2), pytest.raises(ValueError, match=r"cannot write .*model: the file would be larger"):
        write(tmp_path / "model")

    def refuse(former):
        raise ValueError("not ours")

    with pytest.raises(ValueError, match="not ours"):
        write(tmp_path / "model", check=refuse)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"cannot write .*file: it is a file; name a folder"):
        write(tmp_path / "file")
    with pytest.raises(ValueError, match=r"cannot write .*cannot be written to"):
        write(tmp_path / "file" / "below")
    assert (tmp_path / "model" / "file").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["file", "model"]
