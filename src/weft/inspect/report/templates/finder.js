// Search boxes of a search's own pages: `data-finder` hides the elements around it whose
// `data-find` does not have every word.
for (const box of document.querySelectorAll("[data-finder]")) {
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of box.parentElement.querySelectorAll("[data-find]"))
      item.hidden = !words.every((word) => item.dataset.find.includes(word));
  });
}
