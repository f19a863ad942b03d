// What of the page can be measured as it is laid out: widths, contrast of all text, words of all pictures.
(() => {
  const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const parse = (text) => (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const luminance = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const behind = (element) => {
    for (let part = element; part; part = part.parentElement) {
      const colour = parse(getComputedStyle(part).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const page = behind(document.body);
  const faint = new Map();
  const note = (kind, front, back, least) => {
    const found = contrast(front, back);
    if (found < least) faint.set(`${kind} ${front} on ${back}`, `${found.toFixed(2)} of ${kind}: ${front} on ${back}`);
  };
  for (const element of document.querySelectorAll('body *')) {
    if (element.closest('svg') || !element.checkVisibility()) continue;
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (own) note(`text of ${element.tagName} .${element.className}`, parse(getComputedStyle(element).color), behind(element), 4.5);
  }
  for (const text of document.querySelectorAll('svg text')) {
    if (!text.checkVisibility()) continue;
    note('text of a picture', parse(getComputedStyle(text).fill), page, 4.5);
  }
  for (const sample of document.querySelectorAll('.palette path')) note('the palette', parse(getComputedStyle(sample).stroke), page, 3);
  const unsaid = [];
  for (const image of document.images) if (!image.alt) unsaid.push(image.src.slice(0, 40));
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    if (!svg.querySelector(':scope > title')?.textContent || !svg.querySelector(':scope > desc')?.textContent) {
      unsaid.push(svg.closest('[id]')?.id);
    }
  }
  for (const svg of document.querySelectorAll('svg:not([role=img]):not([aria-hidden])')) unsaid.push(svg.closest('[id]')?.id);
  const scroller = document.scrollingElement;
  let widest = '';
  for (const element of document.querySelectorAll('body *')) {
    if (element.checkVisibility() && !element.closest('.scroll, svg') && element.getBoundingClientRect().right > innerWidth + 0.5) {
      widest = `${element.tagName} .${element.className} in ${element.closest('[id]')?.id}`;
      break;
    }
  }
  return {
    width: innerWidth, scroll: scroller.scrollWidth, widest, dark: luminance(page) < 0.2, faint: [...faint.values()], unsaid,
  };
})()
