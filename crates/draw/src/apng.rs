//! Loops: moving pictures as PNG that play forever, whose palette all frames share and whose frames hold what changed.

use png::{BlendOp, DisposeOp, Encoder, EncodingError};

use crate::{
    bitmap::Bitmap,
    palette::{Histogram, MOST_COLOURS, Shade, indexed},
};

/// Frames per second.
pub const RATE: u16 = 15;
/// Frames of a loop at most.
pub const MOST_FRAMES: usize = 90;
/// Size of a loop at most [bytes].
pub const MOST_BYTES: usize = 1_500_000;

/// How long the last frame stands longer than the others [frames].
const HOLD: u16 = RATE;

/// A rectangle that replaces what was there.
#[derive(Clone, Debug)]
struct FramePatch {
    /// Left and upper corner [px].
    at: [u32; 2],
    /// Width and height [px].
    size: [u32; 2],
    pixels: Vec<Shade>,
    /// How long it stands [frames].
    ticks: u16,
}

/// Frames that are kept as what changes from one to the next.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The latest frame.
    shown: Bitmap,
    changes: Vec<FramePatch>,
}

impl Loop {
    /// A loop that begins with this frame.
    pub fn new(first: Bitmap) -> Self {
        let change = FramePatch {
            at: [0, 0],
            size: first.size(),
            pixels: first.pixels().to_vec(),
            ticks: 1,
        };
        Self { shown: first, changes: vec![change] }
    }

    /// Appends a frame, which has the size of the first.
    pub fn push(&mut self, frame: Bitmap) {
        self.show(frame, 1);
    }

    fn show(&mut self, frame: Bitmap, ticks: u16) {
        match changed(&self.shown, &frame) {
            Some((at, size)) => {
                let pixels = frame.cut(at, size);
                self.changes.push(FramePatch { at, size, pixels, ticks });
                self.shown = frame;
            }
            // What does not change stands longer.
            None => {
                if let Some(last) = self.changes.last_mut() {
                    last.ticks += ticks;
                }
            }
        }
    }

    /// The loop as a file of at most `most_bytes` if that can be had by leaving out frames, and a picture, of the
    /// same size, that those see who know no loops.
    ///
    /// # Errors
    /// When the encoder refuses, which it does where the picture has another size.
    pub fn encode(&self, still: &Bitmap, most_bytes: usize) -> Result<Vec<u8>, EncodingError> {
        let mut file = self.write(still)?;
        let mut kept = self.changes.len();
        while file.len() > most_bytes && kept > 2 {
            let share = most_bytes as f64 / file.len() as f64;
            kept = ((kept as f64 * share * 0.97) as usize).clamp(2, kept - 1);
            file = self.thinned(kept).write(still)?;
        }
        Ok(file)
    }

    /// About `kept` frames, spread over all, with the first and the last; each stands until the next.
    fn thinned(&self, kept: usize) -> Self {
        let last = self.changes.len() - 1;
        let chosen: Vec<usize> =
            (0..kept).map(|i| (i * last + (kept - 1) / 2) / (kept - 1).max(1)).collect();
        let mut canvas = self.shown.clone();
        let mut thinned: Option<Self> = None;
        for (index, change) in self.changes.iter().enumerate() {
            canvas.paste(change.at, change.size, &change.pixels);
            let kept = chosen.contains(&index);
            match &mut thinned {
                None => {
                    let mut begun = Self::new(canvas.clone());
                    begun.changes[0].ticks = change.ticks;
                    thinned = Some(begun);
                }
                Some(thinned) if kept => thinned.show(canvas.clone(), change.ticks),
                Some(thinned) => {
                    if let Some(last) = thinned.changes.last_mut() {
                        last.ticks += change.ticks;
                    }
                }
            }
        }
        thinned.unwrap_or_else(|| self.clone())
    }

    fn write(&self, still: &Bitmap) -> Result<Vec<u8>, EncodingError> {
        let mut histogram = Histogram::default();
        histogram.add(still.pixels());
        self.changes.iter().for_each(|change| histogram.add(&change.pixels));
        let palette = histogram.palette(MOST_COLOURS);

        let mut file = Vec::new();
        let [width, height] = self.shown.size();
        let mut encoder = Encoder::new(&mut file, width, height);
        indexed(&mut encoder, &palette);
        encoder.set_animated(self.changes.len() as u32, 0)?;
        encoder.set_sep_def_img(true)?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&palette.indices(still.pixels()))?;
        for (index, change) in self.changes.iter().enumerate() {
            let hold = if index + 1 == self.changes.len() { HOLD } else { 0 };
            // The rectangle before may lie where one of this size would leave the picture.
            writer.set_frame_position(0, 0)?;
            writer.set_frame_dimension(change.size[0], change.size[1])?;
            writer.set_frame_position(change.at[0], change.at[1])?;
            writer.set_frame_delay(change.ticks + hold, RATE)?;
            writer.set_blend_op(BlendOp::Source)?;
            writer.set_dispose_op(DisposeOp::None)?;
            writer.write_image_data(&palette.indices(&change.pixels))?;
        }
        writer.finish()?;
        Ok(file)
    }
}

