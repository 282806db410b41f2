"use strict";
// The workers' timeline: zoom and move by buttons, keys, wheel and drag; a tip under the pointer.
(() => {
  const { $, count, duration } = weft;
  let from = 0, width = 1;  // survives a redraw of the page

  weft.timeline = (data) => {
    const box = $("tracks");
    if (!box) return;
    const tip = $("tip"), axis = $("axis"), svgs = [...box.querySelectorAll("svg")];
    const length = data.end - data.start || 1;
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
    for (const end of ["pointerup", "pointerleave"]) box.addEventListener(end, () => { drag = null; });
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
    set(from, width);
  };
})();
