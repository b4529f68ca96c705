import json

import pytest
from report_records import baselines, runs, trained
from run_records import make
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from panconv.paper.figures.band import band
from panconv.paper.report import summary, write_report
from panconv.paper.report.page import page as html
from panconv.paper.tables import cells
from panconv.records.record import Results


def test_cells_are_means_of_the_right_trainings():
    rows = {row.name: row for row in summary.table3(runs())}
    cora = rows["Method 3"].cells[0]
    assert cora.mean == pytest.approx(71)
    assert cora.std == pytest.approx(1)
    assert cora.difference == pytest.approx(71 - 80.8)
    assert cora.below
    assert rows["Method 5 (grid search)"].cells[0].mean == pytest.approx(83)
    assert rows["Method 5 (grid search)"].cells[0].weights == [0.5, 1.0, 2.0]
    assert not rows["Method 5 (grid search)"].cells[0].below
    assert rows["Method 1"].cells[0].mean is None
    pan = summary.table1(runs())[-1]
    assert pan.cells[0].mean == pytest.approx(82)
    assert pan.cells[0].trials == 10
    assert pan.cells[2].mean is None
    assert len(summary.table2(runs())) == 25


def test_trainings_of_another_kind_do_not_get_into_a_cell():
    how = cells.pan_tasks("cora", 1)[0].settings
    others = [
        make(seed, test_accuracy=0.1, weights=weights, settings={**how, **change})
        for seed in (0, 1000)
        for weights in ([0.0, 1.0, 1.0], [1.0, 1.0, 1.0])
        for change in ({"epochs": 201}, {"hidden": 2})
    ]
    assert summary.table1(others + runs()) == summary.table1(runs())
    assert summary.table3(others + runs()) == summary.table3(runs())
    assert summary.grid(others + runs(), "cora") == summary.grid(runs(), "cora")
    assert summary.table1(others)[-1].cells[0].mean is None


def test_a_quick_look_does_not_stand_for_the_real_thing():
    quick = [trained(job, test_accuracy=0.1) for job in cells.method_tasks("cora", 3, 1, quick=True)]
    assert {r.name: r for r in summary.table3(quick + runs())}["Method 3"].cells[0].mean == pytest.approx(71)
    alone = {r.name: r for r in summary.table3(quick)}["Method 3"].cells[0]
    assert alone.mean == pytest.approx(10)
    assert alone.below  # by more than 1.5 points: no baseline would get away with it


def test_who_converges_faster_is_read_off_the_data():
    gcn = [trained(job, accuracy_curve=[0.2, 0.3, 0.9]) for job in cells.gcn_tasks(3)]
    pan = [trained(job) for job in cells.pan_tasks("cora", 10)]
    figure = summary.figure2(pan + gcn)
    assert summary.convergence(figure["PAN"]) == 2  # .7 of a final .6
    assert summary.convergence(figure["GCN"]) == 3
    assert "PAN converges faster than GCN here" in summary.convergence_line(figure)
    assert "slower" in summary.convergence_line({"PAN": figure["GCN"], "GCN": figure["PAN"]})
    assert "Run both" in summary.convergence_line({})
    quick = [trained(job) for job in cells.pan_tasks("cora", 3, quick=True)]
    for short, words in (
        ({"PAN": figure["PAN"][:2], "GCN": figure["GCN"]}, "2 and 3 trials of at most 200 epochs"),
        ({"PAN": quick, "GCN": figure["GCN"]}, "3 and 3 trials of at most 10 or 200 epochs"),
    ):
        assert summary.convergence_line(short) == (
            f"A first look ({words}): 3 trials each, of equal epochs, would say who converges sooner."
        )


def test_the_grid_is_ranked_by_validation_accuracy():
    quick, points = summary.grid(runs(), "cora")
    assert not quick
    assert len(points) == 27
    assert points[0].weights == [0.5, 1.0, 2.0]
    assert points[0].val_accuracy == pytest.approx(0.75)
    assert summary.grid(runs(), "pubmed") == (True, [])


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    Results(folder / "results").add(runs())
    Results(folder / "results" / "zoo").add(baselines())
    return write_report(folder / "results", folder / "report.html")


def test_everything_shown_names_its_command():
    names = [name for name, _ in summary.origins(runs())]
    for name in (
        "Method 3, Cora",
        "Method 5 (grid search), Citeseer",
        "PAN, Cora",
        "Grid search, Cora",
        "Figure 2, GCN on Cora",
    ):
        assert name in names
    assert all(cell.command == "panconv" for _, cell in summary.origins(runs()))
    assert dict(summary.origins(runs()))["Grid search, Cora"].trials == 81


def test_the_page_is_self_contained(page):
    text = page.read_text()
    outside = text.replace("http://www.w3.org", "")
    start = outside.index("</script>")  # behind the plotting library
    assert "http://" not in outside[start:]
    assert "https://" not in outside[start:]


