// How much mass hangs or rests on what holds a node.

struct Carry {
    // Links between the node and what is held.
    depth: u32,
    // Mass of the node and of what rests on it [kg].
    load: f32,
    // Mass that each node before it carries for it [kg]; zero for a node whose depth has just changed.
    share: f32,
}
