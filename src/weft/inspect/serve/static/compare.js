"use strict";
// Two runs beside each other, as they go on.
(() => {
  const { a, b } = document.body.dataset;
  weft.listen("/compare/looks?a=" + a + "&b=" + b, (look) => weft.put(weft.$("compared"), look.html));
})();
