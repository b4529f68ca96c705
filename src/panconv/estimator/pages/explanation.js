const {nodes, paths} = JSON.parse(document.getElementById("data").textContent);
const panel = document.getElementById("panel"), wanted = document.getElementById("wanted"), matches = document.getElementById("matches");
const signed = value => { const size = Math.abs(value);
  const text = size > 0 && size < .01 ? size.toPrecision(2) : size < 100 ? size.toFixed(2) : Math.round(size).toLocaleString("en");
  return (value > 0 ? "+" : value < 0 ? "−" : "") + text; };
// What is said of a node is text, whatever it looks like.
const made = (tag, text, to) => { const element = document.createElement(tag); element.textContent = text; to.append(element); return element; };
const light = those => {
  for (const svg of document.querySelectorAll(".picture svg")) {
    svg.classList.toggle("lit", those.length > 0);
    for (const line of svg.querySelectorAll("[data-paths]"))
      line.classList.toggle("on", line.dataset.paths.split(" ").some(p => those.includes(+p)));
  } };
const mark = i => document.querySelectorAll(".spot").forEach(spot => spot.classList.toggle("chosen", +spot.dataset.node === i));
const write = ([walk, value], to) => {
  walk.forEach((i, step) => { if (step) to.append(" → "); made("bdi", nodes[i].id, to); });
  to.append("  " + signed(value)); };
function choose(i) {
  const node = nodes[i], through = paths.map((_, p) => p).filter(p => paths[p][0].includes(i));
  panel.replaceChildren();
  made("bdi", node.id, made("h3", "", panel));
  made("p", node.adds ? `adds ${signed(node.adds)}, ${(100 * node.share).toFixed(1)} % of all that nodes add or take away` : "adds nothing by its own features", panel);
  made("p", node.label !== null ? `labelled ${node.label}` : "its label is not known", panel);
  if (node.predicted !== null) made("p", `predicted ${node.predicted}`, panel);
  if (through.length) {
    made("p", i ? "Paths through it:" : "Paths that add most:", panel);
    const list = made("ul", "", panel);
    through.slice(0, 6).forEach(p => write(paths[p], made("li", "", list)));
  } else made("p", "None of the paths listed goes through it.", panel).className = "soft";
  if (![...document.querySelectorAll(".spot")].some(spot => +spot.dataset.node === i && spot.checkVisibility())) made("p", "It is not drawn.", panel).className = "soft";
  mark(i);
  light(i ? through : []);
}
function follow(p) {
  panel.replaceChildren();
  made("h3", "A path", panel);
  write(paths[p], made("p", "", panel));
  mark(-1);
  light([p]);
}
function find(text) {
  const sought = text.trim().toLowerCase(), ids = nodes.map(node => node.id.toLowerCase());
  if (!sought) return [];
  const rank = id => id === sought ? 0 : id.startsWith(sought) ? 1 : id.includes(sought) ? 2 : 3;
  return ids.map((id, i) => [rank(id), i]).filter(([r]) => r < 3).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);
}
for (const element of document.querySelectorAll("[data-node]")) {
  element.addEventListener("click", () => choose(+element.dataset.node));
  if (element.classList.contains("spot"))
    element.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(+element.dataset.node); } });
}
document.querySelectorAll("[data-path]").forEach(button => button.addEventListener("click", () => {
  follow(+button.dataset.path); document.getElementById("drawing").scrollIntoView(); }));
wanted.addEventListener("input", () => {
  const found = find(wanted.value);
  matches.replaceChildren();
  found.slice(0, 6).forEach(i => { const button = made("button", nodes[i].id, matches); button.type = "button"; button.addEventListener("click", () => choose(i)); });
  if (found.length > 6) made("span", ` and ${(found.length - 6).toLocaleString("en")} more`, matches);
  if (!found.length && wanted.value.trim()) made("span", "No such node is within reach, or it adds nothing.", matches);
});
wanted.form.addEventListener("submit", event => { event.preventDefault(); const [first] = find(wanted.value); if (first !== undefined) choose(first); });
choose(0);
