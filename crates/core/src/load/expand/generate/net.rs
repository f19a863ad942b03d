//! A square net of hubs and rods.

use super::{Group, Template, ball};
use crate::{
    load::{
        author,
        error::{At, Result, SceneError},
        expand::Builder,
        expression::{Scope, vector},
    },
    math::{Quat, Vec3},
    scene::Endpoint,
};

/// Adds all hubs, the pins, the rods along x and the rods along y, every rod with its two joints.
///
/// `3 n^2 - 2 n` bodies and `4 n (n - 1)` ball joints beside the pins.
pub(in crate::load) fn add(builder: &mut Builder, spec: &author::Net, scope: &Scope) -> Result<()> {
    scope.check_depth(2)?;
    let n = spec.n.whole(scope, 2).at("n")?;
    builder.reserve("bodies", 3.0 * (n as f64).powi(2) - 2.0 * n as f64)?;
    let start = vector(&spec.start, scope).at("start")?;
    let spacing = spec.spacing.positive(scope).at("spacing")?;
    let socket = spec.socket.non_negative(scope).at("socket")?;
    if 2.0 * socket >= spacing {
        let message = format!("expected less than half the spacing of {spacing}, found {socket}");
        return Err(SceneError::new(message)).at("socket");
    }
    let template = Template::new(&spec.hub, scope, 2).at("hub")?;
    let hubs = Group::begin(builder, &suffixed(&spec.name, "hub"), vec![n, n], scope)?;
    for i in 0..n {
        for j in 0..n {
            let blank = template.blank(scope, &[i, j]).at("hub")?;
            hubs.add(builder, &blank, start + Vec3::new(i as f64, j as f64, 0.0) * spacing);
        }
    }
    for i in 0..n {
        for j in 0..n {
            let is_end = |index: usize| index == 0 || index == n - 1;
            let pinned = match spec.pinned {
                author::Pinned::Nothing => false,
                author::Pinned::Corners => is_end(i) && is_end(j),
                author::Pinned::Edge => i == 0,
            };
            if pinned {
                let at = start + Vec3::new(i as f64, j as f64, 0.0) * spacing;
                ball(builder, [Endpoint::World, hubs.member(i * n + j)], at)?;
            }
        }
    }
    let rods = Rods { spec, hubs, n, socket };
    rods.add(builder, "rod_x", Vec3::x(), scope)?;
    rods.add(builder, "rod_y", Vec3::y(), scope)
}

/// `net[i]` and `hub` make `net_hub[i]`.
fn suffixed(name: &str, suffix: &str) -> String {
    match name.split_once('[') {
        Some((base, brackets)) => format!("{base}_{suffix}[{brackets}"),
        None => format!("{name}_{suffix}"),
    }
}

struct Rods<'a> {
    spec: &'a author::Net,
    hubs: Group,
    n: usize,
    socket: f64,
}

impl Rods<'_> {
    /// Adds the rods along one direction, in the order of the hubs they start from.
    fn add(
        &self,
        builder: &mut Builder,
        suffix: &str,
        direction: Vec3,
        scope: &Scope,
    ) -> Result<()> {
        let template = Template::new(&self.spec.rod, scope, 2).at("rod")?;
        let along_x = direction.x > 0.0;
        let turn = if along_x { 0.0 } else { std::f64::consts::FRAC_PI_2 };
        let turn = Quat::from_scaled_axis(Vec3::z() * turn);
        let n = self.n;
        let (counts, stride) = if along_x { ([n - 1, n], n) } else { ([n, n - 1], 1) };
        let name = suffixed(&self.spec.name, suffix);
        let group = Group::begin(builder, &name, counts.to_vec(), scope)?;
        for i in 0..counts[0] {
            for j in 0..counts[1] {
                let from = i * n + j;
                let ends = [self.hubs.member(from), self.hubs.member(from + stride)];
                let [a, b] = ends.map(|hub| builder.point(hub, &builder.origin(hub)));
                let blank = template.blank(scope, &[i, j]).at("rod")?.turned(&turn);
                let rod = group.add(builder, &blank, (a + b) * 0.5);
                ball(builder, [ends[0], rod], a + direction * self.socket)?;
                ball(builder, [rod, ends[1]], b - direction * self.socket)?;
            }
        }
        Ok(())
    }
}
