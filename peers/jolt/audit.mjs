// What the engine holds, from its own bodies, constraints and settings.

import { array3, array4 } from "./brief.mjs";
import { turned, X, Y, Z } from "./frames.mjs";
import { OUT_OF_REACH } from "./model.mjs";

const largest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

export function audit({ jolt, model, scene }) {
  const [system, bodies] = [model.system, model.bodies];
  const moving = bodies.filter((body) => body.IsDynamic());
  const motions = moving.map((body) => body.GetMotionProperties());
  const speed = Math.min(...motions.map((m) => m.GetMaxLinearVelocity()));
  const spin = Math.min(...motions.map((m) => m.GetMaxAngularVelocity()));
  // Single precision rounds what is out of reach as well.
  const capped = Math.min(speed, spin) < 0.999 * OUT_OF_REACH;
  const settings = system.GetPhysicsSettings();
  return {
    gravity: array3(system.GetGravity()),
    precision: "f32",
    threads: 1,
    sleeping: settings.mAllowSleeping || bodies.some((body) => !body.IsStatic() && body.GetAllowSleeping()),
    damping_linear: largest(motions.map((m) => m.GetLinearDamping())),
    damping_angular: largest(motions.map((m) => m.GetAngularDamping())),
    speed_max: capped ? Math.min(speed, spin) : null,
    gyroscopic: moving.every((body) => body.GetApplyGyroscopicForce()),
    bodies: bodies.map((body, i) => held(body, scene.bodies[i])),
    joints: scene.joints.map((_, k) => (model.constraints.has(k) ? joint(jolt, model.constraints.get(k)) : {})),
    contacts: {
      law: "impulses",
      margin: settings.mSpeculativeContactDistance,
      friction_rule: "geometric mean",
      restitution_rule: "larger",
      overlap_allowed: settings.mPenetrationSlop,
    },
    effective: {
      clock: "wasm",
      velocity_steps: settings.mNumVelocitySteps,
      position_steps: settings.mNumPositionSteps,
      baumgarte: settings.mBaumgarte,
      restitution_from: settings.mMinVelocityForRestitution,
      warm_start: settings.mConstraintWarmStart,
      deterministic: settings.mDeterministicSimulation,
      contact_cache: settings.mUseBodyPairContactCache,
      room_for_pairs: model.room.pairs,
      room_for_manifolds: model.room.manifolds,
    },
    capacity: {
      bodies: [system.GetNumBodies(), system.GetMaxBodies()],
      "manifolds of contact": [model.most, model.room.manifolds],
    },
  };
}

/** Of a body, about the scene's centre of mass: the engine's from the body's origin, which is that. */
function held(body, { motion }) {
  if (!body.IsDynamic()) return { mass: motion === "dynamic" ? 0 : null };
  const m = body.GetMotionProperties();
  const moments = array3(m.GetInverseInertiaDiagonal()).map((inverse) => 1 / inverse);
  const turn = array4(m.GetInertiaRotation());
  const axes = [X, Y, Z].map((axis) => turned(turn, axis));
  const inertia = [0, 1, 2].flatMap((row) =>
    [0, 1, 2].map((column) => moments.reduce((sum, moment, k) => sum + moment * axes[k][row] * axes[k][column], 0)),
  );
  return { mass: 1 / m.GetInverseMass(), centre: array3(body.GetShape().GetCenterOfMass()), inertia };
}

/** Of a constraint, whose frames on both bodies the engine tells. */
function joint(jolt, made) {
  const kinds = { Point: 3, Fixed: 6, Hinge: 5, Slider: 5, SixDOF: 0, Distance: 0 };
  const kind = Object.keys(kinds).find((name) => made.GetSubType() === jolt[`EConstraintSubType_${name}`]);
  let rows = kinds[kind];
  if (kind === "SixDOF") rows = [0, 1, 2, 3, 4, 5].filter((axis) => made.IsFixedAxis(axis)).length;
  if (kind === "Distance" && made.GetMinDistance() === made.GetMaxDistance()) rows = 1;
  const turns = ["Hinge", "Slider", "SixDOF"].includes(kind);
  return {
    law: "impulses",
    rows,
    anchor_a: array3(made.GetConstraintToBody1Matrix().GetTranslation()),
    anchor_b: array3(made.GetConstraintToBody2Matrix().GetTranslation()),
    axis: turns ? array3(made.GetConstraintToBody2Matrix().GetAxisX()) : null,
  };
}
