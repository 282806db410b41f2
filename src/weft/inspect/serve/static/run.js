"use strict";
// One run as it progresses: every update has the overview; the open view requests its own data.
(() => {
  const { $, make, count, duration } = weft;
  const base = "/run/" + document.body.dataset.run;
  const STATES = ["queued", "running", "completed", "failed", "cancelled", "dropped"];
  const CHECK_AGAIN_MS = 3000;
  let open = "tasks";

  // -- tasks -----------------------------------------------------------------------------------

  const taskQuery = { first: 0, sort: "place", down: 0 };
  const lives = new Set();
  const table = $("task-table"), find = $("find");
  const turnTasks = weft.pages($("task-pages"), 100, (first) => { taskQuery.first = first; lives.clear(); loadTasks(); });

  async function linkRecord(key, expanded) {
    if (!expanded) { lives.delete(key); return; }
    lives.add(key);
    const number = await weft.ask(base + "/record?key=" + key);
    const list = [...table.querySelectorAll(".life dl")].find((dl) => dl.textContent.includes(key));
    if (number === null || !list || list.querySelector(".record")) return;
    const title = make("dt", "record"), cell = make("dd"), link = make("a", count(number), "record");
    link.href = "#ledger";
    link.addEventListener("click", () => { ledgerQuery.first = number - (number % 100); loadLedger(); });
    cell.append(link);
    list.append(title, cell);
  }

  const loadTasks = weft.oneAtATime(async () => {
    const first = taskQuery.first, query = new URLSearchParams({ ...taskQuery, off: [...off].join(","), find: find.value });
    const data = await weft.ask(base + "/tasks?" + query);
    const of = weft.tasks(data), body = table.tBodies[0], focused = document.activeElement;
    const place = body.contains(focused) ? [...body.querySelectorAll("button")].indexOf(focused) : -1;
    if (taskQuery.first === first) taskQuery.first = data.first;  // unless another page was chosen meanwhile
    body.replaceChildren(...data.tasks.flatMap((t) => of.row(t, lives.has(of.key(t)), linkRecord)));
    for (const key of lives) linkRecord(key, true);
    if (place >= 0) (body.querySelectorAll("button")[place] || table).focus();
    $("task-said").textContent = count(data.total) + (data.total === 1 ? " task" : " tasks") + (find.value ? " found" : "");
    turnTasks(data.first, data.total);
  });
  const fromFirst = () => { taskQuery.first = 0; lives.clear(); loadTasks(); };
  const off = weft.chips($("state-chips"), STATES.map((state) => [state, null]), fromFirst);
  weft.sortable(table, (sort, way) => { taskQuery.sort = sort; taskQuery.down = way < 0 ? 1 : 0; fromFirst(); });
  let typing = 0;
  const soon = (work) => () => { clearTimeout(typing); typing = setTimeout(work, 200); };
  const findSoon = soon(loadTasks);  // what is opened meanwhile stays open
  find.addEventListener("input", () => { taskQuery.first = 0; lives.clear(); findSoon(); });

  const loadTotals = weft.oneAtATime(async () => weft.put($("totals"), (await weft.ask(base + "/totals")).html));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-task]");
    if (!link) return;
    event.preventDefault();
    find.value = link.dataset.task;
    lives.add(link.dataset.task);
    taskQuery.first = 0;
    show("tasks", true);
  });

  // -- progress --------------------------------------------------------------------------------

  let chart = null;
  function newChart(box) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const line = (label, name, more) => ({ label, stroke: colour(name), width: 2, points: { show: false }, ...more });
    return new uPlot({
      width: box.clientWidth - 26, height: 320, legend: { live: true },
      scales: { x: { time: false }, y: { range: (u, low, high) => [0, Math.max(1, high) * 1.05] },
        rate: { range: (u, low, high) => [0, Math.max(1, high) * 1.05] } },
      axes: [{ ...axis, values: (u, all) => all.map((s) => duration(s)) },
        { ...axis, size: 70, values: (u, all) => all.map(count) },
        { ...axis, scale: "rate", side: 1, size: 60, grid: { show: false } }],
      series: [{ label: "after", value: (u, s) => (s === null ? "" : duration(s)) },
        line("finished", "--c-completed", { fill: colour("--good-bg") }), line("failed", "--c-failed"),
        line("per second", "--c-running", { scale: "rate", width: 1 })],
    }, [[0], [0], [0], [0]], box);
  }
  const loadProgress = weft.oneAtATime(async () => {
    const data = await weft.ask(base + "/progress");
    if (!data.at_s.length) return;
    chart = chart || newChart($("chart"));
    chart.setData([data.at_s, data.done, data.failed, data.per_s]);
    $("chart").setAttribute("aria-label", "Tasks over time: " + count(data.done.at(-1)) + " finished, "
      + count(data.failed.at(-1)) + " failed, in " + duration(data.at_s.at(-1)));
  });
  window.addEventListener("resize", () => { if (chart) chart.setSize({ width: $("chart").clientWidth - 26, height: 320 }); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (chart) { chart.destroy(); chart = null; loadProgress(); }
  });

  // -- timeline, events ------------------------------------------------------------------------

  const loadTimeline = weft.oneAtATime(async () => {
    const data = await weft.ask(base + "/timeline");
    const box = $("timeline"), focused = document.activeElement && document.activeElement.id;
    const fresh = make("div");
    fresh.innerHTML = data.html;
    box.replaceChildren(...fresh.childNodes);
    weft.timeline(data);
    if (focused && box.querySelector("#" + CSS.escape(focused))) $(focused).focus();
  });
  const loadEvents = weft.oneAtATime(async () => {
    const box = $("events"), table = $("event-table");
    const html = (await weft.ask(base + "/events")).html;
    const off = table ? table.off : null;
    weft.put(box, html);
    if ($("event-table")) $("event-table").off = weft.events($("event-table"), $("event-chips"), off);
  });

  // -- ledger ----------------------------------------------------------------------------------

  const ledgerQuery = { first: 0 };
  const ledgerFind = $("ledger-find");
  const turnLedger = weft.pages($("ledger-pages"), 100, (first) => { ledgerQuery.first = first; loadLedger(); });
  function recordRow([seq, kind, key, prevHash, text]) {
    const row = make("tr"), cell = make("td"), keyCell = make("td", null, "code");
    cell.append(make("span", kind, "kind"));
    if (kind === "result") {
      const link = make("a", key.slice(0, 12));
      link.href = "#tasks";
      link.dataset.task = key;
      keyCell.append(link);
    } else keyCell.textContent = key.slice(0, 12);
    row.append(make("td", count(seq), "n"), cell, keyCell, make("td", text, "code"));
    return row;
  }
  const loadLedger = weft.oneAtATime(async () => {
    const first = ledgerQuery.first, query = new URLSearchParams({ ...ledgerQuery, find: ledgerFind.value });
    const data = await weft.ask(base + "/ledger?" + query);
    if (ledgerQuery.first === first) ledgerQuery.first = data.first;
    $("ledger-table").tBodies[0].replaceChildren(...data.records.map(recordRow));
    $("ledger-said").textContent = count(data.size) + (data.size === 1 ? " record" : " records")
      + (ledgerFind.value ? ", " + count(data.total) + " found" : "");
    turnLedger(data.first, data.total);
    weft.put($("request"), (await weft.ask(base + "/request")).html);
  });
  ledgerFind.addEventListener("input", soon(() => { ledgerQuery.first = 0; loadLedger(); }));

  // -- pages of the search: documents of their own, in which nothing runs -------------------------

  const loadPages = weft.oneAtATime(async () => {
    const titles = await weft.ask(base + "/pages"), bar = document.querySelector("[role=tablist]");
    titles.forEach((title, i) => {
      if ($("page-" + i)) return;
      const tab = make("button", title), view = make("section", null, "view");
      tab.id = "tab-page-" + i;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", "page-" + i);
      tab.setAttribute("aria-selected", "false");
      tab.tabIndex = -1;
      bar.append(tab);
      view.id = "page-" + i;
      view.setAttribute("role", "tabpanel");
      view.setAttribute("aria-labelledby", tab.id);
      $("ledger").parentElement.append(view);
    });
    if (location.hash.startsWith("#page-")) window.dispatchEvent(new HashChangeEvent("hashchange"));
  });
  function loadPage(view) {
    const number = view.id.slice(5), old = view.querySelector("iframe"), frame = make("iframe", null, "frame loading");
    if (view.querySelector(".loading")) return;
    frame.title = $("tab-" + view.id).textContent;
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.addEventListener("load", () => {
      frame.style.height = frame.contentDocument.documentElement.scrollHeight + 24 + "px";
      frame.classList.remove("loading");
      if (old) old.remove();
    });
    frame.src = base + "/page/" + number;
    view.append(frame);
  }

  // -- what is open ----------------------------------------------------------------------------

  const loads = { progress: loadProgress, timeline: loadTimeline, events: loadEvents, ledger: loadLedger,
    tasks: () => { loadTasks(); loadTotals(); } };
  const load = () => (loads[open] ? loads[open]() : $(open) && loadPage($(open)));
  const show = weft.tabs((id) => { open = id; load(); });
  const check = weft.oneAtATime(() => weft.ask(base + "/verdict"));
  let last = "", pagesAt = "", unchecked = false;
  setInterval(() => { if (unchecked) check(); }, CHECK_AGAIN_MS);  // what changed meanwhile is verified again
  weft.listen(base + "/updates", (update, returned) => {
    weft.put($("top"), update.top);
    weft.put($("overview"), update.overview);
    document.title = update.title;
    unchecked = !update.checked && update.state !== "running";
    if (unchecked) check();
    if (update.state !== pagesAt) { pagesAt = update.state; loadPages(); }
    if (returned || update.overview !== last) { last = update.overview; load(); }
  });
})();
