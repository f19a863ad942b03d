// Nodes that move at once, one invocation each; where a node has many ends, several invocations share its sum. Twin:
// `part_of` and `sum_in_lanes` in crates/descent/src/assemble.rs.
//
// Which ends belong to which partial sum, and how those are added, follows from the setting and the node alone: no
// result depends on the size of workgroups or on what else they move.

//#use descent/block.wgsl
//#alone fn touches(n: u32) -> u32 { return 0u; }
//#alone fn add_touches(b: ptr<function, Block>, n: u32, first: u32, stride: u32) {}

// The nodes of a workgroup that have many ends, in any order.
var<workgroup> crowded: array<u32, THREADS>;
var<workgroup> crowd: atomic<u32>;
var<workgroup> crowd_size: u32;
// What the upper half of a node's invocations hands to the lower.
var<workgroup> handed: array<Block, THREADS / 2u>;

fn is_crowded(n: u32) -> bool {
    return nodes[n].last - nodes[n].first + touches(n) >= 2u * constants.lanes;
}

// The Newton step from all that acts on a node.
fn solve_node(n: u32, b: Block) -> Move {
    if nodes[n].kind == PARTICLE {
        return Move(sym_solve(b.ll, b.fl), vec3<f32>(0.0));
    }
    return solve(b, touches(n) == 0u && nodes[n].acted != BY_ANY);
}

fn step_of(n: u32) -> Move {
    if touches(n) == 0u {
        return newton_step(n);
    }
    var block = assemble(n);
    add_touches(&block, n, 0u, 1u);
    return solve(block, false);
}

fn block_plus(a: Block, b: Block) -> Block {
    return Block(
        sym_plus(a.ll, b.ll),
        sym_plus(a.aa, b.aa),
        mat_plus(a.al, b.al),
        a.fl + b.fl,
        a.fa + b.fa,
    );
}

// The partial sum of every `lanes`th end of a node.
fn part_of(n: u32, lane: u32, lanes: u32) -> Block {
    var b: Block;
    if lane == 0u {
        b = inertial(n);
    }
    for (var i = nodes[n].first + lane; i < nodes[n].last; i += lanes) {
        add_end(&b, n, i);
    }
    add_touches(&b, n, lane, lanes);
    return b;
}

// Moves the crowded nodes of this workgroup, each by as many invocations as the setting says.
fn move_crowd(local: u32, count: u32) {
    let lanes = constants.lanes;
    let team = local / lanes;
    let lane = local % lanes;
    for (var base = 0u; base < count; base += THREADS / lanes) {
        let busy = base + team < count;
        var n = 0u;
        var part: Block;
        if busy {
            n = crowded[base + team];
            part = part_of(n, lane, lanes);
        }
        let place = team * (lanes / 2u);
        for (var half = lanes / 2u; half > 0u; half /= 2u) {
            if busy && lane >= half && lane < 2u * half {
                handed[place + lane - half] = part;
            }
            workgroupBarrier();
            if busy && lane < half {
                part = block_plus(part, handed[place + lane]);
            }
            workgroupBarrier();
        }
        if busy && lane == 0u {
            move_by(n, solve_node(n, part));
        }
        storageBarrier();
        if busy {
            refresh_arms(n, lane, lanes);
        }
    }
    storageBarrier();
}

// Moves one node per invocation, where there is one. All invocations of a workgroup must come here together.
fn move_nodes(n: u32, there: bool, local: u32) {
    if constants.lanes < 2u {
        if there {
            advance(n, step_of(n));
        }
        return;
    }
    if local == 0u {
        atomicStore(&crowd, 0u);
    }
    workgroupBarrier();
    if there {
        if is_crowded(n) {
            crowded[atomicAdd(&crowd, 1u)] = n;
        } else {
            advance(n, step_of(n));
        }
    }
    workgroupBarrier();
    if local == 0u {
        crowd_size = atomicLoad(&crowd);
    }
    let count = workgroupUniformLoad(&crowd_size);
    move_crowd(local, count);
}
