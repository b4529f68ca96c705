"""run.toml: what is written is read again, and what is not understood is refused by name."""

import pytest

from panconv.cli.run_file import Run, read_run, text_of


def test_what_is_written_is_read_again(tmp_path):
    (tmp_path / "model").mkdir()
    for name in ("edges.csv", 'no"de\\s.csv'):
        (tmp_path / name).write_text(f"{name}\n")
    odd = 'to"p\\ic\t\x7fé名🙂'
    run = Run(str(tmp_path / "edges.csv"), str(tmp_path / 'no"de\\s.csv'), source="a b", label=odd, directed=True)
    run = run.but(head="pan", budget="5m", seed=3, regression=False, device="cpu")
    text = text_of(run, tmp_path / "model")
    (tmp_path / "model" / "run.toml").write_text(text, encoding="utf-8")
    again = read_run(tmp_path / "model")
    assert again.but(sha256={}) == run
    assert again.changed() == []
    assert 'edges = "../edges.csv"' in text
    assert text_of(again, tmp_path / "model") == text
    (tmp_path / "edges.csv").write_text("other\n")
    assert again.changed() == [str(tmp_path / "edges.csv")]


def test_both_can_be_moved_together(tmp_path):
    (tmp_path / "here" / "model").mkdir(parents=True)
    (tmp_path / "here" / "edges.csv").write_text("a,b\n")
    run = Run(str(tmp_path / "here" / "edges.csv"))
    (tmp_path / "here" / "model" / "run.toml").write_text(text_of(run, tmp_path / "here" / "model"))
    (tmp_path / "here").rename(tmp_path / "there")
    assert read_run(tmp_path / "there" / "model").edges == str(tmp_path / "there" / "edges.csv")
    elsewhere = tmp_path / "elsewhere" / "model"
    run = Run(str(tmp_path / "there" / "edges.csv"))
    assert f'edges = "{tmp_path}/there/edges.csv"' in text_of(run, elsewhere)


def test_what_is_typed_counts_more():
    run = Run("e.csv", "n.csv", label="x", head="pan", seed=1)
    assert run.but(label="y", head=None, seed=0) == Run("e.csv", "n.csv", label="y", head="pan", seed=0)
    assert run.columns == {"label": "x"}
    assert Run("cora").tables == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[grahp]\n", "'grahp' is no section: did you mean 'graph'?"),
        ("[fit]\nhaed = 'pan'\n", "'haed' is no key of [fit]: did you mean 'head'?"),
        ("[fit]\nzzz = 1\n", "'zzz' is no key of [fit]: there are head, regression, budget, seed, device"),
        ("[fit]\nseed = '1'\n", "seed of [fit] must be a whole number, got '1'"),
        ("[fit]\nseed = true\n", "seed of [fit] must be a whole number, got True"),
        ("[fit]\nbudget = 300\n", 'budget of [fit] must be a text, in "quotes", got 300'),
        ("[graph]\ndirected = 'no'\n", "directed of [graph] must be true or false, got 'no'"),
        ("fit = 3\n", "fit must be a section, [fit], got 3"),
        ("[fit\n", "is no TOML"),
        ("\xff", "is no TOML"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path, text, message):
    path = tmp_path / "run.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"run\.toml") as raised:
        read_run(path)
    assert message in str(raised.value)
    with pytest.raises(ValueError, match=r"did you mean '.*run\.toml'"):
        read_run(tmp_path / "rum.toml")
    path.write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(ValueError, match="larger than a run"):
        read_run(path)
