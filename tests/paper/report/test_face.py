"""The page as eyes see it: on a phone and on a desk, in the light and in the dark."""

import pytest
from faces import BOXES, LOOKS, TEXTS, apart, look
from report_records import baselines, demo, on_own_graph, runs

from panconv.paper.report import write_report
from panconv.records.record import Results

ROTATED = """return [...document.querySelectorAll('svg .xtick text')].map(e => e.getAttribute('transform') || '')
  .filter(t => /rotate\\((?!0\\D)/.test(t))"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    for name, records in (("demo", demo()), ("much", runs() + baselines() + on_own_graph())):
        for model in {record.model for record in records}:
            Results(folder / name).add([record for record in records if record.model == model])
        write_report(folder / name, folder / f"{name}.html")
    return folder


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", ["demo", "much"])
def test_it_can_be_read(pages, browser, name, width, scheme):
    look(browser, pages / f"{name}.html", width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    texts = browser.execute_script(TEXTS)
    assert len(texts) > 100
    assert [text for text in texts if text[2] < 11] == []
    assert [text for text in texts if text[3] < 4.5] == []
    assert browser.execute_script(ROTATED) == []
    plots = browser.execute_script(BOXES, ".plotly-graph-div")
    assert len(plots) == {"demo": 2, "much": 4}[name]
    assert apart(plots)
    assert all(box["left"] >= 0 and box["right"] <= width for box in plots)
    if name == "much":
        titles = browser.execute_script(BOXES, "#grid caption, #grid h3, #grid figcaption")
        assert len(titles) == 2 * (3 + 2)
        assert apart(titles)


def test_what_was_run_comes_first_and_the_rest_is_folded_away(pages, browser):
    look(browser, pages / "demo.html", 1280, "light")
    browser.get((pages / "demo.html").as_uri())
    shown = browser.find_element("tag name", "body").text
    assert "not run\n" not in shown
    assert shown.splitlines()[0] == "panconv: what was run here"
    cards = [card.text.splitlines() for card in browser.find_elements("class name", "card")]
    assert [card[:2] for card in cards] == [[f"PAN on {name}", "80.0 ± 0.0"] for name in ("Cora", "Citeseer", "Pubmed")]
    assert cards[0][3:] == ["the paper 82.0, ours -2.0 ▼", "our recorded full run 82.5 ± 0.6"]
    assert cards[2][3] == "the paper 79.2, ours +0.8"
    inks = [
        browser.execute_script("return getComputedStyle(arguments[0]).color", browser.find_element("css selector", css))
        for css in (".card .recorded", ".card .big", ".card .below")
    ]
    assert len(set(inks)) == 3
    assert "Table 3: the seven methods: our recorded full run" in shown
    assert "Method 7" not in shown  # folded
    assert browser.execute_script("return document.body.textContent").count("Method 7") == 1
    assert "GAT" not in shown
    for absent in ("onm", "ranked", "weights", "grid", "own"):
        assert not browser.find_elements("id", absent)
