"use strict";
// What every live page does: listen, report a lost connection, and change only what changed.
(() => {
  const LOST = "Connection lost; what you see may be outdated. Trying again …";
  const ABSENT = { 404: "the run is missing now" };
  const OVER = "weft serve was stopped or restarted: open the address that it prints.";

  // Makes `old` equal to `fresh`, node by node, so that focus, selection and scrolling stay.
  const patch = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
    if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
    const sticky = old.matches("details") ? ["open"] : [];
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !sticky.includes(name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) old.setAttribute(name, value);
    patchInside(old, fresh);
  };
  const patchInside = (old, fresh) => {
    const before = [...old.childNodes], after = [...fresh.childNodes];
    after.forEach((node, i) => (before[i] ? patch(before[i], node) : old.append(node)));
    before.slice(after.length).forEach((node) => node.remove());
  };
  // `html` is made by our templates, in which every text is escaped; the page's policy runs no
  // script that is not one of our files.
  weft.put = (box, html) => {
    const fresh = document.createElement(box.nodeName);
    fresh.innerHTML = html;
    patchInside(box, fresh);
  };

  weft.ask = async (address) => {
    const answer = await fetch(address, { headers: { accept: "application/json" } });
    if (!answer.ok) throw new Error(ABSENT[answer.status] || "The server answers " + answer.status + ".");
    const body = await answer.json();
    if (body && body.trouble) throw new Error(body.trouble);
    return body;
  };

  // What the last update and the last request could not read; each is cleared by its next success.
  const troubles = { update: "", request: "" };
  weft.trouble = (source, text) => {
    const box = weft.$("trouble");
    troubles[source] = text || "";
    if (!box) return;
    box.textContent = troubles.update || troubles.request;
    box.hidden = !box.textContent;
  };

  // Calls `onUpdate` with each update; the browser reconnects by itself after a lost connection.
  weft.listen = (address, onUpdate) => {
    const link = weft.$("link");
    const say = (text) => { link.hidden = !text; link.textContent = text; };
    const source = new EventSource(address);
    let away = false;  // requests made meanwhile fail, and must be repeated
    source.addEventListener("open", () => say(""));
    source.addEventListener("update", (event) => {
      say("");
      const update = JSON.parse(event.data);
      weft.trouble("update", update.trouble);
      if (!update.trouble) onUpdate(update, away);
      away = Boolean(update.trouble);
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) { say(OVER); return; }
      say(LOST);
    });
  };

  // Runs one request of a kind at a time; requests made meanwhile are repeated once, afterwards.
  weft.oneAtATime = (work) => {
    let busy = false, again = false;
    return async function run() {
      if (busy) { again = true; return; }
      busy = true;
      try {
        await work();
        weft.trouble("request", "");
      } catch (error) { weft.trouble("request", String(error.message || error)); }
      busy = false;
      if (again) { again = false; run(); }
    };
  };

  // Buttons that turn pages: first, back, where we are, on, last.
  weft.pages = (box, step, go) => {
    box.replaceChildren();
    const nav = weft.make("span", null, "pages");
    box.append(nav);
    const button = (text, label) => {
      const node = weft.make("button", text);
      node.type = "button";
      node.setAttribute("aria-label", label);
      nav.append(node);
      return node;
    };
    const start = button("«", "first page"), back = button("‹", "page before");
    const range = weft.make("span");
    nav.append(range);
    const on = button("›", "next page"), end = button("»", "last page");
    let first = 0, total = 0;
    const last = () => Math.max(0, Math.floor((total - 1) / step) * step);
    start.addEventListener("click", () => go(0));
    back.addEventListener("click", () => go(Math.max(0, first - step)));
    on.addEventListener("click", () => go(Math.min(last(), first + step)));
    end.addEventListener("click", () => go(last()));
    return (newFirst, newTotal) => {
      first = newFirst; total = newTotal;
      box.hidden = total <= step;
      range.textContent = weft.count(first + 1) + " – " + weft.count(Math.min(total, first + step)) + " of " + weft.count(total);
      start.disabled = back.disabled = first === 0;
      on.disabled = end.disabled = first >= last();
    };
  };
})();
