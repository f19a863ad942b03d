// A solver for taut: replace `FreeFlight` by a method of your own.
//
//     c++ -std=c++17 -O2 solver.cpp -o solver
//     taut --backends backends.ron verify -b mine
//
// Units are SI, z is up, a body's frame has its origin at the centre of mass and its quaternion x y z w turns body into
// world coordinates.

#include "taut_solver.hpp"

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

// Bodies that only gravity and drag act on, which takes a share of velocity and spin; what else turns is kept.
class FreeFlight : public taut::Solver {
public:
    static constexpr std::size_t width = 13; // position 3, quaternion 4, velocity 3, angular velocity in world axes 3

    // Scenes that need a word that is not in `takes` are never sent; `taut export` shows the words of a scene.
    // `iteration`: an iteration is a step of dt / iterations (substep), or improves the same end (refine, which has the
    // requests `begin`, `iterate` and `end` too).
    static const char *hello() {
        return R"("name": "free-flight-cpp", "version": "1", "reference": "none",
            "summary": "bodies in free flight; the template of a solver in C++",
            "iteration": "substep", "determinism": "bitwise", "state": "rigid", "contacts": "none",
            "takes": ["body.dynamic", "body.static"], "settings": {"drag": 0.0}, "forces": true)";
    }

    FreeFlight(const taut::Json &scene, const taut::Json &settings) {
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
            for (std::size_t k = 0; k < 9; ++k) made.inertia[k] = body["inertia_kg_m2"][k].number();
            if (made.moves) made.inverse = inverse(made.inertia);
            bodies.push_back(made);
        }
    }

    std::string settings() const override { return "{\"drag\": " + taut::number_text(drag) + "}"; }

    void load(const taut::State &start) override {
        state = start;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            const double *x = state.numbers.data() + width * i;
            const Quaternion q = {x[3], x[4], x[5], x[6]};
            bodies[i].momentum = turn(q, product(bodies[i].inertia, turned_back(q, {x[10], x[11], x[12]})));
        }
    }

    void step(double dt, std::int64_t iterations) override {
        const double h = dt / double(iterations);
        for (std::int64_t k = 0; k < iterations; ++k)
            for (std::size_t i = 0; i < bodies.size(); ++i)
                if (bodies[i].moves) fly(bodies[i], state.numbers.data() + width * i, h);
        state.time_s += dt;
    }

    const taut::State &read() const override { return state; }

    // There are no joints and no contacts.
    std::vector<double> forces() const override { return {}; }

private:
    struct Body {
        bool moves = false;
        Matrix inertia{}, inverse{};
        Vector momentum{};
    };

    static Vector rate(const Body &body, const Quaternion &q) {
        return turn(q, product(body.inverse, turned_back(q, body.momentum)));
    }

    void fly(Body &body, double *x, double h) const {
        for (double &each : body.momentum) each /= 1 + h * drag;
        for (int k = 0; k < 3; ++k) {
            const double before = x[7 + k];
            x[7 + k] = (before + h * gravity[k]) / (1 + h * drag);
            x[k] += 0.5 * h * (before + x[7 + k]);
        }
        // By the rate in the middle of the step: second order.
        Quaternion q = {x[3], x[4], x[5], x[6]};
        q = rotated(q, rate(body, rotated(q, rate(body, q), 0.5 * h)), h);
        const Vector omega = rate(body, q);
        for (int k = 0; k < 4; ++k) x[3 + k] = q[k];
        for (int k = 0; k < 3; ++k) x[10 + k] = omega[k];
    }

    double drag = 0;
    Vector gravity{};
    std::vector<Body> bodies;
    taut::State state;
};

} // namespace

int main() { return taut::serve<FreeFlight>(); }
