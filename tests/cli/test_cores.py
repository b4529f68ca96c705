import os
import subprocess
import sys

import pytest

from panconv.cli.cores import granted, settle

# What a fresh program finds in its environment once the command line is there, and torch with it.
SHOW = "import os, panconv.cli, torch; print(os.environ.get('GOMP_SPINCOUNT'), os.environ.get('OMP_WAIT_POLICY'))"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1000 None"),
        ({"OMP_WAIT_POLICY": "active"}, "None active"),
        ({"GOMP_SPINCOUNT": "7"}, "7 None"),
    ],
)
def test_the_command_line_waits_shortly_unless_told_otherwise(given, expected):
    names = ("GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OMP_WAIT_POLICY")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    run = subprocess.run([sys.executable, "-c", SHOW], env={**environment, **given}, capture_output=True, text=True)
    assert run.stdout.strip() == expected, run.stderr


def test_a_program_that_has_torch_keeps_its_settings():
    environment = {}
    settle(environment)
    assert environment == {}


@pytest.mark.parametrize(
    ("files", "group", "expected"),
    [
        ({}, "0::/", None),
        ({"cpu.max": "max 100000"}, "0::/", None),
        ({"cpu.max": "250000 100000"}, "0::/", 2),
        ({"cpu.max": "50000 100000"}, "0::/", 1),
        ({"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}, "0::/a/b", 3),
        ({"cpu/x/cpu.cfs_quota_us": "400000", "cpu/x/cpu.cfs_period_us": "100000"}, "4:cpu,cpuacct:/x", 4),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, "4:cpu:/", None),
        ({"cpu.max": "100000 100000"}, None, 1),
        ({"cpu.max": "nonsense"}, "0::/", None),
    ],
)
def test_the_quota_of_a_container(tmp_path, files, group, expected):
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    if group is not None:
        (tmp_path / "own").write_text(group + "\n")
    assert granted(tmp_path / "root", tmp_path / "own") == expected
