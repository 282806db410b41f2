"use strict";
// Runs side by side, brought up to date while they progress; their values in one chart.
(() => {
  const { $, make, number, count } = weft;
  const COLOURS = ["--c-completed", "--c-running", "--c-failed", "--c-dropped", "--paused", "--ink"];
  const ids = document.body.dataset.runs.split(",");
  const names = [...document.querySelectorAll(".sub a")].map((link) => link.textContent);
  let series = [], chart = null;

  function numbers(table) {
    const column = table.values.find((c) => c.name === table.chosen) || table.values[0], points = [];
    for (let row = 0; row < table.rows; row += 1) {
      if (table.place.function[row] === 0 && !Number.isNaN(column.cells[row])) points.push(column.cells[row]);
    }
    return points;
  }
  const sign = () => ($("overlay-best").value === "max" ? -1 : 1);
  const bestSoFar = (points) => {
    let best = NaN;
    return points.map((value) => { if (!(sign() * value >= sign() * best)) best = value; return best; });
  };
  const shown = () => series.map((one) => ({ ...one, points: $("overlay-kind").value === "best" ? bestSoFar(one.points) : one.points }));
  function scales(lines) {
    const every = lines.flatMap((line) => line.points.length ? weft.extent(Float64Array.from(line.points)) : []);
    return [weft.scale(0, Math.max(1, ...lines.map((line) => line.points.length - 1))), weft.scale(Math.min(...every), Math.max(...every))];
  }
  function draw(c) {
    const lines = shown(), [x, y] = scales(lines);
    c.axes(x, y, ["task, in order", $("overlay-kind").value === "best" ? "best so far" : "value"]);
    for (const { points, colour } of lines) {
      if ($("overlay-kind").value === "best") c.line(points.map((value, i) => [x.share(i), y.share(value)]), weft.colour(colour), 2, true);
      else c.points(points.map((_, i) => i), (i) => x.share(i), (i) => y.share(points[i]), weft.colour(colour), 2.5);
    }
  }
  function tip(share) {
    const lines = shown(), [x, y] = scales(lines), at = Math.round(x.value(share));
    if (at < 0) return null;
    const here = lines.filter((line) => line.points.length > at);
    if (!here.length) return null;
    return { text: "task " + count(at) + ": " + here.map((line) => line.name + " " + number(line.points[at])).join(", "),
      x: x.share(at), y: y.share(here[0].points[at]), row: at };
  }

  async function overlay() {
    const tables = await Promise.all(ids.map((id) => weft.ask("/run/" + id + "/values")));
    series = [];
    for (const [i, packed] of tables.entries()) {
      if (packed) series.push({ name: names[i], colour: COLOURS[i], points: numbers(await weft.unpack(packed)), direction: packed.direction });
    }
    $("overlay").hidden = !series.length;
    if (!series.length) return;
    if (!chart) {
      $("overlay-best").value = series.find((one) => one.direction)?.direction || "min";
      chart = weft.chart($("overlay"), { height: 280, draw, tip, at: (row) => tip(scales(shown())[0].share(row)),
        step: (row, by) => (row === null ? 0 : Math.max(0, row + by)) });
      for (const id of ["overlay-kind", "overlay-best"]) $(id).addEventListener("change", chart.redraw);
    }
    chart.label("Values of " + names.join(", ") + " by task; arrows go from task to task");
    $("overlay-key").replaceChildren(...series.map((one) => {
      const item = make("li"), mark = make("i");
      mark.style.background = "var(" + one.colour + ")";
      item.append(mark, one.name);
      return item;
    }));
    chart.redraw();
  }
  const load = weft.oneAtATime(overlay);
  weft.listen("/compare/updates?runs=" + ids.join(","), (update) => {
    weft.put($("compared"), update.html);
    load();
  });
})();
