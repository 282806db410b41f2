"use strict";
// One task as a table row, and its history below it. `data` names what rows refer to by number.
(() => {
  const { make, duration, count, moment } = weft;
  const [LANE, ROUND, INDEX, CALL, STATE, KEY, ATTEMPT, QUEUED, STARTED, FINISHED, RUN_S, WORKER,
    RECORD, ARGS, VALUE, ERROR, NOTES, WHY, TRIES, LOG, FAILURE] = Array(21).keys();

  // Arguments of a task by name; null where the text was cut.
  const argumentsOf = (text) => {
    try {
      const value = JSON.parse(text);
      return value && typeof value === "object" && !Array.isArray(value) ? value : null;
    } catch { return null; }
  };
  const plain = (value) => (value === undefined ? "" : typeof value === "string" ? value
    : typeof value === "number" ? weft.number(value) : JSON.stringify(value));

  // JSON, perhaps cut, as words for one line: names with their numbers and texts, what identifies the
  // thing first, digests and what is switched off last. The opened task has everything.
  const PAIR = /"([^"\\]+)":("(?:[^"\\]|\\.)+"|\[[^[\]{}]+\]|-?[\d.]+(?:e[-+]?\d+)?|true|false)/gi;
  const LONG_DIGEST = /([0-9a-f]{12})[0-9a-f]{28,}/g;
  const IDENTITY = /(^|_)(id|name|path|title|label)$/, DIGEST = /^[0-9a-f]{40,}$/, MOST_PAIRS = 12;
  const rank = ([name, value]) => (value === "false" || DIGEST.test(value) ? 2 : IDENTITY.test(name) ? 0 : 1);
  const scalar = (text) => {
    try {
      const value = JSON.parse(text);
      return Array.isArray(value) ? value.map(plain).join(" ") : plain(value);
    } catch { return text; }
  };
  weft.brief = (text) => {
    if (!/^[[{]/.test(text || "")) return scalar(text || "");
    const pairs = [...text.matchAll(PAIR)].map(([, name, value]) => [name, scalar(value)]);
    pairs.sort((a, b) => rank(a) - rank(b));
    const words = pairs.slice(0, MOST_PAIRS).map((pair) => pair.join(" ")).join(", ") || text.replace(/[{}[\]"]/g, "").replaceAll(":", " ");
    return words.replace(LONG_DIGEST, "$1…") || "empty";
  };

  weft.tasks = (data) => {
    const name = (number) => (number < 0 ? "" : data.names[number]);
    const known = data.arguments || [], cache = new Map();
    const args = (t) => {
      if (!cache.has(t)) cache.set(t, argumentsOf(t[ARGS]));
      return cache.get(t);
    };
    const hasColumn = (values) => known.some((argument) => argument in values);
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
    known.forEach((argument, i) => { of["arg" + i] = (t) => (args(t) || {})[argument] ?? ""; });
    of.args = args;
    of.value = (t) => t[VALUE];
    of.facts = (t) => ({ lane: name(t[LANE]) || "/", round: t[ROUND], index: t[INDEX], key: t[KEY], function: name(t[CALL]), state: of.state(t),
      arguments: t[ARGS], value: t[VALUE], error: t[FAILURE], attempts: t[ATTEMPT], run_s: t[RUN_S], worker: of.worker(t) });
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
      const cell = make("dd", null, "command"), command = "weft explain " + data.run + " " + t[KEY].slice(0, 12), copy = make("button", "copy", "copy");
      copy.type = "button";
      copy.dataset.copy = command;
      const link = make("a", "link to this task");
      link.href = "#task=" + t[KEY];
      cell.append(make("code", command), " ", copy, " ", link);
      list.append(make("dt", "again"), cell);
      return list;
    };

    // `onToggle(key, open)` is called when a history is opened or closed by hand.
    of.row = (t, open, onToggle) => {
      const row = make("tr", null, "row"), first = make("td", null, "place");
      const opener = make("button", of.place(t).replace(LONG_DIGEST, "$1…"));
      opener.type = "button";
      opener.setAttribute("aria-expanded", "false");
      first.append(opener);
      const state = make("td");
      state.append(make("span", of.state(t), "state " + of.state(t)));
      const values = known.length ? args(t) : null;
      const call = make("td", values && hasColumn(values) ? name(t[CALL]) : name(t[CALL]) + " " + weft.brief(t[ARGS]), "code call");
      row.append(first, state, call, ...known.map((argument) => {
        const cell = make("td", values ? plain(values[argument]) : "", "code arg");
        cell.dataset.name = argument;
        return cell;
      }), make("td", t[FAILURE] || weft.brief(t[VALUE]), "code outcome"),
        make("td", duration(t[RUN_S]), "n took"), make("td", t[ATTEMPT], "n attempts"), make("td", of.worker(t), "worker"));
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

  // Adds a head for each argument, before that of the outcome; the call is then the function alone.
  weft.argumentHeads = (table, names) => {
    const outcome = table.tHead.querySelector("[data-sort=outcome]");
    if (!names || !names.length || table.tHead.querySelector(".arg")) return;
    names.forEach((name, i) => {
      const head = make("th", name, "arg");
      head.scope = "col";
      head.dataset.sort = "arg" + i;
      outcome.before(head);
    });
  };

  const csvCell = (value) => (/[",\n\r]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value);
  weft.csv = (facts) => {
    const names = Object.keys(facts[0] || {});
    return [names, ...facts.map((fact) => names.map((n) => fact[n] ?? ""))].map((line) => line.map((c) => csvCell(String(c))).join(",") + "\n").join("");
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
        const name = head.dataset.sort, largeFirst = ["took", "attempt", "started", "duration", "tasks"].includes(name);
        sort = [name, sort[0] === name ? -sort[1] : largeFirst ? -1 : 1];
        for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", sort[1] > 0 ? "ascending" : "descending");
        onSort(...sort);
      });
    }
  };
})();
