// Drives a report page in headless Chromium over the debugging pipe; needs node and chromium, nothing from npm.
//   node scripts/report_test.mjs report.html [folder for screenshots]
// Exits 0 when every check passed, 1 otherwise, also when no browser is installed: who calls it decides what to skip.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [file, shots] = process.argv.slice(2);
const browser = process.env.CHROMIUM ?? "chromium";
if (!file) {
  console.error("usage: node scripts/report_test.mjs report.html [folder for screenshots]");
  process.exit(1);
}
if (spawnSync(browser, ["--version"]).status !== 0) {
  console.error(`no browser '${browser}' (set CHROMIUM)`);
  process.exit(1);
}

const profile = mkdtempSync(join(tmpdir(), "report-test-"));
const chrome = spawn(browser, ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
  "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [toChrome, fromChrome] = [chrome.stdio[3], chrome.stdio[4]];
const waiting = new Map(), problems = [];
let next = 1, rest = "", requests = [];
fromChrome.on("data", chunk => {
  const parts = (rest + chunk).split("\0");
  rest = parts.pop();
  for (const message of parts.map(part => JSON.parse(part))) {
    if (message.id) {
      const { done, fail } = waiting.get(message.id);
      waiting.delete(message.id);
      message.error ? fail(new Error(message.error.message)) : done(message.result);
    } else if (message.method === "Runtime.exceptionThrown") {
      problems.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text);
    } else if (message.method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(message.params.type)) {
      problems.push(message.params.args.map(a => a.value).join(" "));
    } else if (message.method === "Log.entryAdded" && ["error", "warning"].includes(message.params.entry.level)) {
      problems.push(message.params.entry.text);
    } else if (message.method === "Network.requestWillBeSent") {
      requests.push(message.params.request.url);
    }
  }
});
let session;
const send = (method, params = {}) => new Promise((done, fail) => {
  const id = next++;
  waiting.set(id, { done, fail });
  toChrome.write(JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) }) + "\0");
});
async function run(expression) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
let failed = 0;
function check(name, passed, detail = "") {
  console.log(`${passed ? "ok  " : "FAIL"} ${name}${passed ? "" : ` ${JSON.stringify(detail)}`}`);
  if (!passed) failed++;
}
const settle = () => run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))");
async function shot(name, width, height, media = [], mobile = false) {
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
  await send("Emulation.setEmulatedMedia", { media: media.includes("print") ? "print" : "", features: media.includes("dark") ? [{ name: "prefers-color-scheme", value: "dark" }] : [] });
  await settle();
  if (!shots) return;
  const total = await run("document.documentElement.scrollHeight");
  for (let part = 0; part * height < total && part < 5; part++) {
    const clip = { x: 0, y: part * height, width, height: Math.min(height, total - part * height), scale: 1 };
    const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
    writeFileSync(join(shots, `${name}-${part + 1}.png`), Buffer.from(data, "base64"));
  }
}
const click = selector => run(`document.querySelector(${JSON.stringify(selector)}).click()`);
const key = async name => {
  const text = name.length === 1 ? { text: name } : {};
  await send("Input.dispatchKeyEvent", { type: "keyDown", key: name, ...text });
  await send("Input.dispatchKeyEvent", { type: "keyUp", key: name });
};
const mouse = (type, x, y, button = "none", clickCount = 0) =>
  send("Input.dispatchMouseEvent", { type, x, y, button, clickCount, buttons: button === "left" && type !== "mouseReleased" ? 1 : 0 });

