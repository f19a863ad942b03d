// A scene as a world of the engine.

import { Brief, array3 } from "./brief.mjs";
import { groups } from "./filters.mjs";
import { unit } from "./frames.mjs";
import { join, spring } from "./joints.mjs";
import { nothing, parts, shape } from "./shapes.mjs";
import { Refusal, WIDTH } from "./wire.mjs";

// Speeds beyond any [m/s, rad/s]; the engine squares them in single precision.
export const OUT_OF_REACH = 1e12;
// Layers: what no force moves, and what may meet it and its like.
const [STILL, MOVING, LAYERS] = [0, 1, 2];
// The engine's memory is fixed: 128 MiB, of which 10 MiB for what a step needs, mostly 472 bytes for each manifold there is
// room for. As delivered there is room for 65,536 pairs of bodies whose bounds meet and 10,240 manifolds.
const MANIFOLDS = 16_384;
const PAIRS = { fewest: 65_536, each: 64, most: 524_288 };

const trace = (matrix) => matrix[0] + matrix[4] + matrix[8];

/** Where a body is and how it moves, of the numbers of a state. */
function numbers(bodies, i) {
  const at = (from, count) => Array.from(bodies.subarray(WIDTH * i + from, WIDTH * i + from + count));
  return { position: at(0, 3), rotation: unit(at(3, 4)), velocity: at(7, 3), omega: at(10, 3) };
}

/** One world: bodies and constraints by their places in the scene. */
export class Model {
  bodies = [];
  /** Of joints that are not broken. */
  constraints = new Map();
  /** Of contact, in the last sub-step that was counted, and at most. */
  manifolds = 0;
  most = 0;

  constructor(jolt, scene, settings, bodies, broken) {
    this.jolt = jolt;
    this.scene = scene;
    this.settings = settings;
    const brief = new Brief(jolt);
    this.world = this.open();
    this.system = this.world.GetPhysicsSystem();
    try {
      this.system.SetGravity(brief.vec3(scene.gravity));
      this.system.SetPhysicsSettings(brief.own(this.options()));
      this.place(brief, bodies, broken);
      this.connect(brief, broken);
    } catch (error) {
      this.close();
      throw error;
    } finally {
      brief.end();
    }
    this.system.OptimizeBroadPhase();
    this.listener = this.mayOverflow() ? this.counter() : null;
  }

  /** Whether pairs of simple shapes, each of which has one manifold at most, are more than there is room for. */
  mayOverflow() {
    if (this.scene.contacts === null) return false;
    const simple = this.scene.bodies.reduce((sum, body) => sum + [...parts(body.shape)].length, 0);
    return (simple * (simple - 1)) / 2 > this.room.manifolds;
  }

  /** Counts manifolds as the engine finds them. */
  counter() {
    const listener = new this.jolt.ContactListenerJS();
    const count = () => {
      this.manifolds += 1;
    };
    listener.OnContactAdded = listener.OnContactPersisted = count;
    listener.OnContactValidate = () => this.jolt.ValidateResult_AcceptAllContactsForThisBodyPair;
    listener.OnContactRemoved = () => {};
    return listener;
  }

  /**
   * So many sub-steps of one step. Manifolds beyond those there is room for are dropped in silence, so they are counted, in
   * the first of the sub-steps only: counting takes a tenth of one.
   */
  step(h, count) {
    if (this.listener !== null) {
      this.manifolds = 0;
      this.system.SetContactListener(this.listener);
      this.world.Step(h, 1);
      this.system.SetContactListener(null);
      this.most = Math.max(this.most, this.manifolds);
      if (this.manifolds >= this.room.manifolds) {
        throw new Refusal("capacity", `Jolt has no room for more than ${this.room.manifolds} manifolds of contact`);
      }
    }
    for (let i = this.listener === null ? 0 : 1; i < count; i++) this.world.Step(h, 1);
  }

  /** An empty world. It owns what says which layers meet. */
  open() {
    const { jolt, scene } = this;
    const meets = new jolt.ObjectLayerPairFilterTable(LAYERS);
    if (scene.contacts !== null) {
      meets.EnableCollision(MOVING, MOVING);
      meets.EnableCollision(MOVING, STILL);
    }
    const broad = new jolt.BroadPhaseLayerInterfaceTable(LAYERS, LAYERS);
    for (const layer of [STILL, MOVING]) {
      const same = new jolt.BroadPhaseLayer(layer);
      broad.MapObjectToBroadPhaseLayer(layer, same);
      jolt.destroy(same);
    }
    const all = new jolt.JoltSettings();
    all.mObjectLayerPairFilter = meets;
    all.mBroadPhaseLayerInterface = broad;
    all.mObjectVsBroadPhaseLayerFilter = new jolt.ObjectVsBroadPhaseLayerFilterTable(broad, LAYERS, meets, LAYERS);
    const count = scene.bodies.length;
    all.mMaxBodies = Math.max(1, count);
    all.mMaxBodyPairs = Math.min(PAIRS.most, Math.max(PAIRS.fewest, PAIRS.each * count));
    all.mMaxContactConstraints = MANIFOLDS;
    this.room = { pairs: all.mMaxBodyPairs, manifolds: MANIFOLDS };
    const world = new jolt.JoltInterface(all);
    jolt.destroy(all);
    return world;
  }

