"use strict";
// Two runs side by side, as they progress.
(() => {
  const { a, b } = document.body.dataset;
  weft.listen("/compare/updates?a=" + a + "&b=" + b, (update) => weft.put(weft.$("compared"), update.html));
})();
