// A sweep over nodes that touch each other. Its `add_touch`, which adds a contact under a law, is that of the method
// that uses it.

//#use descent/patch.wgsl
//#use descent/lanes.wgsl
//#alone fn add_touch(b: ptr<function, Block>, p: u32, is_b: bool) {}

fn touches(n: u32) -> u32 {
    return end_starts[n + 1u] - end_starts[n];
}

fn add_touches(b: ptr<function, Block>, n: u32, first: u32, stride: u32) {
    for (var i = end_starts[n] + first; i < end_starts[n + 1u]; i += stride) {
        add_touch(b, ends[i] / 2u, (ends[i] & 1u) != 0u);
    }
}

// First and last place of the colour at hand.
var<workgroup> range_of_rest: vec2<u32>;

@compute @workgroup_size(THREADS)
fn sweep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    nothing = constants.nothing;
    let place = colour_starts[colour.index] + thread_index(group, groups, THREADS, local);
    let there = place < colour_starts[colour.index + 1u];
    move_nodes(visit[select(0u, place, there)], there, local);
}

// The colours from one on, by a single workgroup: what is left for no dispatch of its own. Nodes of the last
// group, which may hold more than one colour, move one by one.
@compute @workgroup_size(THREADS)
fn sweep_rest(@builtin(local_invocation_index) local: u32) {
    nothing = constants.nothing;
    let colours = arrayLength(&colour_starts) - 1u;
    for (var c = colour.index; c < colours; c++) {
        if local == 0u {
            range_of_rest = vec2<u32>(colour_starts[c], colour_starts[c + 1u]);
        }
        let range = workgroupUniformLoad(&range_of_rest);
        // Where a colour is empty, so are those after it.
        if range.x == range.y {
            break;
        }
        let mixed = c + 1u == colours;
        for (var first = range.x; first < range.y; first += select(THREADS, 1u, mixed)) {
            let there = select(first + local < range.y, local == 0u, mixed);
            move_nodes(visit[select(first, first + local, there)], there, local);
        }
        storageBarrier();
    }
}
