from panconv.paper.zoo import METHODS
from panconv.paper.zoo.menu import MENU, in_words, menu


def test_where_m_has_a_place():
    on_m = {"LP", "DeepWalk", "ChebNet", "DCNN", "node2vec", "MoNet", "GCN", "Graph-CNN", "FastGCN", "GLN", "LNet"}
    on_m |= {"AdaLNet", "SGC", "GWNN", "GAT"} | {"APPNP", "S²GC", "N-GCN", "LINE", "Harmonic function"}
    assert {method.title for method in METHODS.values() if method.met} == on_m
    assert menu(METHODS["mlp"]) == []
    assert menu(METHODS["deepwalk"]) == [{"walk": "maximal-entropy"}]
    assert {each["method"] for each in menu(METHODS["gwnn"])} == {2, 5}  # a symmetric operator alone
    assert sum(not each["normalize"] for each in menu(METHODS["gcn"])) == 2
    assert all(each["normalize"] for each in menu(METHODS["gat"]))  # it takes the pattern alone
    words = [in_words(each) for each in menu(METHODS["gcn"])]
    assert len(set(words)) == len(words)
    assert words[0] == in_words(MENU[0].plain()) == "method 2, w = 1 1 1, top 32"
    assert words[-1].endswith(", as it stands")
