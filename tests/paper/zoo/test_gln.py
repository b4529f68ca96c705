import torch
from torch.testing import assert_close as close
from zoo_graph import settings, small

from panconv import Adjacency
from panconv.paper.zoo import gln
from panconv.paper.zoo.operator import renormalized
from panconv.paper.zoo.stack import edges


def test_it_is_linear_propagation():
    data, _ = small()
    model = gln.network(settings("gln"), 8, 2, *renormalized(data, {})).eval()
    torch.nn.init.normal_(model.first.bias)
    adj = Adjacency.of(data.edge_index, num_nodes=60)
    A = adj.base("Â").to_dense()
    W = model.first.lin.weight.T @ model.second.lin.weight.T
    constant = A @ (model.first.bias @ model.second.lin.weight.T).expand(60, -1)
    close(model(data.x, adj), A @ A @ data.x @ W + constant)
    close(model(-data.x, adj) + model(data.x, adj), 2 * constant)


def test_the_weights_can_be_the_operator():
    data, _ = small()
    M = torch.rand(60, 60) * (torch.rand(60, 60) < 0.1)
    adj, how = Adjacency.from_sparse(M.to_sparse()), settings("gln", normalize=False)
    data.edge_index, data.edge_weight = edges(adj)
    model = gln.network(how, 8, 2, *renormalized(data, how)).eval()
    W = model.first.lin.weight.T @ model.second.lin.weight.T
    close(model(data.x, adj), M @ M @ data.x @ W)
