"""What was aimed at: how many times faster than each peer, on which machine and where."""

from __future__ import annotations

from collections.abc import Mapping

BIG, MIDDLE, SMALL = "power law 1 M / 20 M", "power law 200 k / 4 M", "128 molecules"
CSR, GATHER = "torch CSR", "PyG gather-scatter"
LOOP, PROPAGATE = "torch CSR loop", "GPRGNN's scheme"
POWERS, EACH = "explicit powers, as PANConv", "explicit powers, each × x"

# Device, F, dtype → at least so many times faster than cuSPARSE in one product on the big graph.
PRODUCT = {
    ("cuda", 16, "float32"): 2.5,
    ("cuda", 16, "bfloat16"): 2.5,
    ("cuda", 64, "float32"): 1.75,
    ("cuda", 64, "bfloat16"): 2.5,
    ("cuda", 128, "float32"): 1.25,
    ("cuda", 128, "bfloat16"): 1.9,
}
# Device, graph → peer → at least so many times faster forward + backward, L = 3.
WHOLE = {
    ("cuda", BIG): {LOOP: 2.0, PROPAGATE: 10.0},
    ("cuda", SMALL): {LOOP: 3.0, PROPAGATE: 3.0},
    **{("cpu", g): {LOOP: 1.3, PROPAGATE: 8.0, POWERS: 50.0} for g in ("cora", "citeseer", "pubmed", MIDDLE)},
}


def goal_for(record: Mapping[str, object], peer: str, device: str) -> float | None:
    """The least ratio aimed at, or None where none was named."""
    if record["benchmark"] == "product" and record["graph"] == BIG and device == "cuda":
        return 10.0 if peer == GATHER else PRODUCT.get((device, record["F"], record["dtype"])) if peer == CSR else None
    if record["benchmark"] == "whole" and record["L"] == 3:
        return WHOLE.get((device, record["graph"]), {}).get(peer)
    return None


def memory_goal(L: int, low: bool) -> float:
    """Peak of forward + backward below this many N·F·4 bytes, the graph apart."""
    return 6.0 if low else L + 6.0


GROWTH = 2.0  # time per edge, largest over smallest, once past the caches
# Device, graph → ten trials side by side at least so many times faster than ten PyG GCN runs.
TRAINING = {("cpu", "cora"): 15.0, ("cpu", "citeseer"): 15.0, ("cpu", "pubmed"): 8.0}
TABLE3_SECONDS = 60.0  # the whole of Table 3 on a GPU
