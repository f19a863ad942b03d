// Which bodies do not touch: those of one group, and those that a joint connects.

/** Pairs of bodies that may overlap. */
function* apart(scene, broken) {
  for (const [k, { a, b }] of scene.joints.entries()) {
    if (!broken.has(k) && a.body !== undefined && b.body !== undefined) yield [a.body, b.body];
  }
  const groups = new Map();
  for (const [i, { group }] of scene.bodies.entries()) {
    if (group === null) continue;
    if (!groups.has(group)) groups.set(group, []);
    for (const other of groups.get(group)) yield [other, i];
    groups.get(group).push(i);
  }
}

/**
 * For each body its group of the engine, or nothing.
 *
 * A group has a table of all pairs of its bodies, so there is one for each cluster of bodies that filters connect, and
 * none for the rest.
 */
export function groups(jolt, brief, scene, broken) {
  const pairs = [...apart(scene, broken)];
  const root = scene.bodies.map((_, i) => i);
  const find = (i) => {
    while (root[i] !== i) i = root[i] = root[root[i]];
    return i;
  };
  for (const [a, b] of pairs) root[find(a)] = find(b);
  const clusters = new Map();
  for (const i of new Set(pairs.flat())) {
    if (!clusters.has(find(i))) clusters.set(find(i), []);
    clusters.get(find(i)).push(i);
  }
  const [tables, places] = [new Map(), new Map()];
  for (const [cluster, members] of clusters) {
    tables.set(cluster, brief.hold(new jolt.GroupFilterTable(members.length)));
    members.forEach((i, place) => places.set(i, place));
  }
  for (const [a, b] of pairs) tables.get(find(a)).DisableCollision(places.get(a), places.get(b));
  return (i) => (places.has(i) ? brief.own(new jolt.CollisionGroup(tables.get(find(i)), find(i), places.get(i))) : null);
}
