"use strict";
// The list of runs: updates it, sorts and filters it, and links to the comparison of some of them.
(() => {
  const { $, count } = weft;
  const MOST = 6, NUMBERS = ["started", "duration", "tasks"];
  const chosen = [];
  const body = $("runs"), find = $("find");
  let sort = ["started", -1], states = new Set();

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || (states.size > 0 && !states.has(row.dataset.word));
      shown += row.hidden ? 0 : 1;
    }
    const all = body.rows.length;
    $("said").textContent = count(all) + (all === 1 ? " run" : " runs") + (shown < all ? ", " + count(shown) + " shown" : "");
  }

  function order() {
    const [name, way] = sort, value = (row) => (NUMBERS.includes(name) ? Number(row.dataset[name]) : row.dataset[name]);
    const rows = [...body.rows].sort((a, b) => way * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)
      || (a.dataset.name < b.dataset.name ? -1 : 1));
    rows.forEach((row, i) => { if (body.rows[i] !== row) body.insertBefore(row, body.rows[i]); });
  }

  function chips() {
    $("run-chips").replaceChildren();
    states = weft.chips($("run-chips"), weft.tally([...body.rows].map((row) => row.dataset.word)), filter, states);
  }

  function showPair() {
    for (const box of body.querySelectorAll(".choose")) {
      box.checked = chosen.includes(box.value);
      box.disabled = chosen.length >= MOST && !box.checked;
    }
    const link = $("pair"), ready = chosen.length >= 2;
    link.hidden = !ready;
    link.textContent = "compare " + chosen.length + " runs";
    link.href = "/compare?runs=" + chosen.join(",");
    $("pair-said").hidden = ready;
  }

  body.addEventListener("change", (event) => {
    const id = event.target.value;
    if (event.target.checked) chosen.push(id);
    else chosen.splice(chosen.indexOf(id), 1);
    showPair();
  });
  find.addEventListener("input", filter);
  weft.sortable($("run-table"), (...by) => { sort = by; order(); });
  let before = "";
  weft.listen("/updates", (update) => {
    const focused = document.activeElement && document.activeElement.value;
    weft.put(body, update.rows);
    $("none").hidden = update.runs > 0;
    const now = [...body.rows].map((row) => row.dataset.word).join();
    if (now !== before) { before = now; chips(); }
    showPair();
    order();
    filter();
    const box = focused && [...body.querySelectorAll(".choose")].find((other) => other.value === focused);
    if (box) box.focus();
  });
})();
