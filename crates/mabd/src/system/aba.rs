//! The paper's elimination over bodies instead of joints (ABD-ABA, Eq. 50 to 57), as printed.
//!
//! It is here to show what it leaves: it is consistent only for rigid bodies whose joints have not turned.
//! Upwards a link is condensed onto the twists that its joint allows, so that its strain is locked to its
//! parent's; downwards the same strain is free. And what is condensed enters the parent's matrix by
//! rotation alone (Eq. 54), `D4(A_p^T A_j)`, as if an increment of the child's frame were one of its
//! parent's: true of rest coordinates that both share, while their frames agree. That reading, the one most
//! in the paper's favour, is the one taken here; in world axes the rotation is then no operation at all.

use nalgebra::{SMatrix, SVector};
use taut_core::{Mat3, Scene, Vec3};

use super::{StepScheme, System};
use crate::{
    affine::Affine,
    dual::{blocks::ROWS_MAX, order::Link},
    joint::JointElement,
    node::Nodes,
    settings::Dual,
};

type TwelveMatrix = SMatrix<f64, 12, 12>;
type SixMatrix = SMatrix<f64, 6, 6>;
type TwelveVector = SVector<f64, 12>;
type RowColumns = SMatrix<f64, 12, ROWS_MAX>;

/// Twists that move a joint's rows by less than this share of those that move them most are free [1].
const FREE: f64 = 1e-8;

/// A link and the joint on which it hangs.
#[derive(Clone, Copy, Debug)]
struct Hanging {
    node: usize,
    /// Its element, its side of it, and the link at the other.
    element: Option<(usize, usize)>,
    parent: Option<usize>,
}

/// The elimination over links.
#[derive(Clone, Debug)]
pub(super) struct Aba {
    /// Links from the leaves to the root.
    links: Vec<Hanging>,
    /// Frame and origin of each link at rest, which make its coordinates those of all.
    rest: Vec<Affine>,
    /// Condensed matrix and load of each link and what hangs on it.
    matrices: Vec<TwelveMatrix>,
    loads: Vec<TwelveVector>,
    /// Increment of each link.
    increments: Vec<TwelveVector>,
}

impl Aba {
    /// The elimination where it is `chosen`, or why there is none.
    pub(super) fn chosen(
        chosen: Dual,
        scene: &Scene,
        nodes: &mut Nodes,
        links: &[Link],
        elements: &[JointElement],
    ) -> Result<Option<Box<Self>>, String> {
        if chosen != Dual::AbaPrinted {
            return Ok(None);
        }
        if scene.contacts.is_some() {
            return Err("`dual: aba_printed` needs a scene without contacts".to_owned());
        }
        nodes.load(&scene.initial_state());
        Self::new(nodes, links, elements).map(|aba| Some(Box::new(aba)))
    }

    /// The elimination for elements in the order from the leaves to the root, or why there is none.
    fn new(nodes: &Nodes, links: &[Link], elements: &[JointElement]) -> Result<Self, String> {
        let count = nodes.count();
        let refuse = |why: &str| Err(format!("`dual: aba_printed` needs {why}"));
        if (0..count).any(|node| nodes.kind(node).softness == 0.0) {
            return refuse("elastic bodies");
        }
        if elements.iter().any(JointElement::is_bounded) {
            return refuse("joints without limits and motors");
        }
        let mut left = vec![0_u32; count];
        for node in links.iter().flatten().flatten() {
            left[*node as usize] += 1;
        }
        let mut hanging: Vec<Option<Hanging>> = vec![None; count];
        let mut sequence = Vec::with_capacity(count);
        for (e, link) in links.iter().enumerate() {
            // The link whose last joint this is, all that hangs on it being eliminated, is the child.
            let last = |&side: &usize| link[side].is_some_and(|node| left[node as usize] == 1);
            let Some(side) = [0, 1].into_iter().find(last) else {
                return refuse("links that hang on one joint each");
            };
            let [node, parent] = [side, 1 - side].map(|side| link[side].map(|node| node as usize));
            let node = node.unwrap_or(0);
            hanging[node] = Some(Hanging { node, element: Some((e, side)), parent });
            sequence.push(node);
            for node in link.iter().flatten() {
                left[*node as usize] -= 1;
            }
        }
        let roots = (0..count).filter(|&node| hanging[node].is_none());
        let roots: Vec<Hanging> =
            roots.map(|node| Hanging { node, element: None, parent: None }).collect();
        let links = sequence.into_iter().filter_map(|node| hanging[node]).chain(roots).collect();
        Ok(Self {
            links,
            rest: (0..count).map(|node| nodes.start.get(node)).collect(),
            matrices: vec![TwelveMatrix::zeros(); count],
            loads: vec![TwelveVector::zeros(); count],
            increments: vec![TwelveVector::zeros(); count],
        })
    }

