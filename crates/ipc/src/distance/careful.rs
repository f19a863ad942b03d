//! Areas and volumes of edges with twice the digits, for the few pairs that need them.

use taut_math::V3;

/// A number as the sum of two, of which the second is below the rounding of the first.
#[derive(Clone, Copy)]
struct Twofold(f64, f64);

impl Twofold {
    /// `x - y`, exactly.
    fn difference(x: f64, y: f64) -> Self {
        let d = x - y;
        let back = d - x;
        Self(d, (x - (d - back)) - (y + back))
    }

    fn minus(self, o: Self) -> Self {
        let Self(d, error) = Self::difference(self.0, o.0);
        Self(d, error + (self.1 - o.1))
    }

    fn plus(self, o: Self) -> Self {
        self.minus(Self(-o.0, -o.1))
    }

    fn times(self, o: Self) -> Self {
        let p = self.0 * o.0;
        Self(p, self.0.mul_add(o.0, -p) + (self.0 * o.1 + self.1 * o.0))
    }

    fn rounded(self) -> f64 {
        self.0 + self.1
    }
}

fn edge(from: V3<f64>, to: V3<f64>) -> [Twofold; 3] {
    [0, 1, 2].map(|i| Twofold::difference(to.0[i], from.0[i]))
}

/// The vector product of two edges.
#[derive(Clone, Copy)]
pub(crate) struct CarefulCross([Twofold; 3]);

impl CarefulCross {
    /// Of the edges from `a` to `b` and from `c` to `d`.
    #[cold]
    pub(crate) fn new(a: V3<f64>, b: V3<f64>, c: V3<f64>, d: V3<f64>) -> Self {
        let (u, v) = (edge(a, b), edge(c, d));
        let part = |i: usize, j: usize| u[i].times(v[j]).minus(u[j].times(v[i]));
        Self([part(1, 2), part(2, 0), part(0, 1)])
    }

    /// The vector product, good to a rounding even where the edges are nearly parallel.
    pub(crate) fn rounded(&self) -> V3<f64> {
        V3(self.0.map(Twofold::rounded))
    }

    /// Its scalar product with the edge from `a` to `b`, good to a rounding even where that lies in its plane but
    /// for 1e-15 of its length.
    pub(crate) fn volume(&self, a: V3<f64>, b: V3<f64>) -> f64 {
        let w = edge(a, b);
        let [x, y, z] = [0, 1, 2].map(|i| self.0[i].times(w[i]));
        x.plus(y).plus(z).rounded()
    }
}
