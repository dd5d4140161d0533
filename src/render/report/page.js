(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const state = { axis: "iteration", xlog: true, ylog: true, dlog: false, bands: true, hidden: new Set() };
const axisTitle = { iteration: "iteration", time_s: "solver time (s)", oracle_calls: "oracle calls" };
const plots = [];

const ink = color => (color === "#000000" ? "currentColor" : color);
const dashes = (series, scale = 1.3) => series.dash.map(d => d * scale).join(" ");

function short(v) {
  if (v === null || !Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const size = Math.abs(v);
  return size < 1e-3 || size >= 1e5 ? v.toExponential(2) : String(Number(v.toPrecision(4)));
}

const plain = v => String(Number(v.toPrecision(3)));
const superscript = k => "10" + String(k).replace(/./g, c => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

// Positions and labels of an axis between two positions (logarithms on a log axis).
function ticks(low, high, log, most) {
  if (log) {
    const places = steps => {
      const found = [];
      for (let k = Math.floor(low); k <= high + 1e-9; k++) for (const m of steps) {
        const p = k + Math.log10(m);
        if (p >= low - 1e-9 && p <= high + 1e-9) found.push([p, m * 10 ** k, k]);
      }
      return found;
    };
    const decades = places([1]), powers = decades.some(([, , k]) => k < -2 || k > 3);
    const steps = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]].find(s => { const n = places(s).length; return n >= 3 && n <= Math.max(3, most); });
    if (steps && steps.length > 1) return places(steps).map(([p, v]) => [p, plain(v)]);
    if (decades.length >= 2) {
      const stride = Math.ceil(decades.length / most);
      return decades.filter(([, , k]) => k % stride === 0).map(([p, v, k]) => [p, powers ? superscript(k) : plain(v)]);
    }
    return ticks(10 ** low, 10 ** high, false, most).filter(([v]) => v > 0).map(([v, label]) => [Math.log10(v), label]);
  }
  const rough = (high - low) / most, decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(m => m * decade).find(s => s >= rough);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) out.push([k * step, plain(k * step)]);
  return out;
}

class Plot {
  constructor(dataset, quantity, parent) {
    quantity = { ...quantity, title: dataset.titles[quantity.key] };
    Object.assign(this, { dataset, quantity, zoom: null, cursor: null });
    this.dynamic = quantity.key === "planes_mean" || quantity.key === "passes_per_iteration";
    const title = make("span", {}, quantity.title);
    const button = (text, name, act) => {
      const b = make("button", { type: "button", "aria-label": `${name}: ${quantity.title}, ${dataset.title}`, title: name }, text);
      b.addEventListener("click", act);
      return b;
    };
    this.caption = make("figcaption", {}, title,
      button("+", "zoom in", () => this.scale(0.6)), button("−", "zoom out", () => this.scale(1 / 0.6)),
      button("⟲", "reset zoom", () => this.reset()), button("CSV", "save data", () => this.save()));
    this.svg = make("svg", { tabindex: "0", role: "img" });
    this.tip = make("div", { class: "tip", role: "status", hidden: "" });
    this.figure = make("figure", { class: "plot" }, this.caption, this.svg, this.tip);
    this.figure.dataset.quantity = quantity.key;
    this.figure.dataset.dataset = dataset.name;
    parent.append(this.figure);
    this.svg.addEventListener("pointermove", e => this.move(e));
    this.svg.addEventListener("pointerdown", e => this.press(e));
    this.svg.addEventListener("pointerup", e => this.release(e));
    this.svg.addEventListener("pointercancel", () => { this.drag = null; this.draw(); });
    this.svg.addEventListener("pointerleave", () => { if (!this.drag) this.hide(); });
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("blur", () => this.hide());
    this.svg.addEventListener("keydown", e => this.key(e));
  }

  shown() {
    return this.dataset.series.filter(s => !state.hidden.has(s.label) && (!this.dynamic || s.multi));
  }
  get xlog() { return state.xlog; }
  get ylog() { return this.dynamic ? state.dlog : state.ylog; }
  px(v) { return this.xlog ? (v > 0 ? Math.log10(v) : null) : v; }
  py(v) { return v === null ? null : this.ylog ? (v > 0 ? Math.log10(v) : null) : v; }

