"use strict";
// Unpacks the columns that columnpack.py packed: planes of bytes, deflated, as base64.
(() => {
  async function inflate(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Numbers of a column; a text is the number of its word. Missing ones are NaN.
  function numbers(column, rows, planes) {
    const { width, low, high, log } = column, cells = new Float64Array(rows);
    if (width === 8) {
      const bytes = new Uint8Array(cells.buffer);
      for (let plane = 0; plane < 8; plane += 1) {
        for (let row = 0; row < rows; row += 1) bytes[8 * row + plane] = planes[plane * rows + row];
      }
      return cells;
    }
    const missing = 2 ** (8 * width) - 1, top = missing - 1;
    const start = log ? Math.log(low) : low, span = (log ? Math.log(high) : high) - start;
    for (let row = 0; row < rows; row += 1) {
      let code = 0;
      for (let plane = width - 1; plane >= 0; plane -= 1) code = 256 * code + planes[plane * rows + row];
      const at = start + (span * code) / top;
      cells[row] = code === missing ? NaN : log ? Math.exp(at) : at;
    }
    return cells;
  }

  // The extent of a column over the rows of a mask, or over all.
  weft.extent = (cells, mask) => {
    let low = Infinity, high = -Infinity;
    for (let row = 0; row < cells.length; row += 1) {
      if (mask && !mask[row]) continue;
      if (cells[row] < low) low = cells[row];
      if (cells[row] > high) high = cells[row];
    }
    return low <= high ? [low, high] : [0, 1];
  };

  weft.unpack = async (packed) => {
    const bytes = await inflate(packed.body), table = { ...packed, columns: [] };
    let at = 0;
    for (const column of packed.columns) {
      const size = column.width * packed.rows;
      table.columns.push({ ...column, cells: numbers(column, packed.rows, bytes.subarray(at, at + size)) });
      at += size;
    }
    table.place = Object.fromEntries(table.columns.filter((c) => c.role === "place").map((c) => [c.name, c.cells]));
    table.arguments = table.columns.filter((c) => c.role === "argument");
    table.values = table.columns.filter((c) => c.role === "value");
    table.time = table.columns.find((c) => c.role === "time");
    table.placeOf = (row) => table.lanes[table.place.lane[row]] + ":" + table.place.round[row] + ":" + table.place.index[row];
    return table;
  };
})();
