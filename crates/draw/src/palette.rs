//! At most 256 colours that stand for all of a picture or a loop.

use std::{collections::BTreeMap, io::Write};

use png::{BitDepth, ColorType, Compression, Encoder, FilterType};

/// Red, green, blue.
pub(crate) type Shade = [u8; 3];

/// Colours that an index of eight bits can tell apart.
pub(crate) const MOST_COLOURS: usize = 256;

/// One entry in so many is kept for colours that are far from all others.
const OUTLIERS: usize = 16;
/// Colours of fewer pixels have no entry of their own.
const COUNT_MIN: u64 = 12;

/// How often each colour occurs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram(BTreeMap<Shade, u64>);

impl Histogram {
    /// Counts pixels.
    pub(crate) fn add(&mut self, pixels: &[Shade]) {
        // Runs of one colour are looked up once.
        for run in pixels.chunk_by(|a, b| a == b) {
            *self.0.entry(run[0]).or_default() += run.len() as u64;
        }
    }

    /// At most `most` colours that stand for all those counted: they themselves, if there are few enough.
    pub(crate) fn palette(&self, most: usize) -> Palette {
        let most = most.clamp(1, MOST_COLOURS);
        let mut colours: Vec<(Shade, u64)> = self.0.iter().map(|(&c, &n)| (c, n)).collect();
        // Ties by the colour, so that equal pictures have equal palettes.
        colours.sort_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
        // The most frequent stay as they are in any case: page, ink and flat shades.
        let exact = if colours.len() <= most { colours.len() } else { most / 2 };
        let rest = colours.split_off(exact);
        let mut entries: Vec<Shade> = colours.iter().map(|&(colour, _)| colour).collect();
        if !rest.is_empty() {
            let large = rest.iter().filter(|(_, count)| *count >= COUNT_MIN).count();
            let shared = most - exact - large.min(most / OUTLIERS);
            entries.extend(split(rest.clone(), shared).iter().map(|group| mean(group)));
            add_outliers(&mut entries, &rest, most);
        }
        let index = self.0.keys().map(|&colour| (colour, nearest(&entries, colour))).collect();
        Palette { entries, index }
    }
}

/// Sets what files with a palette have in common.
pub(crate) fn indexed<W: Write>(encoder: &mut Encoder<'_, W>, palette: &Palette) {
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(palette.bytes());
    encoder.set_compression(Compression::Best);
    // Numbers of colours next to each other have nothing in common.
    encoder.set_filter(FilterType::NoFilter);
}

/// Colours with numbers, and the number by which each colour counted goes.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    entries: Vec<Shade>,
    index: BTreeMap<Shade, u8>,
}

impl Palette {
    /// The colours in order, as files have them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.entries.concat()
    }

    /// Pixels by number. Colours that were not counted go by their nearest.
    pub(crate) fn indices(&self, pixels: &[Shade]) -> Vec<u8> {
        let mut indices = Vec::with_capacity(pixels.len());
        for run in pixels.chunk_by(|a, b| a == b) {
            let known = self.index.get(&run[0]).copied();
            let index = known.unwrap_or_else(|| nearest(&self.entries, run[0]));
            indices.resize(indices.len() + run.len(), index);
        }
        indices
    }
}

/// Gives colours that are far from all entries one of their own: dots of a colour that tells something.
fn add_outliers(entries: &mut Vec<Shade>, colours: &[(Shade, u64)], most: usize) {
    let mut far: Vec<(u32, Shade)> = colours
        .iter()
        .filter(|(_, count)| *count >= COUNT_MIN)
        .map(|&(c, _)| (distance(entries[usize::from(nearest(entries, c))], c), c))
        .collect();
    while entries.len() < most {
        let Some(&(1.., colour)) = far.iter().max() else { return };
        entries.push(colour);
        far.iter_mut().for_each(|(off, own)| *off = (*off).min(distance(*own, colour)));
    }
}

fn distance(a: Shade, b: Shade) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

