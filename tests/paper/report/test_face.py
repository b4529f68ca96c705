"""The page as eyes see it: on a phone and on a desk, in the light and in the dark."""

import itertools

import pytest
from report_records import baselines, demo, on_own_graph, runs
from selenium.webdriver.support.ui import WebDriverWait

from panconv.paper.report import write_report
from panconv.records.record import Results

# Text that can be seen, with its size and how it stands out from what is behind it (WCAG 2.2), as far as it is opaque.
TEXTS = """
const parse = c => { const v = c.match(/[\\d.]+/g).map(Number); return [v[0], v[1], v[2], v.length > 3 ? v[3] : 1]; };
const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const behind = e => { const layers = [];
  for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c[3] > 0) layers.push(c); if (c[3] >= 1) break; }
  return layers.reverse().reduce((under, c) => under.map((v, i) => v * (1 - c[3]) + c[i] * c[3]), [255, 255, 255]); };
const out = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.checkVisibility()) continue;
  const style = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg");
  const [a, b] = [light(parse(svg ? style.fill : style.color)), light(behind(e))];
  const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  out.push([walker.currentNode.data.trim(), !!e.closest("figure"), parseFloat(style.fontSize), contrast]);
}
return out;
"""
BOXES = "return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect().toJSON())"
ROTATED = """return [...document.querySelectorAll('svg .xtick text')].map(e => e.getAttribute('transform') || '')
  .filter(t => /rotate\\((?!0\\D)/.test(t))"""
LOOKS = [*itertools.product((390, 1280), ("light", "dark"))]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    for name, records in (("demo", demo()), ("much", runs() + baselines() + on_own_graph())):
        for model in {record.model for record in records}:
            Results(folder / name).add([record for record in records if record.model == model])
        write_report(folder / name, folder / f"{name}.html")
    return folder


def look(browser, page, width, scheme):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())
    browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
    drawn = "return [...document.querySelectorAll('.plotly-graph-div')].every(e => e.querySelector('.xtick text'))"
    WebDriverWait(browser, 10).until(lambda b: b.execute_script(drawn))


def apart(boxes):
    return all(
        a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] or b["bottom"] <= a["top"]
        for a, b in itertools.combinations(boxes, 2)
    )


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
