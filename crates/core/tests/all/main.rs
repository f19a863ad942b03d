//! Scenes as files, over the wire, and in what is said of wrong ones: one program, since each more has to be linked.

mod body_meshes;
mod contact_scenes;
mod deformable_scenes;
mod elasticity;
mod mabd_scenes;
mod mesh_files;
mod protocol;
mod scene_errors;
mod scene_generators;
mod scene_ignored;
mod scene_paths;
mod scene_properties;
mod scene_time;
mod scenes;
mod schema;
mod wire;
