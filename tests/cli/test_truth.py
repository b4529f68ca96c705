"""--truth is read as the labels are that a model learns from."""

import warnings

import pytest

from panconv.cli.truth import truth_in


def truth(folder, text, regression=False):
    (folder / "truth.csv").write_text(text)
    return truth_in(folder / "truth.csv", regression).known


def test_classes(tmp_path, capsys):
    with pytest.warns(UserWarning, match="truth.csv, line 3, column 'class': 'NA' may be a class or say that there is"):
        assert truth(tmp_path, "node,class,more\na,x,1\nb,NA,2\nc,,3\n") == {"a": "x", "b": None, "c": None}
    assert "the label is in 'class'" in " ".join(capsys.readouterr().out.split())
    assert truth(tmp_path, "real,id\nx,a\ny,b\n") == {"a": "x", "b": "y"}  # of two columns the one that has no ids
    with pytest.warns(UserWarning, match="line 4, column 'id': the id 'a' stands there a second time"):
        assert truth(tmp_path, "id,label,more\na,x,1\nb,y,2\na,x,3\n") == {"a": "x", "b": "y"}
    with pytest.raises(ValueError, match="line 3, column 'label': the id 'a' stood in line 2, with another value here"):
        truth(tmp_path, "id,label\na,x\na,y\n")
    with pytest.raises(ValueError, match="has no column 'label': name that of the labels so"):
        truth(tmp_path, "id,one,two\na,x,y\n")


def test_numbers(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert truth(tmp_path, "id;label\na;-1\nb;0,5\nc;?\nd;NA\n", True) == {"a": -1, "b": 0.5, "c": None, "d": None}
    with pytest.raises(ValueError, match=r"truth.csv, line 3, column 'label': 'abc' is no number"):
        truth(tmp_path, "id,label\na,1\nb,abc\n", True)
