"""Communities of Citeseer by both random walks, beside its classes.

python examples/communities.py
"""

from panconv import Adjacency, load
from panconv.tasks import communities, modularity, nmi
from panconv.tasks.communities import largest_component


def main() -> dict[str, tuple[float, float]]:
    data = load("citeseer")
    adj = Adjacency.from_edge_index(data.edge_index, num_nodes=data.num_nodes)
    nodes = largest_component(adj)
    print(f"Citeseer: six communities of the {nodes.numel()} connected nodes; every other component is one of its own")
    found = {}
    for walk in ("generic", "maximal-entropy"):
        label = communities(adj, k=6, walk=walk)
        found[walk] = modularity(adj, label), nmi(label[nodes], data.y[nodes])
        print(f"  {walk:16} modularity {found[walk][0]:.3f}, NMI with the classes {found[walk][1]:.3f}")
    return found


if __name__ == "__main__":
    main()
