//! Nested dissection of a graph of elements by where they lie: both halves of a cut first, what parts them
//! last, so that factorising fills in little of a net or a cloth.

use taut_core::Vec3;

use super::order::{Link, STAR, elements_at, other};

/// Parts of at most this many elements are not cut further.
const PART_MAX: usize = 6;

/// No star.
const NONE: u32 = u32::MAX;

/// Share of the elements on the smaller side of a cut.
const SIDE_MIN: f64 = 0.3;

/// A cut of a part in two.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    /// Elements that part the sides.
    width: usize,
    /// Distance from the middle, in elements.
    aside: usize,
    axis: usize,
    /// How many elements come before it along the axis.
    at: usize,
    /// Whether the parting elements are those before the cut with a neighbour behind it; else those behind.
    before: bool,
}

struct Dissection<'a> {
    points: &'a [Vec3],
    /// The nodes of each element; those that share one are neighbours.
    links: &'a [Link],
    /// Lowest and highest rank of the part's elements at each node.
    reach: Vec<[u32; 2]>,
    elements: Vec<u32>,
}

/// Elements in an order of elimination, where each lies at one of `points` [m]: those of stars come first, star by star.
///
/// A star is a node with its arms, each of which leads to one other element at most: a hub of a net and its rods. Without
/// the elements between them it is one node to what is cut.
pub(crate) fn dissect(nodes: usize, links: &[Link], points: &[Vec3]) -> Vec<u32> {
    let stars = NodeStars::new(nodes, links);
    let middle = |node: Option<u32>| node.map(|n| stars.middle_of[n as usize]);
    let merged: Vec<Link> = links.iter().map(|link| link.map(middle)).collect();
    let mut this = Dissection {
        points,
        links: &merged,
        reach: vec![[u32::MAX, 0]; nodes],
        elements: Vec::with_capacity(points.len()),
    };
    let is_left = |e: &u32| stars.is_left[*e as usize];
    this.divide((0..points.len() as u32).filter(is_left).collect());
    let mut order = stars.ordered(&this.elements, links);
    order.append(&mut this.elements);
    order
}

/// The stars of a graph.
struct NodeStars {
    /// For each of them its elements.
    elements: Vec<Vec<u32>>,
    /// For each node the star that it is in, or [`NONE`], and the middle of that, or itself.
    star_of: Vec<u32>,
    middle_of: Vec<u32>,
    /// For each element whether it is left beside the stars.
    is_left: Vec<bool>,
}

impl NodeStars {
    fn new(nodes: usize, links: &[Link]) -> Self {
        let at = elements_at(nodes, links);
        let mut this = Self {
            elements: Vec::new(),
            star_of: vec![NONE; nodes],
            middle_of: (0..nodes as u32).collect(),
            is_left: vec![true; links.len()],
        };
        for middle in 0..nodes as u32 {
            let elements = at.of(middle as usize);
            let arms = || elements.iter().filter_map(|&e| other(&links[e as usize], middle));
            let is_free = |node: u32| this.star_of[node as usize] == NONE;
            let is_arm = |node: u32| is_free(node) && at.of(node as usize).len() <= 2;
            if !STAR.contains(&elements.len()) || !is_free(middle) || !arms().all(is_arm) {
                continue;
            }
            for node in arms().chain([middle]) {
                this.star_of[node as usize] = this.elements.len() as u32;
                this.middle_of[node as usize] = middle;
            }
            for &element in elements {
                this.is_left[element as usize] = false;
            }
            this.elements.push(elements.to_vec());
        }
        this
    }

    /// Their elements in the order in which `others`, of these links, first reach them.
    fn ordered(&self, others: &[u32], links: &[Link]) -> Vec<u32> {
        let mut waits = vec![true; self.elements.len()];
        let nodes = others.iter().flat_map(|&e| ends(links, e));
        let reached = nodes.map(|n| self.star_of[n as usize]).filter(|star| *star != NONE);
        let all = reached.chain(0..self.elements.len() as u32);
        let next = all.filter(|&star| std::mem::take(&mut waits[star as usize]));
        next.flat_map(|star| self.elements[star as usize].iter().copied()).collect()
    }
}

/// The nodes of an element.
fn ends(links: &[Link], element: u32) -> impl Iterator<Item = u32> {
    links[element as usize].into_iter().flatten()
}

