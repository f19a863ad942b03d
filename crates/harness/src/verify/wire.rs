//! What is asked of solvers in other processes alone; the checks themselves are the backend's own.

use super::{
    Property,
    subject::{Stop, Subject},
};

const fn wire(name: &'static str, test: fn(&Subject<'_>) -> Result<(), Stop>) -> Property {
    Property { name, scene: "wire", test }
}

pub(super) const PROPERTIES: &[Property] = &[
    wire("hello_in_time", |s| own(s, "hello_in_time")),
    wire("unknown_requests_survive", |s| own(s, "unknown_requests_survive")),
    wire("bad_settings_are_told", |s| own(s, "bad_settings_are_told")),
    wire("bad_states_are_told", |s| own(s, "bad_states_are_told")),
    wire("load_then_read", |s| own(s, "load_then_read")),
    wire("batches_equal_steps", |s| own(s, "batches_equal_steps")),
    wire("parts_equal_steps", |s| own(s, "parts_equal_steps")),
    wire("scene_forgets", |s| own(s, "scene_forgets")),
    wire("static_bodies_stay", |s| own(s, "static_bodies_stay")),
    wire("forces_change_nothing", |s| own(s, "forces_change_nothing")),
    wire("audit_agrees", |s| own(s, "audit_agrees")),
    wire("no_work_in_read", |s| own(s, "no_work_in_read")),
    wire("clocks_agree", |s| own(s, "clocks_agree")),
    wire("memory_stays", |s| own(s, "memory_stays")),
    wire("bye_and_end_of_input", |s| own(s, "bye_and_end_of_input")),
];

fn own(subject: &Subject<'_>, name: &str) -> Result<(), Stop> {
    match subject.backend.own_check(name) {
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(Stop::Skip(reason)),
        Err(found) => Err(Stop::Fail(found)),
    }
}

#[cfg(test)]
mod tests {
    use taut_core::Backend;
    use taut_exec::{ExecBackend, Program};

    use super::PROPERTIES;

    #[test]
    fn every_check_of_a_process_is_asked() {
        let row = ExecBackend::new(Program::new("x", vec![]));
        let names: Vec<&str> = PROPERTIES.iter().map(|property| property.name).collect();
        assert_eq!(names, row.own_checks());
    }
}
