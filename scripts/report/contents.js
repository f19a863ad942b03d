// What the page holds, to be compared with what is on file.
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const figures = all('section.figure');
  const with_ = (selector) => figures.filter((figure) => figure.querySelector(selector)).map((figure) => figure.id).sort();
  const ids = all('[id]').map((element) => element.id);
  const jumps = [];
  let before = 0;
  for (const heading of all('h1, h2, h3, h4, h5')) {
    const level = +heading.tagName[1];
    if (level > before + 1) jumps.push(heading.textContent);
    before = level;
  }
  return {
    headings: figures.filter((figure) => figure.querySelectorAll('h3').length === 1).map((figure) => figure.id).sort(),
    films: with_('.film img'),
    loops: with_('.loop img'),
    plots: with_('figure.plot .wide svg'),
    claims: Object.fromEntries(figures.map((figure) => [figure.id, all('.claim .sentence', figure).map((text) => text.textContent)])),
    squares: all('.squares a').length,
    dead: all('a[href^="#"]').map((link) => link.getAttribute('href')).filter((to) => !document.getElementById(to.slice(1))),
    twice: ids.filter((id, i) => ids.indexOf(id) !== i),
    jumps,
    unscoped: all('th:not([scope])').filter((cell) => !cell.closest('.u-legend')).length,
  };
})()
