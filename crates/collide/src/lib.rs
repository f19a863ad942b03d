//! Contacts between the bodies of a scene, and of particles with them, the same for every backend.
//!
//! A [`ContactSet`] is made once per solver and asked once per step. It answers with one flat list of
//! [`Contact`]s, grouped into [`Manifold`]s of one pair and one normal. The geometry of the list is a
//! function of the placements alone: equal placements give equal contacts, bitwise, whatever was
//! asked before and on any number of threads. Only two things look back. [`Contact::previous`] says which
//! contact of the answer before this one continues, so that a solver can keep what it learned; and a body
//! that the plane of a triangle of particles cuts is on the side on which the answer before had it, since
//! cloth has no inside. The same holds for particles over triangles of cloth, and for edges over edges.
//!
//! Conventions: the normal points from B to A, the gap is `normal . (xA - xB)`, negative where the
//! bodies overlap. A is the body with the lower index, unless a [`Style`] says otherwise; a particle is B
//! against a body and A against a triangle of three, which is always B. Of two edges the earlier one is A.

mod boxes;
mod broad;
mod candidates;
mod clip;
mod contact;
mod convex;
mod crossing;
mod demo3d;
mod detect;
mod face;
mod feature;
mod frame;
mod matching;
pub mod mesh;
pub mod metrics;
pub mod name;
mod narrow;
mod nearest;
mod passage;
mod path_probe;
mod plane;
mod reduce;
mod region;
mod round;
pub mod shape;
mod sheet;
mod soft;
mod solid;
mod surface;
mod surface_pair;
mod surface_probe;
mod surface_tree;
mod traits;
mod transform;
mod vertex;

pub use candidates::{AffineSweep, Candidates, FeaturePair, FeatureSearch, PlanePair};
pub use contact::{Carried, Contact, ContactList, Grip, Manifold, NONE, Site};
pub use detect::{ContactSet, Style, joined};
pub use frame::frame;
pub use matching::MetContact;
pub use passage::Passages;
pub use path_probe::{PathMeasures, PathProbe};
pub use soft::Clearances;
pub use surface::Surface;
pub use surface_probe::{SurfaceMeetings, SurfaceProbe};
pub use surface_tree::{SurfaceTree, rest_box};
