"""How good the bound on a cutoff is: beside the share of Z that the paths beyond L have by sums over 600 lengths.

python examples/cutoff.py
"""

from panconv import MET, Adjacency, PowerLaw, Walks, load
from panconv.spectral import cutoff, sufficient_length

LAWS = [(1.0, 0.2), (1.0, 0.3), (1.0, 0.35), (2.0, 1.0)]  # α, T
LENGTHS = (1, 2, 5, 10, 15, 20, 40)


def main(graphs: tuple[str, ...] = ("cora", "citeseer"), long: int = 600) -> list[float]:
    factors = []
    for name in graphs:
        data = load(name, sparse=True)
        adj = Adjacency.of(data.edge_index, num_nodes=data.num_nodes)
        for alpha, T in LAWS:
            shares = MET(Walks(adj, long), PowerLaw(long, alpha, T, trained=False), method=1).shares()
            beyond = [float(shares[L + 1 :].sum(0).max()) for L in range(60)]
            print(f"{name}, E(n) = n^{alpha:g}, T = {T:g}: bound, truth, their quotient")
            for L in LENGTHS:
                bound = cutoff(MET(Walks(adj, L), PowerLaw(L, alpha, T, trained=False), method=1)).bound
                if beyond[L] > 0:
                    factors.append(bound / beyond[L])
                    print(f"  L = {L:2}  {bound:8.2g}  {beyond[L]:8.2g}  {factors[-1]:5.1f}")
            M = MET(Walks(adj, 1), PowerLaw(1, alpha, T, trained=False), method=1)
            needed = next(L for L in range(60) if beyond[L] <= 1e-3)
            print(
                f"  at most 0.001 from L = {sufficient_length(M, 1e-3)} on by the bound, from L = {needed} on in truth"
            )
    return factors


if __name__ == "__main__":
    main()
