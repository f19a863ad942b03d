// A solver for taut: replace `PositionBased` by a method of your own.
//
//     c++ -std=c++17 -O2 solver.cpp -o solver
//     taut --backends backends.ron verify -b mine
//
// Units are SI, z is up, a body's frame has its origin at the centre of mass and its quaternion x y z w turns body into
// world coordinates.

#include "taut_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;
using Matrix = std::array<double, 9>; // row by row

Vector turn(const Quaternion &q, const Vector &v) {
    const double cx = q[1] * v[2] - q[2] * v[1], cy = q[2] * v[0] - q[0] * v[2], cz = q[0] * v[1] - q[1] * v[0];
    return {v[0] + 2 * (q[3] * cx + q[1] * cz - q[2] * cy), v[1] + 2 * (q[3] * cy + q[2] * cx - q[0] * cz),
            v[2] + 2 * (q[3] * cz + q[0] * cy - q[1] * cx)};
}

Vector turned_back(const Quaternion &q, const Vector &v) { return turn({-q[0], -q[1], -q[2], q[3]}, v); }

// A quaternion after turning at a constant rate in world axes for `h` seconds, of unit length again.
Quaternion rotated(const Quaternion &q, const Vector &rate, double h) {
    const double speed = std::sqrt(rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2]);
    // The limit of sin(half) / speed where nothing turns.
    const double scale = speed > 0 ? std::sin(0.5 * h * speed) / speed : 0.5 * h;
    const double x = scale * rate[0], y = scale * rate[1], z = scale * rate[2], w = std::cos(0.5 * h * speed);
    Quaternion out = {w * q[0] + x * q[3] + y * q[2] - z * q[1], w * q[1] - x * q[2] + y * q[3] + z * q[0],
                      w * q[2] + x * q[1] - y * q[0] + z * q[3], w * q[3] - x * q[0] - y * q[1] - z * q[2]};
    double square = 0;
    for (double c : out) square += c * c;
    for (double &c : out) c /= std::sqrt(square);
    return out;
}

Vector product(const Matrix &m, const Vector &v) {
    Vector out{};
    for (int row = 0; row < 3; ++row)
        for (int k = 0; k < 3; ++k) out[row] += m[3 * row + k] * v[k];
    return out;
}

Matrix inverse(const Matrix &m) {
    Matrix out = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                  m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                  m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * out[0] + m[1] * out[3] + m[2] * out[6];
    for (double &c : out) c /= determinant;
    return out;
}

