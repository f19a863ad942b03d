//! In which order bodies are eliminated.
//!
//! Least degree suits chains and trees. Where bodies lie in heaps, halving the heap by planes, with those beside a
//! plane last ("nested dissection", George 1973), fills less.

use faer::{
    dyn_stack::{MemBuffer, MemStack},
    sparse::{SymbolicSparseColMat, linalg::amd},
};
use taut_core::Vec3;

/// Sets of no more bodies are not divided.
const UNDIVIDED: usize = 4;

/// Bodies in an order of least degree; `pairs` of them are coupled, and `first` says where those of each begin.
pub(super) fn least_degree(
    blocks: usize,
    pairs: &[[u32; 2]],
    first: &[usize],
) -> Result<Vec<usize>, String> {
    let rows = pairs.iter().map(|&[_, row]| row as usize).collect();
    let graph = SymbolicSparseColMat::new_checked(blocks, blocks, first.to_vec(), None, rows);
    let (mut order, mut place) = (vec![0; blocks], vec![0; blocks]);
    let need = amd::order_maybe_unsorted_scratch::<usize>(blocks, pairs.len());
    let mut scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
    let stack = MemStack::new(&mut scratch);
    let control = amd::Control::default();
    amd::order_maybe_unsorted(&mut order, &mut place, graph.as_ref(), control, stack)
        .map_err(|error| format!("order of elimination: {error}"))?;
    Ok(order)
}

/// Bodies at `places` [m] in an order by halves.
pub(super) fn dissected(places: &[Vec3], pairs: &[[u32; 2]]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); places.len()];
    for &[a, b] in pairs {
        neighbours[a as usize].push(b as usize);
        neighbours[b as usize].push(a as usize);
    }
    let mut dissection = Halving { places, neighbours, side: vec![0; places.len()], next: 0 };
    let mut order = Vec::with_capacity(places.len());
    dissection.divide((0..places.len()).collect(), &mut order);
    order
}

struct Halving<'a> {
    places: &'a [Vec3],
    neighbours: Vec<Vec<usize>>,
    /// The number of the half that each body was last in.
    side: Vec<usize>,
    next: usize,
}

impl Halving<'_> {
    fn divide(&mut self, mut set: Vec<usize>, order: &mut Vec<usize>) {
        if set.len() <= UNDIVIDED {
            order.append(&mut set);
            return;
        }
        let axis = self.longest(&set);
        let places = self.places;
        // By number where places are equal, so that the order is the same each time.
        set.sort_unstable_by(|&a, &b| places[a][axis].total_cmp(&places[b][axis]).then(a.cmp(&b)));
        let upper = set.split_off(set.len() / 2);
        self.next += 1;
        for &body in &set {
            self.side[body] = self.next;
        }
        let beside = |body: &usize| {
            self.neighbours[*body].iter().any(|&other| self.side[other] == self.next)
        };
        let (mut between, upper): (Vec<usize>, Vec<usize>) = upper.into_iter().partition(beside);
        self.divide(set, order);
        self.divide(upper, order);
        order.append(&mut between);
    }

    /// The axis along which places spread most.
    fn longest(&self, set: &[usize]) -> usize {
        let none = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        let around = |(low, high): (Vec3, Vec3), &body: &usize| {
            (low.inf(&self.places[body]), high.sup(&self.places[body]))
        };
        let (low, high) = set.iter().fold(none, around);
        (high - low).imax()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_between_two_halves_come_last() {
        let places: Vec<Vec3> = (0..9).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        let pairs: Vec<[u32; 2]> = (0..8).map(|i| [i, i + 1]).collect();
        let order = dissected(&places, &pairs);
        assert_eq!(order.last(), Some(&4));
        let mut all = order.clone();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..9));
    }
}
