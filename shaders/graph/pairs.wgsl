// What couples nodes: links that stay, and pairs that come and go from step to step.

//#use shared/index.wgsl

struct GraphSize {
    // Nodes that forces move: those before this one.
    moving: u32,
    // All nodes.
    nodes: u32,
    pad_0: u32,
    pad_1: u32,
}

@group(0) @binding(0) var<uniform> size: GraphSize;
// How many pairs there are, and what else the caller counts.
@group(0) @binding(1) var<uniform> count: vec4<u32>;
@group(0) @binding(2) var<storage, read> pairs: array<vec2<u32>>;
// Ends of pairs, node by node: twice the pair, plus one for its second node.
@group(0) @binding(3) var<storage, read> ends: array<u32>;
@group(0) @binding(4) var<storage, read> end_starts: array<u32>;

const THREADS: u32 = 64u;

// The other node of the pair that an end belongs to.
fn across(end: u32) -> u32 {
    return pairs[end / 2u][1u - (end & 1u)];
}
