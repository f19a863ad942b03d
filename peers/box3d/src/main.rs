//! Box3D as a row of taut. What it does with a scene and why is in README.md.

mod audit;
mod joints;
mod model;
mod scene;
mod settings;
mod shapes;
mod solver;
mod springs;
mod vector;
mod wire;

fn main() -> std::io::Result<()> {
    wire::serve()
}
