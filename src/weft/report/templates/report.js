
"use strict";
(() => {
  // Texts reach the page through textContent only: nothing in the data can become markup.
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const [LANE, ROUND, INDEX, CALL, STATE, KEY, ATTEMPT, QUEUED, STARTED, FINISHED, RUN_S, WORKER,
    RECORD, ARGS, VALUE, ERROR, NOTES, WHY, TRIES, LOG, FAILURE] = Array(21).keys();
  const STEP = 100;
  const name = (number) => (number < 0 ? "" : data.names[number]);
  const count = (n) => n.toLocaleString("en-US");
  document.documentElement.classList.add("scripted");

  function make(tag, text, className) {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  }

  function duration(seconds) {
    if (seconds === null || seconds === undefined) return "–";
    if (seconds === 0) return "0 s";
    const short = (x) => String(Number(x.toPrecision(3)));
    if (seconds < 0.001) return short(seconds * 1e6) + " µs";
    if (seconds < 1) return short(seconds * 1e3) + " ms";
    if (seconds < 100) return short(seconds) + " s";
    const all = Math.round(seconds), minutes = Math.floor(all / 60), hours = Math.floor(minutes / 60);
    const two = (x) => String(x).padStart(2, "0");
    if (hours >= 24) return Math.floor(hours / 24) + " d " + (hours % 24) + " h";
    if (hours) return hours + " h " + two(minutes % 60) + " min";
    return minutes + " min " + two(all % 60) + " s";
  }

  function moment(since) {
    if (since === null) return "";
    const at = new Date((data.zero + since) * 1000);
    return isNaN(at) ? "" : at.toISOString().replace("T", " ") + ", " + duration(Math.max(0, since)) + " after the start";
  }

  // -- tabs: the view is in the address, so a reload keeps it ---------------------------------

  const tabs = [...document.querySelectorAll("[role=tab]")];
  function show(id, focus) {
    for (const tab of tabs) {
      const on = tab.getAttribute("aria-controls") === id;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      $(tab.getAttribute("aria-controls")).classList.toggle("on", on);
      if (on && focus) tab.focus();
    }
  }
  const known = (id) => tabs.some((tab) => tab.getAttribute("aria-controls") === id);
  function showFromAddress() {
    const id = decodeURIComponent(location.hash.slice(1));
    show(known(id) ? id : "tasks");
  }
  tabs.forEach((tab, i) => {
    const id = tab.getAttribute("aria-controls");
    tab.addEventListener("click", () => { show(id); history.replaceState(null, "", "#" + id); });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1
        : step ? (i + step + tabs.length) % tabs.length : -1;
      if (next < 0) return;
      event.preventDefault();
      show(tabs[next].getAttribute("aria-controls"), true);
    });
  });
  window.addEventListener("hashchange", showFromAddress);
  showFromAddress();

  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren($("head"));
        button.textContent = "selected";
      }
    });
  }

  // -- lists that grow on demand -------------------------------------------------------------

  function chips(box, kinds, redraw) {
    const off = new Set();
    for (const [kind, number] of kinds) {
      const chip = make("button", kind + " " + count(number));
      chip.type = "button";
      chip.setAttribute("aria-pressed", "true");
      chip.addEventListener("click", () => {
        if (!off.delete(kind)) off.add(kind);
        chip.setAttribute("aria-pressed", String(!off.has(kind)));
        redraw();
      });
      box.append(chip);
    }
    return off;
  }

  function tally(values) {
    const found = new Map();
    for (const value of values) found.set(value, (found.get(value) || 0) + 1);
    return [...found];
  }

  function pager(table, more, draw) {
    const body = table.tBodies[0];
    let rows = [], shown = 0;
    const grow = () => {
      const next = rows.slice(shown, shown + STEP);
      shown += next.length;
      body.append(...next.map(draw));
      more.parentElement.hidden = shown >= rows.length;
      more.textContent = "show " + count(Math.min(STEP, rows.length - shown)) + " more of " + count(rows.length - shown);
    };
    more.addEventListener("click", grow);
    return (found) => { rows = found; shown = 0; body.replaceChildren(); grow(); };
  }

  // -- tasks ---------------------------------------------------------------------------------

  const place = (t) => (name(t[LANE]) || "/") + " : " + t[ROUND] + " : " + t[INDEX];
  const outcome = (t) => t[FAILURE] || (t[VALUE] !== null ? t[VALUE] : "");
  const call = (t) => name(t[CALL]) + " " + t[ARGS];
  const byPlace = (a, b) => a - b;
  const sorters = {
    place: (t, i) => i, state: (t) => name(t[STATE]), call, outcome, took: (t) => t[RUN_S] ?? -1,
    attempt: (t) => t[ATTEMPT], worker: (t) => name(t[WORKER]),
  };
  const texts = data.tasks.map((t) => [t[KEY], place(t), name(t[LANE]) + ":" + t[ROUND] + ":" + t[INDEX], call(t), outcome(t), name(t[WORKER]),
    ...t[TRIES].map((a) => a[2])].join("\n").toLowerCase());
  let refillTasks = () => {};

  function life(t) {
    const list = make("dl");
    const add = (title, value, block) => {
      if (value === null || value === undefined || value === "") return;
      const cell = make("dd");
      cell.append(make(block ? "pre" : "span", value, block ? "" : "code"));
      list.append(make("dt", title), cell);
    };
    add("key", t[KEY]);
    add("call", name(t[CALL]));
    add("arguments", t[ARGS], true);
    add("state", name(t[STATE]) + "; " + (t[RECORD] === null ? t[WHY] : "recorded as record " + count(t[RECORD])));
    add("queued", moment(t[QUEUED]));
    for (const [number, ended, reason, detail, at] of t[TRIES]) {
      add("attempt " + number, ended + ": " + reason + (at === null ? "" : ", " + moment(at)));
      add("", detail, true);
      if (detail) list.lastChild.previousSibling.textContent = "";
    }
    add("started", moment(t[STARTED]));
    add("ended", moment(t[FINISHED]));
    add("took", t[RUN_S] === null ? "" : duration(t[RUN_S]));
    add("worker", name(t[WORKER]));
    add("value", t[VALUE], true);
    add("error", t[ERROR], true);
    add("notes", t[NOTES] === "{}" ? "" : t[NOTES]);
    add("log", t[LOG], true);
    return list;
  }

  function taskRow(i) {
    const t = data.tasks[i], row = make("tr", null, "row"), first = make("td", null, "place");
    const opener = make("button", place(t));
    opener.type = "button";
    opener.setAttribute("aria-expanded", "false");
    first.append(opener);
    const state = make("td");
    state.append(make("span", name(t[STATE]), "state " + name(t[STATE])));
    row.append(first, state, make("td", call(t), "code"), make("td", outcome(t), "code"),
      make("td", duration(t[RUN_S]), "n"), make("td", t[ATTEMPT], "n"), make("td", name(t[WORKER])));
    const toggle = () => {
      const open = opener.getAttribute("aria-expanded") === "true";
      opener.setAttribute("aria-expanded", String(!open));
      if (open) { row.nextSibling.remove(); return; }
      const below = make("tr", null, "life"), cell = make("td");
      cell.colSpan = row.cells.length;
      cell.append(life(t));
      below.append(cell);
      row.after(below);
    };
    row.addEventListener("click", (event) => {
      if (event.target === opener || !String(getSelection())) toggle();
    });
    return row;
  }

  if ($("task-table")) {
    const table = $("task-table"), find = $("find");
    const fill = pager(table, $("task-more"), taskRow);
    let sort = ["place", 1];
    const redraw = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = [...data.tasks.keys()].filter((i) => !off.has(name(data.tasks[i][STATE]))
        && words.every((word) => texts[i].includes(word)));
      const value = sorters[sort[0]], values = new Map(found.map((i) => [i, value(data.tasks[i], i)]));
      const order = (a, b) => (values.get(a) < values.get(b) ? -1 : values.get(a) > values.get(b) ? 1 : 0);
      found.sort((a, b) => sort[1] * order(a, b) || byPlace(a, b));
      const part = found.length < data.tasks.length;
      $("task-said").textContent = part ? count(found.length) + " found. " : "";
      fill(found);
    };
    const off = chips($("state-chips"), tally(data.tasks.map((t) => name(t[STATE]))), redraw);
    for (const head of table.tHead.querySelectorAll("[data-sort]")) {
      const button = make("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const same = sort[0] === head.dataset.sort, largeFirst = ["took", "attempt"].includes(head.dataset.sort);
        sort = [head.dataset.sort, same ? -sort[1] : largeFirst ? -1 : 1];
        for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sort[1] > 0 ? "ascending" : "descending");
        redraw();
      });
    }
    find.addEventListener("input", redraw);
    refillTasks = (text) => { find.value = text; redraw(); };
    redraw();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-task]");
    if (!link || !$("find")) return;
    event.preventDefault();
    refillTasks(link.dataset.task);
    show("tasks", true);
    const opener = $("task-table").querySelector("tbody .place button");
    if (opener) opener.click();
  });

  // -- events --------------------------------------------------------------------------------

  if ($("event-table")) {
    const rows = [...$("event-table").tBodies[0].rows];
    const redraw = () => { for (const row of rows) row.hidden = off.has(row.dataset.kind); };
    const off = chips($("event-chips"), tally(rows.map((row) => row.dataset.kind)), redraw);
  }

  // -- ledger --------------------------------------------------------------------------------

  function recordRow(record) {
    const task = record.length === 2 ? data.tasks[record[1]] : null;
    const [kind, key] = task ? ["result", task[KEY]] : [record[1], record[2]];
    const row = make("tr"), cell = make("td"), body = make("td", null, "code"), keyCell = make("td", null, "code");
    cell.append(make("span", kind, "kind"));
    if (task) {
      const link = make("a", key.slice(0, 12));
      link.href = "#tasks";
      link.dataset.task = key;
      keyCell.append(link);
      body.textContent = call(task) + " → " + outcome(task);
    } else {
      keyCell.textContent = key.slice(0, 12);
      keyCell.title = key;
      body.textContent = record[4];
    }
    if (record[0] === data.broken) row.className = "broken";
    row.append(make("td", count(record[0]), "n"), cell, keyCell, body);
    return row;
  }

  if ($("ledger-table")) {
    const fill = pager($("ledger-table"), $("ledger-more"), recordRow), find = $("ledger-find");
    const words = data.ledger.map((r) => (r.length === 2 ? r[0] + " result " + texts[r[1]] : r.join(" ").toLowerCase()));
    const redraw = () => {
      const asked = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      fill(data.ledger.filter((_, i) => asked.every((word) => words[i].includes(word))));
    };
    find.addEventListener("input", redraw);
    redraw();
  }

  // -- timeline ------------------------------------------------------------------------------

  if ($("tracks")) {
    const box = $("tracks"), tip = $("tip"), axis = $("axis"), svgs = [...box.querySelectorAll("svg")];
    const length = data.end - data.start || 1;
    let from = 0, width = 1;
    const set = (newFrom, newWidth) => {
      width = Math.min(1, Math.max(1e-5, newWidth));
      from = Math.min(1 - width, Math.max(0, newFrom));
      for (const svg of svgs) svg.setAttribute("viewBox", [1000 * from, 0, 1000 * width, 10].join(" "));
      [...axis.children].forEach((tick, i, all) => {
        tick.textContent = duration(length * (from + (width * i) / (all.length - 1)));
      });
      $("zoomed").textContent = width < 1 ? duration(length * width) + " of " + duration(length) : "";
    };
    const zoom = (factor, middle) => set(middle - (middle - from) * factor, width * factor);
    const acts = {
      in: () => zoom(0.5, from + width / 2), out: () => zoom(2, from + width / 2),
      left: () => set(from - width / 4, width), right: () => set(from + width / 4, width), all: () => set(0, 1),
    };
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", acts[button.dataset.zoom]);
    }
    box.addEventListener("keydown", (event) => {
      const act = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" }[event.key];
      if (!act) return;
      event.preventDefault();
      acts[act]();
    });
    const share = (event, svg) => {
      const edge = svg.getBoundingClientRect();
      return from + (width * (event.clientX - edge.left)) / edge.width;
    };
    box.addEventListener("wheel", (event) => {
      const svg = event.target.closest("svg");
      if (!svg || !(event.ctrlKey || event.shiftKey)) return;
      event.preventDefault();
      zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, share(event, svg));
    }, { passive: false });
    let drag = null;
    box.addEventListener("pointerdown", (event) => {
      const svg = event.target.closest("svg");
      if (svg) drag = [event.clientX, from, svg.getBoundingClientRect().width];
    });
    window.addEventListener("pointerup", () => { drag = null; });
    box.addEventListener("pointermove", (event) => {
      if (drag) set(drag[1] - (width * (event.clientX - drag[0])) / drag[2], width);
      const svg = event.target.closest("svg");
      tip.hidden = !svg;
      if (!svg) return;
      const at = data.start + length * share(event, svg), slack = (length * width) / 400;
      const [spans] = data.tracks[Number(svg.dataset.track)];
      const span = spans.find((s) => at >= s[0] - slack && at <= s[1] + slack);
      tip.textContent = !span ? duration(at - data.start) + ": idle"
        : duration(span[0] - data.start) + " – " + duration(span[1] - data.start) + ": " + count(span[2])
          + (span[2] === 1 ? " task" : " tasks") + (span[3] ? ", " + count(span[3]) + " failed" : "") + ", busy " + duration(span[4]);
      tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
      tip.style.top = event.clientY + 18 + "px";
    });
    box.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
})();
