// What is needed of the engine's memory only while a world is built.

/** Makes arguments of the engine's types, and holds on to what is built of them; `end` gives it all back. */
export class Brief {
  owned = [];
  held = [];

  constructor(jolt) {
    this.jolt = jolt;
  }

  /** Destroyed at the end. */
  own(made) {
    this.owned.push(made);
    return made;
  }

  /** Let go at the end: what has been given to a body or a constraint until then stays with that. */
  hold(counted) {
    counted.AddRef();
    this.held.push(counted);
    return counted;
  }

  vec3([x, y, z]) {
    return this.own(new this.jolt.Vec3(x, y, z));
  }

  /** Of places, which a build in double precision would keep otherwise. */
  rvec3([x, y, z]) {
    return this.own(new this.jolt.RVec3(x, y, z));
  }

  quat([x, y, z, w]) {
    return this.own(new this.jolt.Quat(x, y, z, w));
  }

  end() {
    this.held.reverse().forEach((counted) => counted.Release());
    this.owned.forEach((made) => this.jolt.destroy(made));
    this.held = this.owned = [];
  }
}

/** The engine's vectors and quaternions as arrays; it gives them in places that the next call overwrites. */
export const array3 = (v) => [v.GetX(), v.GetY(), v.GetZ()];
export const array4 = (q) => [q.GetX(), q.GetY(), q.GetZ(), q.GetW()];
