"use strict";
// What the report and the live page share. Texts reach a page through textContent only: nothing in
// the data can become markup.
const weft = {};
(() => {
  weft.$ = (id) => document.getElementById(id);
  weft.count = (n) => n.toLocaleString("en-US");
  document.documentElement.classList.add("scripted");

  weft.make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  weft.duration = (seconds) => {
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
  };

  weft.moment = (zero, since) => {
    if (since === null) return "";
    const at = new Date((zero + since) * 1000);
    if (isNaN(at)) return "";
    return at.toISOString().replace("T", " ") + ", " + weft.duration(Math.max(0, since)) + " after the start";
  };

  // -- tabs: the view is in the address, so a reload keeps it ---------------------------------

  weft.tabs = (onShow) => {
    const all = () => [...document.querySelectorAll("[role=tab]")];
    const target = (tab) => tab.getAttribute("aria-controls");
    const show = (id, focus) => {
      for (const tab of all()) {
        const on = target(tab) === id;
        tab.setAttribute("aria-selected", String(on));
        tab.tabIndex = on ? 0 : -1;
        weft.$(target(tab)).classList.toggle("on", on);
        if (on && focus) tab.focus();
      }
      if (onShow) onShow(id);
    };
    const fromAddress = () => {
      const id = decodeURIComponent(location.hash.slice(1)), tabs = all();
      show(tabs.some((tab) => target(tab) === id) ? id : target(tabs[0]));
    };
    const bar = document.querySelector("[role=tablist]");
    bar.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (!tab) return;
      show(target(tab));
      history.replaceState(null, "", "#" + target(tab));
    });
    bar.addEventListener("keydown", (event) => {
      const tabs = all(), i = tabs.indexOf(event.target.closest("[role=tab]"));
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = event.key === "Home" ? 0 : event.key === "End" ? tabs.length - 1
        : step ? (i + step + tabs.length) % tabs.length : -1;
      if (next < 0) return;
      event.preventDefault();
      show(target(tabs[next]), true);
    });
    window.addEventListener("hashchange", fromAddress);
    fromAddress();
    return show;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      const text = button.parentElement.querySelector("code");
      if (text) getSelection().selectAllChildren(text);
      button.textContent = "selected";
    }
  });

  // -- chips: choose kinds; none chosen is all -------------------------------------------------

  weft.chips = (box, kinds, redraw, before) => {
    const chosen = before || new Set(), chips = [];
    const press = () => {
      for (const [chip, kind] of chips) chip.setAttribute("aria-pressed", String(kind === null ? !chosen.size : chosen.has(kind)));
    };
    const add = (text, kind, act) => {
      const chip = weft.make("button", text);
      chip.type = "button";
      chip.addEventListener("click", () => { act(); press(); redraw(); });
      chips.push([chip, kind]);
      box.append(chip);
    };
    add("all", null, () => chosen.clear());
    for (const [kind, number] of kinds) {
      add(number === null ? kind : kind + " " + weft.count(number), kind, () => { if (!chosen.delete(kind)) chosen.add(kind); });
    }
    press();
    return chosen;
  };

  weft.tally = (values) => {
    const counts = new Map();
    for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
    return [...counts];
  };

  // Chips for the kinds of events; `chosen` are those that were chosen before a redraw.
  weft.events = (table, box, chosen) => {
    const rows = [...table.tBodies[0].rows];
    const redraw = () => { for (const row of rows) row.hidden = Boolean(kinds.size) && !kinds.has(row.dataset.kind); };
    box.replaceChildren();
    const kinds = weft.chips(box, weft.tally(rows.map((row) => row.dataset.kind)), redraw, chosen);
    redraw();
    return kinds;
  };

  // Opens tasks by links on the page and by its address (#task=…); returns what reads the address.
  weft.taskLinks = (openTask) => {
    document.addEventListener("click", (event) => {
      const link = event.target.closest("[data-task]");
      if (!link) return;
      event.preventDefault();
      openTask(link.dataset.task);
    });
    const fromAddress = () => {
      if (location.hash.startsWith("#task=")) openTask(decodeURIComponent(location.hash.slice(6)));
    };
    window.addEventListener("hashchange", fromAddress);
    return fromAddress;
  };

  // Offers a text as a file, without any server.
  weft.download = (name, type, text) => {
    const link = weft.make("a"), address = URL.createObjectURL(new Blob([text], { type }));
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
})();
