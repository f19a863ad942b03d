//! What a record says about where it was made.

use std::{
    fs,
    process::Command,
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::Serialize;

use crate::adapter;

/// The machine, the program and the time of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// When it was made, UTC.
    pub time: String,
    /// Model of the processor.
    pub cpu: String,
    /// Logical processors.
    pub cores: usize,
    /// Threads that a solver could use.
    pub threads: usize,
    /// Operating system and architecture.
    pub os: String,
    /// Compiler of this program.
    pub rustc: &'static str,
    /// Version of this program.
    pub version: &'static str,
    /// `release` or `debug`; times of the latter mean nothing.
    pub profile: &'static str,
    /// Git revision of the sources that it was built from, with `-dirty` where they differed; `unknown` without git.
    pub revision: &'static str,
    /// Cargo features in force.
    pub features: Vec<&'static str>,
    /// Graphics adapter; `none` where no backend used one.
    pub adapter: String,
}

impl Machine {
    /// The facts of this machine, now.
    pub fn here(threads: usize) -> Self {
        Self {
            time: utc_iso(),
            cpu: cpu(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            threads,
            os: format!("{} {}", os(), std::env::consts::ARCH),
            rustc: env!("TAUT_RUSTC"),
            version: env!("CARGO_PKG_VERSION"),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" },
            revision: env!("TAUT_REVISION"),
            features: Vec::new(),
            adapter: adapter::in_use().unwrap_or_else(|| "none".to_owned()),
        }
    }
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    match model {
        Some((_, name)) => name.trim().to_owned(),
        None => said_by("sysctl", &["-n", "machdep.cpu.brand_string"])
            .unwrap_or_else(|| "unknown".to_owned()),
    }
}

fn os() -> String {
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.map_or(std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned())
}

/// The trimmed output of a program that succeeds and says something.
fn said_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Now as `2025-01-31T12:00:00Z`.
pub fn utc_iso() -> String {
    let [year, month, day, hour, minute, second] = civil(now_s());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Now as `20250131-120000`, for names of directories; UTC.
pub fn utc_compact() -> String {
    let [year, month, day, hour, minute, second] = civil(now_s());
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Year, month, day, hour, minute and second of a time in seconds since 1970, Gregorian, UTC.
fn civil(seconds: u64) -> [u64; 6] {
    let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    [year, month, days + 1, rest / 3600, rest / 60 % 60, rest % 60]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        assert_eq!(civil(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(civil(951_827_696), [2000, 2, 29, 12, 34, 56]);
        assert_eq!(civil(4_102_444_799), [2099, 12, 31, 23, 59, 59]);
    }

    #[test]
    fn every_fact_is_told() {
        let machine = Machine::here(2);
        assert!(machine.cores > 0 && !machine.cpu.is_empty());
        assert!(machine.rustc.starts_with("rustc ") && machine.threads == 2);
    }
}
