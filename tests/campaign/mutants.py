"""Planted mistakes, to see that the campaign sees: each is one change of the core's text, and each must be caught.

    python -m campaign.mutants [NAME …]

A mutant is applied to a copy of the package in a temporary folder, and the campaign is run on the copy. Its first
failure that the unchanged core does not show catches the mutant.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CASES, SEED, SECONDS = 2500, 77, 900  # of eleven methods: the rarest mistake shows after 2,004


class Mutant(NamedTuple):
    """A change of a file of the package: the first `old` in it becomes `new`."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = [
    Mutant("transpose forgotten", "compute/spmm.py", "grad_x = product(*a_t, *a, g)", "grad_x = product(*a, *a_t, g)"),
    Mutant(
        "entry gradient of the sender",
        "compute/spmm.py",
        "return (g[rows_of(crow, col.numel())] * x[col]).sum(-1)",
        "return (x[rows_of(crow, col.numel())] * g[col]).sum(-1)",
    ),
    Mutant(
        "Horner's first weight",
        "compute/series.py",
        "keep = weights[n - 2] if self.by_node else",
        "keep = weights[n - 1] if self.by_node else",
    ),
    Mutant(
        "gradient of the lengths by one too many",
        "compute/series_gradient.py",
        "all_dots.append(_weighted_sum(dots, right))",
        "all_dots.append(_weighted_sum(dots, None))",
    ),
    Mutant(
        "low memory weighs the dots",
        "compute/series_gradient.py",
        "return torch.stack(dots if how.by_node else [_weighted_sum(dot, outer) for dot in dots])",
        "return torch.stack(dots if how.by_node else [_weighted_sum(dot, None) for dot in dots])",
    ),
    Mutant(
        "adjoint without its outer factor",
        "met/plan.py",
        "inner = y if self.factors.outer is None else _times(self.factors.outer, y)",
        "inner = y",
    ),
    Mutant(
        "method 6 takes one right for all",
        "met/plan.py",
        "(self.factors.right[n] if self.right_varies else self.factors.right)[col]",
        "(self.factors.right[0] if self.right_varies else self.factors.right)[col]",
    ),
    Mutant(
        "adjoint of method 6",
        "met/plan.py",
        "sum_of(map(_times, self._rights(), self._adjoint_of_each(scaled)))",
        "sum_of(self._adjoint_of_each(scaled))",
    ),
    Mutant("matrix by the sender", "met/plan.py", "value * self.factors.outer[row]", "value * self.factors.outer[col]"),
    Mutant(
        "the product of powers from the wrong side",
        "paths/walks.py",
        "product = torch.sparse.mm(step, product).coalesce()",
        "product = (step + product).coalesce()",
    ),
    Mutant("walks adjoint not transposed", "paths/walks.py", "= spmm(b_t, b, total)", "= spmm(b, b_t, total)"),
    Mutant(
        "exponents of counts not shifted",
        "paths/walks.py",
        "weight * _power(shift) * value[a.col]",
        "weight * value[a.col]",
    ),
    Mutant(
        "scaled step by the receiver",
        "paths/walks.py",
        "(self._exponent[n - 1][sender] - now[receiver])",
        "(self._exponent[n - 1][receiver] - now[receiver])",
    ),
    Mutant(
        "self-avoiding paths forget their weight",
        "paths/self_avoiding.py",
        "value[path] * edges.value[edge]",
        "edges.value[edge]",
    ),
    Mutant(
        "zero edges join", "paths/formed.py", "& (a.value.detach() != 0)", "& (a.value.detach() == a.value.detach())"
    ),
    Mutant("formed adjoint not transposed", "paths/formed.py", "operands(y.dtype)[::-1], y)", "operands(y.dtype), y)"),
    Mutant(
        "merged paths do not add",
        "paths/formed.py",
        "total = value.new_zeros(len(key), *value.shape[1:]).index_add(0, entry, value)",
        "total = value.new_zeros(len(key), *value.shape[1:]).index_copy(0, entry, value)",
    ),
    Mutant("a path may visit twice", "paths/self_avoiding.py", "for before in visited:", "for before in visited[1:]:"),
    Mutant("longer than shortest", "paths/shortest.py", "table[found] = True", "table.zero_()[found] = True"),
    Mutant("effective length w", "paths/levels.py", "return 1 / adj.value", "return adj.value"),
    Mutant(
        "levels of length one off", "paths/levels.py", "place[self._class[part]]", "place[self._class[part].flip(0)]"
    ),
    Mutant(
        "levels adjoint backwards",
        "paths/levels.py",
        "before = before.index_add_(0, col, flat[row.unsqueeze(1) * U.size(1) + at])",
        "before = before.index_add_(0, row, flat[col.unsqueeze(1) * U.size(1) + at])",
    ),
    Mutant(
        "temperature squared",
        "weights/power_law.py",
        "energy, beta = self._energy(lengths), self._beta()",
        "energy, beta = lengths.double(), self._beta()",
    ),
    Mutant(
        "trials mixed up",
        "weights/path_weights.py",
        "return w.mT if w.dim() == 2 else w",
        "return w.mT.flip(-1) if w.dim() == 2 else w",
    ),
    Mutant(
        "degrees by columns",
        "graph/csr.py",
        "return self.value.new_zeros(self.crow.numel() - 1).index_add(0, self.row(), self.value)",
        "return self.value.new_zeros(self.crow.numel() - 1).index_add(0, self.col, self.value)",
    ),
    Mutant(
        "a loop that is there counts once",
        "graph/bases.py",
        "value = blank.scatter(0, place, ones + more)",
        "value = blank.scatter(0, place, ones)",
    ),
    Mutant(
        "directed taken for symmetric",
        "graph/pattern.py",
        "mirrored = torch.equal(self.crow, crow) and torch.equal(self.col, col)",
        "mirrored = torch.equal(self.crow, crow)",
    ),
    Mutant(
        "the transpose's values in their old order",
        "graph/operands.py",
        "return CSR(crow, col, a.value.index_select(0, perm))",
        "return CSR(crow, col, a.value)",
    ),
    Mutant(
        "sender and receiver swapped",
        "graph/reading.py",
        "edges = torch.stack([col, row]).long()",
        "edges = torch.stack([row, col]).long()",
    ),
    Mutant("method 9 scaled as method 8", "met/methods.py", '9: Method("D^−½AD^−½"', '9: Method("D⁻¹A"'),
    Mutant("method 11 as method 10", "met/methods.py", '11: Method("D⁻¹A"', '11: Method("D^−½AD^−½"'),
]