impl Dissection<'_> {
    fn divide(&mut self, part: Vec<u32>) {
        let best = if part.len() > PART_MAX {
            let cuts = (0..3).filter_map(|axis| self.narrowest(&part, axis));
            cuts.min_by_key(|cut| (cut.width, cut.aside))
        } else {
            None
        };
        let Some(cut) = best.filter(|cut| 3 * cut.width < part.len()) else {
            self.elements.extend(part);
            return;
        };
        let ranked = self.ranked(&part, cut.axis);
        self.measure(&ranked);
        let parts = |rank: usize, reach: [usize; 2]| {
            if cut.before {
                rank < cut.at && reach[1] >= cut.at
            } else {
                rank >= cut.at && reach[0] < cut.at
            }
        };
        let (mut sides, mut between) = ([Vec::new(), Vec::new()], Vec::new());
        for (rank, &element) in ranked.iter().enumerate() {
            if parts(rank, self.reach_of(element, rank)) {
                between.push(element);
            } else {
                sides[usize::from(rank >= cut.at)].push(element);
            }
        }
        for side in sides {
            self.divide(side);
        }
        self.elements.extend(between);
    }

    /// The elements of a part along an axis.
    fn ranked(&self, part: &[u32], axis: usize) -> Vec<u32> {
        let mut ranked = part.to_vec();
        let at = |element: u32| self.points[element as usize][axis];
        ranked.sort_by(|&a, &b| at(a).total_cmp(&at(b)).then(a.cmp(&b)));
        ranked
    }

    /// Finds the ranks that meet at each node.
    fn measure(&mut self, ranked: &[u32]) {
        for node in ranked.iter().flat_map(|&e| ends(self.links, e)) {
            self.reach[node as usize] = [u32::MAX, 0];
        }
        for (rank, &element) in ranked.iter().enumerate() {
            for node in ends(self.links, element) {
                let [low, high] = &mut self.reach[node as usize];
                (*low, *high) = ((*low).min(rank as u32), (*high).max(rank as u32));
            }
        }
    }

    /// Lowest and highest rank among an element and its neighbours.
    fn reach_of(&self, element: u32, rank: usize) -> [usize; 2] {
        ends(self.links, element).fold([rank, rank], |[low, high], node| {
            let [l, h] = self.reach[node as usize].map(|rank| rank as usize);
            [low.min(l), high.max(h)]
        })
    }

    /// The cut across an axis with the fewest elements between its sides.
    fn narrowest(&mut self, part: &[u32], axis: usize) -> Option<Cut> {
        let ranked = self.ranked(part, axis);
        self.measure(&ranked);
        let count = ranked.len();
        // How many more elements part the sides at a cut than at the one before it.
        let mut steps = vec![[0_i32; 2]; count + 2];
        for (rank, &element) in ranked.iter().enumerate() {
            let [low, high] = self.reach_of(element, rank);
            steps[rank + 1][0] += 1;
            steps[high + 1][0] -= 1;
            steps[low + 1][1] += 1;
            steps[rank + 1][1] -= 1;
        }
        let least = ((count as f64 * SIDE_MIN) as usize).max(1);
        let mut widths = [0_i32; 2];
        let mut best: Option<Cut> = None;
        for (at, steps) in steps.iter().enumerate().take(count - least + 1) {
            for (k, (width, step)) in widths.iter_mut().zip(steps).enumerate() {
                *width += step;
                let (width, aside) = (*width as usize, at.abs_diff(count / 2));
                let better = best.is_none_or(|b| (width, aside) < (b.width, b.aside));
                if at >= least && better {
                    best = Some(Cut { width, aside, axis, at, before: k == 0 });
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{order::couplings, tree::fill},
        *,
    };

    /// Points of a square grid and the elements between neighbours, each lying where it starts.
    fn grid(n: u32) -> (Vec<Link>, Vec<Vec3>) {
        let at = |i: u32, j: u32| (Some(i * n + j), Vec3::new(f64::from(i), f64::from(j), 0.0));
        let mut elements = Vec::new();
        for i in 0..n {
            for j in 1..n {
                for (from, to) in [(at(i, j - 1), at(i, j)), (at(j - 1, i), at(j, i))] {
                    elements.push(([from.0, to.0], (from.1 + to.1) * 0.5));
                }
            }
        }
        elements.into_iter().unzip()
    }

    fn blocks(nodes: usize, links: &[Link], order: &[u32]) -> usize {
        let ordered: Vec<Link> = order.iter().map(|&e| links[e as usize]).collect();
        fill(&couplings(nodes, &ordered)).iter().map(Vec::len).sum()
    }

    #[test]
    fn every_element_is_ordered_once() {
        let (links, points) = grid(12);
        for points in [points, vec![Vec3::zeros(); links.len()]] {
            let mut order = dissect(144, &links, &points);
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(i, &e)| i == e as usize));
            assert_eq!(order.len(), links.len());
        }
        assert!(dissect(0, &[], &[]).is_empty());
    }

    #[test]
    fn a_net_is_filled_in_less_the_larger_it_is() {
        let ratio = |n: u32| {
            let (links, points) = grid(n);
            let rows: Vec<u32> = (0..links.len() as u32).collect();
            let nodes = (n * n) as usize;
            let dissected = blocks(nodes, &links, &dissect(nodes, &links, &points));
            dissected as f64 / blocks(nodes, &links, &rows) as f64
        };
        let ratios = [10, 20, 40].map(ratio);
        assert!(ratios[1] < 0.8 * ratios[0] && ratios[2] < 0.8 * ratios[1], "{ratios:?}");
    }
}