/// Corner and size of the smallest rectangle outside of which two frames of one size are equal, if there is any change.
fn changed(before: &Bitmap, after: &Bitmap) -> Option<([u32; 2], [u32; 2])> {
    let [width, height] = after.size();
    let differs = |y: u32| before.row(y) != after.row(y);
    let top = (0..height).find(|&y| differs(y))?;
    let bottom = (top..height).rev().find(|&y| differs(y))?;
    let (mut left, mut right) = (width, 0);
    for y in top..=bottom {
        let (old, new) = (before.row(y), after.row(y));
        let differs = |x: &u32| old[*x as usize] != new[*x as usize];
        left = (0..left).find(differs).unwrap_or(left);
        right = (right..width).rev().find(differs).unwrap_or(right);
    }
    Some(([left, top], [right - left + 1, bottom - top + 1]))
}

#[cfg(test)]
mod tests {
    use png::Decoder;

    use super::*;

    const SIZE: [u32; 2] = [40, 30];

    /// A square on a page; its place and shade change from frame to frame.
    fn frame(index: u32) -> Bitmap {
        let mut frame = Bitmap::new(SIZE, [255; 3]);
        let shade = [10 + 7 * (index % 30) as u8, 60, 200];
        frame.paste([3 + index % 30, 2 + index % 20], [5, 5], &[shade; 25]);
        frame
    }

    fn decoded(file: &[u8]) -> (Bitmap, Vec<(Bitmap, u16)>) {
        let mut reader = Decoder::new(file).read_info().unwrap();
        let info = reader.info();
        assert_eq!(info.animation_control.unwrap().num_plays, 0);
        let frames = info.animation_control.unwrap().num_frames;
        let palette = info.palette.clone().unwrap();
        let colour = |index: &u8| [0, 1, 2].map(|k| palette[3 * usize::from(*index) + k]);
        let mut buffer = vec![0; reader.output_buffer_size()];
        reader.next_frame(&mut buffer).unwrap();
        let mut canvas = Bitmap::new(SIZE, [0; 3]);
        canvas.paste([0, 0], SIZE, &buffer.iter().map(colour).collect::<Vec<_>>());
        let still = canvas.clone();
        let mut shown = vec![];
        for _ in 0..frames {
            let read = reader.next_frame(&mut buffer).unwrap();
            let control = *reader.info().frame_control().unwrap();
            assert_eq!(control.blend_op, BlendOp::Source);
            assert_eq!((control.dispose_op, control.delay_den), (DisposeOp::None, RATE));
            let pixels: Vec<_> = buffer[..read.buffer_size()].iter().map(colour).collect();
            let (at, size) =
                ([control.x_offset, control.y_offset], [control.width, control.height]);
            canvas.paste(at, size, &pixels);
            shown.push((canvas.clone(), control.delay_num));
        }
        (still, shown)
    }

    fn made(frames: u32) -> Loop {
        let mut made = Loop::new(frame(0));
        (1..frames).for_each(|index| made.push(frame(index)));
        made
    }

    #[test]
    fn what_is_put_in_comes_out() {
        let mut made = made(20);
        made.push(frame(19));
        let still = Bitmap::new(SIZE, [1, 2, 3]);
        let (seen, shown) = decoded(&made.encode(&still, MOST_BYTES).unwrap());
        assert_eq!(seen, still);
        assert_eq!(shown.len(), 20);
        for (index, (canvas, ticks)) in shown.iter().enumerate() {
            assert_eq!(*canvas, frame(index as u32), "frame {index}");
            // The last was put in twice.
            assert_eq!(*ticks, if index == 19 { 2 + HOLD } else { 1 }, "frame {index}");
        }
    }

    #[test]
    fn only_what_changes_is_stored() {
        let made = made(5);
        assert_eq!(made.changes[0].size, SIZE);
        assert!(made.changes[1..].iter().all(|change| change.size == [6, 6]), "{made:?}");
    }

    #[test]
    fn frames_are_left_out_until_it_fits() {
        let made = made(80);
        let all = made.encode(&frame(79), MOST_BYTES).unwrap();
        let file = made.encode(&frame(79), all.len() * 2 / 3).unwrap();
        assert!(file.len() <= all.len() * 2 / 3);
        let (_, shown) = decoded(&file);
        assert!((30..60).contains(&shown.len()), "{}", shown.len());
        assert_eq!((&shown[0].0, &shown[shown.len() - 1].0), (&frame(0), &frame(79)));
        // It takes as long as before.
        assert_eq!(shown.iter().map(|(_, ticks)| ticks).sum::<u16>(), 80 + HOLD);
    }

    #[test]
    fn a_still_of_another_size_is_refused() {
        assert!(made(2).encode(&Bitmap::new([3, 3], [0; 3]), MOST_BYTES).is_err());
    }
}
