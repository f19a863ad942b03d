// Jolt as a row of taut. What it does with a scene and why is in README.md.

import { Refusal, WIDTH, number, serve } from "./wire.mjs"; // First: it takes standard output away from the engine.

import { audit } from "./audit.mjs";
import { VERSION, start } from "./engine.mjs";
import { Model } from "./model.mjs";

/** Where a scene starts, as a state. */
function beginning(scene) {
  return new Float64Array(scene.bodies.flatMap((b) => [...b.position, ...b.rotation, ...b.velocity, ...b.omega]));
}

/** One scene; a state is loaded into a world made anew, since nothing else forgets what contacts remember. */
class Jolt {
  static HELLO = {
    name: "jolt",
    version: VERSION,
    summary: "Jolt as WebAssembly in single precision: sequential impulses; times are those of wasm, not of the engine",
    reference: "Rouwe: Jolt Physics, architecting for multicore games, GDC 2022",
    iteration: "substep",
    determinism: "bitwise",
    state: "rigid",
    contacts: "own",
    takes: [
      ...["body.dynamic", "body.static", "body.kinematic"],
      ...["joint.ball", "joint.hinge", "joint.prismatic", "joint.cylindrical", "joint.fixed"],
      ...["joint.distance", "joint.limit", "joint.motor", "joint.loop", "spring.linear", "spring.damping"],
      ...["contact", "contact.restitution", "contact.groups"],
      ...["shape.box", "shape.sphere", "shape.capsule", "shape.cylinder", "shape.hull", "shape.compound"],
      "shape.half_space",
    ],
  };
  static SETTINGS = {
    velocity_steps: number(10, 2, 100_000, true),
    position_steps: number(2, 0, 100_000, true),
    baumgarte: number(0.2, 0, 1),
    penetration_slop_m: number(0.02, 0, 1),
    speculative_distance_m: number(0.02, 0, 1),
    convex_radius_m: number(0, 0, 1),
  };
  static engine = null;

  /** An instance of the engine serves scene after scene, until it fails. */
  static async make(scene, settings) {
    Jolt.engine ??= await start();
    return Jolt.guarded(() => new Jolt(scene, settings));
  }

  /** What WebAssembly ends by a trap leaves memory that nothing more should be asked of. */
  static guarded(work) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      Jolt.engine = null;
      // So it says where its memory, which does not grow, does not suffice.
      const full = error.message.includes("OOM");
      throw new Refusal(full ? "capacity" : "internal", `Jolt ended: ${error.message}`);
    }
  }

  constructor(scene, settings) {
    this.jolt = Jolt.engine;
    this.scene = scene;
    this.settings = settings;
    this.build(beginning(scene), []);
  }

  build(bodies, broken) {
    this.drop();
    this.model = new Model(this.jolt, this.scene, this.settings, bodies, new Set(broken));
    this.loaded = bodies;
  }

  /** Ends the world, if its engine still lives. */
  drop() {
    if (this.model && this.jolt === Jolt.engine) this.model.close();
    this.model = null;
  }

  alive() {
    if (this.model === null || this.jolt !== Jolt.engine) throw new Refusal("internal", "Jolt has ended in this scene");
  }

  load(time_s, bodies, broken) {
    this.alive();
    Jolt.guarded(() => this.build(bodies, broken));
  }

  /**
   * One update of the engine for each sub-step, which looks for contacts, solves and moves. Its own collision steps do the
   * same, but the single-threaded build waits for ever where their jobs, made all at once, are more than 2048.
   */
  step(dt, iterations) {
    this.alive();
    Jolt.guarded(() => this.model.step(dt / iterations, iterations));
  }

  read() {
    this.alive();
    const out = this.loaded.slice();
    for (const [i, { motion }] of this.scene.bodies.entries()) {
      if (motion !== "static") this.model.tell(i, out);
    }
    return out;
  }

  audit() {
    return audit(this);
  }
}

await serve(Jolt);