def text_of(mutant: Mutant) -> str:
    """The file that a mutant changes, as it is."""
    return (ROOT / "src" / "panconv" / mutant.file).read_text(encoding="utf-8")


def planted(mutant: Mutant | None, folder: Path) -> Path:
    """A copy of the package with a mutant in it."""
    source = folder / "src"
    shutil.copytree(ROOT / "src" / "panconv", source / "panconv", ignore=shutil.ignore_patterns("__pycache__"))
    if mutant is not None:
        text = text_of(mutant)
        if mutant.old not in text:
            raise LookupError(f"mutant {mutant.name!r}: {mutant.file} no longer has {mutant.old!r}; plant it anew")
        file = source / "panconv" / mutant.file
        file.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")
    return source


def failures(mutant: Mutant | None, cases: int = CASES, seed: int = SEED, known: str = "") -> set[str]:
    """The replays that fail on a mutant, or on the core as it is; with known ones, up to the first other."""
    with tempfile.TemporaryDirectory() as folder:
        source = planted(mutant, Path(folder))
        paths = os.pathsep.join([str(source), str(ROOT / "tests")])
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "campaign.mutants", "--run", str(cases), str(seed), known]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        return {f"it does not even run: {done.stderr.strip().splitlines()[-1] if done.stderr else done.returncode}"}
    return set(json.loads(done.stdout.splitlines()[-1]))


def _run(cases: int, seed: int, known: str) -> None:
    """In the copy: the replays that fail. With a file of known ones, up to the first that is not among them."""
    import torch

    from campaign.cases import case
    from campaign.run import one
    from campaign.tally import Tally

    torch.set_num_threads(1)
    before = None if not known else set(json.loads(Path(known).read_text()))
    found, tally = set(), Tally()
    for index in range(cases):
        made = case(seed, index)
        if made.problem.L > 120 or (made.problem.L == 120 and made.problem.method == 6):
            continue  # seconds each
        if one(made, tally, "cpu", False):
            found.add(made.replay)
            if before is not None and made.replay not in before:
                break
    print(json.dumps(sorted(found)))


def main(names: list[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    survived = []
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "known.json"
        before = failures(None)
        known.write_text(json.dumps(sorted(before)))
        print(f"the core as it is: {len(before)} failures in {CASES} cases", flush=True)
        for mutant in chosen:
            new = failures(mutant, known=str(known)) - before
            print(f"{'caught' if new else 'SURVIVED'}: {mutant.name} {min(new, default='')}", flush=True)
            survived += [mutant.name] * (not new)
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants caught")
    return 1 if survived else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.exit(main(sys.argv[1:]))
