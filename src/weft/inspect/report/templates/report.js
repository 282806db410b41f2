"use strict";
// The report in one file: all its data is in the page.
(() => {
  const { $, make, count } = weft;
  const STEP = 50;  // more rows take longer to lay out than a click may
  const data = JSON.parse($("data").textContent);
  const of = weft.tasks(data);
  const show = weft.tabs();
  const texts = data.tasks.map(of.text);
  let refillTasks = () => {};

  function pager(table, more, draw) {
    const body = table.tBodies[0];
    let rows = [], shown = 0;
    const step = () => (rows.length - shown <= 1.5 * STEP ? rows.length - shown : STEP);
    const grow = () => {
      const next = rows.slice(shown, shown + step());
      shown += next.length;
      body.append(...next.flatMap(draw));
      more.parentElement.hidden = shown >= rows.length;
      more.textContent = "show " + count(step()) + " more of " + count(rows.length - shown);
    };
    more.addEventListener("click", grow);
    return (newRows) => { rows = newRows; shown = 0; body.replaceChildren(); grow(); };
  }

  const wordsOf = (field) => field.value.toLowerCase().split(/\s+/).filter(Boolean);

  if ($("task-table")) {
    const table = $("task-table"), find = $("find");
    weft.argumentHeads(table, data.arguments);
    table.classList.toggle("plain-args", data.arguments.length > 0 && data.functions === 1);
    const fill = pager(table, $("task-more"), (i) => of.row(data.tasks[i]));
    let matches = [];
    let sort = ["place", 1];
    const redraw = () => {
      const words = wordsOf(find);
      matches = [...data.tasks.keys()].filter((i) => (!states.size || states.has(of.state(data.tasks[i])))
        && words.every((word) => texts[i].includes(word)));
      const value = sort[0] === "place" ? (t, i) => i : of[sort[0]];
      const values = new Map(matches.map((i) => [i, value(data.tasks[i], i)]));
      const order = (a, b) => (values.get(a) < values.get(b) ? -1 : values.get(a) > values.get(b) ? 1 : 0);
      matches.sort((a, b) => sort[1] * order(a, b) || a - b);
      const part = matches.length < data.tasks.length;
      $("task-said").textContent = part ? count(matches.length) + " found. " : "";
      fill(matches);
    };
    const states = weft.chips($("state-chips"), weft.tally(data.tasks.map(of.state)), redraw);
    weft.sortable(table, (...order) => { sort = order; redraw(); });
    find.addEventListener("input", redraw);
    refillTasks = (text) => {
      find.value = text;
      states.clear();
      $("state-chips").firstChild.click();
    };
    const offer = (kind, type, write) => $("task-" + kind).addEventListener("click", () =>
      weft.download(data.run + "-tasks." + kind, type, write(matches.map((i) => of.facts(data.tasks[i])))));
    offer("csv", "text/csv", weft.csv);
    offer("json", "application/json", (facts) => JSON.stringify(facts, null, 1));
    redraw();
  }

  // Shows one task, by its key or its place, with its history open.
  function openTask(text) {
    if (!$("find")) return;
    refillTasks(text);
    show("tasks", true);
    const opener = $("task-table").querySelector("tbody .place button");
    if (opener) opener.click();
    else $("task-said").textContent = "Task " + text + " is not among those in this file; weft explain " + data.run + " " + text + " shows it. ";
  }
  const fromAddress = weft.taskLinks(openTask);

  if ($("event-table")) weft.events($("event-table"), $("event-chips"));

  function recordRow(record) {
    const task = record.length === 2 ? data.tasks[record[1]] : null;
    const [kind, key] = task ? ["result", of.key(task)] : [record[1], record[2]];
    const row = make("tr"), cell = make("td"), body = make("td", null, "code"), keyCell = make("td", null, "code");
    cell.append(make("span", kind, "kind"));
    if (task) {
      const link = make("a", key.slice(0, 12));
      link.href = "#tasks";
      link.dataset.task = key;
      keyCell.append(link);
      body.textContent = of.call(task) + " → " + of.outcome(task);
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
      const needles = wordsOf(find);
      fill(data.ledger.filter((_, i) => needles.every((word) => words[i].includes(word))));
    };
    find.addEventListener("input", redraw);
    redraw();
  }

  weft.timeline(data);
  if ($("progress-chart")) weft.progress($("progress-chart"))(data.progress);
  if ($("values-box")) weft.values($("values-box"), openTask)(data.values);
  for (const page of document.querySelectorAll(".view.page")) weft.pageControls(page);
  fromAddress();
})();