def column(browser, table, index):
    return [
        r.find_elements(By.TAG_NAME, "td")[index].text
        for r in browser.find_elements(By.CSS_SELECTOR, f"{table} table.sortable tbody tr")
    ]


def test_in_a_real_browser(page, browser):
    browser.set_window_size(1200, 900)
    browser.get(page.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert column(browser, "#table3", 0)[0].splitlines() == ["Method 3", "below on Cora"]
    # Sorting: by a click, by the keyboard, both ways; rows that were not run stay last.
    head = browser.find_elements(By.CSS_SELECTOR, "#table2 thead button")[2]
    head.click()
    papers = [float(v) for v in column(browser, "#table2", 2)]
    assert papers == sorted(papers)
    head.send_keys("\n")
    papers = [float(v) for v in column(browser, "#table2", 2)]
    assert papers == sorted(papers, reverse=True)
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    browser.find_elements(By.CSS_SELECTOR, "#table2 thead button")[1].click()
    assert column(browser, "#table2", 1)[-1] == "–"  # Graph-CNN was run on Citeseer alone
    # Baselines: how each came out, the note beside its name, ours where the paper has none, and what M changes.
    lines = [name.splitlines() for name in column(browser, "#table2", 0)]
    first = {name.rstrip("0123456789"): marks for name, *marks in lines}  # the number of its note after the name
    assert first["SGC"] == ["below on Cora"]
    assert first["MLP"] == ["above by more than 3 on Cora"]
    citeseer = dict(zip(column(browser, "#table2", 0), column(browser, "#table2", 5), strict=True))
    (name,) = (name for name in citeseer if name.startswith("Graph-CNN"))
    assert citeseer[name] == "66.0 ± 0.0"
    number = name.splitlines()[0].removeprefix("Graph-CNN")
    note = browser.find_element(By.ID, f"table2-note-{number}")
    assert "ten-fold" in note.get_attribute("textContent")
    assert len(browser.find_elements(By.CSS_SELECTOR, "#table2 .notes li")) == 2  # MLP's, Graph-CNN's
    assert column(browser, "#onm", 2) == ["82.3 ± 1.2\nmethod 1,\nw = 1 0.3 0.1, top 32"]
    assert column(browser, "#onm", 3) == ["+1.3 ± 0.6"]
    # The ranked plot has a point for each method with results, best first, and PAN stands out.
    marks = browser.execute_script(
        "return document.getElementById('ranked-cora').data.map(d => [d.name, [...d.x], [...d.y], d.marker.color])"
    )
    (_, others, below, ink), (name, pan, at, highlight), (_, papers, _, _) = marks
    assert (name, pan, at) == ("PAN, ours", pytest.approx([82]), [0])
    assert others == pytest.approx([81, 78, 59])
    assert below == [1, 2, 3]
    assert papers == [82.0, 81.5, 81.0, 55.1]
    assert highlight != ink
    assert "rank 1 of 4" in browser.find_element(By.ID, "ranked-cora").text
    assert browser.find_elements(By.CSS_SELECTOR, "#ranked-cora svg.main-svg")
    assert not browser.find_elements(By.ID, "ranked-pubmed")  # nothing was run there
    # The figures are drawn, with values on hover.
    for name in ("figure2", "figure2-loss"):
        assert browser.find_elements(By.CSS_SELECTOR, f"#{name} svg.main-svg"), name
    data = browser.execute_script(
        "return JSON.stringify(document.getElementById('figure2').data.map(d => d.hovertemplate))"
    )
    assert any("epoch" in (hover or "") for hover in json.loads(data))
    # On a phone nothing sticks out of the page.
    browser.set_window_size(400, 800)
    fits = "return document.documentElement.scrollWidth <= window.innerWidth"
    WebDriverWait(browser, 10).until(lambda b: b.execute_script(fits))  # the figures follow in their own time


def test_in_the_dark(page, browser):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    browser.get(page.as_uri())
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 26)"
    ink = browser.execute_script("return document.getElementById('figure2').layout.font.color")
    assert ink == browser.execute_script("return getComputedStyle(document.body).color")


def test_trainings_that_turned_nan_are_told_from_the_others():
    jobs = cells.pan_tasks("cora", 3)
    lost = trained(jobs[0], best_epoch=0, val_loss=None, loss_curve=[], accuracy_curve=[])  # never had a finite loss
    late = trained(jobs[1], best_epoch=1, loss_curve=[0.5, None, None], path_weights=[[None, 1.0, 1.0]] * 2)
    well = trained(jobs[2])
    assert band([lost, late, well], "loss_curve", 2.0)[1] == [1.5, 1.0, 1.2]
    assert band([lost, late], "loss_curve", 1.0)[0] == [1]
    assert summary.cell([late, well], None).path_weights[0] == [0.0, 1.0, 1.0]
    assert summary.figure2([lost, late]) == {"PAN": [late]}
    assert summary.figure2([lost]) == {}
    assert "Table 1" in html([lost, late, well])
