"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import panconv

MODULES = [m.name for m in pkgutil.walk_packages(panconv.__path__, "panconv.") if "__main__" not in m.name]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    names = {public: getattr(panconv, public) for public in panconv.__all__}
    results = doctest.testmod(module, extraglobs={"torch": torch, **names})
    assert results.failed == 0
