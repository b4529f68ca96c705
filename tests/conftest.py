import os

import pytest
import torch
from hypothesis import HealthCheck, settings

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
