"use strict";
// One task as a table row, and its history below it. `data` names what rows refer to by number.
(() => {
  const { make, duration, count, moment } = weft;
  const [LANE, ROUND, INDEX, CALL, STATE, KEY, ATTEMPT, QUEUED, STARTED, FINISHED, RUN_S, WORKER,
    RECORD, ARGS, VALUE, ERROR, NOTES, WHY, TRIES, LOG, FAILURE] = Array(21).keys();

  weft.tasks = (data) => {
    const name = (number) => (number < 0 ? "" : data.names[number]);
    const of = {
      key: (t) => t[KEY],
      state: (t) => name(t[STATE]),
      place: (t) => (name(t[LANE]) || "/") + " : " + t[ROUND] + " : " + t[INDEX],
      call: (t) => name(t[CALL]) + " " + t[ARGS],
      outcome: (t) => t[FAILURE] || (t[VALUE] !== null ? t[VALUE] : ""),
      took: (t) => t[RUN_S] ?? -1,
      attempt: (t) => t[ATTEMPT],
      worker: (t) => name(t[WORKER]),
    };
    of.text = (t) => [t[KEY], of.place(t), name(t[LANE]) + ":" + t[ROUND] + ":" + t[INDEX], of.call(t),
      of.outcome(t), of.worker(t), ...t[TRIES].map((a) => a[2])].join("\n").toLowerCase();

    const life = (t) => {
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
      add("state", of.state(t) + "; " + (t[RECORD] === null ? t[WHY] : "recorded as record " + count(t[RECORD])));
      add("queued", moment(data.zero, t[QUEUED]));
      for (const [number, ended, reason, detail, at] of t[TRIES]) {
        add("attempt " + number, ended + ": " + reason + (at === null ? "" : ", " + moment(data.zero, at)));
        add(" ", detail, true);
      }
      add("started", moment(data.zero, t[STARTED]));
      add("ended", moment(data.zero, t[FINISHED]));
      add("took", t[RUN_S] === null ? "" : duration(t[RUN_S]));
      add("worker", of.worker(t));
      add("value", t[VALUE], true);
      add("error", t[ERROR], true);
      add("notes", t[NOTES] === "{}" ? "" : t[NOTES]);
      add("log", t[LOG], true);
      return list;
    };

    // `onToggle(key, open)` is called when a history is opened or closed by hand.
    of.row = (t, open, onToggle) => {
      const row = make("tr", null, "row"), first = make("td", null, "place");
      const opener = make("button", of.place(t));
      opener.type = "button";
      opener.setAttribute("aria-expanded", "false");
      first.append(opener);
      const state = make("td");
      state.append(make("span", of.state(t), "state " + of.state(t)));
      row.append(first, state, make("td", of.call(t), "code"), make("td", of.outcome(t), "code"),
        make("td", duration(t[RUN_S]), "n"), make("td", t[ATTEMPT], "n"), make("td", of.worker(t)));
      const below = make("tr", null, "life"), cell = make("td");
      cell.colSpan = row.cells.length;
      below.append(cell);
      const toggle = (expanded) => {
        opener.setAttribute("aria-expanded", String(expanded));
        if (!expanded) { below.remove(); return; }
        cell.replaceChildren(life(t));
        row.after(below);
      };
      row.addEventListener("click", (event) => {
        if (event.target !== opener && String(getSelection())) return;
        const expanded = opener.getAttribute("aria-expanded") !== "true";
        toggle(expanded);
        if (onToggle) onToggle(t[KEY], expanded);
      });
      if (!open) return [row];
      opener.setAttribute("aria-expanded", "true");
      cell.append(life(t));
      return [row, below];
    };
    return of;
  };

  // Turns the heads of a table into buttons; `onSort(name, direction)` is called on each click.
  weft.sortable = (table, onSort) => {
    let sort = ["place", 1];
    for (const head of table.tHead.querySelectorAll("[data-sort]")) {
      const button = make("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const name = head.dataset.sort, largeFirst = ["took", "attempt"].includes(name);
        sort = [name, sort[0] === name ? -sort[1] : largeFirst ? -1 : 1];
        for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sort[1] > 0 ? "ascending" : "descending");
        onSort(...sort);
      });
    }
  };
})();
