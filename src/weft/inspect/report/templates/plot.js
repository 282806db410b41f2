"use strict";
// A chart on a canvas: axes, points, lines and bars; a tip, a cursor and a brush. It knows pixels,
// not what is drawn; scales come from scales.js.
(() => {
  const { make } = weft;
  const PAD = { left: 58, right: 14, top: 24, bottom: 36 };
  const INSET = 7;  // between the axes and what is drawn: a point at the edge covers no number
  const MANY = 3000;

  weft.colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const rgb = (colour) => {
    const context = weft.pixel || (weft.pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true }));
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
  };

  // Charts outside the window wait for an idle moment, so that a selection is answered at once.
  const waiting = new Set();
  let scheduled = false;
  const idle = window.requestIdleCallback ? (work) => requestIdleCallback(work, { timeout: 400 })
    : (work) => setTimeout(() => work({ timeRemaining: () => 0 }), 30);
  function drain(moment) {
    for (const chart of [...waiting]) {
      chart.paint();
      if (moment.timeRemaining() < 8) break;
    }
    scheduled = waiting.size > 0;
    if (scheduled) idle(drain);
  }
  function later(chart) {
    waiting.add(chart);
    if (!scheduled) { scheduled = true; idle(drain); }
  }
  window.addEventListener("beforeprint", () => { for (const chart of [...waiting]) chart.paint(); });

  // `options`: height, draw(chart), tip(x, y) -> {text, x, y, row} or null, step(row, by) -> the
  // next row for the cursor, open(row), brush(box) with shares of the plot, zoom(factor, share).
  weft.chart = (figure, options) => {
    const box = make("div", null, "plot"), canvas = make("canvas"), band = make("div", null, "band"), tip = make("div", null, "tip");
    const said = make("span", null, "unseen");
    said.setAttribute("aria-live", "polite");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    canvas.setAttribute("aria-hidden", "true");
    band.hidden = tip.hidden = true;
    box.append(canvas, band, tip, said);
    figure.append(box);
    const chart = { box, canvas, figure, cursor: null };
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const pad = { ...PAD, ...options.pad };

    chart.label = (text) => box.setAttribute("aria-label", text);
    chart.px = (x) => pad.left + INSET + x * chart.wide;
    chart.py = (y) => pad.top + INSET + (1 - y) * chart.high;

    chart.axes = (x, y, names) => {
      context.font = "12px system-ui,sans-serif";
      context.lineWidth = 1;
      context.fillStyle = weft.colour("--soft");
      context.strokeStyle = weft.colour("--line");
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (const tick of y ? y.ticks(Math.max(2, Math.floor(chart.high / 36))) : []) {
        const at = Math.round(chart.py(y.share(tick))) + 0.5;
        context.beginPath();
        context.moveTo(pad.left, at);
        context.lineTo(pad.left + chart.wide + 2 * INSET, at);
        context.stroke();
        context.fillText(short(y.text(tick), 9), pad.left - 7, at);
      }
      context.textAlign = "center";
      context.textBaseline = "top";
      const floor = pad.top + chart.high + 2 * INSET, room = x && x.words ? chart.wide / Math.max(1, x.words.length) / 7 : 12;
      for (const tick of x ? x.ticks(Math.max(2, Math.floor(chart.wide / (x.words ? 40 : 58)))) : []) {
        const text = short(x.text(tick), Math.max(6, room)), half = context.measureText(text).width / 2 + 1;
        const at = Math.min(Math.max(chart.px(x.share(tick)), half), pad.left + chart.wide + 2 * INSET + pad.right - half);
        context.fillText(text, at, floor + 5);
      }
      context.fillText(names[0], chart.px(0.5), floor + 20);
      context.textAlign = "left";
      context.fillText(short(names[1], 40), 2, 2);
    };
    // A second axis, on the right, for what is drawn in `colour`.
    chart.rightAxis = (y, name, colour) => {
      const right = pad.left + chart.wide + 2 * INSET;
      context.fillStyle = colour;
      context.textAlign = "left";
      context.textBaseline = "middle";
      for (const tick of y.ticks(Math.max(2, Math.floor(chart.high / 36)))) context.fillText(short(y.text(tick), 9), right + 7, chart.py(y.share(tick)));
      context.textAlign = "right";
      context.textBaseline = "top";
      context.fillText(name, right + pad.right - 2, 2);
    };
    const short = (text, most) => (text.length > most ? text.slice(0, Math.max(1, most - 1)) + "…" : text);

    // Points by shares; `xs` and `ys` give the share of a row. Many are stamped into the image itself.
    chart.points = (rows, xs, ys, colour, radius) => {
      if (rows.length > MANY) { stamp(rows, xs, ys, rgb(colour)); return; }
      context.fillStyle = colour;
      context.beginPath();
      for (const row of rows) {
        const x = xs(row), y = ys(row);
        if (!(x >= -0.001 && x <= 1.001 && y >= -0.001 && y <= 1.001)) continue;
        context.moveTo(chart.px(x) + radius, chart.py(y));
        context.arc(chart.px(x), chart.py(y), radius, 0, 7);
      }
      context.fill();
    };
    function stamp(rows, xs, ys, [red, green, blue]) {
      const ratio = chart.ratio, image = context.getImageData(0, 0, canvas.width, canvas.height), size = Math.max(2, Math.round(2 * ratio));
      const pixels = new Uint32Array(image.data.buffer), wide = canvas.width, colour = (255 << 24) | (blue << 16) | (green << 8) | red;
      for (let i = 0; i < rows.length; i += 1) {
        const x = xs(rows[i]), y = ys(rows[i]);
        if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
        const left = Math.round(chart.px(x) * ratio) - 1, top = Math.round(chart.py(y) * ratio) - 1;
        for (let line = top; line < top + size; line += 1) {
          const start = line * wide + left;
          for (let at = start; at < start + size; at += 1) pixels[at] = colour;
        }
      }
      context.putImageData(image, 0, 0);
    }
    chart.line = (points, colour, width, stepped) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.save();
      context.beginPath();
      context.rect(pad.left, pad.top, chart.wide + 2 * INSET, chart.high + 2 * INSET);
      context.clip();
      context.beginPath();
      let before = null;
      for (const [x, y] of points) {
        if (before === null) context.moveTo(chart.px(x), chart.py(y));
        else { if (stepped) context.lineTo(chart.px(x), chart.py(before)); context.lineTo(chart.px(x), chart.py(y)); }
        before = y;
      }
      context.stroke();
      context.restore();
    };
    chart.bar = (left, right, top, colour) => {
      context.fillStyle = colour;
      context.fillRect(chart.px(left), chart.py(top), Math.max(1, chart.px(right) - chart.px(left) - 1), chart.py(0) - chart.py(top));
    };
    chart.context = context;

    // At once where it can be seen; else as soon as there is nothing better to do.
    chart.redraw = () => {
      const edge = box.getBoundingClientRect();
      if (edge.bottom > 0 && edge.top < innerHeight) chart.paint();
      else later(chart);
    };
    chart.paint = () => {
      waiting.delete(chart);
      const wide = box.clientWidth;
      if (!wide) return;
      const high = options.height, ratio = window.devicePixelRatio || 1;
      if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
        canvas.width = Math.round(wide * ratio);
        canvas.height = Math.round(high * ratio);
        canvas.style.height = high + "px";
      }
      chart.ratio = ratio;
      chart.wide = wide - pad.left - pad.right - 2 * INSET;
      chart.high = high - pad.top - pad.bottom - 2 * INSET;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, wide, high);
      options.draw(chart);
    };
    const share = (event) => {
      const edge = canvas.getBoundingClientRect();
      return [(event.clientX - edge.left - pad.left - INSET) / chart.wide, 1 - (event.clientY - edge.top - pad.top - INSET) / chart.high];
    };
    const clamp = (x) => Math.min(1, Math.max(0, x));

    chart.showTip = (found, speak) => {
      tip.hidden = !found;
      box.classList.toggle("hit", Boolean(found));
      if (!found) return;
      tip.textContent = found.text;
      if (speak) said.textContent = found.text;
      tip.style.left = Math.max(0, Math.min(chart.px(found.x) + 12, box.clientWidth - tip.offsetWidth - 2)) + "px";
      tip.style.top = Math.max(0, chart.py(found.y) - tip.offsetHeight - 8) + "px";
    };
    let from = null;
    box.addEventListener("pointerdown", (event) => {
      if (event.button || !options.brush || event.pointerType === "touch") return;
      from = share(event);
      box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => {
      const at = share(event);
      if (from) {
        const area = options.area ? options.area(from, at) : [from[0], at[0], from[1], at[1]];
        const [x0, x1, y0, y1] = area.map(clamp);
        band.hidden = false;
        Object.assign(band.style, { left: chart.px(Math.min(x0, x1)) + "px", width: Math.abs(x1 - x0) * chart.wide + "px",
          top: chart.py(Math.max(y0, y1)) + "px", height: Math.abs(y1 - y0) * chart.high + "px" });
        return;
      }
      chart.showTip(options.tip ? options.tip(...at) : null);
    });
    box.addEventListener("pointerup", (event) => {
      if (!from) return;
      const at = share(event), start = from, moved = Math.hypot((at[0] - start[0]) * chart.wide, (at[1] - start[1]) * chart.high);
      from = null;
      band.hidden = true;
      if (moved > 5) { options.brush(start.map(clamp), at.map(clamp)); return; }
      const found = options.tip ? options.tip(...at) : null;
      if (found && options.open) options.open(found.row);
    });
    box.addEventListener("pointercancel", () => { from = null; band.hidden = true; });
    box.addEventListener("pointerleave", () => { if (!from) tip.hidden = true; });
    box.addEventListener("blur", () => { tip.hidden = true; });
    box.addEventListener("wheel", (event) => {
      if (!options.zoom || !(event.ctrlKey || event.shiftKey)) return;
      event.preventDefault();
      options.zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, clamp(share(event)[0]));
    }, { passive: false });
    box.addEventListener("keydown", (event) => {
      const key = event.key;
      if (options.step && (key === "ArrowRight" || key === "ArrowLeft")) {
        chart.cursor = options.step(chart.cursor, key === "ArrowRight" ? 1 : -1);
        if (chart.cursor !== null) chart.showTip(options.at(chart.cursor), true);
      } else if (key === "Enter" && options.open && chart.cursor !== null) options.open(chart.cursor);
      else if (options.zoom && "+=-0".includes(key)) options.zoom(key === "-" ? 2 : key === "0" ? Infinity : 0.5, 0.5);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => chart.redraw()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart.redraw());
    return chart;
  };
})();
