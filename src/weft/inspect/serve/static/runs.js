"use strict";
// The list of runs: updates it, filters it, and links to the comparison of two.
(() => {
  const { $, count } = weft;
  const chosen = [];
  const body = $("runs"), find = $("find");

  function filter() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  }

  function showPair() {
    for (const box of body.querySelectorAll(".choose")) box.checked = chosen.includes(box.value);
    const link = $("pair");
    link.hidden = chosen.length !== 2;
    if (!link.hidden) link.href = "/compare?a=" + chosen[0] + "&b=" + chosen[1];
    $("pair-said").hidden = !link.hidden;
  }

  body.addEventListener("change", (event) => {
    const id = event.target.value;
    if (!event.target.checked) chosen.splice(chosen.indexOf(id), 1);
    else if (chosen.push(id) > 2) chosen.shift();
    showPair();
  });
  find.addEventListener("input", filter);
  weft.listen("/updates", (update) => {
    weft.put(body, update.rows);
    $("said").textContent = count(update.runs) + (update.runs === 1 ? " run" : " runs");
    $("none").hidden = update.runs > 0;
    showPair();
    filter();
  });
})();
