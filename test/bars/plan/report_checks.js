// What a person would object to on a page, as sentences. Evaluated in the page.
(() => {
  const found = [], clip = text => JSON.stringify(text.trim().slice(0, 40));
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide, the window ${innerWidth}`);

  // Every piece of text: inside the boxes that would clip it, and on top of no other.
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest("script, style") || !parent.checkVisibility())
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(rect => rect.width > 1 && rect.height > 1);
    const box = parent.closest("td, th, .card, button, section, header, #tooltip");
    const limit = box.getBoundingClientRect();
    for (const rect of rects) {
      if (rect.left < limit.left - 1 || rect.right > limit.right + 1 || rect.top < limit.top - 2 || rect.bottom > limit.bottom + 2)
        found.push(`text leaves its box: ${clip(node.data)}`);
      if (!parent.closest("#tooltip"))
        texts.push({rect, node});
    }
  }
  texts.sort((a, b) => a.rect.top - b.rect.top);
  for (let i = 0; i < texts.length; ++i)
    for (let j = i + 1; j < texts.length && texts[j].rect.top < texts[i].rect.bottom - 3; ++j) {
      const [a, b] = [texts[i].rect, texts[j].rect];
      if (texts[i].node !== texts[j].node && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2)
        found.push(`texts overlap: ${clip(texts[i].node.data)} and ${clip(texts[j].node.data)}`);
    }
  return found;
})()
