// Where the engine is, and how it is started.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Node looks for packages in the folders above the file that imports them, and this file is not beside what
// scripts/setup-peers installs. So the package is resolved as that folder would, and imported by its path.
const installed = createRequire(new URL("../../target/peers/jolt/package.json", import.meta.url));

export const VERSION = installed("jolt-physics/package.json").version;

const { default: instantiate } = await import(pathToFileURL(installed.resolve("jolt-physics")));

/** An instance of the engine, with memory of its own. */
export const start = () => instantiate();
