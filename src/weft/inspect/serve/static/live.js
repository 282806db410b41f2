"use strict";
// What every live page does: listen, say when the line is cut, and change only what changed.
(() => {
  const LOST = "The page has lost its server; what you see may be old. It is trying again …";
  const ABSENT = { 404: "the run is not there now" };
  const OVER = "weft serve was stopped or started again: open the address that it prints.";

  // Makes `old` equal to `fresh`, node by node, so that focus, selection and scrolling stay.
  const patch = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) { old.replaceWith(fresh); return; }
    if (old.nodeType !== Node.ELEMENT_NODE) { old.nodeValue = fresh.nodeValue; return; }
    const kept = old.matches("details") ? ["open"] : [];
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
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
    const found = await answer.json();
    if (found && found.trouble) throw new Error(found.trouble);
    return found;
  };

  // What the last look and the last question could not read; either is gone with its next success.
  const told = { look: "", question: "" };
  weft.trouble = (who, text) => {
    const box = weft.$("trouble");
    told[who] = text || "";
    if (!box) return;
    box.textContent = told.look || told.question;
    box.hidden = !box.textContent;
  };

  // Calls `onLook` with each look; a cut line is mended by the browser, or by a new one of ours.
  weft.listen = (address, onLook) => {
    const link = weft.$("link");
    const say = (text) => { link.hidden = !text; link.textContent = text; };
    const source = new EventSource(address);
    let away = false;  // what is asked for meanwhile fails, and must be asked for again
    source.addEventListener("open", () => say(""));
    source.addEventListener("look", (event) => {
      say("");
      const look = JSON.parse(event.data);
      weft.trouble("look", look.trouble);
      if (!look.trouble) onLook(look, away);
      away = Boolean(look.trouble);
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) { say(OVER); return; }
      say(LOST);
    });
  };

  // Runs one request of a kind at a time; what is asked for meanwhile is asked once, afterwards.
  weft.oneAtATime = (work) => {
    let busy = false, again = false;
    return async function run() {
      if (busy) { again = true; return; }
      busy = true;
      try {
        await work();
        weft.trouble("question", "");
      } catch (error) { weft.trouble("question", String(error.message || error)); }
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
      const made = weft.make("button", text);
      made.type = "button";
      made.setAttribute("aria-label", label);
      nav.append(made);
      return made;
    };
    const start = button("«", "first page"), back = button("‹", "page before");
    const said = weft.make("span");
    nav.append(said);
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
      said.textContent = weft.count(first + 1) + " – " + weft.count(Math.min(total, first + step)) + " of " + weft.count(total);
      start.disabled = back.disabled = first === 0;
      on.disabled = end.disabled = first >= last();
    };
  };
})();
