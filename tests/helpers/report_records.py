"""Records of trainings that never were, enough for every part of the report."""

from baseline_records import on_m, own
from run_records import make

from panconv.paper.tables import cells
from panconv.records.ranking import Point


def trained(job, **outcome):
    return make(**vars(job), **{"path_weights": [[0.0, 1.0, 1.0][: job.operator["L"] + 1]] * 2, **outcome})


def runs():
    """A small set of everything: methods, a grid, its winner, PAN and GCN."""
    done = {}
    for dataset in ("cora", "citeseer"):
        for method in (3, 4):
            for job in cells.method_tasks(dataset, method, 3):
                done[job.key()] = trained(job, test_accuracy=0.7 + 0.01 * job.seed)
        for job in cells.grid_tasks(dataset):
            good = job.weights == [0.5, 1.0, 2.0]
            done[job.key()] = trained(job, test_accuracy=0.5, val_accuracy=0.75 if good else 0.6)
        for job in cells.pan_tasks(dataset, 10):
            done[job.key()] = trained(job, test_accuracy=0.82)
        for job in cells.winner_tasks(dataset, Point({"weights": [0.5, 1.0, 2.0]}, 0.0, 0.0, 0.0), 2):
            done[job.key()] = trained(job, test_accuracy=0.83)
    done |= {job.key(): trained(job, accuracy_curve=[0.2, 0.3, 0.9]) for job in cells.gcn_tasks(3)}
    return list(done.values())


def baselines():
    """Three on Cora, GCN also on M, and one on Citeseer where the paper has no figure of it."""
    found = own("gcn", "cora", [80.0, 81.0, 82.0]) + on_m("gcn", "cora", [81.0, 83.0, 83.0], best=1)
    found += own("sgc", "cora", [78.0] * 10) + own("mlp", "cora", [59.0] * 10)
    return found + own("graph_cnn", "citeseer", [66.0] * 10)


def demo(trials=10):
    """What make demo trains: PAN on three graphs, and GCN on Cora."""
    tasks = [job for name in ("cora", "citeseer", "pubmed") for job in cells.pan_tasks(name, trials)]
    curves = {"accuracy_curve": [0.2 + 0.006 * n for n in range(100)], "loss_curve": [2 - 0.01 * n for n in range(100)]}
    return [trained(job, **curves, best_epoch=100, test_accuracy=0.8) for job in tasks + cells.gcn_tasks(trials)]


def on_own_graph(dataset="/data/my graphs/town", trials=3, **changes):
    """What `panconv train FOLDER --results` leaves."""
    command = "panconv train '/data/my graphs/town' --method 7 --L 3 --trials 3 --results results"
    operator = {"method": 7, "L": 3, "weights": {"kind": "boltzmann", "energies": [2.0, 0.0, 0.0, 0.0]}}
    spec = {**operator, "dataset": dataset, "command": command, "path_weights": [[0.1, 0.2, 0.3, 0.4]] * 2, **changes}
    return [make(seed, test_accuracy=0.6 + 0.01 * seed, **spec) for seed in range(trials)]