  /** What the solver does, as delivered but for settings of the row and sleep. */
  options() {
    const s = this.settings;
    const o = new this.jolt.PhysicsSettings();
    o.mAllowSleeping = false;
    o.mDeterministicSimulation = true;
    [o.mNumVelocitySteps, o.mNumPositionSteps] = [s.velocity_steps, s.position_steps];
    o.mBaumgarte = s.baumgarte;
    o.mPenetrationSlop = s.penetration_slop_m;
    o.mSpeculativeContactDistance = s.speculative_distance_m;
    // As delivered nothing bounces that comes slower than 1 m/s.
    o.mMinVelocityForRestitution = 0;
    return o;
  }

  place(brief, bodies, broken) {
    const { jolt, scene } = this;
    const touching = scene.contacts !== null;
    const group = touching ? groups(jolt, brief, scene, broken) : () => null;
    const empty = touching ? null : nothing(jolt, brief);
    const into = this.system.GetBodyInterface();
    for (const [i, body] of scene.bodies.entries()) {
      const form = empty ?? shape(jolt, brief, body, this.settings.convex_radius_m);
      const about = this.described(brief, body, form, numbers(bodies, i));
      const filter = group(i);
      if (filter !== null) about.mCollisionGroup = filter;
      const made = into.CreateBody(about);
      this.weigh(brief, made, body);
      into.AddBody(made.GetID(), jolt.EActivation_Activate);
      this.bodies.push(made);
    }
  }

  /** All of a body, with what changes its motion in silence switched off. */
  described(brief, body, form, { position, rotation, velocity, omega }) {
    const { jolt } = this;
    const motion = jolt[`EMotionType_${{ static: "Static", kinematic: "Kinematic", dynamic: "Dynamic" }[body.motion]}`];
    const layer = body.motion === "static" ? STILL : MOVING;
    const about = brief.own(new jolt.BodyCreationSettings(form, brief.rvec3(position), brief.quat(rotation), motion, layer));
    about.mFriction = body.friction[0];
    about.mRestitution = body.restitution;
    about.mAllowSleeping = false;
    about.mApplyGyroscopicForce = true;
    about.mLinearDamping = about.mAngularDamping = 0;
    about.mMaxLinearVelocity = about.mMaxAngularVelocity = OUT_OF_REACH;
    if (body.motion === "static") return about;
    about.mLinearVelocity = brief.vec3(velocity);
    about.mAngularVelocity = brief.vec3(omega);
    // What is not given the engine takes from the shape, which may be empty; `weigh` has the rest.
    about.mOverrideMassProperties = jolt.EOverrideMassProperties_MassAndInertiaProvided;
    about.mMassPropertiesOverride.mMass = 1;
    about.mMassPropertiesOverride.mInertia = this.normal(brief, body);
    return about;
  }

  /** The inertia of a body over its trace; of a kinematic one any. */
  normal(brief, { motion, inertia_kg_m2: i }) {
    // A place that the next identity overwrites.
    const out = this.jolt.Mat44.prototype.sIdentity();
    if (motion !== "dynamic") return out;
    const row = (k) => brief.vec3(i.slice(3 * k, 3 * k + 3).map((c) => c / trace(i)));
    out.SetAxisX(row(0));
    out.SetAxisY(row(1));
    out.SetAxisZ(row(2));
    return out;
  }

  /**
   * Gives a body its mass and moments, about axes that the engine found of an inertia whose trace is 1: from one below
   * 1e-6 kg m^2 it makes that of a ball of a metre in silence.
   */
  weigh(brief, made, { motion, mass_kg: mass, inertia_kg_m2: inertia }) {
    if (motion !== "dynamic") return;
    const m = made.GetMotionProperties();
    const moments = array3(m.GetInverseInertiaDiagonal()).map((inverse) => inverse / trace(inertia));
    m.SetInverseMass(1 / mass);
    m.SetInverseInertia(brief.vec3(moments), m.GetInertiaRotation());
  }

  connect(brief, broken) {
    const { jolt, scene, system } = this;
    const world = this.world.sGetFixedToWorldBody();
    const both = ({ a, b }) => [a, b].map((end) => (end === "world" ? world : this.bodies[end.body]));
    for (const [k, joint] of scene.joints.entries()) {
      if (!broken.has(k)) this.constraints.set(k, join(jolt, brief, system, joint, k, both(joint)));
    }
    for (const [k, about] of scene.springs.entries()) spring(jolt, brief, system, about, k, both(about));
  }

  /** The numbers of body `i`, in a state. */
  tell(i, out) {
    const body = this.bodies[i];
    out.set(array3(body.GetCenterOfMassPosition()), WIDTH * i);
    const q = body.GetRotation();
    // Of unit length in double precision too.
    out.set(unit([q.GetX(), q.GetY(), q.GetZ(), q.GetW()]), WIDTH * i + 3);
    out.set(array3(body.GetLinearVelocity()), WIDTH * i + 7);
    out.set(array3(body.GetAngularVelocity()), WIDTH * i + 10);
  }

  /** Ends the world and all that is in it. */
  close() {
    this.jolt.destroy(this.world);
    if (this.listener) this.jolt.destroy(this.listener);
  }
}