  // Range of positions of everything shown inside the zoom.
  extent() {
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const s of this.shown()) {
      const b = s[state.axis], [min, median, max] = b[this.quantity.key];
      b.x.forEach((v, i) => {
        const x = this.px(v);
        if (x === null || (this.zoom && (x < this.zoom[0] || x > this.zoom[1]))) return;
        for (const w of state.bands ? [min[i], median[i], max[i]] : [median[i]]) {
          const y = this.py(w);
          if (y === null) continue;
          x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
        }
      });
    }
    if (x0 > x1) return null;
    if (this.zoom) [x0, x1] = this.zoom;
    else if (!this.xlog) x0 = Math.min(0, x0);
    if (!this.ylog && !this.zoom) y0 = Math.min(0, y0);
    if (x1 - x0 < 1e-9) { x0 -= 0.2; x1 += 0.2; }
    if (y1 - y0 < 1e-12) { y0 -= this.ylog ? 0.2 : Math.abs(y0) * 0.1 || 0.5; y1 += this.ylog ? 0.2 : Math.abs(y1) * 0.1 || 0.5; }
    const pad = 0.04 * (y1 - y0), low = !this.ylog && y0 === 0 ? 0 : y0 - pad;
    return [x0, x1, low, y1 + pad];
  }

  draw() {
    const width = Math.max(240, this.figure.clientWidth - 14), height = Math.round(Math.min(0.72 * width, 300));
    const m = { left: 60, right: 10, top: 8, bottom: 36 };
    this.size = { width, height, m };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    const names = this.shown().map(s => s.paper).join(", ");
    this.svg.setAttribute("aria-label", `${this.quantity.title} of ${names || "no solver"} on ${this.dataset.title} against ${axisTitle[state.axis]}`);
    const range = this.range = this.extent();
    if (!range) {
      this.svg.append(make("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no value to show with these settings"));
      return;
    }
    const [x0, x1, y0, y1] = range;
    const X = this.X = p => m.left + (p - x0) / (x1 - x0) * (width - m.left - m.right);
    const Y = this.Y = p => height - m.bottom - (p - y0) / (y1 - y0) * (height - m.top - m.bottom);
    for (const [p, label] of ticks(x0, x1, this.xlog, Math.max(2, Math.floor(width / 70)))) {
      this.svg.append(make("line", { class: "grid", x1: X(p), x2: X(p), y1: m.top, y2: height - m.bottom }),
        make("text", { x: X(p), y: height - m.bottom + 14, "text-anchor": "middle" }, label));
    }
    for (const [p, label] of ticks(y0, y1, this.ylog, 6)) {
      this.svg.append(make("line", { class: "grid", x1: m.left, x2: width - m.right, y1: Y(p), y2: Y(p) }),
        make("text", { x: m.left - 5, y: Y(p) + 4, "text-anchor": "end" }, label));
    }
    this.svg.append(make("path", { class: "axis", fill: "none", d: `M${m.left},${m.top}V${height - m.bottom}H${width - m.right}` }),
      make("text", { x: (m.left + width - m.right) / 2, y: height - 5, "text-anchor": "middle" }, axisTitle[state.axis]),
      make("text", { transform: `translate(11,${(m.top + height - m.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, this.quantity.unit));
    // Below the floor nothing is known of the optimum.
    const floor = this.quantity.floor ? this.py(this.dataset.floor) : null;
    if (floor !== null && floor > y0) {
      const top = Y(Math.min(floor, y1));
      this.svg.append(make("rect", { class: "floor", x: m.left, y: top, width: width - m.left - m.right, height: height - m.bottom - top }));
    }
    for (const s of this.shown()) this.line(s, X, Y);
    this.overlay = make("g");
    this.svg.append(this.overlay);
    this.paintCursor();
  }

  line(s, X, Y) {
    const b = s[state.axis], [min, median, max] = b[this.quantity.key], [x0, x1] = this.range;
    const group = make("g", { class: "series" });
    group.dataset.label = s.label;
    let lower = [], upper = [], path = "", open = false, bands = "", dot = null;
    const close = () => {
      if (lower.length > 1) bands += "M" + lower.join("L") + "L" + upper.reverse().join("L") + "Z";
      lower = []; upper = [];
    };
    let drawn = 0;
    b.x.forEach((v, i) => {
      const x = this.px(v);
      const inside = x !== null && x >= x0 - 1e-12 && x <= x1 + 1e-12;
      const [lo, mid, hi] = [min[i], median[i], max[i]].map(w => this.py(w));
      if (inside && lo !== null && hi !== null) {
        lower.push(`${X(x).toFixed(1)},${Y(lo).toFixed(1)}`); upper.push(`${X(x).toFixed(1)},${Y(hi).toFixed(1)}`);
      } else close();
      if (inside && mid !== null) {
        path += `${open ? "L" : "M"}${X(x).toFixed(1)},${Y(mid).toFixed(1)}`;
        open = true; drawn++; dot = [X(x), Y(mid)];
      } else open = false;
    });
    close();
    if (state.bands && bands) group.append(make("path", { d: bands, fill: ink(s.color), opacity: 0.17, stroke: "none" }));
    if (drawn === 1) group.append(make("circle", { cx: dot[0], cy: dot[1], r: 2.5, fill: ink(s.color) }));
    else if (path) group.append(make("path", { d: path, fill: "none", stroke: ink(s.color), "stroke-width": 1.8, "stroke-dasharray": dashes(s) }));
    this.svg.append(group);
  }

  // Positions shown, in order: where the keyboard can stop.
  stops() {
    const all = new Set();
    for (const s of this.shown()) for (const v of s[state.axis].x) {
      const p = this.px(v);
      if (p !== null && p >= this.range[0] - 1e-12 && p <= this.range[1] + 1e-12) all.add(v);
    }
    return [...all].sort((a, b) => a - b);
  }

  position(event) {
    const box = this.svg.getBoundingClientRect(), { width, m } = this.size;
    const x = (event.clientX - box.left) * width / box.width;
    const share = (x - m.left) / (width - m.left - m.right);
    return this.range[0] + Math.min(1, Math.max(0, share)) * (this.range[1] - this.range[0]);
  }
  move(event) {
    if (!this.range) return;
    const p = this.position(event);
    if (this.drag) { this.drag.to = p; this.paintCursor(); return; }
    let best = null;
    for (const v of this.stops()) if (best === null || Math.abs(this.px(v) - p) < Math.abs(this.px(best) - p)) best = v;
    this.cursor = best;
    this.paintCursor();
  }
  press(event) {
    if (!this.range || event.button !== 0) return;
    this.svg.setPointerCapture(event.pointerId);
    const p = this.position(event);
    this.drag = { from: p, to: p };
  }
  release() {
    if (!this.drag) return;
    const { from, to } = this.drag, wide = Math.abs(to - from) > 0.03 * (this.range[1] - this.range[0]);
    this.drag = null;
    if (wide) this.zoom = [Math.min(from, to), Math.max(from, to)];
    this.draw();
  }
  scale(factor) {
    if (!this.range) return;
    const at = this.cursor !== null && this.px(this.cursor) !== null ? this.px(this.cursor) : (this.range[0] + this.range[1]) / 2;
    this.zoom = [at + (this.range[0] - at) * factor, at + (this.range[1] - at) * factor];
    this.draw();
  }
  reset() { this.zoom = null; this.draw(); }
  hide() { this.cursor = null; this.paintCursor(); }
  key(event) {
    if (!this.range || event.ctrlKey || event.metaKey || event.altKey) return;
    const stops = this.stops(), at = stops.indexOf(this.cursor);
    const go = i => { this.cursor = stops[Math.min(stops.length - 1, Math.max(0, i))] ?? null; this.paintCursor(); };
    const acts = {
      ArrowRight: () => go(at + 1), ArrowLeft: () => go(at < 0 ? stops.length - 1 : at - 1),
      Home: () => go(0), End: () => go(stops.length - 1),
      "+": () => this.scale(0.6), "=": () => this.scale(0.6), "-": () => this.scale(1 / 0.6),
      "0": () => this.reset(), Escape: () => this.hide(),
    };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  }

  paintCursor() {
    if (!this.overlay || !this.range) return;
    const { width, height, m } = this.size;
    this.overlay.replaceChildren();
    if (this.drag) {
      const [a, b] = [this.X(this.drag.from), this.X(this.drag.to)];
      this.overlay.append(make("rect", { class: "selection", x: Math.min(a, b), y: m.top, width: Math.abs(b - a), height: height - m.top - m.bottom }));
    }
    if (this.cursor === null || this.drag) { this.tip.hidden = true; return; }
    const x = this.X(this.px(this.cursor));
    this.overlay.append(make("line", { class: "cursor", x1: x, x2: x, y1: m.top, y2: height - m.bottom }));
    const table = make("table"), rows = [];
    for (const s of this.shown()) {
      const b = s[state.axis], i = this.at(b.x, this.cursor);
      if (i === null) continue;
      const [min, median, max] = b[this.quantity.key].map(column => column[i]);
      const y = this.py(median);
      if (y !== null) this.overlay.append(make("circle", { cx: this.X(this.px(b.x[i])), cy: this.Y(y), r: 3, fill: ink(s.color) }));
      rows.push(make("tr", {}, make("td", {}, sample(s)), make("td", {}, s.paper), make("td", {}, short(median)),
        make("td", {}, `[${short(min)}, ${short(max)}]`), make("td", {}, `${b.n[i]} runs`)));
    }
    table.append(...rows);
    this.tip.replaceChildren(`${axisTitle[state.axis]} ${short(this.cursor)}`, table);
    this.tip.hidden = false;
    const scale = this.svg.clientWidth / width, room = this.figure.clientWidth - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(2, Math.min(x * scale + 16, room))}px`;
    this.tip.style.top = `${this.svg.offsetTop + this.svg.clientHeight + 2}px`;
  }
  // The last position at or before v, only inside the series.
  at(xs, v) {
    if (!xs.length || v < xs[0] * (1 - 1e-9) || v > xs[xs.length - 1] * (1 + 1e-9)) return null;
    let i = 0;
    while (i + 1 < xs.length && xs[i + 1] <= v * (1 + 1e-9)) i++;
    return i;
  }

  save() {
    const lines = [["dataset", "solver", state.axis, "min", "median", "max", "repeats"]];
    for (const s of this.dataset.series) {
      const b = s[state.axis], [min, median, max] = b[this.quantity.key];
      b.x.forEach((v, i) => lines.push([this.dataset.name, s.label, v, min[i], median[i], max[i], b.n[i]]));
    }
    download(`${this.quantity.key} ${this.dataset.name}`, lines);
  }
}

function sample(s) {
  const svg = make("svg", { width: 30, height: 10, viewBox: "0 0 30 10", "aria-hidden": "true", class: "series" });
  svg.append(make("path", { d: "M1,5H29", stroke: ink(s.color), "stroke-width": 2.2, "stroke-dasharray": dashes(s), fill: "none" }));
  return svg;
}

function drawAll() { for (const plot of plots) plot.draw(); }

for (const dataset of data.datasets) {
  for (const [id, keys] of [["plots-convergence", data.quantities.slice(0, 3)], ["plots-dynamics", data.quantities.slice(3)]]) {
    if (id === "plots-dynamics" && !dataset.series.some(s => s.multi)) continue;
    const row = make("div", { class: "row" });
    document.getElementById(id).append(make("h3", {}, dataset.title), row);
    for (const quantity of keys) plots.push(new Plot(dataset, quantity, row));
  }
}

const seen = new Map();
for (const dataset of data.datasets) for (const s of dataset.series) if (!seen.has(s.label)) seen.set(s.label, s);
// Where there are many, those of the paper are shown first.
const shown = label => data.datasets.some(d => d.series.some(s => s.label === label && s.shown));
for (const [label, s] of seen) {
  const box = make("input", { type: "checkbox", name: "solver", value: label, ...(shown(label) ? { checked: "" } : {}) });
  document.getElementById("solvers").append(make("label", {}, box, sample(s), s.paper));
}
const controls = document.getElementById("controls");
// A reload keeps what the reader had chosen in some browsers: read the controls, do not assume them.
function readControls() {
  const axis = controls.querySelector("[name=axis]:checked").value;
  if (axis !== state.axis) for (const plot of plots) { plot.zoom = null; plot.cursor = null; }
  const xlog = controls.elements.xlog.checked;
  if (xlog !== state.xlog) for (const plot of plots) plot.zoom = null;
  Object.assign(state, { axis, xlog });
  for (const key of ["ylog", "dlog", "bands"]) state[key] = controls.elements[key].checked;
  state.hidden = new Set([...controls.querySelectorAll("[name=solver]")].filter(box => !box.checked).map(box => box.value));
  drawAll();
}
controls.addEventListener("change", readControls);
controls.addEventListener("submit", event => event.preventDefault());

let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth !== width) { width = document.body.clientWidth; drawAll(); }
}).observe(document.body);
addEventListener("beforeprint", () => { document.getElementById("evidence").open = true; drawAll(); });
addEventListener("afterprint", drawAll);
readControls();
})();
