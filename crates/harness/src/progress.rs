//! A bar with rate and time left; nothing where standard error is not a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress of one invocation.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `total` units of work, such as steps.
    pub fn new(total: u64, unit: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
        let template =
            format!("{{msg:24!}} [{{bar:30}}] {{pos}}/{{len}} {unit} {{per_sec}} {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Names what is being worked on.
    pub fn start(&self, label: &str) {
        self.bar.set_message(label.to_owned());
    }

    /// Adds finished work.
    pub fn advance(&self, units: u64) {
        self.bar.inc(units);
    }

    /// Takes the bar off the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
