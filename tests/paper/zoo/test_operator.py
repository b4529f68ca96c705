import torch
from towns import close, towns

from panconv.paper.zoo.operator import graph, operands, operator


def test_a_base_of_the_graph_or_its_weights_as_they_stand():
    data = towns(weighted=True)
    A = torch.zeros(60, 60).index_put((data.edge_index[1], data.edge_index[0]), data.edge_weight)
    close(graph(data).to_dense(), A)
    close(operator(data, {"normalize": True}, "D⁻¹A").to_dense(), A / A.sum(1, keepdim=True))
    close(operator(data, {"normalize": False}, "D⁻¹A").to_dense(), A)
    a, a_t = operands(data, {"normalize": False}, "D⁻¹A")
    assert a.value.dtype == a_t.value.dtype == torch.float32
