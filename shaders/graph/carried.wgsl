// How much mass hangs or rests on what holds a node.

struct Carry {
    // Links between the node and what is held.
    depth: u32,
    // Mass that each node before it carries for it [kg].
    share: f32,
}
