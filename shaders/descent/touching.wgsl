// A sweep over nodes that touch each other. Its `step_touching`, the Newton step under a law of contact, is that of
// the method that uses it.

//#use descent/patch.wgsl
//#alone fn step_touching(n: u32) -> Move { return newton_step(n); }

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
    if place < colour_starts[colour.index + 1u] {
        let n = visit[place];
        advance(n, step_touching(n));
    }
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
        for (var place = range.x + local; place < range.y && !mixed; place += THREADS) {
            advance(visit[place], step_touching(visit[place]));
        }
        for (var place = range.x; place < range.y && mixed && local == 0u; place++) {
            advance(visit[place], step_touching(visit[place]));
        }
        storageBarrier();
    }
}
