"""Models on disk: one safetensors file with the config in its metadata, no pickles; written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from torch import Tensor

from panconv.base.checks import shown
from panconv.base.files import check_writable, replacing

_KEY = "panconv"  # of the metadata; a single one, since safetensors writes several in any order
_FORMAT = "panconv-model-2"
_FOLDER_FORMAT = "panconv-model-1"  # a folder of model.safetensors, without metadata, and config.json
_LARGEST_HEADER = 2**22  # bytes; a reader may hold thirty times as much while it parses


def file_of(path: str | Path) -> Path:
    """The file of a model: `path` itself if it ends in .safetensors, else model.safetensors in the folder `path`."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be a folder or a .safetensors file, got {path!r}")
    path = Path(path)
    return path if path.suffix == ".safetensors" and not os.path.isdir(path) else path / "model.safetensors"


def save(path: str | Path, config: dict[str, Any], state: dict[str, Tensor], form: str = _FORMAT) -> None:
    """Writes config and state into one file; folders on the way are made."""
    from safetensors.torch import save as serialised  # training alone needs no such package

    file = file_of(path)
    check_writable(file)
    text = json.dumps({"format": form, **config}, default=_plain, separators=(",", ":"))
    content = serialised({name: tensor.contiguous() for name, tensor in state.items()}, {_KEY: text})
    if (length := _length(content[:8])) > _LARGEST_HEADER:  # nothing is written that `load` refuses
        raise ValueError(
            f"the model's settings and tensor names take {length:,} bytes, more than the {_LARGEST_HEADER:,} that a "
            "file may have: name the path weights by their kind, or save fewer trials"
        )
    with replacing(file) as temporary:
        temporary.write_bytes(content)
    _remove_former_config(file)


def load(path: str | Path, form: str = _FORMAT, again: str = "PAN.save") -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The config and state that `save` wrote. The tensors lie in the file until they are copied."""
    from safetensors import safe_open

    file = file_of(path)
    with refusing(file, again):
        if file.exists() and not file.is_file():  # opening a pipe would wait for its other end
            raise ValueError("it is not an ordinary file")
        with file.open("rb") as opened:
            check_header(opened)
        with safe_open(file, framework="pt") as opened:
            text = (opened.metadata() or {}).get(_KEY)
            config = _parsed(text, form) if text is not None else _config_beside(file)
            return config, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118


@contextmanager
def refusing(file: Path, again: str = "PAN.save") -> Iterator[None]:
    """Turns whatever is wrong with a file's content into one line that names the file, and what writes such."""
    from safetensors import SafetensorError

    try:
        yield
    except RecursionError:
        reason = "its config is nested too deeply"
    except OSError as error:
        reason = error.strerror or str(error)
    except (ValueError, TypeError, KeyError, OverflowError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
    except MemoryError:
        reason = "it needs more memory than there is"
    else:
        return
    reason = reason if len(reason) <= 300 else reason[:300] + "…"
    raise ValueError(f"{file} holds no saved model: {reason}; name another, or save it again with {again}")


def check_header(opened: BinaryIO) -> None:
    """Refuses what is not a safetensors file, or has a header that is too long, before anything is parsed."""
    start, size = opened.read(8), os.fstat(opened.fileno()).st_size
    if len(start) < 8 or _length(start) > size - 8:
        raise ValueError(f"it is cut short or no safetensors file, with {size} bytes")
    if _length(start) > _LARGEST_HEADER:
        raise ValueError(f"its header has {_length(start):,} bytes, more than {_LARGEST_HEADER:,}")


def _length(start: bytes) -> int:
    """Of the header, which its first eight bytes tell."""
    return int.from_bytes(start, "little")


def _config_beside(file: Path) -> dict[str, Any]:
    """The config of the former format, which lay beside the tensors."""
    beside = file.with_name("config.json")
    if file.name != "model.safetensors" or not beside.is_file():
        raise ValueError("it has no config in its metadata")
    with beside.open("rb") as opened:
        content = opened.read(_LARGEST_HEADER + 1)
    if len(content) > _LARGEST_HEADER:
        raise ValueError(f"config.json has more than {_LARGEST_HEADER:,} bytes")
    return _parsed(content, _FOLDER_FORMAT)


def _parsed(text: str | bytes, form: str) -> dict[str, Any]:
    config = json.loads(text)
    if not isinstance(config, dict) or config.pop("format", None) != form:
        raise ValueError(f'its config does not say "format": "{form}"')
    return config


def _remove_former_config(file: Path) -> None:
    """Removes the config of a model of the former format that has just been replaced: it no longer describes one."""
    with suppress(OSError, ValueError, RecursionError):
        _config_beside(file)  # of that format and no other: some other config.json is not ours to take
        file.with_name("config.json").unlink()


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy and torch as plain JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"the model's settings must be plain to be saved, got {shown(value)} in them")
