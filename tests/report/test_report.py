import json
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from test_results import make

from panconv.report import summary, write_report
from panconv.results import Results

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


def runs():
    """A small set of everything: methods, a grid, its winner, PAN and GCN."""
    found = []
    for dataset in ("cora", "citeseer"):
        for seed in range(3):
            found += [
                make(seed, dataset=dataset, method=m, weights="free", test_accuracy=0.7 + 0.01 * seed) for m in (3, 4)
            ]
            found += [make(seed, dataset=dataset, weights=[0.0, 1.0, 1.0], test_accuracy=0.82)]
            found += [make(seed, dataset=dataset, weights=[1.0, 1.0, 2.0], val_accuracy=[0.1, 0.2, 0.3])]
        found += [make(seed, dataset=dataset, weights=[0.0, 1.0, 1.0], test_accuracy=0.83) for seed in (1000, 1001)]
    found += [make(seed, weights=[0.0, 1.0], L=1, val_accuracy=[0.2, 0.3, 0.9]) for seed in range(3)]
    return found


def test_cells_are_means_of_the_right_trainings():
    rows = {row.name: row for row in summary.table3(runs())}
    cora = rows["Method 3"].cells[0]
    assert cora.mean == pytest.approx(71)
    assert cora.std == pytest.approx(1)
    assert cora.difference == pytest.approx(71 - 80.8)
    assert cora.below
    assert rows["Method 5 (grid search)"].cells[0].mean == pytest.approx(83)
    assert not rows["Method 5 (grid search)"].cells[0].below
    assert rows["Method 1"].cells[0].mean is None
    pan = summary.table1(runs())[-1]
    assert pan.cells[0].mean == pytest.approx(82)
    assert pan.cells[2].mean is None
    assert len(summary.table2(runs())) == 25


def test_a_quick_look_does_not_stand_for_the_real_thing():
    quick = [make(9, weights="free", method=3, test_accuracy=0.1, settings={**make().settings, "epochs": 1})]
    assert {r.name: r for r in summary.table3(quick + runs())}["Method 3"].cells[0].mean == pytest.approx(71)
    assert {r.name: r for r in summary.table3(quick)}["Method 3"].cells[0].mean == pytest.approx(10)


def test_who_converges_faster_is_read_off_the_data():
    figure = summary.figure2(runs())
    assert summary.convergence(figure["PAN"]) == 2  # .7 of a final .6
    assert summary.convergence(figure["GCN"]) == 3
    assert "PAN converges faster than GCN here" in summary.convergence_line(figure)
    assert "slower" in summary.convergence_line({"PAN": figure["GCN"], "GCN": figure["PAN"]})
    assert "Run both" in summary.convergence_line({})


def test_grids_hold_validation_accuracy():
    further = [make(7, weights=[0.0, 1.0, 1.0], val_accuracy=[0.9, 0.9, 0.9])]  # a seed that other points do not have
    grid = summary.grids(runs() + further)["cora"]
    assert grid == {(0.0, 1.0, 1.0): pytest.approx(70), (1.0, 1.0, 2.0): pytest.approx(20)}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    Results(folder / "results").add(runs())
    return write_report(folder / "results", folder / "report.html")


def test_the_page_is_self_contained(page):
    text = page.read_text()
    outside = text.replace("http://www.w3.org", "")
    start = outside.index("</script>")  # behind the plotting library
    assert "http://" not in outside[start:]
    assert "https://" not in outside[start:]


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no Chromium with its driver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"):
        options.add_argument(flag)
    options.add_argument("--disable-background-networking")
    options.add_argument("--disable-component-update")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def column(browser, table, index):
    return [
        r.find_elements(By.TAG_NAME, "td")[index].text
        for r in browser.find_elements(By.CSS_SELECTOR, f"{table} tbody tr")
    ]


def test_in_a_real_browser(page, browser):
    browser.set_window_size(1200, 900)
    browser.get(page.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert column(browser, "#table3", 0)[0] == "Method 1"
    # Sorting: by a click, by the keyboard, both ways; rows that were not run stay last.
    head = browser.find_elements(By.CSS_SELECTOR, "#table2 thead button")[2]
    head.click()
    papers = [float(v) for v in column(browser, "#table2", 2)]
    assert papers == sorted(papers)
    head.send_keys("\n")
    papers = [float(v) for v in column(browser, "#table2", 2)]
    assert papers == sorted(papers, reverse=True)
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    browser.find_elements(By.CSS_SELECTOR, "#table3 thead button")[1].click()
    assert column(browser, "#table3", 1)[-1] == "not run"
    # The figures are drawn, with values on hover.
    for name in ("figure2", "grid-cora", "grid-citeseer"):
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
