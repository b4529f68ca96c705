import torch
from torch_geometric.data import Data
from towns import close, towns

from panconv import MET, Walks
from panconv.compute.spmm import spmm
from panconv.paper.zoo.operator import dropped, graph, operands, operator, renormalized


def test_a_base_of_the_graph_or_its_weights_as_they_stand():
    data = towns(weighted=True)
    A = torch.zeros(60, 60).index_put((data.edge_index[1], data.edge_index[0]), data.edge_weight)
    close(graph(data).to_dense(), A)
    close(operator(data, {"normalize": True}, "D⁻¹A").to_dense(), A / A.sum(1, keepdim=True))
    close(operator(data, {"normalize": False}, "D⁻¹A").to_dense(), A)
    a, a_t = operands(data, {"normalize": False}, "D⁻¹A")
    assert a.value.dtype == a_t.value.dtype == torch.float32


def test_what_the_top_k_of_the_menu_drops():
    data = towns()
    M = MET(Walks(graph(data), 2), torch.tensor([1.0, 0.5, 0.25]), 2).to_dense()
    kept = M.abs().sort(dim=1, descending=True).values[:, :3].sum()
    entry = {"method": 2, "L": 2, "weights": [1, 0.5, 0.25], "top_k": 3, "normalize": True}
    close(torch.tensor(dropped(data, entry)), 1 - kept / M.abs().sum())


def test_a_self_loop_that_is_there_stays_as_it_is():
    A = torch.tensor([[0.5, 2.0], [2.0, 0.0]])
    data = Data(x=torch.zeros(2, 1), edge_index=A.nonzero().T, edge_weight=A[A != 0])
    looped = torch.tensor([[0.5, 2.0], [2.0, 1.0]])
    root = looped.sum(1).rsqrt()
    for normalize, expected in ((True, root[:, None] * looped * root), (False, A)):
        a, a_t = renormalized(data, {"normalize": normalize})
        close(spmm(a, a_t, torch.eye(2)), expected)
