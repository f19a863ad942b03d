'use strict';
// What the page can do beyond being read: filters, a switch for the night, curves to explore, profiles of other choices.
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const one = (selector, from = document) => from.querySelector(selector);
  const show = (element) => { if (element) element.hidden = false; };
  const night = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : night.matches);
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // ---- Numbers as on the ticks of the pictures.
  const digits = (v) => String(+v.toPrecision(3));
  const raised = (n) => [...String(n)].map((c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c])).join('');
  const told = (v, unit) => {
    if (v === null || v === undefined || !isFinite(v)) return '–';
    const size = Math.abs(v), space = unit ? ' ' : '';
    if (v === 0) return '0';
    if (unit === 'm' || unit === 's') {
      if (size >= (unit === 's' ? 1 : 0.1)) return size < 1e5 ? `${digits(v)} ${unit}` : v.toExponential(1) + ` ${unit}`;
      if (size >= 1e-4) return `${digits(v * 1e3)} m${unit}`;
      if (size >= 1e-7) return `${digits(v * 1e6)} µ${unit}`;
    }
    if (size < 1e-3 || size >= 1e6) {
      const power = Math.floor(Math.log10(size) + 1e-9), front = digits(v / 10 ** power);
      return (front === '1' ? '' : front + '·') + '10' + raised(power) + space + unit;
    }
    return digits(v) + space + unit;
  };
  // Which of the places that a log axis offers get a line and a label: decades, or 1, 2 and 5 where there are few.
  const chosen = (own) => (u, splits) => {
    if (!own.log) return splits;
    const decades = Math.log10(splits.at(-1) / splits[0]), stride = Math.max(1, Math.ceil(decades / 6));
    return splits.map((v) => {
      const power = Math.log10(v), first = +(v / 10 ** Math.floor(power + 1e-9)).toPrecision(1);
      if (decades < 1.7) return [1, 2, 5].includes(first) ? v : null;
      return Math.abs(power - Math.round(power)) < 1e-6 && Math.round(power) % stride === 0 ? v : null;
    });
  };
  const ticks = (own) => (u, splits) => splits.map((v, i) => {
    if (v === null) return '';
    return own.log || i === splits.length - 1 ? told(v, own.unit) : digits(v);
  });

  // ---- Curves to explore.
  const open = new Set();
  const cross = (ctx, x, y, colour) => {
    const r = 4 * devicePixelRatio;
    for (const [width, stroke] of [[5, ink('--page')], [2.5, colour]]) {
      ctx.lineWidth = width * devicePixelRatio;
      ctx.strokeStyle = stroke;
      ctx.beginPath();
      ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r);
      ctx.moveTo(x - r, y + r); ctx.lineTo(x + r, y - r);
      ctx.stroke();
    }
  };
  const compare = (u, panel) => {
    const { ctx, bbox } = u, inside = (x, y) => x >= bbox.left && x <= bbox.left + bbox.width && y >= bbox.top && y <= bbox.top + bbox.height;
    ctx.save();
    ctx.beginPath(); ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height); ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = ink('--faint');
    ctx.lineWidth = devicePixelRatio;
    ctx.font = `${11 * devicePixelRatio}px sans-serif`;
    ctx.textAlign = 'left';
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { label, x, y, slope } of panel.lines) {
      const px = x === undefined ? bbox.left : u.valToPos(x, 'x', true), py = y === undefined ? bbox.top + 12 * devicePixelRatio : u.valToPos(y, 'y', true);
      ctx.beginPath();
      if (slope !== undefined) {
        const { min, max } = u.scales.x, at = (v) => u.valToPos(y * (v / x) ** slope, 'y', true);
        ctx.moveTo(bbox.left, at(min)); ctx.lineTo(bbox.left + bbox.width, at(max));
      } else if (x !== undefined && y !== undefined) {
        ctx.arc(px, py, 4 * devicePixelRatio, 0, 2 * Math.PI);
      } else if (y !== undefined) {
        ctx.moveTo(bbox.left, py); ctx.lineTo(bbox.left + bbox.width, py);
      } else {
        ctx.moveTo(px, bbox.top); ctx.lineTo(px, bbox.top + bbox.height);
      }
      ctx.stroke();
      if (inside(px, py)) ctx.fillText(label, px + 6 * devicePixelRatio, py - 4 * devicePixelRatio);
    }
    ctx.restore();
  };
  const failures = (u, panel) => {
    const { ctx, bbox } = u, tone = isDark() ? 1 : 0, said = [];
    ctx.save();
    for (const curve of panel.curves) {
      if (curve.failed) {
        const [x, word] = curve.failed, y = curve.points[1].at(-1);
        const px = u.valToPos(x, 'x', true), py = u.valToPos(y, 'y', true);
        if (px < bbox.left || px > bbox.left + bbox.width || !isFinite(py)) continue;
        cross(ctx, px, Math.min(Math.max(py, bbox.top), bbox.top + bbox.height), ink('--fails'));
        ctx.fillStyle = ink('--fails');
        ctx.font = `${11 * devicePixelRatio}px sans-serif`;
        ctx.textAlign = px > bbox.left + bbox.width / 2 ? 'right' : 'left';
        // One word for those that fail alike at one place.
        if (said.some((other) => other.word === word && Math.hypot(other.px - px, other.py - py) < 40 * devicePixelRatio)) continue;
        said.push({ word, px, py });
        ctx.fillText(word, px + (ctx.textAlign === 'right' ? -8 : 8) * devicePixelRatio, py - 6 * devicePixelRatio);
      }
      for (const x of curve.crosses || []) {
        const px = u.valToPos(x, 'x', true);
        if (px >= bbox.left && px <= bbox.left + bbox.width) cross(ctx, px, panel.high ? bbox.top + bbox.height - 9 : bbox.top + 9, curve.colour[tone]);
      }
    }
    ctx.restore();
  };
  const tables = (panel) => {
    const lines = [];
    for (const curve of panel.curves) {
      lines.push({ curve, points: curve.points });
      if (curve.tail) lines.push({ curve, points: curve.tail, tail: true });
    }
    const fit = (v, log) => (log && !(v > 0) ? null : v);
    const columns = lines.map(({ points: [place, ys] }) => [panel.xs[place], ys.map((y) => fit(y, panel.y.log))]);
    // Places that are not above zero have none on a log axis.
    const kept = columns.map(([xs, ys]) => {
      const good = xs.map((x, i) => i).filter((i) => !panel.x.log || xs[i] > 0);
      return [good.map((i) => xs[i]), good.map((i) => ys[i])];
    });
    return { lines, data: uPlot.join(kept) };
  };
  const series = (panel) => ({ curve, tail }) => {
    const colour = () => curve.colour[isDark() ? 1 : 0];
    return {
      label: tail ? `${curve.label}, after it failed` : curve.label,
      class: tail ? 'tail' : undefined,
      stroke: colour, width: tail ? 1 : curve.width, dash: tail ? [1, 3] : curve.dash,
      points: { show: panel.dots, size: 7, fill: colour },
      paths: panel.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
      spanGaps: false,
      value: (u, v) => told(v, panel.y.unit),
    };
  };
  const axis = (own, size) => ({
    label: own.label || undefined, labelSize: own.label ? 18 : 0, size, values: ticks(own), font: '12px sans-serif', labelFont: '12px sans-serif',
    stroke: () => ink('--ink'), filter: chosen(own),
    grid: { stroke: () => ink('--line'), width: 1, filter: chosen(own) }, ticks: { stroke: () => ink('--line'), width: 1, filter: chosen(own) },
  });
  const draw = (holder, panel, name) => {
    const place = document.createElement('div');
    place.className = 'panel';
    place.tabIndex = 0;
    place.setAttribute('role', 'group');
    place.setAttribute('aria-label', `${panel.title}: arrows move the cursor, Escape shows all`);
    const title = document.createElement('h5'), said = document.createElement('output');
    title.textContent = panel.title;
    place.append(title);
    holder.append(place);
    const { lines, data } = tables(panel);
    const scale = ({ log }) => ({ time: false, distr: log ? 3 : 1 });
    const u = new uPlot({
      width: Math.max(place.clientWidth, 240), height: 270,
      scales: { x: scale(panel.x), y: scale(panel.y) },
      series: [{ label: panel.x.label || 'time', value: (_, v) => told(v, panel.x.unit) }, ...lines.map(series(panel))],
      axes: [axis(panel.x, 34), axis(panel.y, 74)],
      cursor: { sync: { key: name, scales: ['x', null] }, drag: { x: true, y: true, uni: 24 }, focus: { prox: 24 } },
      focus: { alpha: 0.25 },
      hooks: { draw: [(v) => { compare(v, panel); failures(v, panel); }] },
    }, data, place);
    place.append(said);
    const whole = () => {
      u.setData(data, true);
      for (const [name, { range, log }] of [['x', panel.x], ['y', panel.y]]) {
        const { min, max } = u.scales[name];
        if (range) u.setScale(name, { min: range[0], max: range[1] });
        else if (name === 'x' && !log && min > 0 && min < 0.15 * max) u.setScale(name, { min: 0, max });
      }
    };
    whole();
    const move = (by) => {
      const xs = data[0], at = Math.min(Math.max((u.cursor.idx ?? (by > 0 ? -1 : xs.length)) + by, 0), xs.length - 1);
      const row = lines.findIndex((_, i) => data[i + 1][at] != null);
      u.setCursor({ left: u.valToPos(xs[at], 'x'), top: row < 0 ? 0 : u.valToPos(data[row + 1][at], 'y') });
      const values = lines.map(({ curve }, i) => (data[i + 1][at] == null ? '' : `${curve.label} ${told(data[i + 1][at], panel.y.unit)}`));
      said.textContent = `At ${told(xs[at], panel.x.unit)}: ${values.filter(Boolean).join(', ')}`;
    };
    place.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 10, ArrowDown: -10 }[event.key];
      if (by) move(by);
      else if (event.key === 'Escape') whole();
      else return;
      event.preventDefault();
    });
    const watch = new ResizeObserver(() => { if (place.clientWidth && place.clientWidth !== u.width) u.setSize({ width: place.clientWidth, height: 270 }); });
    watch.observe(place);
    open.add(u);
    return { u, close: () => { watch.disconnect(); open.delete(u); u.destroy(); } };
  };

  const plots = all('figure.plot');
  const drawn = new Map();
  const explore = (plot) => {
    if (drawn.has(plot)) return;
    const holder = one('.live', plot);
    show(holder);
    all('.wide, .narrow', plot).forEach((part) => { part.hidden = true; });
    drawn.set(plot, JSON.parse(one('script', plot).textContent).map((panel) => draw(holder, panel, plot.id)));
  };
  const leave = (plot) => {
    (drawn.get(plot) || []).forEach((made) => made.close());
    drawn.delete(plot);
    const holder = one('.live', plot);
    holder.replaceChildren();
    holder.hidden = true;
    all('.wide, .narrow', plot).forEach((part) => { part.hidden = false; });
  };
  let exploring = false;
  const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting && exploring) explore(target);
  });
  const setExploring = (on) => {
    exploring = on;
    all('.explore').forEach((button) => {
      button.textContent = on ? 'Show pictures' : 'Explore values';
      button.setAttribute('aria-pressed', on);
    });
    all('.tip').forEach((tip) => { tip.hidden = !on; });
    near.disconnect();
    if (on) plots.forEach((plot) => near.observe(plot));
    else [...drawn.keys()].filter((plot) => plot.id !== 'profile-plot').forEach(leave);
  };
  all('.explore').forEach((button) => {
    show(button);
    button.title = 'Key: e';
    button.addEventListener('click', () => {
      setExploring(!exploring);
      if (exploring) explore(one('figure.plot', button.closest('.pictures')));
    });
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, textarea');
    if (event.key === 'e' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) setExploring(!exploring);
  });

  // ---- Claims and their curves.
  for (const section of all('section.figure')) {
    const claims = all('.claim', section), curves = all('g[data-run]', section);
    const light = (names) => {
      for (const svg of all('svg', section)) svg.classList.toggle('dimmed', names !== null && all('g[data-run]', svg).some((g) => names.includes(g.dataset.run)));
      curves.forEach((g) => g.classList.toggle('lit', names !== null && names.includes(g.dataset.run)));
      (drawn.get(one('figure.plot', section)) || []).forEach(({ u }) => {
        const at = names === null ? -1 : u.series.findIndex((own, i) => i > 0 && names.includes(own.label));
        u.setSeries(at < 0 ? null : at, { focus: at >= 0 });
      });
    };
    for (const claim of claims) {
      const names = JSON.parse(claim.dataset.runs);
      for (const way of ['pointerenter', 'focus']) claim.addEventListener(way, () => light(names));
      for (const way of ['pointerleave', 'blur']) claim.addEventListener(way, () => light(null));
    }
    for (const curve of curves) {
      const named = claims.filter((claim) => JSON.parse(claim.dataset.runs).includes(curve.dataset.run));
      curve.addEventListener('pointerenter', () => { light([curve.dataset.run]); named.forEach((claim) => claim.classList.add('lit')); });
      curve.addEventListener('pointerleave', () => { light(null); named.forEach((claim) => claim.classList.remove('lit')); });
    }
  }

  // ---- Filters, kept in the address.
  const filters = one('#filters');
  if (filters) {
    const cards = all('.tile'), output = one('output', filters);
    const fits = (card, { paper, method, verdict }) => (!paper || card.dataset.paper === paper)
      && (!method || card.dataset.methods.split(' ').includes(method))
      && (!verdict || card.dataset.verdicts.split(' ').includes(verdict));
    const apply = () => {
      const wanted = Object.fromEntries(new FormData(filters));
      cards.forEach((card) => { card.hidden = !fits(card, wanted); });
      output.textContent = `${cards.filter((card) => !card.hidden).length} of ${cards.length} figures`;
      const words = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
      // Some browsers keep the address of a local file as it is.
      try { history.replaceState(null, '', (words ? `?${words}` : location.pathname) + location.hash); } catch { /* as it is */ }
    };
    show(filters);
    const asked = new URLSearchParams(location.search);
    for (const [name, value] of asked) {
      const field = filters.elements[name];
      if (field && [...field.options].some((option) => option.value === value)) field.value = value;
    }
    filters.addEventListener('change', apply);
    filters.addEventListener('reset', () => setTimeout(apply));
    filters.addEventListener('submit', (event) => event.preventDefault());
    if ([...asked.keys()].length) apply();
  }

  // ---- The profile of the methods that are chosen: what costs are divided by changes with them.
  const staircase = (costs, best) => {
    const met = costs.map((cost, i) => (cost === null ? Infinity : cost / best[i])).filter(isFinite).sort((a, b) => a - b);
    return met.map((ratio, i) => [ratio, (i + 1) / costs.length]);
  };
  const profile = one('#profile');
  if (profile) {
    const { methods } = JSON.parse(one('#profile-data').textContent), plot = one('figure.plot', profile), holder = one('.live', plot);
    const choices = one('.choices', profile);
    let made = null;
    const recompute = () => {
      const taking = all('input:checked', choices).map((box) => methods[+box.value]);
      if (made) made.close();
      made = null;
      holder.replaceChildren();
      if (!taking.length) { holder.textContent = 'No method is chosen.'; return; }
      const best = taking[0].costs.map((_, i) => Math.min(...taking.map((m) => m.costs[i] ?? Infinity)));
      const stairs = taking.map((m) => staircase(m.costs, best));
      const end = 1.5 * Math.max(1, ...stairs.flat().map((step) => step[0]));
      const panel = {
        title: 'Share of problems solved', x: { label: 'time per frame, over that of the fastest chosen', unit: '', log: true },
        y: { label: '', unit: '', log: false, range: [0, 1.05] }, dots: false, high: true, steps: true, lines: [],
        xs: [], curves: [],
      };
      stairs.forEach((steps, i) => {
        const last = steps.length ? steps.at(-1)[1] : 0;
        // Of several steps at one place only the highest can be seen.
        const points = new Map([...(steps.length && steps[0][0] === 1 ? [] : [[1, 0]]), ...steps, [end, last]]);
        panel.xs.push([...points.keys()]);
        panel.curves.push({ ...taking[i], points: [panel.xs.length - 1, [...points.values()]] });
      });
      made = draw(holder, panel, plot.id);
      drawn.set(plot, [made]);
    };
    show(choices);
    choices.addEventListener('change', () => {
      show(holder);
      all('.wide, .narrow', plot).forEach((part) => { part.hidden = true; });
      recompute();
    });
  }

  // ---- Small things.
  for (const button of all('.copy')) {
    show(button);
    button.addEventListener('click', () => navigator.clipboard.writeText(button.dataset.text).then(
      () => { button.textContent = 'Copied'; setTimeout(() => { button.textContent = 'Copy'; }, 1500); },
      () => { button.textContent = 'Not allowed here'; },
    ));
  }
  const theme = one('#theme');
  const redraw = () => open.forEach((u) => u.redraw(false, true));
  if (theme) {
    show(theme);
    theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; redraw(); });
  }
  night.addEventListener('change', redraw);
  // A link into something folded opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let part = target; part; part = part.parentElement) if (part.tagName === 'DETAILS') part.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  if (location.hash) unfold();
})();
