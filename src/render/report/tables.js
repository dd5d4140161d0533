"use strict";
const NS = "http://www.w3.org/2000/svg";

// Elements are made with textContent and attributes only: names from result files never become markup.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "text", "rect", "circle"].includes(tag);
  const element = svg ? document.createElementNS(NS, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function download(name, lines) {
  const field = v => { const t = v === null || v === undefined ? "" : String(v); return /[",\n\r]/.test(t) ? `"${t.replaceAll('"', '""')}"` : t; };
  const text = lines.map(line => line.map(field).join(",")).join("\n") + "\n";
  const link = make("a", { download: `${name.replace(/[^A-Za-z0-9.=_-]+/g, "_")}.csv`, href: URL.createObjectURL(new Blob([text], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  window.lastDownload = { name: link.download, text };
}

document.addEventListener("click", event => {
  const button = event.target.closest("button.csv");
  if (!button) return;
  const rows = [...button.closest("figure").querySelectorAll("tr")];
  download(button.dataset.csv, rows.map(row => [...row.cells].map(cell => cell.textContent.trim().replace(/\s+/g, " "))));
});
