"""A page as eyes see it: on a phone and on a desk, in the light and in the dark."""

import itertools
from html.parser import HTMLParser

from selenium.webdriver.support.ui import WebDriverWait

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
LOOKS = [*itertools.product((390, 1280), ("light", "dark"))]


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


def hard_to_read(browser):
    """The texts that are too small, or too faint before what is behind them."""
    texts = browser.execute_script(TEXTS)
    assert len(texts) > 20
    return [text for text in texts if text[2] < 11 or text[3] < 4.5]


def fetched(html):
    """What a page names that is not in it."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            for name, value in attrs:
                if name in ("src", "href", "action", "data", "srcset") and not value.startswith(("#", "data:")):
                    found.append((tag, value))

    Reader().feed(html)
    return found
