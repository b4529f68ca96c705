"""What has moved is found where it was."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from panconv.moved import MOVED

LAYERS = Path(__file__).parent / "fixtures/layers-0.pt"


@pytest.mark.parametrize("old", MOVED)
def test_a_module_is_found_under_its_old_name(old):
    new = importlib.import_module(f"panconv.{MOVED[old]}")
    assert importlib.import_module(f"panconv.{old}") is new
    assert new.__name__ == new.__spec__.name == f"panconv.{MOVED[old]}"


def test_modules_below_a_folder_that_moved():
    from panconv.experiments.operators import run
    from panconv.zoo import METHODS, trainer

    for old, new in (("zoo.gcn", "paper.zoo.gcn"), ("experiments.settings", "paper.settings")):
        assert importlib.import_module(f"panconv.{old}") is importlib.import_module(f"panconv.{new}")
    assert callable(run)
    assert callable(trainer)
    assert len(METHODS) >= 24


def test_names_that_the_pages_gave():
    from panconv.experiments.localisation import draw_localisation
    from panconv.files import replacing
    from panconv.zoo.menu import MENU

    assert all(map(callable, (draw_localisation, replacing)))
    assert MENU


def test_what_was_never_there_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"panconv\.nonsense"):
        importlib.import_module("panconv.nonsense")


def test_old_names_cost_no_import_of_torch():
    code = "import sys, panconv.results, panconv.report; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_layers_that_were_saved_whole_before_the_move_load():
    saved = torch.load(LAYERS, weights_only=False)  # our own file
    for name, layer in saved["layers"].items():
        torch.testing.assert_close(layer(saved["x"], saved["edge_index"]), saved["outputs"][name], msg=name)
    assert saved["graph"].num_nodes == 4
