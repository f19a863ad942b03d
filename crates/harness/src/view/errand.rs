//! What a window does by itself: go on to a frame, take a picture of itself, and close.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use eframe::egui::{ColorImage, Context, ScreenshotCallback, ViewportCommand};

use super::{desk::Desk, picture::png};
use crate::record::write_atomically;

/// Frames of the window that are drawn before its picture is taken: texts and plots settle in two.
const SETTLES: u32 = 4;

/// A frame to go on to, and where to leave a picture of the window there.
#[derive(Debug, Default)]
pub(crate) struct Errand {
    /// The frame.
    pub(crate) after: u32,
    /// The file; the window closes once it is written.
    pub(crate) screenshot: Option<PathBuf>,
    settled: u32,
    taken: Arc<Mutex<Option<Arc<ColorImage>>>>,
    /// Whether the picture could not be written, and why.
    pub(crate) fault: Arc<Mutex<Option<String>>>,
}

impl Errand {
    pub(crate) fn new(after: u32, screenshot: Option<PathBuf>) -> Self {
        Self { after, screenshot, ..Self::default() }
    }

    /// Does what is next.
    pub(super) fn go_on(&mut self, desk: &mut Desk, ctx: &Context) {
        if self.after > 0 {
            if !desk.is_busy() {
                if desk.frame() < self.after && desk.can_go_on() {
                    desk.step();
                } else {
                    self.after = 0;
                }
            }
            return ctx.request_repaint();
        }
        let Some(file) = &self.screenshot else { return };
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(image) = taken {
            let written = png(&image).and_then(|bytes| write_atomically(file, &bytes));
            if let Err(error) = written {
                let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
                *fault = Some(format!("{error:#}"));
            }
            self.screenshot = None;
            return ctx.send_viewport_cmd(ViewportCommand::Close);
        }
        self.settled += 1;
        if self.settled == SETTLES {
            let (slot, again) = (Arc::clone(&self.taken), ctx.clone());
            let callback = ScreenshotCallback::new(move |image| {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(image);
                again.request_repaint();
            });
            ctx.send_viewport_cmd(ViewportCommand::Screenshot(callback));
        }
        ctx.request_repaint();
    }
}
