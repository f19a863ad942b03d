// Protocol 1 of crates/exec/PROTOCOL.md: import this first, then the engine, then `serve`.

import { Console } from "node:console";
import { readSync, writeSync } from "node:fs";

// Whatever the engine prints goes to standard error: between the answers it would be taken for one.
globalThis.console = new Console({ stdout: process.stderr, stderr: process.stderr });

// Numbers of a body: position 3, quaternion x y z w, velocity 3, angular velocity in world axes 3.
export const WIDTH = 13;
const [STDIN, STDOUT, NEWLINE] = [0, 1, 10];

/** Says no and lives on; kind is unsupported, settings, state, capacity, not_converged, device or internal. */
export class Refusal extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

/** A setting that is a number between two others, these included. */
export function number(fallback, lowest, highest, whole = false) {
  const check = (key, value) => {
    const right = whole ? Number.isInteger(value) : Number.isFinite(value);
    if (!right || value < lowest || value > highest) {
      const words = whole ? "a whole number" : "a number";
      throw new Refusal("settings", `\`${key}\` is ${JSON.stringify(value)}, expected ${words} from ${lowest} to ${highest}`);
    }
  };
  return { fallback, check };
}

/** The settings in force: `known` has the default and the check of each. */
function settled(given, known) {
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(known, key)) {
      throw new Refusal("settings", `there is no setting \`${key}\`, there are ${Object.keys(known).join(", ")}`);
    }
    known[key].check(key, value);
  }
  return Object.fromEntries(Object.entries(known).map(([key, { fallback }]) => [key, given[key] ?? fallback]));
}

/** Standard input by lines and blocks. It is read where it is waited for: nothing else happens in this process. */
class Input {
  // Room for the longest line and what may come with it; a buffer made for each read would be garbage.
  space = Buffer.alloc(1 << 17);
  from = 0;
  to = 0;

  more() {
    this.space.copyWithin(0, this.from, this.to);
    [this.from, this.to] = [0, this.to - this.from];
    const count = readSync(STDIN, this.space, this.to, this.space.length - this.to);
    this.to += count;
    return count > 0;
  }

  /** The next line, or null where the input ends. */
  line() {
    for (;;) {
      const end = this.space.subarray(0, this.to).indexOf(NEWLINE, this.from);
      if (end >= 0) {
        const line = this.space.toString("utf8", this.from, end);
        this.from = end + 1;
        return line;
      }
      if (!this.more()) return null;
    }
  }

  /** So many bytes, in memory of their own, as numbers are aligned there. */
  block(size) {
    const block = Buffer.from(new ArrayBuffer(size));
    let got = this.space.copy(block, 0, this.from, Math.min(this.to, this.from + size));
    this.from += got;
    while (got < size) {
      const count = readSync(STDIN, block, got, size - got);
      if (count === 0) throw new Error("the input ends within a block");
      got += count;
    }
    return block;
  }
}

function write(bytes) {
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(STDOUT, bytes, sent);
}

/**
 * Requests and answers about one scene at a time.
 *
 * A method has HELLO and SETTINGS, and `make(scene, settings)` gives what has `load(time_s, bodies, broken)`,
 * `step(dt, iterations)`, `read() -> bodies`, `audit()` and `drop()`. Bodies are `WIDTH` numbers each.
 */
class Conversation {
  solver = null;
  loaded = null;
  ready = false;

  constructor(method) {
    this.method = method;
  }

  /** The keys of an answer and the bytes after it. */
  async answer(request, block) {
    const name = request.do;
    if (name === "ping" || name === "bye") return [{}];
    if (name === "hello") return [this.hello()];
    if (name === "scene") return this.scene(request, block);
    if (!["load", "step", "read", "audit"].includes(name)) {
      throw new Refusal("unknown", `there is no request \`${name}\``);
    }
    if (this.solver === null) throw new Refusal("internal", `\`${name}\` before any scene`);
    if ((name === "step" || name === "read") && !this.ready) {
      throw new Refusal("internal", `\`${name}\` before any state`);
    }
    return this[name](request, block);
  }

  hello() {
    const defaults = Object.entries(this.method.SETTINGS).map(([key, { fallback }]) => [key, fallback]);
    return { protocol: 1, audit: true, settings: Object.fromEntries(defaults), ...this.method.HELLO };
  }

  async scene(request, block) {
    this.solver?.drop();
    this.solver = this.loaded = null;
    this.ready = false;
    const scene = JSON.parse(block.toString("utf8"));
    const settings = settled(request.settings, this.method.SETTINGS);
    this.solver = await this.method.make(scene, settings);
    this.count = scene.bodies.length;
    return [{ settings }];
  }

  load(request, block) {
    const due = 8 * WIDTH * this.count;
    if (block.length !== due) throw new Refusal("state", `a state of ${block.length} bytes where ${due} are due`);
    // Blocks are little-endian, and typed arrays have the machine's order: the same on x86 and ARM.
    const bodies = new Float64Array(block.buffer);
    this.solver.load(request.time_s, bodies, request.broken);
    Object.assign(this, { time_s: request.time_s, broken: request.broken, loaded: bodies, ready: true });
    return [{}];
  }

  step(request) {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    for (let i = 0; i < request.count; i++) {
      // What was loaded is no longer what the engine holds, even where it fails.
      this.loaded = null;
      this.solver.step(request.dt, request.iterations);
      this.time_s += request.dt;
    }
    const { user, system } = process.cpuUsage(cpu);
    return [{ wall_s: (performance.now() - wall) / 1e3, cpu_s: (user + system) / 1e6 }];
  }

  read() {
    // Before any step a state is told as it was loaded: the engine keeps it in single precision.
    const bodies = this.loaded ?? this.solver.read();
    return [{ time_s: this.time_s, broken: this.broken }, Buffer.from(bodies.buffer)];
  }

  audit() {
    return [{}, Buffer.from(JSON.stringify(this.solver.audit()))];
  }
}

/** Ends the process. The last line is what the row tells, and left to itself Node ends with its version. */
function lastWords(error) {
  console.error(error.stack);
  console.error(String(error));
  process.exit(1);
}

/** Answers until the input ends or says `bye`. */
export async function serve(method) {
  const conversation = new Conversation(method);
  const input = new Input();
  for (let line; (line = input.line()) !== null; ) {
    const request = JSON.parse(line);
    const block = input.block(request.bytes ?? 0);
    let [answer, after] = [null, undefined];
    try {
      const [keys, bytes] = await conversation.answer(request, block);
      answer = { ok: true, ...keys, ...(bytes && { bytes: bytes.length }) };
      after = bytes;
    } catch (error) {
      if (!(error instanceof Refusal)) lastWords(error);
      answer = { ok: false, kind: error.kind, message: error.message };
    }
    const head = Buffer.from(`${JSON.stringify({ ...answer, n: request.n })}\n`);
    write(after ? Buffer.concat([head, after]) : head);
    if (request.do === "bye") break;
  }
}
