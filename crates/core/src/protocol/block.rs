//! States as numbers without names: little-endian `f64` without padding, bodies and then particles in scene order.

use crate::{BodyState, Mat3, ParticleState, Quat, Scene, State, Vec3};

/// How the motion of a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyForm {
    /// Position [m], quaternion x y z w from body to world, velocity [m/s], angular velocity in world axes [rad/s].
    Rigid,
    /// Position [m], frame by columns, velocity [m/s], rate of the frame by columns [1/s].
    Affine,
}

/// Numbers of a particle: position [m] and velocity [m/s].
const PARTICLE: usize = 6;
/// How far the length of a quaternion may be from one.
const UNIT_TOLERANCE: f64 = 1e-6;

impl BodyForm {
    /// How many numbers one body takes.
    pub fn width(self) -> usize {
        match self {
            Self::Rigid => 13,
            Self::Affine => 24,
        }
    }
}

/// How long the block of a state of `scene` is [bytes].
pub fn block_len(scene: &Scene, form: BodyForm) -> usize {
    8 * (form.width() * scene.bodies.len() + PARTICLE * scene.particles.len())
}

/// Replaces `out` by the block of a state.
pub fn write_block(state: &State, form: BodyForm, out: &mut Vec<u8>) {
    out.clear();
    let mut put = |numbers: &[f64]| out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    for body in &state.bodies {
        put(body.position.as_slice());
        match form {
            BodyForm::Rigid => {
                put(body.rotation().coords.as_slice());
                put(body.velocity.as_slice());
                put(body.omega().as_slice());
            }
            BodyForm::Affine => {
                put(body.frame.as_slice());
                put(body.velocity.as_slice());
                put(body.frame_rate.as_slice());
            }
        }
    }
    for particle in &state.particles {
        put(particle.position.as_slice());
        put(particle.velocity.as_slice());
    }
}

/// Replaces the bodies and particles of `out` by those of a block for `scene`. Numbers may be not finite.
///
/// # Errors
/// A block of another length, or a quaternion that is no rotation, in words.
pub fn read_block(
    block: &[u8],
    scene: &Scene,
    form: BodyForm,
    out: &mut State,
) -> Result<(), String> {
    let due = block_len(scene, form);
    if block.len() != due {
        return Err(format!("a state of {} bytes where {due} are due", block.len()));
    }
    let mut numbers = block.chunks_exact(8).map(number);
    out.bodies.clear();
    for body in 0..scene.bodies.len() {
        let position = three(&mut numbers);
        let read = match form {
            BodyForm::Rigid => {
                let rotation = unit(&mut numbers).map_err(|length| {
                    format!("the quaternion of body {body} has length {length}")
                })?;
                BodyState::rigid(position, rotation, three(&mut numbers), three(&mut numbers))
            }
            BodyForm::Affine => BodyState {
                position,
                frame: nine(&mut numbers),
                velocity: three(&mut numbers),
                frame_rate: nine(&mut numbers),
            },
        };
        out.bodies.push(read);
    }
    let particle =
        |_| ParticleState { position: three(&mut numbers), velocity: three(&mut numbers) };
    out.particles.clear();
    out.particles.extend((0..scene.particles.len()).map(particle));
    Ok(())
}

/// The number that eight bytes are.
pub(super) fn number(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

pub(super) fn three(numbers: &mut impl Iterator<Item = f64>) -> Vec3 {
    Vec3::from_iterator(numbers.take(3))
}

fn nine(numbers: &mut impl Iterator<Item = f64>) -> Mat3 {
    Mat3::from_iterator(numbers.take(9))
}

/// A rotation; its length where that is not one. One that is not finite is for whoever judges the state.
fn unit(numbers: &mut impl Iterator<Item = f64>) -> Result<Quat, f64> {
    let coords = nalgebra::Vector4::from_iterator(numbers.take(4));
    let quaternion = nalgebra::Quaternion::from(coords);
    let length = quaternion.norm();
    if length.is_finite() && (length - 1.0).abs() > UNIT_TOLERANCE {
        return Err(length);
    }
    Ok(Quat::from_quaternion(quaternion))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, Particle};

    fn scene() -> Scene {
        let particle = Particle {
            name: "dust".to_owned(),
            mass: 1.0,
            position: Vec3::new(1.0, 2.0, 3.0),
            velocity: Vec3::y(),
            touch: None,
        };
        let mut body = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::x());
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.9));
        body.omega = Vec3::new(3.0, 4.0, 5.0);
        Scene { bodies: vec![body; 2], particles: vec![particle], ..Scene::default() }
    }

    #[test]
    fn an_affine_state_keeps_every_bit() {
        let scene = scene();
        let mut state = scene.initial_state();
        state.bodies[1].frame[(0, 1)] = f64::NAN;
        let (mut block, mut back) = (Vec::new(), State { broken: vec![], ..state.clone() });
        write_block(&state, BodyForm::Affine, &mut block);
        assert_eq!(block.len(), block_len(&scene, BodyForm::Affine));
        read_block(&block, &scene, BodyForm::Affine, &mut back).unwrap();
        assert_eq!(back.hash(), state.hash());
    }

    #[test]
    fn a_rigid_state_comes_back_to_rounding() {
        let scene = scene();
        let state = scene.initial_state();
        let (mut block, mut back) = (Vec::new(), state.clone());
        write_block(&state, BodyForm::Rigid, &mut block);
        read_block(&block, &scene, BodyForm::Rigid, &mut back).unwrap();
        for (a, b) in state.bodies.iter().zip(&back.bodies) {
            assert!((a.frame - b.frame).norm() + (a.frame_rate - b.frame_rate).norm() < 1e-14);
        }
        assert_eq!(back.particles, state.particles);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        let scene = scene();
        let (mut block, mut out) = (Vec::new(), State::default());
        write_block(&scene.initial_state(), BodyForm::Rigid, &mut block);
        let said = read_block(&block[8..], &scene, BodyForm::Rigid, &mut out).unwrap_err();
        assert_eq!(said, "a state of 248 bytes where 256 are due");
        block[8 * 6..8 * 7].copy_from_slice(&9.0_f64.to_le_bytes());
        let said = read_block(&block, &scene, BodyForm::Rigid, &mut out).unwrap_err();
        assert!(said.starts_with("the quaternion of body 0 has length 9.0"), "{said}");
        block[8 * 6..8 * 7].copy_from_slice(&f64::NAN.to_le_bytes());
        read_block(&block, &scene, BodyForm::Rigid, &mut out).unwrap();
        assert!(!out.is_finite(), "left to whoever judges it");
    }
}
