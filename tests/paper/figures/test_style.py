import pytest

from panconv.paper.figures.palette import BLUE
from panconv.paper.figures.style import canvas, curve, ruled, save


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_same_picture_is_the_same_file(tmp_path, ending):
    written = []
    for name in ("one", "two"):
        figure = canvas(3, 2)
        curve(ruled(figure.subplots()), [1, 2], [3, 4], [0.5, 1], BLUE, alpha=0.25, label="a mean")
        save(figure, tmp_path / f"{name}.{ending}")
        written.append((tmp_path / f"{name}.{ending}").read_bytes())
    assert written[0] == written[1]
    assert len(list(tmp_path.iterdir())) == 2  # nothing else is left behind
