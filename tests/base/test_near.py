"""What was probably meant."""

from panconv.base.near import missing_file, nearest


def test_the_nearest_name():
    assert nearest("lable", ["id", "Label"]) == "Label"
    assert nearest("q", ["id", "Label"]) is None


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "edges.csv").write_text("")
    line = str(missing_file(tmp_path / "egdes.csv", "edges"))
    assert line == f"edges '{tmp_path}/egdes.csv' is not there: did you mean '{tmp_path}/edges.csv'?"
    assert "cannot be read" in str(missing_file(tmp_path / "no" / "such.csv", "edges"))
    assert str(tmp_path.resolve()) in str(missing_file(tmp_path / "qqq", "edges"))