Vector cross(const Vector &a, const Vector &b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Bodies under gravity, whose ball joints are closed one after the other at the end of each substep (Müller et al., "Detailed
// Rigid Body Simulation with Extended Position Based Dynamics", 2020, without compliance). Drag takes a share of velocity and
// spin.
class PositionBased : public taut::Solver {
public:
    static constexpr std::size_t width = 13; // position 3, quaternion 4, velocity 3, angular velocity in world axes 3

    // Scenes that need a word that is not in `takes` are never sent; `taut export` shows the words of a scene.
    // `iteration`: an iteration is a step of dt / iterations (substep), or improves the same end (refine, which has the
    // requests `begin`, `iterate` and `end` too).
    static const char *hello() {
        return R"("name": "position-based-cpp", "version": "1",
            "reference": "Müller et al., Detailed Rigid Body Simulation with XPBD, 2020",
            "summary": "ball joints closed one by one; the template of a solver in C++",
            "iteration": "substep", "determinism": "bitwise", "state": "rigid", "contacts": "none",
            "takes": ["body.dynamic", "body.static", "joint.ball"], "settings": {"drag": 0.0}, "forces": true)";
    }

    PositionBased(const taut::Json &scene, const taut::Json &settings) {
        for (const auto &[key, value] : settings.fields()) {
            if (key != "drag") throw taut::Refusal("settings", "there is no setting `" + key + "`");
            if (!value.is_number() || !(value.number() >= 0 && value.number() <= 1e6))
                throw taut::Refusal("settings", "`drag` takes a number from 0 to 1e6 [1/s]");
            drag = value.number();
        }
        for (std::size_t k = 0; k < 3; ++k) gravity[k] = scene["gravity"][k].number();
        for (const taut::Json &body : scene["bodies"].items()) {
            Body made;
            made.moves = body["motion"].text() == "dynamic";
            made.mass = body["mass_kg"].number();
            for (std::size_t k = 0; k < 9; ++k) made.inertia[k] = body["inertia_kg_m2"][k].number();
            if (made.moves) made.inverse = inverse(made.inertia);
            bodies.push_back(made);
        }
        for (const taut::Json &joint : scene["joints"].items())
            joints.push_back({{side(joint["a"], joint["anchor_a"]), side(joint["b"], joint["anchor_b"])}, {}});
    }

    std::string settings() const override { return "{\"drag\": " + taut::number_text(drag) + "}"; }

    void load(const taut::State &start) override {
        state = start;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            const Quaternion q = turning(i);
            const double *omega = numbers(i) + 10;
            bodies[i].momentum = turn(q, product(bodies[i].inertia, turned_back(q, {omega[0], omega[1], omega[2]})));
        }
        for (Joint &joint : joints) joint.pull = {};
    }

    void step(double length, std::int64_t iterations) override {
        dt = length;
        for (Joint &joint : joints) joint.pull = {};
        const double h = dt / double(iterations);
        for (std::int64_t k = 0; k < iterations; ++k) {
            for (std::size_t i = 0; i < bodies.size(); ++i)
                if (bodies[i].moves) fly(i, h);
            for (std::size_t i = 0; i < joints.size(); ++i)
                if (std::find(state.broken.begin(), state.broken.end(), i) == state.broken.end()) close(joints[i], h);
            for (std::size_t i = 0; i < bodies.size(); ++i)
                if (bodies[i].moves) put(numbers(i) + 10, rate(i));
        }
        state.time_s += dt;
    }

    const taut::State &read() const override { return state; }

    // For each joint its force on the second body [N] and the torque there; contacts would follow.
    std::vector<double> forces() const override {
        std::vector<double> out;
        for (const Joint &joint : joints) {
            for (double each : joint.pull) out.push_back(each / dt);
            out.insert(out.end(), 3, 0.0);
        }
        return out;
    }

private:
    struct Body {
        bool moves = false;
        double mass = 0;
        Matrix inertia{}, inverse{};
        Vector momentum{}; // about the centre of mass, in world axes [kg m²/s]
    };
    // One end of a joint: a body, or none for the world, and the anchor in its coordinates.
    struct Side {
        std::size_t body;
        Vector anchor;
    };
    struct Joint {
        std::array<Side, 2> sides;
        Vector pull; // what it gave its second body in the last step [N s]
    };
    static constexpr std::size_t none = std::size_t(-1);

    static Side side(const taut::Json &end, const taut::Json &anchor) {
        Side made{end.is_text() ? none : std::size_t(end["body"].number()), {}};
        for (std::size_t k = 0; k < 3; ++k) made.anchor[k] = anchor[k].number();
        return made;
    }

    template <std::size_t N> static void put(double *at, const std::array<double, N> &values) {
        for (std::size_t k = 0; k < N; ++k) at[k] = values[k];
    }

    double *numbers(std::size_t i) { return state.numbers.data() + width * i; }
    const double *numbers(std::size_t i) const { return state.numbers.data() + width * i; }

    Quaternion turning(std::size_t i) const {
        const double *x = numbers(i);
        return {x[3], x[4], x[5], x[6]};
    }

    // The inverse inertia of a body that is turned so, times a vector in world axes.
    Vector turned_by(std::size_t i, const Quaternion &q, const Vector &twist) const {
        return turn(q, product(bodies[i].inverse, turned_back(q, twist)));
    }

    Vector rate(std::size_t i) const { return turned_by(i, turning(i), bodies[i].momentum); }

    void fly(std::size_t i, double h) {
        double *x = numbers(i);
        for (double &each : bodies[i].momentum) each /= 1 + h * drag;
        for (std::size_t k = 0; k < 3; ++k) {
            x[7 + k] = (x[7 + k] + h * gravity[k]) / (1 + h * drag);
            x[k] += h * x[7 + k];
        }
        // By the rate in the middle of the substep: second order.
        const Quaternion q = turning(i), middle = rotated(q, rate(i), 0.5 * h);
        put(x + 3, rotated(q, turned_by(i, middle, bodies[i].momentum), h));
    }

    // Moves both bodies of a joint by equal and opposite pushes at its anchors until these are in one place.
    void close(Joint &joint, double h) {
        Vector gap{};
        std::array<Vector, 2> arms{};
        Matrix matrix{};
        for (std::size_t s = 0; s < 2; ++s) {
            const Side &side = joint.sides[s];
            const bool held = side.body == none;
            arms[s] = held ? side.anchor : turn(turning(side.body), side.anchor);
            for (std::size_t k = 0; k < 3; ++k)
                gap[k] += (s == 0 ? 1 : -1) * (arms[s][k] + (held ? 0 : numbers(side.body)[k]));
            if (held || !bodies[side.body].moves) continue;
            for (std::size_t k = 0; k < 3; ++k) {
                // Where the anchor goes when it is pushed along this axis.
                Vector push{};
                push[k] = 1;
                const Vector way = cross(turned_by(side.body, turning(side.body), cross(arms[s], push)), arms[s]);
                for (std::size_t row = 0; row < 3; ++row)
                    matrix[3 * row + k] += push[row] / bodies[side.body].mass + way[row];
            }
        }
        const Vector push = product(inverse(matrix), gap);
        for (std::size_t s = 0; s < 2; ++s) {
            const std::size_t i = joint.sides[s].body;
            if (i == none || !bodies[i].moves) continue;
            const double sign = s == 0 ? -1 : 1;
            double *x = numbers(i);
            Vector twist = cross(arms[s], push);
            for (std::size_t k = 0; k < 3; ++k) {
                x[k] += sign * push[k] / bodies[i].mass;
                x[7 + k] += sign * push[k] / bodies[i].mass / h;
                twist[k] *= sign;
            }
            put(x + 3, rotated(turning(i), turned_by(i, turning(i), twist), 1));
            for (std::size_t k = 0; k < 3; ++k) bodies[i].momentum[k] += twist[k] / h;
        }
        for (std::size_t k = 0; k < 3; ++k) joint.pull[k] += push[k] / h;
    }

    double drag = 0, dt = 1;
    Vector gravity{};
    std::vector<Body> bodies;
    std::vector<Joint> joints;
    taut::State state;
};

} // namespace

int main() { return taut::serve<PositionBased>(); }
