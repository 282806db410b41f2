"use strict";
// What tasks gave for which arguments: charts that share one selection. Columns come from columns.js.
(() => {
  const { make, count } = weft;

  weft.values = (box, openTask) => {
    const parts = {}, state = weft.selection();
    let charts = [], built = "";
    state.openTask = openTask;

    state.refresh = (fromFields) => {
      state.select();
      const best = state.bestRow(state.chosenRows), { table } = state;
      const isSample = table.rows < table.total, selected = state.filters.size > 0;
      parts.said.textContent = [
        isSample ? "a sample, " + count(table.rows) + " of " + count(table.total) + " tasks" : "",
        selected ? count(state.chosenRows.length) + " of " + count(state.rows.length) + " tasks selected" : isSample ? "" : count(state.rows.length) + " tasks",
        best < 0 ? "" : "best " + state.value.name + " " + state.text(state.value, state.value.cells[best]) + (isSample ? " in the sample" : ""),
        table.precision < 64 ? "numbers are rounded to " + table.precision + " bits" : "",
      ].filter(Boolean).join("; ");
      parts.bestTask.hidden = best < 0;
      if (best >= 0) parts.bestTask.dataset.place = table.placeOf(best);
      weft.fillChips(state, parts);
      if (!fromFields) weft.fillFilters(state, parts);
      for (const chart of charts) chart.redraw();
    };
    function figure(title, wide, ...notes) {
      const node = make("figure", null, "chart-figure" + (wide ? " broad" : "")), head = make("figcaption", title);
      for (const note of notes) head.append(" ", note);
      node.append(head);
      parts.charts.append(node);
      return node;
    }
    function colourKey(...entries) {
      const key = make("small", null, "key");
      for (const [kind, text] of entries) {
        const entry = make("span");
        entry.append(make("i", null, kind), text);
        key.append(entry);
      }
      return key;
    }
    function build() {
      parts.charts.replaceChildren();
      parts.lines = make("small", null, "quiet");
      charts = [weft.pointChart(state, figure(state.value.name + " by task", true, colourKey(["completed", "a task"], ["best", "best so far"])), state.order, 260, weft.drawBest(state))];
      if (state.arguments.length > 1) parts.charts.append(parts.importances);
      for (const column of state.arguments) charts.push(weft.pointChart(state, figure(state.value.name + " against " + column.name), column, 220));
      charts.push(weft.timeHistogram(state, figure("How long tasks took")));
      if (state.arguments.length > 1) {
        const node = figure("Parallel coordinates", true, colourKey(["completed", "a task"], ["best", "the best tenth"]), parts.lines), scroll = make("div", null, "wide");
        node.append(scroll);
        charts.push(weft.parallel(state, scroll, parts.lines));
      }
      weft.listImportances(state, parts);
    }
    function frame() {
      const tools = make("div", null, "tools"), pick = (label, act) => {
        const wrap = make("label", label + " ", "pick"), node = make("select");
        node.addEventListener("change", () => act(node.value));
        wrap.append(node);
        tools.append(wrap);
        return node;
      };
      const button = (title, act) => {
        const node = make("button", title);
        node.type = "button";
        node.addEventListener("click", act);
        tools.append(node);
        return node;
      };
      parts.fn = pick("function", (value) => { state.fn = Number(value); state.filters.clear(); state.views.clear(); built = ""; show(); });
      parts.value = pick("value", (value) => { state.chosen = value; state.filters.clear(); built = ""; show(); });
      parts.best = pick("best is", (value) => { state.asked = value; state.best = value; state.refresh(); });
      parts.best.append(new Option("lowest", "min"), new Option("highest", "max"));
      parts.zoomIn = button("zoom to selection", () => {
        for (const column of state.columns()) if (!column.words) state.views.set(column.name, weft.extent(column.cells, state.mask));
        state.refresh();
      });
      parts.all = button("show all", () => { state.views.clear(); state.refresh(); });
      parts.clear = button("clear selection", () => { state.filters.clear(); state.refresh(); });
      parts.bestTask = button("open the best task", () => openTask(parts.bestTask.dataset.place));
      parts.said = make("p", null, "said");
      parts.said.setAttribute("aria-live", "polite");
      parts.chips = make("div", null, "chips");
      parts.charts = make("div", null, "value-charts");
      parts.importances = make("figure", null, "chart-figure histogram importances");
      parts.importances.append(make("figcaption", "Importances"), make("p", "The share of the value's variance that each argument explains alone.", "quiet"));
      parts.importanceList = make("ul");
      parts.importances.append(parts.importanceList);
      const details = make("details");
      parts.filterGrid = make("div", null, "filters");
      details.append(make("summary", "Filters"), parts.filterGrid);
      box.replaceChildren(tools, parts.said, parts.chips, details, parts.charts);
    }
    function show() {
      const { table } = state;
      state.choose();
      parts.fn.replaceChildren(...table.functions.map((name, i) => new Option(name, i)));
      parts.fn.value = String(state.fn);
      parts.fn.parentElement.hidden = table.functions.length < 2;
      parts.value.replaceChildren(...state.values.map((c) => new Option(c.name)));
      parts.value.value = state.value.name;
      parts.value.parentElement.hidden = state.values.length < 2;
      parts.best.value = state.best;
      const shape = JSON.stringify([state.fn, state.value.name, state.arguments.map((c) => [c.name, c.words])]);
      state.select();
      if (shape !== built) { built = shape; build(); } else weft.listImportances(state, parts);
      charts.forEach((chart) => { chart.cursor = null; });
      state.refresh();
    }
    return async (packed) => {
      if (!packed) { box.replaceChildren(make("p", "No task has given a number yet.", "quiet")); built = ""; return; }
      if (!parts.said || !parts.said.isConnected) { frame(); built = ""; }
      state.table = await weft.unpack(packed);
      if (state.fn >= state.table.functions.length) state.fn = 0;
      show();
    };
  };
})();