try {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
  for (const domain of ["Runtime", "Log", "Page", "Network"]) await send(`${domain}.enable`);
  await send("Emulation.setDeviceMetricsOverride", { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false });
  await send("Page.navigate", { url: pathToFileURL(resolve(file)).href });
  await run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))");
  await settle();

  const plots = "document.querySelectorAll('#plots-convergence .plot')";
  const paths = "document.querySelectorAll('#plots-convergence .plot:first-child .series path').length";
  const datasets = await run("JSON.parse(document.getElementById('data').textContent).datasets.length");
  check("three convergence plots per data set", (await run(`${plots}.length`)) === 3 * datasets);
  check("plots have lines", (await run("document.querySelectorAll('.plot .series path[stroke]').length")) > 3 * datasets);
  check("claims come first", await run("document.querySelector('main section').id === 'claims' && document.querySelectorAll('#claims .verdict').length > 10"));
  check("no markup from names", (await run("document.querySelectorAll('img').length")) === 0);

  // What a name would do if it ever got through: the policy of the page has to stop it.
  const loud = problems.length;
  const injected = await run(`(async () => {
    window.hit = [];
    const add = html => document.body.insertAdjacentHTML("beforeend", '<div class="injected">' + html + "</div>");
    add('<img src=x onerror="hit.push(1)">');
    add('<svg onload="hit.push(2)"></svg>');
    add('<a id=bad href="javascript:hit.push(3)">x</a>');
    document.getElementById("bad").click();
    add('<iframe srcdoc="<script>parent.hit.push(4)</script>"></iframe>');
    const inline = document.createElement("script");
    inline.textContent = "hit.push(5)";
    document.body.append(inline);
    const outside = document.createElement("script");
    outside.src = "data:text/javascript,hit.push(6)";
    document.body.append(outside);
    let asked = 0;
    try { await fetch("http://127.0.0.1:9/x"); asked++; } catch {}
    add('<style>body { background: url(http://127.0.0.1:9/y) }</style><form action="http://127.0.0.1:9/z"></form>');
    document.querySelector(".injected form").submit();
    await new Promise(done => setTimeout(done, 300));
    document.querySelectorAll(".injected").forEach(e => e.remove());
    inline.remove();
    outside.remove();
    return { hit, asked };
  })()`);
  check("no injected script runs", injected.hit.length === 0 && injected.asked === 0, injected);
  const blocked = problems.splice(loud);
  check("because the policy blocks it", blocked.length >= 5 && blocked.every(text => /Content Security Policy|Refused to/i.test(text)), blocked);
  requests = requests.filter(url => !/^http:\/\/127\.0\.0\.1:9\//.test(url));

  const before = await run(paths);
  await click("[name=solver]");
  const hidden = await run(paths);
  check("a solver can be hidden", hidden < before, [before, hidden]);
  await click("[name=solver]");
  check("and shown again", (await run(paths)) === before);
  await click("[name=bands]");
  const bare = await run(paths);
  check("bands go off", bare < before, [before, bare]);
  await click("[name=bands]");

  const label = "document.querySelector('.plot svg').getAttribute('aria-label')";
  for (const [value, words] of [["time_s", "solver time"], ["oracle_calls", "oracle calls"], ["iteration", "iteration"]]) {
    await click(`[name=axis][value=${value}]`);
    check(`axis ${value}`, (await run(label)).includes(words), await run(label));
  }
  const shape = "document.querySelector('.plot .series path[stroke]').getAttribute('d')";
  for (const scale of ["xlog", "ylog"]) {
    const old = await run(shape);
    await click(`[name=${scale}]`);
    check(`${scale} changes the plot`, (await run(shape)) !== old);
    await click(`[name=${scale}]`);
    check(`${scale} comes back`, (await run(shape)) === old);
  }
  const dynamic = "document.querySelector('#plots-dynamics .plot .series path[stroke]').getAttribute('d')";
  const flat = await run(dynamic);
  await click("[name=dlog]");
  check("log y of parameters", (await run(dynamic)) !== flat);
  await click("[name=dlog]");

  await run("document.querySelector('.plot svg').scrollIntoView({block: 'center', behavior: 'instant'})");
  const box = await run("(() => { const r = document.querySelector('.plot svg').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()");
  const at = (x, y) => [box[0] + x * box[2], box[1] + y * box[3]];
  const tip = "(() => { const t = document.querySelector('.plot .tip'); return t.hidden ? '' : t.textContent; })()";
  await mouse("mouseMoved", ...at(0.6, 0.5));
  check("values under the pointer", /iteration .*BCFW.*\[.*\].*runs/.test(await run(tip)), await run(tip));
  check("with a sample of each line", (await run("document.querySelector('.plot .tip svg').getBoundingClientRect().width")) > 10);
  const full = await run(shape);
  await mouse("mousePressed", ...at(0.4, 0.5), "left", 1);
  await mouse("mouseMoved", ...at(0.7, 0.5), "left");
  await mouse("mouseReleased", ...at(0.7, 0.5), "left", 1);
  check("drag zooms", (await run(shape)) !== full);
  for (const clicks of [1, 2]) {
    await mouse("mousePressed", ...at(0.5, 0.5), "left", clicks);
    await mouse("mouseReleased", ...at(0.5, 0.5), "left", clicks);
  }
  check("double click resets", (await run(shape)) === full);

  await run("document.querySelector('.plot svg').focus({preventScroll: true})");
  await key("Home");
  const first = await run(tip);
  await key("ArrowRight");
  check("arrow keys read values", first !== "" && (await run(tip)) !== first, first);
  await key("+");
  check("plus zooms", (await run(shape)) !== full);
  await key("0");
  check("zero resets", (await run(shape)) === full);
  await key("Escape");
  check("escape hides the values", (await run(tip)) === "");

  await send("Browser.setDownloadBehavior", { behavior: "deny" });
  await run("document.querySelector('.plot button[title=\"save data\"]').click()");
  const csv = await run("window.lastDownload.text");
  check("a plot's data as CSV", csv.startsWith("dataset,solver,iteration,min,median,max,repeats\n") && csv.split("\n").length > 20, csv.slice(0, 80));
  await run("document.querySelector('#oracle button.csv').click()");
  check("a table's data as CSV", (await run("window.lastDownload.text")).startsWith("data set,solver,"));

  await run("document.querySelector('.plot svg').scrollIntoView({block: 'center', behavior: 'instant'})");
  await key("End");
  await shot("values", 1280, 900);
  await run("document.activeElement.blur(); document.getElementById('evidence').open = true");
  await shot("light", 1280, 1600);
  await shot("dark", 1280, 1600, ["dark"]);
  await shot("phone", 390, 1400, [], true);
  check("no sideways scrolling on a phone", await run("document.documentElement.scrollWidth <= innerWidth + 1"), await run("[document.documentElement.scrollWidth, innerWidth]"));
  await shot("print", 1000, 1600, ["print"]);
  check("no controls in print, but the legend", await run("[...document.querySelectorAll('button, input')].every(e => e.offsetParent === null) && document.querySelector('#solvers svg').getBoundingClientRect().width > 0"));
  check("nothing from the network", requests.every(url => /^(file|data|blob|about):/.test(url)), requests);
  check("no console errors", problems.length === 0, problems);
} catch (error) {
  check("the test ran to its end", false, String(error.stack));
} finally {
  if (chrome.exitCode === null && chrome.signalCode === null) {
    const gone = new Promise(done => chrome.on("exit", done));
    chrome.kill();
    await gone;
  }
  // Processes of the browser may write into its folder a moment longer than it lives.
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(profile, { recursive: true, force: true });
      break;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise(done => setTimeout(done, 100));
    }
  }
}
process.exit(failed ? 1 : 0);
