//! The states of a run that one can go back to, within a bound on memory.

use std::{collections::VecDeque, sync::Arc};

use taut_core::{BodyState, ParticleState, State};

/// States by frame, the newest last.
#[derive(Debug)]
pub(crate) struct StateRing {
    frames: VecDeque<(u32, Arc<State>)>,
    bytes: usize,
    /// What they may take together; the newest is kept whatever it takes.
    room: usize,
}

impl StateRing {
    /// An empty one for so many bytes.
    pub(crate) fn new(room: usize) -> Self {
        Self { frames: VecDeque::new(), bytes: 0, room }
    }

    /// Takes the state after a frame, and lets go of the oldest ones where there is no room for it.
    pub(crate) fn push(&mut self, frame: u32, state: Arc<State>) {
        self.bytes += bytes(&state);
        self.frames.push_back((frame, state));
        while self.bytes > self.room && self.frames.len() > 1 {
            if let Some((_, oldest)) = self.frames.pop_front() {
                self.bytes -= bytes(&oldest);
            }
        }
    }

    /// The newest state up to a frame, or the oldest of all where none is.
    pub(crate) fn up_to(&self, frame: u32) -> Option<(u32, &Arc<State>)> {
        let later = self.frames.partition_point(|(at, _)| *at <= frame);
        let (at, state) = self.frames.get(later.saturating_sub(1))?;
        Some((*at, state))
    }

    /// The first frame that is still there.
    pub(crate) fn first(&self) -> u32 {
        self.frames.front().map_or(0, |(frame, _)| *frame)
    }

    /// The newest frame.
    pub(crate) fn last(&self) -> u32 {
        self.frames.back().map_or(0, |(frame, _)| *frame)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}

/// What a state takes [B].
fn bytes(state: &State) -> usize {
    size_of::<State>()
        + size_of_val::<[BodyState]>(&state.bodies)
        + size_of_val::<[ParticleState]>(&state.particles)
        + state.broken.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(time_s: f64) -> Arc<State> {
        Arc::new(State { time_s, broken: vec![false; 1000], ..State::default() })
    }

    #[test]
    fn the_oldest_make_room_and_the_newest_stays() {
        let room = 3 * bytes(&state(0.0));
        let mut ring = StateRing::new(room);
        assert!(ring.up_to(0).is_none());
        (0..5).for_each(|frame| ring.push(frame, state(f64::from(frame))));
        assert_eq!((ring.first(), ring.last()), (2, 4));
        let at = |frame| ring.up_to(frame).map(|(at, state)| (at, state.time_s));
        assert_eq!([at(3), at(9), at(0)], [Some((3, 3.0)), Some((4, 4.0)), Some((2, 2.0))]);
        let mut small = StateRing::new(1);
        small.push(0, state(0.0));
        small.push(1, state(1.0));
        assert_eq!((small.first(), small.last()), (1, 1));
    }
}
