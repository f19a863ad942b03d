// Joints and springs of the scene as constraints of the engine, between A, its first body, and B.

import { X, Y, Z, between, turned, unit } from "./frames.mjs";
import { Refusal } from "./wire.mjs";

// The largest number of single precision, by which the engine says that there is no bound.
const MOST = 3.4028234663852886e38;

/** Anchors and axes of both ends, in the coordinates of their bodies. */
function ends(joint) {
  return ["a", "b"].map((side) => {
    const basis = unit(joint[`basis_${side}`]);
    const [x, y, z] = [X, Y, Z].map((axis) => turned(basis, axis));
    return { anchor: joint[`anchor_${side}`], x, y, z };
  });
}

/** Settings of a constraint whose fields are given by their names without 1 and 2. */
function settings(jolt, brief, kind, both) {
  const made = brief.hold(new jolt[`${kind}ConstraintSettings`]());
  made.mSpace = jolt.EConstraintSpace_LocalToBodyCOM;
  both.forEach((fields, i) => {
    for (const [name, value] of Object.entries(fields)) {
      const place = name === "mPoint" || name === "mPosition";
      made[`${name}${i + 1}`] = place ? brief.rvec3(value) : brief.vec3(value);
    }
  });
  return made;
}

function ball(jolt, brief, joint) {
  return settings(jolt, brief, "Point", ends(joint).map(({ anchor }) => ({ mPoint: anchor })));
}

function fixed(jolt, brief, joint) {
  const both = ends(joint).map(({ anchor, x, y }) => ({ mPoint: anchor, mAxisX: x, mAxisY: y }));
  return settings(jolt, brief, "Fixed", both);
}

function hinge(jolt, brief, joint, k) {
  const [a, b] = ends(joint);
  let [lower, upper] = [-Math.PI, Math.PI];
  let zero = a.y;
  if (joint.limit !== null) {
    [lower, upper] = joint.limit;
    if (lower === null || upper === null || lower < -Math.PI || upper > Math.PI) {
      const words = "a hinge of Jolt knows its angle within half a turn either way, and no limit beyond";
      throw new Refusal("unsupported", `joint ${k}: ${words}`);
    }
    // Its limits are on both sides of zero, which is put in the middle.
    const middle = (lower + upper) / 2;
    zero = between(a.y, a.z, middle);
    [lower, upper] = [lower - middle, upper - middle];
  }
  const made = settings(jolt, brief, "Hinge", [
    { mPoint: a.anchor, mHingeAxis: a.x, mNormalAxis: zero },
    { mPoint: b.anchor, mHingeAxis: b.x, mNormalAxis: b.y },
  ]);
  [made.mLimitsMin, made.mLimitsMax] = [lower, upper];
  const most = joint.motor?.max_effort ?? MOST;
  [made.mMotorSettings.mMinTorqueLimit, made.mMotorSettings.mMaxTorqueLimit] = [-most, most];
  return made;
}

function prismatic(jolt, brief, joint) {
  const both = ends(joint).map(({ anchor, x, y }) => ({ mPoint: anchor, mSliderAxis: x, mNormalAxis: y }));
  const made = settings(jolt, brief, "Slider", both);
  const [lower, upper] = joint.limit ?? [null, null];
  [made.mLimitsMin, made.mLimitsMax] = [lower ?? -MOST, upper ?? MOST];
  const most = joint.motor?.max_effort ?? MOST;
  [made.mMotorSettings.mMinForceLimit, made.mMotorSettings.mMaxForceLimit] = [-most, most];
  return made;
}

/** It turns about its axis as well: free and fixed axes of the engine's most general constraint. */
function cylindrical(jolt, brief, joint) {
  const both = ends(joint).map(({ anchor, x, y }) => ({ mPosition: anchor, mAxisX: x, mAxisY: y }));
  const made = settings(jolt, brief, "SixDOF", both);
  const axis = (name) => jolt[`SixDOFConstraintSettings_EAxis_${name}`];
  for (const name of ["TranslationY", "TranslationZ", "RotationY", "RotationZ"]) made.MakeFixedAxis(axis(name));
  made.MakeFreeAxis(axis("RotationX"));
  const [along, [lower, upper]] = [axis("TranslationX"), joint.limit ?? [null, null]];
  if (joint.limit === null) made.MakeFreeAxis(along);
  else made.SetLimitedAxis(along, lower ?? -MOST, upper ?? MOST);
  const most = joint.motor?.max_effort ?? MOST;
  const motor = made.get_mMotorSettings(along);
  [motor.mMinForceLimit, motor.mMaxForceLimit] = [-most, most];
  return made;
}

/** A rod, or a rope where the joint has limits. */
function distance(jolt, brief, joint) {
  const made = settings(jolt, brief, "Distance", ["a", "b"].map((side) => ({ mPoint: joint[`anchor_${side}`] })));
  const [lower, upper] = joint.limit ?? [joint.length_m, joint.length_m];
  // Below zero it would take the distance at the start.
  [made.mMinDistance, made.mMaxDistance] = [lower ?? 0, upper ?? MOST];
  return made;
}

const KINDS = { ball, fixed, hinge, prismatic, cylindrical, distance };

/** The motor of a joint, which wants a speed of B against A. */
function drive(jolt, brief, made, { kind, motor }) {
  if (motor === null) return;
  if (kind === "cylindrical") {
    made.SetMotorState(jolt.SixDOFConstraintSettings_EAxis_TranslationX, jolt.EMotorState_Velocity);
    made.SetTargetVelocityCS(brief.vec3([motor.speed, 0, 0]));
    return;
  }
  made.SetMotorState(jolt.EMotorState_Velocity);
  if (kind === "hinge") made.SetTargetAngularVelocity(motor.speed);
  else made.SetTargetVelocity(motor.speed);
}

/** The constraint of joint `k`, added to the world. */
export function join(jolt, brief, system, joint, k, [a, b]) {
  if (!Object.hasOwn(KINDS, joint.kind)) throw new Refusal("unsupported", `joint ${k} is a ${joint.kind}, which Jolt has not`);
  const constraint = KINDS[joint.kind](jolt, brief, joint, k).Create(a, b);
  system.AddConstraint(constraint);
  const made = as(jolt, constraint);
  drive(jolt, brief, made, joint);
  return made;
}

/** A spring: the distance held at its rest length by stiffness and damping, integrated implicitly. */
export function spring(jolt, brief, system, about, k, [a, b]) {
  const damping = about.damping ?? 0;
  if (about.stiffness === 0 && damping === 0) return;
  // Without stiffness the engine takes the constraint for a hard one.
  if (about.stiffness === 0) throw new Refusal("unsupported", `spring ${k}: Jolt has no damper without stiffness`);
  const rod = { ...about, limit: null, length_m: about.rest_length_m };
  const made = distance(jolt, brief, rod);
  const soft = made.mLimitsSpringSettings;
  soft.mMode = jolt.ESpringMode_StiffnessAndDamping;
  [soft.mStiffness, soft.mDamping] = [about.stiffness, damping];
  system.AddConstraint(made.Create(a, b));
}

/** A constraint under the name of its own kind, which the engine says. */
function as(jolt, constraint) {
  const kinds = ["Hinge", "Slider", "SixDOF", "Distance"];
  const kind = kinds.find((name) => constraint.GetSubType() === jolt[`EConstraintSubType_${name}`]);
  // Of the others the engine tells nothing but their frames.
  return jolt.castObject(constraint, kind ? jolt[`${kind}Constraint`] : jolt.TwoBodyConstraint);
}
