import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

settings.register_profile(
    "panconv", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("panconv")
torch.set_num_threads(1)  # the tests run side by side,
os.environ["OMP_NUM_THREADS"] = "1"  # and so do the programs that they start
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # the kernels of a GPU run here too, slowly


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def scripts(monkeypatch):
    """Imports a script of benchmarks/, and leaves no trace of it: some share their names with modules of the tests."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture(scope="session")
def browser():
    """A real one, started once."""
    chromium, chromedriver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("no Chromium with its driver on this machine")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"):
        options.add_argument(flag)
    options.add_argument("--disable-background-networking")
    options.add_argument("--disable-component-update")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()
