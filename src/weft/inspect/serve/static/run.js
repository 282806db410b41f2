"use strict";
// One run as it progresses: every update has the overview; the open view requests its own data.
(() => {
  const { $, make, count } = weft;
  const base = "/run/" + document.body.dataset.run;
  const STATES = ["queued", "running", "completed", "failed", "cancelled", "dropped"];
  const CHECK_AGAIN_MS = 3000;
  const VALUES_EVERY_MS = 2000;
  let open = "", chosen = Boolean(location.hash);

  // -- tasks -----------------------------------------------------------------------------------

  const taskQuery = { first: 0, sort: "place", down: 0 };
  const lives = new Set();
  let only = "";  // the task to open as soon as it is there
  let latest = null, drawn = "";  // rows are replaced only when they change: a click meanwhile would be lost
  const picture = () => JSON.stringify([latest, [...lives]]);
  const table = $("task-table"), find = $("find");
  const turnTasks = weft.pages($("task-pages"), 100, (first) => { taskQuery.first = first; lives.clear(); loadTasks(); });

  async function linkRecord(key, expanded) {
    if (expanded) lives.add(key);
    else lives.delete(key);
    drawn = picture();
    if (!expanded) return;
    const number = await weft.ask(base + "/record?key=" + key);
    const list = [...table.querySelectorAll(".life dl")].find((dl) => dl.textContent.includes(key));
    if (number === null || !list || list.querySelector(".record")) return;
    const title = make("dt", "record"), cell = make("dd"), link = make("a", count(number), "record");
    link.href = "#ledger";
    link.addEventListener("click", () => { ledgerQuery.first = number - (number % 100); loadLedger(); });
    cell.append(link);
    list.append(title, cell);
  }

  function drawTasks(data) {
    addHeads(data);
    const of = weft.tasks(data), body = table.tBodies[0], focused = document.activeElement;
    const place = body.contains(focused) ? [...body.querySelectorAll("button")].indexOf(focused) : -1;
    body.replaceChildren(...data.tasks.flatMap((t) => of.row(t, lives.has(of.key(t)), linkRecord)));
    for (const key of lives) linkRecord(key, true);
    if (place >= 0) (body.querySelectorAll("button")[place] || table).focus();
    drawn = picture();
  }

  const loadTasks = weft.oneAtATime(async () => {
    const first = taskQuery.first, query = new URLSearchParams({ ...taskQuery, states: [...states].join(","), find: find.value });
    const data = await weft.ask(base + "/tasks?" + query);
    latest = data;
    if (taskQuery.first === first) taskQuery.first = data.first;  // unless another page was chosen meanwhile
    if (only && data.tasks.length) { lives.add(weft.tasks(data).key(data.tasks[0])); only = ""; }
    if (picture() !== drawn) drawTasks(data);
    $("task-said").textContent = count(data.total) + (data.total === 1 ? " task" : " tasks") + (find.value ? " found" : "");
    turnTasks(data.first, data.total);
  });
  const fromFirst = () => { taskQuery.first = 0; lives.clear(); loadTasks(); };
  const states = weft.chips($("state-chips"), STATES.map((state) => [state, null]), fromFirst);
  let sortable = false;
  function addHeads(data) {
    table.classList.toggle("plain-args", data.arguments.length > 0 && data.functions === 1);
    if (sortable || !data.total) return;
    sortable = true;
    weft.argumentHeads(table, data.arguments);
    weft.sortable(table, (sort, way) => { taskQuery.sort = sort; taskQuery.down = way < 0 ? 1 : 0; fromFirst(); });
  }
  let typing = 0;
  const soon = (work) => () => { clearTimeout(typing); typing = setTimeout(work, 200); };
  const findSoon = soon(loadTasks);  // what is opened meanwhile stays open
  find.addEventListener("input", () => { taskQuery.first = 0; lives.clear(); findSoon(); });

  const loadTotals = weft.oneAtATime(async () => weft.put($("totals"), (await weft.ask(base + "/totals")).html));

  // Shows one task, by its key or its place, with its history open.
  function openTask(text) {
    find.value = text;
    lives.clear();
    only = text;
    taskQuery.first = 0;
    show("tasks", true);
  }
  const fromAddress = weft.taskLinks(openTask);

  // -- values, progress ------------------------------------------------------------------------

  const drawProgress = weft.progress($("progress-chart"));
  const loadProgress = weft.oneAtATime(async () => drawProgress(await weft.ask(base + "/progress")));
  const drawValues = $("values-box") ? weft.values($("values-box"), openTask) : null;
  let valuesAt = 0;
  const loadValues = weft.oneAtATime(async () => {
    const wait = valuesAt + VALUES_EVERY_MS - Date.now();  // a run in progress changes all the time
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait));
    valuesAt = Date.now();
    await drawValues(await weft.ask(base + "/values"));
  });

  // -- timeline, events ------------------------------------------------------------------------

  const loadTimeline = weft.oneAtATime(async () => {
    const data = await weft.ask(base + "/timeline");
    const box = $("timeline-box"), focused = document.activeElement && document.activeElement.id;
    const fresh = make("div");
    fresh.innerHTML = data.html;
    box.replaceChildren(...fresh.childNodes);
    weft.timeline(data);
    if (focused && box.querySelector("#" + CSS.escape(focused))) $(focused).focus();
  });
  const loadEvents = weft.oneAtATime(async () => {
    const box = $("events-box"), table = $("event-table");
    const html = (await weft.ask(base + "/events")).html;
    const kinds = table ? table.kinds : null;
    weft.put(box, html);
    if ($("event-table")) $("event-table").kinds = weft.events($("event-table"), $("event-chips"), kinds);
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

  // They come first; the first of them is shown unless another view was asked for.
  const loadPages = weft.oneAtATime(async () => {
    const titles = await weft.ask(base + "/pages"), first = $("tab-values") || $("tab-tasks");
    titles.forEach((title, i) => {
      const id = "page-" + (i + 1);
      if ($(id)) return;
      const tab = make("button", title), view = make("section", null, "view");
      tab.id = "tab-" + id;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", id);
      tab.setAttribute("aria-selected", "false");
      tab.tabIndex = -1;
      first.before(tab);
      view.id = id;
      view.setAttribute("role", "tabpanel");
      view.setAttribute("aria-labelledby", tab.id);
      $("tasks").before(view);
    });
    if (location.hash.startsWith("#page-")) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else if (titles.length && !chosen) { chosen = true; show("page-1"); }
  });
  function loadPage(view) {
    const number = Number(view.id.slice(5)) - 1, old = view.querySelector("iframe"), frame = make("iframe", null, "frame loading");
    if (view.querySelector(".loading")) return;
    frame.title = $("tab-" + view.id).textContent;
    frame.setAttribute("sandbox", "allow-same-origin");
    frame.addEventListener("load", () => {
      const inside = frame.contentDocument, fit = () => { frame.style.height = inside.documentElement.scrollHeight + 24 + "px"; };
      weft.pageControls(inside);
      fit();
      new ResizeObserver(fit).observe(inside.body);
      frame.classList.remove("loading");
      if (old) old.remove();
    });
    frame.src = base + "/page/" + number;
    view.append(frame);
  }

  // -- what is open ----------------------------------------------------------------------------

  const loads = { values: loadValues, progress: loadProgress, timeline: loadTimeline, events: loadEvents, ledger: loadLedger,
    tasks: () => { loadTasks(); loadTotals(); } };
  const load = () => (loads[open] ? loads[open]() : $(open) && loadPage($(open)));
  const show = weft.tabs((id) => { open = id; load(); });
  document.querySelector("[role=tablist]").addEventListener("click", () => { chosen = true; });
  document.querySelector("[role=tablist]").addEventListener("keydown", () => { chosen = true; });
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
  fromAddress();
})();
