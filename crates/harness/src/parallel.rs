//! Independent work shared out between threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Applies `work` to every item, one thread per worker; results come in the order of the items.
pub(crate) fn in_parallel<W: Sync, T: Send>(
    workers: &[W],
    items: &[usize],
    work: impl Fn(&W, usize) -> T + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let take = || {
        let place = next.fetch_add(1, Ordering::Relaxed);
        items.get(place).map(|&item| (place, item))
    };
    let (take, work) = (&take, &work);
    let labour = |worker| {
        let results = std::iter::from_fn(take).map(|(place, item)| (place, work(worker, item)));
        results.collect::<Vec<(usize, T)>>()
    };
    let labour = &labour;
    let mut results: Vec<(usize, T)> = thread::scope(|scope| {
        let threads: Vec<_> =
            workers.iter().map(|worker| scope.spawn(move || labour(worker))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Vec<(usize, T)>>| {
            // Solvers are guarded, so a panic here is a mistake of the harness itself.
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect()
    });
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..50).rev().collect();
        let squares: Vec<usize> = items.iter().map(|i| i * i).collect();
        assert_eq!(in_parallel(&[0; 3], &items, |_, i| i * i), squares);
        assert_eq!(in_parallel(&[0], &items, |_, i| i * i), squares);
    }
}