    /// From an increment in the coordinates that all links share to one of a link's own.
    fn own(&self, node: usize, shared: &TwelveVector) -> Affine {
        let rest = &self.rest[node];
        let frame = Mat3::from_iterator(shared.iter().copied());
        let origin: Vec3 = shared.fixed_rows::<3>(9).into_owned();
        Affine { frame: frame * rest.frame, origin: frame * rest.origin + origin }
    }

    /// From a load on a link in its own coordinates to one in those that all share.
    fn shared(&self, node: usize, own: &Affine) -> TwelveVector {
        let rest = &self.rest[node];
        let frame = own.frame * rest.frame.transpose() + own.origin * rest.origin.transpose();
        let mut load = TwelveVector::zeros();
        load.fixed_rows_mut::<9>(0).copy_from_slice(frame.as_slice());
        load.fixed_rows_mut::<3>(9).copy_from(&own.origin);
        load
    }

    /// Adds what is left of a link, once its joint is eliminated, to its parent (Eq. 52 to 54).
    fn condense(&mut self, link: &Hanging, frame: &Mat3, rows: &RowColumns) {
        let Hanging { node, parent: Some(parent), .. } = *link else { return };
        let (matrix, load) = (self.matrices[node], self.loads[node]);
        let twists = allowed(frame, rows);
        let pushed = matrix * twists;
        let mut among = twists.tr_mul(&pushed);
        for i in 0..6 {
            if among[(i, i)] == 0.0 {
                among[(i, i)] = 1.0;
            }
        }
        let inverse = among.try_inverse().unwrap_or_else(SixMatrix::zeros);
        let weights = pushed * inverse;
        self.matrices[parent] += matrix - weights * pushed.transpose();
        self.loads[parent] += load - weights * twists.tr_mul(&load);
    }

    /// Increment and multipliers of a link whose parent's increment is known (Eq. 57).
    fn descend(
        &mut self,
        link: &Hanging,
        rows: &RowColumns,
        error: &SVector<f64, ROWS_MAX>,
        compliance: &SVector<f64, ROWS_MAX>,
    ) -> SVector<f64, ROWS_MAX> {
        let inverse = self.matrices[link.node].try_inverse().unwrap_or_else(TwelveMatrix::zeros);
        let free = inverse * self.loads[link.node];
        let replies = inverse * rows;
        let mut among = rows.tr_mul(&replies);
        for i in 0..ROWS_MAX {
            among[(i, i)] += compliance[i];
            if among[(i, i)] == 0.0 {
                among[(i, i)] = 1.0;
            }
        }
        let lambda = among.lu().solve(&(rows.tr_mul(&free) + error)).unwrap_or_default();
        self.increments[link.node] = free - replies * lambda;
        lambda
    }
}

/// The twists of a link's frame that leave the rows of its joint alone (Eq. 51), padded by zeros.
fn allowed(frame: &Mat3, rows: &RowColumns) -> SMatrix<f64, 12, 6> {
    // Eq. 50: columns turn by `omega x a`.
    let mut twists = SMatrix::<f64, 12, 6>::zeros();
    for axis in 0..3 {
        let turned = Vec3::ith(axis, 1.0).cross_matrix() * frame;
        twists.fixed_view_mut::<9, 1>(0, axis).copy_from_slice(turned.as_slice());
        twists[(9 + axis, 3 + axis)] = 1.0;
    }
    let moved = rows.tr_mul(&twists);
    let eigen = moved.tr_mul(&moved).symmetric_eigen();
    let most = eigen.eigenvalues.amax();
    let mut free = eigen.eigenvectors;
    for (i, moves) in eigen.eigenvalues.iter().enumerate() {
        if *moves > FREE * most {
            free.fill_column(i, 0.0);
        }
    }
    twists * free
}

