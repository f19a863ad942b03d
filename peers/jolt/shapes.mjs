// Shapes of the scene as shapes of the engine, whose centre of mass is the scene's.

import { product, sum, turned, unit } from "./frames.mjs";
import { Refusal } from "./wire.mjs";

// The engine's capsules and cylinders lie along y, the scene's along z.
const UPRIGHT = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];
// Corners of a hull may be left out where they are this far from the hull without them, as a share of its size; 1 mm as
// delivered, whatever the size.
const HULL_TOLERANCE = 1e-5;

/** Simple shapes of one that may be compound, each with its place. */
export function* parts(shape, position = [0, 0, 0], rotation = [0, 0, 0, 1]) {
  const [[kind, about]] = Object.entries(shape);
  if (kind !== "compound") {
    const long = kind === "capsule" || kind === "cylinder";
    yield { kind, about, position, rotation: long ? product(rotation, UPRIGHT) : rotation };
    return;
  }
  for (const part of about.parts) {
    const place = sum(position, turned(rotation, part.position));
    yield* parts(part.shape, place, product(rotation, unit(part.rotation)));
  }
}

/** A shape by its settings; what the engine refuses is refused in its words. */
function created(brief, settings) {
  const result = brief.hold(settings).Create();
  if (result.HasError()) throw new Refusal("unsupported", `Jolt does not take a shape: ${result.GetError().c_str()}`);
  return brief.hold(result.Get());
}

function hull(jolt, brief, about, round) {
  const settings = new jolt.ConvexHullShapeSettings();
  for (const point of about.points_m) settings.mPoints.push_back(brief.vec3(point));
  settings.mHullTolerance = HULL_TOLERANCE * Math.max(...about.points_m.flat().map(Math.abs));
  settings.mMaxConvexRadius = round;
  return created(brief, settings);
}

/** A simple shape where it lies in its own axes. Edges are rounded off by `round` at most, within the shape. */
function simple(jolt, brief, { kind, about }, round) {
  if (kind === "hull") return hull(jolt, brief, about, round);
  const { radius_m: radius, half_length_m: half } = about;
  const makers = {
    box: () => new jolt.BoxShape(brief.vec3(about.half_m), Math.min(round, ...about.half_m)),
    sphere: () => new jolt.SphereShape(radius),
    capsule: () => new jolt.CapsuleShape(half, radius),
    cylinder: () => new jolt.CylinderShape(half, radius, Math.min(round, half, radius)),
    half_space: () => new jolt.PlaneShape(brief.own(new jolt.Plane(brief.vec3([0, 0, 1]), 0))),
  };
  if (!Object.hasOwn(makers, kind)) throw new Refusal("unsupported", `a ${kind} is no shape of this row`);
  return brief.hold(makers[kind]());
}

/** The shape of a body. */
export function shape(jolt, brief, body, round) {
  const all = [...parts(body.shape)];
  if (body.motion !== "static" && all.some(({ kind }) => kind === "half_space")) {
    throw new Refusal("unsupported", `\`${body.name}\` is a half space that moves`);
  }
  let made = simple(jolt, brief, all[0], round);
  const { position, rotation } = all[0];
  if (all.length > 1 || position.some((c) => c !== 0) || rotation[3] !== 1) {
    // Of one part it makes a shape that is moved and turned.
    const settings = new jolt.StaticCompoundShapeSettings();
    all.forEach((part, i) => {
      const inner = i === 0 ? made : simple(jolt, brief, part, round);
      settings.AddShapeShape(brief.vec3(part.position), brief.quat(part.rotation), inner, 0);
    });
    made = created(brief, settings);
  }
  // The engine puts the centre of mass where the centre of the volume is, the scene at the origin.
  const centre = made.GetCenterOfMass();
  const back = [-centre.GetX(), -centre.GetY(), -centre.GetZ()];
  return back.every((c) => c === 0) ? made : brief.hold(new jolt.OffsetCenterOfMassShape(made, brief.vec3(back)));
}

/** Of what does not touch anything. */
export const nothing = (jolt, brief) => brief.hold(new jolt.EmptyShape());
