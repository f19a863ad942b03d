//! Times of rows against each other: in turn, block by block, so that all see the same machine.

use std::time::Instant;

use taut_core::Scene;

use super::{Bench, Halt, advance_frames};
use crate::{record::RunRow, spec::Spec};

/// How many blocks are taken unless somebody says otherwise.
pub const BLOCKS: u32 = 7;
/// A sample lasts at least this long [s]: clocks are read between runs, which may be short.
const LEAST_S: f64 = 0.02;

/// One of the rows that are timed against each other.
#[derive(Clone, Copy, Debug)]
pub struct TimedRow<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The row.
    pub spec: &'a Spec,
    /// Frames of the run, all of which are timed.
    pub frames: u32,
}

/// Time per frame of each row in each block [s]: the mean over whole runs from the scene's initial state.
///
/// Rows follow each other as A B C C B A ..., one sample each per block. On Unix the time is that of the processor,
/// which other programs do not take away; elsewhere, and where the row waits for a device, that of the wall. A row
/// that cannot be timed has no samples.
pub fn time_blocks(
    bench: &Bench<'_>,
    rows: &[TimedRow<'_>],
    blocks: u32,
    on_sample: &mut dyn FnMut(),
) -> Vec<Vec<f64>> {
    let mut samples = vec![Vec::new(); rows.len()];
    for block in 0..blocks {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        if block % 2 == 1 {
            order.reverse();
        }
        for place in order {
            if bench.is_cancelled() {
                return vec![Vec::new(); rows.len()];
            }
            samples[place].extend(sample(bench, &rows[place]));
            on_sample();
        }
    }
    let whole =
        |samples: Vec<f64>| if samples.len() == blocks as usize { samples } else { Vec::new() };
    samples.into_iter().map(whole).collect()
}

fn sample(bench: &Bench<'_>, timed: &TimedRow<'_>) -> Option<f64> {
    let TimedRow { scene, spec, frames } = *timed;
    let mut row = RunRow::new(spec);
    let mut spent = None;
    bench.with_fresh_solver(scene, spec, &mut row, |solver, row| {
        let initial = scene.initial_state();
        let step = spec.step(scene);
        let process = solver.elsewhere().map(|there| there.process);
        let clock = BlockClock::of(row, process);
        let (mut total, mut runs) = (0.0, 0_u32);
        while runs == 0 || total < LEAST_S {
            solver.load(&initial)?;
            solver.wait()?;
            let start = clock.now_s();
            if !advance_frames(solver, spec, step, frames, bench)? {
                return Err(Halt::Cancelled("while it was timed".to_owned()));
            }
            solver.wait()?;
            total += clock.now_s() - start;
            runs += 1;
        }
        spent = Some(total / f64::from(runs * frames));
        Ok(())
    });
    spent
}

/// What is read before and after.
enum BlockClock {
    /// Time that this process, or the one that solves for it, has spent on processors.
    #[cfg(unix)]
    Processor(Option<u32>),
    Wall(Instant),
}

impl BlockClock {
    fn of(row: &RunRow, process: Option<u32>) -> Self {
        #[cfg(unix)]
        if row.device == crate::record::RunDevice::Cpu && processor_s(process).is_some() {
            return Self::Processor(process);
        }
        let _ = (row, process);
        Self::Wall(Instant::now())
    }

    fn now_s(&self) -> f64 {
        match self {
            #[cfg(unix)]
            Self::Processor(process) => processor_s(*process).unwrap_or(f64::NAN),
            Self::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

/// Time that a process, this one where none is given, has spent on processors [s], where the system tells.
pub(super) fn processor_s(process: Option<u32>) -> Option<f64> {
    #[cfg(unix)]
    {
        let clock = match process {
            None => nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID,
            #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
            Some(process) => {
                let process = nix::unistd::Pid::from_raw(i32::try_from(process).ok()?);
                nix::time::clock_getcpuclockid(process).ok()?
            }
            #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
            Some(_) => return None,
        };
        let now = nix::time::clock_gettime(clock).ok()?;
        Some(std::time::Duration::from(now).as_secs_f64())
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        None
    }
}

/// The median of `b / a` over the blocks, and its 95 % interval by bootstrap of the blocks (2,000 draws, the same
/// every time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Lower end of the interval.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Ratio {
    /// The width of the interval of a row against itself, at least 0.02: what is not told apart.
    pub fn noise_band(&self) -> f64 {
        (self.high - self.low).max(0.02)
    }

    /// Whether the whole interval lies beyond the noise band around one: `faster`, `slower` or `not separable`.
    pub fn verdict(&self, noise_band: f64) -> &'static str {
        if self.low > 1.0 + noise_band {
            "slower"
        } else if self.high < 1.0 - noise_band {
            "faster"
        } else {
            "not separable"
        }
    }

    /// How many times as long as `a` the row `b` takes; `None` without pairs of samples.
    pub fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        const DRAWS: usize = 2000;
        let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b / a).collect();
        if ratios.is_empty() || ratios.iter().any(|ratio| !ratio.is_finite()) {
            return None;
        }
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut place = || {
            // Marsaglia's xorshift.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % ratios.len() as u64) as usize
        };
        let mut medians: Vec<f64> = (0..DRAWS)
            .map(|_| median((0..ratios.len()).map(|_| ratios[place()]).collect()))
            .collect();
        medians.sort_by(f64::total_cmp);
        let at = |share: f64| medians[(share * (DRAWS - 1) as f64).round() as usize];
        Some(Self { low: at(0.025), median: median(ratios.clone()), high: at(0.975) })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { 0.5 * (values[half - 1] + values[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_interval_of_its_blocks() {
        let a = [1.0, 1.0, 2.0, 1.0, 1.0];
        let same = Ratio::of(&a, &a.map(|t| 3.0 * t)).unwrap();
        assert_eq!(same, Ratio { low: 3.0, median: 3.0, high: 3.0 });
        let b = [1.8, 2.2, 4.0, 1.9, 2.1];
        let noisy = Ratio::of(&a, &b).unwrap();
        assert_eq!(noisy.median, 2.0);
        assert!(1.8 <= noisy.low && noisy.low < 2.0 && 2.0 < noisy.high && noisy.high <= 2.2);
        assert_eq!(Ratio::of(&a, &b), Some(noisy), "drawn the same every time");
        assert_eq!(Ratio::of(&[], &b), None);
        assert_eq!(same.verdict(same.noise_band()), "slower");
        let third = Ratio::of(&a, &a.map(|t| t / 3.0)).unwrap();
        assert_eq!(third.verdict(0.02), "faster");
        assert_eq!(Ratio::of(&a, &a).unwrap().verdict(0.02), "not separable");
        let wide = Ratio { low: 0.7, median: 1.1, high: 1.3 };
        assert!((wide.noise_band() - 0.6).abs() < 1e-15);
        assert_eq!(Ratio { low: 1.2, median: 1.3, high: 1.4 }.verdict(0.3), "not separable");
        assert_eq!(Ratio::of(&[0.0], &b), None);
    }
}
