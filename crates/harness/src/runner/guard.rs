//! Panics of a solver, caught and put into words.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps guarded panics off the terminal: they are told once, in the row they belong to.
///
/// Called by the program, and takes effect once; a library user who keeps the standard hook sees both.
pub fn silence_guarded_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let standard = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line()));
                PLACE.set(place);
            } else {
                standard(info);
            }
        }));
    });
}

/// The result of `body`, or the message and place of its panic.
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    let outer = GUARDED.replace(true);
    // The solver is dropped with the panic and the row only grows by whole frames, so nothing
    // half-changed is seen afterwards.
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    GUARDED.set(outer);
    result.map_err(|payload| {
        let place = PLACE.take().unwrap_or_default();
        format!("{}{place}", message(&*payload))
    })
}

fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        let caught = catch(|| -> u32 { panic!("row {} is singular", 3) });
        assert!(caught.is_err_and(|m| m.starts_with("row 3 is singular")));
        assert_eq!(catch(|| 5), Ok(5));
    }
}
