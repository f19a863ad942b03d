//! Pictures as pixels, and the files they become.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use crate::palette::{Histogram, MOST_COLOURS, Palette, Shade, indexed};

/// A rectangle of pixels, red, green and blue, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    size: [u32; 2],
    pixels: Vec<Shade>,
}

impl Bitmap {
    /// A rectangle of one colour.
    pub fn new(size: [u32; 2], colour: [u8; 3]) -> Self {
        Self { size, pixels: vec![colour; size[0] as usize * size[1] as usize] }
    }

    /// Pixels in rows of `width`; what is left over is no row.
    pub fn of(width: u32, mut pixels: Vec<[u8; 3]>) -> Self {
        let height = pixels.len() / width.max(1) as usize;
        pixels.truncate(height * width as usize);
        Self { size: [width, height as u32], pixels }
    }

    /// Width and height [px].
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// All pixels as bytes, to draw on.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.pixels.as_flattened_mut()
    }

    /// One row of pixels.
    pub(crate) fn row(&self, y: u32) -> &[Shade] {
        let width = self.size[0] as usize;
        &self.pixels[y as usize * width..][..width]
    }

    /// The pixels of a rectangle that lies inside.
    pub(crate) fn cut(&self, at: [u32; 2], size: [u32; 2]) -> Vec<Shade> {
        let rows = (at[1]..at[1] + size[1]).map(|y| self.row(y));
        rows.flat_map(|row| &row[at[0] as usize..][..size[0] as usize]).copied().collect()
    }

    /// Replaces the pixels of a rectangle; what lies outside is left out.
    pub fn paste(&mut self, at: [u32; 2], size: [u32; 2], pixels: &[[u8; 3]]) {
        let [width, height] = self.size;
        let shown = size[0].min(width.saturating_sub(at[0])) as usize;
        for (y, row) in (at[1]..height).zip(pixels.chunks_exact(size[0].max(1) as usize)) {
            let start = y as usize * width as usize + at[0] as usize;
            self.pixels[start..start + shown].copy_from_slice(&row[..shown]);
        }
    }

    /// A file with these pixels as they are.
    ///
    /// # Errors
    /// When the encoder refuses, as it does a picture without pixels.
    pub fn to_png(&self) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, self.size[0], self.size[1]);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Best);
        encoder.set_adaptive_filter(png::AdaptiveFilterType::Adaptive);
        encoder.write_header()?.write_image_data(self.pixels.as_flattened())?;
        Ok(file)
    }

    /// A smaller file, in 256 colours or, where that is more than `most_bytes`, in fewer down to 32.
    ///
    /// # Errors
    /// As [`Self::to_png`].
    pub fn to_indexed_png(&self, most_bytes: usize) -> Result<Vec<u8>, EncodingError> {
        let mut histogram = Histogram::default();
        histogram.add(&self.pixels);
        let mut colours = MOST_COLOURS;
        loop {
            let file = self.indexed(&histogram.palette(colours))?;
            if file.len() <= most_bytes || colours <= 32 {
                return Ok(file);
            }
            colours /= 2;
        }
    }

    fn indexed(&self, palette: &Palette) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, self.size[0], self.size[1]);
        indexed(&mut encoder, palette);
        encoder.write_header()?.write_image_data(&palette.indices(&self.pixels))?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &[u8]) -> Vec<u8> {
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size()];
        let info = reader.next_frame(&mut buffer).unwrap();
        assert_eq!(info.color_type, ColorType::Rgb);
        buffer
    }

    #[test]
    fn files_hold_the_pixels() {
        let pixels: Vec<Shade> = (0..60).map(|i| [i, 3 * i, 255 - i]).collect();
        let bitmap = Bitmap::of(10, pixels.clone());
        assert_eq!(bitmap.size(), [10, 6]);
        assert_eq!(read(&bitmap.to_png().unwrap()), pixels.as_flattened());
        assert_eq!(read(&bitmap.to_indexed_png(10_000).unwrap()), pixels.as_flattened());
        // Too large in any number of colours.
        let many = Bitmap::of(
            64,
            (0..4096_u32).map(|i| (i * 7919).to_le_bytes()).map(|b| [b[0], b[1], b[2]]).collect(),
        );
        let [large, small] = [1_000_000, 0].map(|most| many.to_indexed_png(most).unwrap());
        assert!(small.len() < large.len());
        assert!(Bitmap::new([0, 3], [0; 3]).to_png().is_err());
    }

    #[test]
    fn what_is_pasted_outside_is_left_out() {
        let mut bitmap = Bitmap::new([4, 3], [0; 3]);
        let pasted: Vec<Shade> = (1..=6).map(|i| [i; 3]).collect();
        bitmap.paste([2, 1], [3, 2], &pasted);
        let reds: Vec<u8> = bitmap.pixels().iter().map(|pixel| pixel[0]).collect();
        assert_eq!(reds, [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 4, 5]);
        assert_eq!(bitmap.cut([2, 1], [2, 2]), [[1; 3], [2; 3], [4; 3], [5; 3]]);
        bitmap.paste([9, 9], [1, 1], &[[9; 3]]);
        assert!(bitmap.pixels().iter().all(|pixel| pixel[0] < 9));
    }
}
