"use strict";
// Scales from values to shares of an axis, with round numbers to write beside it.
(() => {
  const format = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
    return String(Number(value.toPrecision(6)));
  };
  weft.number = format;

  // A scale from values to pixels; `words` are categories, each in the middle of its band.
  weft.scale = (low, high, options = {}) => {
    const { log = false, words = null } = options;
    if (words) [low, high] = [-0.5, words.length - 0.5];
    else if (low === high) { const room = Math.abs(low) / 10 || 1; if (log) { low /= 2; high *= 2; } else { low -= room; high += room; } }
    const to = log ? Math.log : (x) => x, start = to(low), span = to(high) - start;
    const scale = { low, high, log, words, share: (value) => (to(value) - start) / span,
      value: (share) => (log ? Math.exp(start + share * span) : start + share * span) };
    scale.text = (value) => (words ? words[Math.round(value)] ?? "" : options.text ? options.text(value) : format(value));
    scale.ticks = (most) => {
      if (words) {
        const step = Math.max(1, Math.ceil(words.length / most));
        return words.map((_, i) => i).filter((i) => i % step === 0);
      }
      if (log) {
        const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), step = Math.max(1, Math.ceil((last - first + 1) / most));
        const powers = [];
        for (let power = first; power <= last; power += step) powers.push(10 ** power);
        if (powers.length > 1) return powers;
      }
      const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least));
      const step = [1, 2, 5, 10, 20].map((m) => m * power).find((s) => s >= least * 0.999), ticks = [];
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(k * step || 0);  // never -0
      return ticks;
    };
    return scale;
  };
})();