impl System {
    /// Finds increments and multipliers link by link; what comes out is left in the responses.
    pub(super) fn solve_aba(&mut self, aba: &mut Aba, scheme: &StepScheme) {
        self.evaluate(scheme);
        self.rows.lambda.fill(0.0);
        for node in 0..self.nodes.count() {
            (aba.matrices[node], aba.loads[node]) = self.local_system(aba, node, scheme);
        }
        for i in 0..aba.links.len() {
            let link = aba.links[i];
            let rows = self.rows_of(aba, &link, 0);
            let frame = self.shared_frame(aba, link.node);
            aba.condense(&link, &frame, &rows);
        }
        for i in (0..aba.links.len()).rev() {
            let link = aba.links[i];
            let (rows, far) = (self.rows_of(aba, &link, 0), self.rows_of(aba, &link, 1));
            let (mut error, mut compliance) = (SVector::zeros(), SVector::zeros());
            if let Some(parent) = link.parent {
                error = far.tr_mul(&aba.increments[parent]);
            }
            let held = self.rows_range(&link);
            for (k, row) in held.clone().enumerate() {
                error[k] += self.rows.errors[row];
                compliance[k] = self.rows.compliance[row];
            }
            let lambda = aba.descend(&link, &rows, &error, &compliance);
            for (k, row) in held.enumerate() {
                self.rows.lambda[row] = lambda[k];
            }
        }
        self.gather_loads();
        for node in 0..self.nodes.count() {
            let moved = aba.own(node, &aba.increments[node]);
            let response = &self.nodes.responses[node];
            let turned = Affine { frame: response.rotation.tr_mul(&moved.frame), ..moved };
            let under = self.folds.reply(&self.nodes, node, &response.load, scheme.h);
            // What is applied is the free increment less the reply to the load.
            self.nodes.responses[node].free = turned.plus(&under, 1.0);
        }
    }

    /// Local matrix and load of a link in shared coordinates.
    fn local_system(
        &self,
        aba: &Aba,
        node: usize,
        scheme: &StepScheme,
    ) -> (TwelveMatrix, TwelveVector) {
        let (kind, response) = (self.nodes.kind(node), &self.nodes.responses[node]);
        let inertia = self.stiff(node, scheme);
        let shear = 1.0 / kind.softness;
        let push = |increment: &Affine| {
            let frame = &increment.frame;
            let strain = (frame
                + frame.transpose()
                + Mat3::from_diagonal_element(kind.ratio * frame.trace()))
                * shear;
            let held = frame * Mat3::from_diagonal(&inertia);
            Affine {
                frame: response.rotation * (held + strain),
                origin: increment.origin * (kind.mass / (scheme.h * scheme.h)),
            }
        };
        let mut matrix = TwelveMatrix::zeros();
        for c in 0..12 {
            let own = aba.own(node, &TwelveVector::ith(c, 1.0));
            let turned = Affine { frame: response.rotation.tr_mul(&own.frame), ..own };
            matrix.set_column(c, &aba.shared(node, &push(&turned)));
        }
        (matrix, aba.shared(node, &push(&response.free)))
    }

    /// A link's frame in shared coordinates.
    fn shared_frame(&self, aba: &Aba, node: usize) -> Mat3 {
        self.nodes.responses[node].rotation * aba.rest[node].frame.transpose()
    }

    /// The scalar rows of a link's joint.
    fn rows_range(&self, link: &Hanging) -> std::ops::Range<usize> {
        link.element.map_or(0..0, |(element, _)| {
            let first = self.dual.blocks.first[element] as usize;
            first..first + self.dual.blocks.size(element)
        })
    }

    /// Gradients of the rows of a link's joint by the link itself, or by its parent if `far`.
    fn rows_of(&self, aba: &Aba, link: &Hanging, far: usize) -> RowColumns {
        let mut rows = RowColumns::zeros();
        let Some((_, side)) = link.element else { return rows };
        let Some(node) = (if far == 0 { Some(link.node) } else { link.parent }) else {
            return rows;
        };
        let side = if far == 0 { side } else { 1 - side };
        for (k, row) in self.rows_range(link).enumerate() {
            let gradient = &self.rows.gradients[row][side];
            let frame = self.nodes.responses[node].rotation * gradient.frame;
            rows.set_column(k, &aba.shared(node, &Affine { frame, origin: gradient.origin }));
        }
        rows
    }
}
