//! Long arrays, on large pages of memory where the system has them: processors find few pages faster than many.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
#[cfg(target_os = "linux")]
use memmap2::{Advice, MmapMut};

/// Bytes of a large page; shorter arrays would not fill one.
#[cfg(target_os = "linux")]
const LARGE_MIN: usize = 2 << 20;

/// An array whose length does not change.
pub(crate) struct Pages<T> {
    store: PageStore<T>,
}

enum PageStore<T> {
    Vector(Vec<T>),
    #[cfg(target_os = "linux")]
    Mapped(MmapMut),
}

impl<T: Pod> Pages<T> {
    /// So many zeros.
    pub(crate) fn zeroed(count: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(map) = mapped(count * size_of::<T>()) {
            return Self { store: PageStore::Mapped(map) };
        }
        Self { store: PageStore::Vector(vec![T::zeroed(); count]) }
    }
}

/// Memory with the request for large pages; `None` where a vector does, or there is none to be had.
#[cfg(target_os = "linux")]
fn mapped(bytes: usize) -> Option<MmapMut> {
    if bytes < LARGE_MIN {
        return None;
    }
    let map = MmapMut::map_anon(bytes).ok()?;
    // Systems may be set up to have none: then it is memory like any other.
    let _ = map.advise(Advice::HugePage);
    Some(map)
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.store {
            PageStore::Vector(vector) => vector,
            #[cfg(target_os = "linux")]
            PageStore::Mapped(map) => bytemuck::cast_slice(map),
        }
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.store {
            PageStore::Vector(vector) => vector,
            #[cfg(target_os = "linux")]
            PageStore::Mapped(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

impl<T: Pod> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut this = Self::zeroed(self.len());
        this.copy_from_slice(self);
        this
    }
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { store: PageStore::Vector(Vec::new()) }
    }
}

impl<T: Pod + std::fmt::Debug> std::fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_arrays_hold_what_is_written() {
        for count in [0, 3, 2_000_000] {
            let mut pages = Pages::<f64>::zeroed(count);
            assert_eq!(pages.len(), count);
            assert!(pages.iter().all(|x| *x == 0.0));
            for (i, x) in pages.iter_mut().enumerate() {
                *x = i as f64;
            }
            let copy = pages.clone();
            pages.fill(-1.0);
            assert!(copy.iter().enumerate().all(|(i, x)| *x == i as f64));
        }
    }
}
