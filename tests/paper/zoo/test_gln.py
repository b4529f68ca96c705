import torch
from torch.testing import assert_close as close
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import gln


def test_it_is_linear_propagation():
    data, _ = small()
    model = gln.network(settings("gln"), 8, 2).eval()
    torch.nn.init.normal_(model.first.bias)
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    A = adj.base("Â").to_dense()
    W = model.first.lin.weight.T @ model.second.lin.weight.T
    constant = A @ (model.first.bias @ model.second.lin.weight.T).expand(60, -1)
    close(model(data.x, adj), A @ A @ data.x @ W + constant)
    close(model(-data.x, adj) + model(data.x, adj), 2 * constant)


def test_the_weights_can_be_the_operator():
    data, _ = small()
    model = gln.network(settings("gln", normalize=False), 8, 2).eval()
    M = torch.rand(60, 60) * (torch.rand(60, 60) < 0.1)
    W = model.first.lin.weight.T @ model.second.lin.weight.T
    close(model(data.x, Adjacency.from_sparse(M.to_sparse())), M @ M @ data.x @ W)
