// The figures follow the colours of the page.
const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => document.querySelectorAll(".plotly-graph-div").forEach(
  plot => Plotly.relayout(plot, {"font.color": getComputedStyle(document.body).color}));
// A figure is drawn as soon as it is read, before the page knows its place: it is fitted once all is there.
const fit = () => document.querySelectorAll(".plotly-graph-div").forEach(plot => Plotly.Plots.resize(plot));
dark.addEventListener("change", paint);
paint();
fit();
