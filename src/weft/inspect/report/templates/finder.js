"use strict";
// Controls of a search's own pages. A page is a part of the report, or a document in a frame in
// which nothing runs: the same code, called from outside, acts upon both.
(() => {
  // A search box hides the elements whose `data-find` lacks one of its words; chips with
  // `data-only` those whose `data-kinds` lacks the chosen kind.
  function filters(page) {
    const find = page.querySelector("[data-finder]"), chips = [...page.querySelectorAll("[data-only]")];
    if (!find && !chips.length) return;
    let kind = "";
    const apply = () => {
      const words = find ? find.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      let shown = 0;
      for (const item of page.querySelectorAll("[data-find]")) {
        item.hidden = !words.every((word) => item.dataset.find.includes(word))
          || (kind !== "" && !(item.dataset.kinds || "").split(" ").includes(kind));
        shown += item.hidden ? 0 : 1;
      }
      const said = page.querySelector("[data-found]");
      if (said) said.textContent = words.length || kind ? weft.count(shown) + " found" : "";
    };
    for (const chip of chips) {
      chip.addEventListener("click", () => {
        kind = chip.dataset.only;
        for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
        apply();
      });
    }
    if (find) find.addEventListener("input", apply);
  }

  // `data-steps` shows one of its `data-step` elements at a time; arrows and buttons go on.
  function stepper(box) {
    const steps = [...box.querySelectorAll("[data-step]")], said = box.querySelector("[data-step-said]");
    if (!steps.length) return;
    let at = steps.length - 1;
    const show = (next) => {
      at = Math.min(steps.length - 1, Math.max(0, next));
      steps.forEach((step, i) => { step.hidden = i !== at; });
      if (said) said.textContent = "step " + (at + 1) + " of " + steps.length;
    };
    for (const button of box.querySelectorAll("[data-step-by]")) button.addEventListener("click", () => show(at + Number(button.dataset.stepBy)));
    box.addEventListener("keydown", (event) => {
      const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      show(next);
    });
    show(0);
  }

  weft.pageControls = (page) => {
    const root = page.documentElement || page;
    root.classList.add("scripted");
    filters(page);
    for (const box of page.querySelectorAll("[data-steps]")) stepper(box);
  };
})();
