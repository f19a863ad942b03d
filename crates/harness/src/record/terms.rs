//! On what terms a row was computed: where, and in which division.

use serde::{Deserialize, Serialize};

/// Where a row was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunDevice {
    /// On the processor.
    #[default]
    Cpu,
    /// On a graphics adapter.
    Gpu,
    /// On an adapter that computes on the processor: its results count, its times say nothing.
    Software,
}

impl RunDevice {
    /// The name used in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Software => "software",
        }
    }
}

/// Which rows it is fair to compare a row with.
///
/// In the closed division all have the scene as it is, each method and engine one of its presets, and one thread. What
/// was set for a row alone is told beside it, and no table of costs or losses has rows of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// Nothing is set but a preset and the precision.
    #[default]
    Closed,
    /// Anything else: other settings, coordinates or threads.
    Open,
}

impl Division {
    /// Keys of settings that any row of the closed division may have.
    const CLOSED_KEYS: [&str; 2] = ["preset", "precision"];

    /// Of a row with `settings`, a struct of RON as it was given, on so many threads.
    pub fn of(settings: &str, threads: usize) -> Self {
        let closed = match ron::from_str(settings) {
            Ok(ron::Value::Map(keys)) => keys.keys().all(|key| match key {
                ron::Value::String(key) => Self::CLOSED_KEYS.contains(&key.as_str()),
                _ => false,
            }),
            Ok(ron::Value::Unit) => true,
            _ => false,
        };
        if closed && threads == 1 { Self::Closed } else { Self::Open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_for_one_row_alone_opens_it() {
        for closed in ["()", "(preset: best)", "(precision: f32, preset: default)"] {
            assert_eq!(Division::of(closed, 1), Division::Closed, "{closed}");
            assert_eq!(Division::of(closed, 2), Division::Open, "{closed}");
        }
        for open in
            ["(coordinates: maximal)", "(preset: best, sweeps: 8)", "(friction: (a: 1))", "("]
        {
            assert_eq!(Division::of(open, 1), Division::Open, "{open}");
        }
    }
}
