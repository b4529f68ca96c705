from panconv.paper.zoo.method import Method, stack, walks


def test_settings_on_a_graph_and_on_m_of_it():
    method = Method("GCN", "", {"a": 1, "b": 2}, {"cora": {"a": 3}}, on_m={"cora": {"b": 4}})
    assert method.on("mine") == method.on("mine", m=True) == {"a": 1, "b": 2}
    assert method.on("cora") == {"a": 3, "b": 2}
    assert method.on("cora", m=True) == {"a": 3, "b": 4}


def test_figures_are_those_of_the_table_where_it_has_the_method():
    assert Method("GCN", "", {}).paper == (81.5, 70.3, 79.0)
    assert Method("Graph-CNN", "", {}).in_table2
    assert (Method("ours", "", {}).paper, Method("ours", "", {}).in_table2) == ((None,) * 3, False)


def test_shared_settings():
    assert stack(lr=0.1, K=2) == {**stack(), "lr": 0.1, "K": 2}
    assert stack().keys() - stack(None, normalize=None).keys() == {"hidden", "normalize"}  # what it has no use for
    assert walks("negative", p=2.0) == {**walks("hierarchical"), "loss": "negative", "p": 2.0}
