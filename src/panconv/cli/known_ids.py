"""known.json: of which nodes a model learned the label, as salted hashes of their ids. Imports no torch.

The model folder holds no ids by itself, and `panconv predict` has to know which labels were learned from. Nothing but
`panconv fit` writes the file, so answers that are written elsewhere never change what is known.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

FILE = "known.json"
_SALT, _DIGEST = 16, 16  # bytes
_LARGEST = 2**30  # bytes; a known id takes 37


def text_of(ids: Iterable[str]) -> str:
    """The content of the file: in the order of the hashes, which tells nothing of the order in the table."""
    salt = secrets.token_bytes(_SALT)
    return json.dumps({"salt": salt.hex(), "known": sorted(_hashed(ids, salt))}, indent=0) + "\n"


def learned_from(ids: Sequence[str], folder: Path) -> list[bool] | None:
    """Of which of these nodes the label was learned from; None where the folder does not say, having no such file."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("too large")
        content = json.loads(path.read_text(encoding="utf-8"))
        salt, known = bytes.fromhex(content["salt"]), content["known"]
        if not isinstance(known, list):
            raise TypeError("no list")
        known = frozenset(known)
        return [each in known for each in _hashed(ids, salt)]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ValueError(f"{path} is not what panconv fit wrote: put that back, or take it out of the folder") from None


def _hashed(ids: Iterable[str], salt: bytes) -> list[str]:
    return [blake2b(each.encode(), digest_size=_DIGEST, key=salt).hexdigest() for each in ids]
