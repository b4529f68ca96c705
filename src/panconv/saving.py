"""Models on disk: safetensors for the numbers, JSON for the rest, no pickles; written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from panconv.files import check_writable, replacing

_FORMAT = "panconv-model-1"


def save(folder: str | Path, config: dict[str, Any], state: dict[str, Tensor]) -> None:
    """Writes config and state into a folder, which is made if it is not there."""
    from safetensors.torch import save_file  # training alone needs no such package

    folder = Path(folder)
    text = json.dumps({"format": _FORMAT, **config}, indent=2) + "\n"
    check_writable(folder / "model.safetensors")
    with replacing(folder / "model.safetensors") as path:
        save_file({name: tensor.contiguous() for name, tensor in state.items()}, path)
    with replacing(folder / "config.json") as path:
        path.write_text(text)


def load(folder: str | Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The config and state that `save` wrote."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(folder)
    try:
        config = json.loads((folder / "config.json").read_text())
        if not isinstance(config, dict) or config.pop("format", None) != _FORMAT:
            raise ValueError(f'config.json does not say "format": "{_FORMAT}"')
        return config, load_file(folder / "model.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise ValueError(f"{folder} holds no saved model: {error}") from None