fn nearest(entries: &[Shade], colour: Shade) -> u8 {
    let by_distance = entries.iter().enumerate().min_by_key(|(_, entry)| distance(**entry, colour));
    by_distance.map_or(0, |(index, _)| index as u8)
}

fn mean(group: &[(Shade, u64)]) -> Shade {
    let total: u64 = group.iter().map(|(_, n)| n).sum();
    [0, 1, 2].map(|axis| {
        let sum: u64 = group.iter().map(|(c, n)| u64::from(c[axis]) * n).sum();
        ((sum + total / 2) / total.max(1)) as u8
    })
}

/// Squared error of a group drawn in its mean, by axis.
fn error(group: &[(Shade, u64)]) -> [u64; 3] {
    let mean = mean(group);
    [0, 1, 2].map(|axis| {
        let squares = group.iter().map(|(c, n)| n * u64::from(c[axis].abs_diff(mean[axis])).pow(2));
        squares.sum()
    })
}

/// At most `most` groups: again and again the one with the greatest error is cut at its mean, across the axis on
/// which it errs most.
fn split(colours: Vec<(Shade, u64)>, most: usize) -> Vec<Vec<(Shade, u64)>> {
    let mut groups: Vec<(u64, Vec<(Shade, u64)>)> = Vec::new();
    if !colours.is_empty() {
        groups.push((error(&colours).iter().sum(), colours));
    }
    while groups.len() < most {
        let worst = groups.iter().enumerate().max_by_key(|(i, (e, _))| (*e, std::cmp::Reverse(*i)));
        let Some((worst, (1.., _))) = worst else { break };
        let (_, group) = groups.swap_remove(worst);
        let errors = error(&group);
        let axis = (0..3).max_by_key(|&axis| errors[axis]).unwrap_or(0);
        let total: u64 = group.iter().map(|(_, n)| n).sum();
        let sum: u64 = group.iter().map(|(c, n)| u64::from(c[axis]) * n).sum();
        // Not rounded up: where colours differ, some lie above and some do not.
        let middle = (sum / total.max(1)) as u8;
        let halves: (Vec<_>, Vec<_>) = group.into_iter().partition(|(c, _)| c[axis] <= middle);
        for half in [halves.0, halves.1] {
            groups.push((error(&half).iter().sum(), half));
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_stay_and_many_come_close() {
        let few: Vec<Shade> = (0..=255).map(|i| [i, 0, 255 - i]).collect();
        let mut histogram = Histogram::default();
        histogram.add(&few);
        let palette = histogram.palette(MOST_COLOURS);
        let back = |palette: &Palette, pixels: &[Shade]| -> Vec<Shade> {
            let entries = palette.bytes();
            let entry = |i: u8| [0, 1, 2].map(|k| entries[3 * usize::from(i) + k]);
            palette.indices(pixels).into_iter().map(entry).collect()
        };
        assert_eq!(back(&palette, &few), few);

        // A white page, and a shade of every grey in three tints.
        let mut many = vec![[255; 3]; 1000];
        many.extend((0..=255).flat_map(|i| [[i, i, i], [i, i / 2, i / 2], [i / 2, i / 2, i]]));
        histogram.add(&many);
        let palette = histogram.palette(MOST_COLOURS);
        assert_eq!(palette.bytes().len(), 3 * MOST_COLOURS);
        let seen = back(&palette, &many);
        assert_eq!(seen[0], [255; 3]);
        let worst = many.iter().zip(&seen).map(|(a, b)| distance(*a, *b)).max();
        assert!(worst <= Some(12 * 12), "{worst:?}");
    }

    #[test]
    fn one_colour_and_none() {
        assert_eq!(Histogram::default().palette(MOST_COLOURS).bytes(), []);
        let mut histogram = Histogram::default();
        histogram.add(&[[7, 8, 9]; 4]);
        assert_eq!(histogram.palette(MOST_COLOURS).bytes(), [7, 8, 9]);
    }
}
