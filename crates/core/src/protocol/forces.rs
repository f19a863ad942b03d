//! Forces of joints and contacts as numbers without names: little-endian `f64` without padding, joints in scene order
//! and then contacts in the order in which they were found.

use super::block::{number, three};
use crate::{ContactForce, Multipliers, Scene};

/// Numbers of a joint: force [N] and torque [N m] on its B side, in world axes.
const JOINT: usize = 6;
/// Numbers of a contact: the bodies A and B; for each of them three corners with their shares [1], the first of them -1
/// where it is no triangle; point [m], normal, gap [m], static and dynamic friction [1], and the force on A [N].
const CONTACT: usize = 26;

/// How long the block of the forces in `scene` is [bytes]: for its joints, and for each contact; none of these where
/// the scene has no contacts.
pub fn forces_len(scene: &Scene) -> [usize; 2] {
    let contact = if scene.contacts.is_some() { CONTACT } else { 0 };
    [8 * JOINT * scene.joints.len(), 8 * contact]
}

/// Replaces `out` by the block of forces.
pub fn write_forces(forces: &Multipliers, out: &mut Vec<u8>) {
    out.clear();
    let mut put = |numbers: &[f64]| out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    for (force, torque) in forces.joint_force.iter().zip(&forces.joint_torque) {
        put(force.as_slice());
        put(torque.as_slice());
    }
    for contact in &forces.contacts {
        put(&contact.bodies.map(f64::from));
        for side in contact.corners {
            match side {
                Some(corners) => {
                    corners.iter().for_each(|&(node, share)| put(&[f64::from(node), share]));
                }
                None => put(&[-1.0, 0.0, -1.0, 0.0, -1.0, 0.0]),
            }
        }
        put(contact.point.as_slice());
        put(contact.normal.as_slice());
        put(&[contact.gap, contact.friction[0], contact.friction[1]]);
        put(contact.force.as_slice());
    }
}

/// Replaces `out` by the forces of a block for `scene`. Numbers may be not finite.
///
/// # Errors
/// A block of another length, or a contact of what the scene does not have, in words.
pub fn read_forces(block: &[u8], scene: &Scene, out: &mut Multipliers) -> Result<(), String> {
    let [joints, contact] = forces_len(scene);
    let rest = block.len().checked_sub(joints);
    let whole = |rest: usize| if contact == 0 { rest == 0 } else { rest.is_multiple_of(contact) };
    let Some(rest) = rest.filter(|&rest| whole(rest)) else {
        let found = block.len();
        return Err(format!(
            "forces of {found} bytes where {joints}, and {contact} for each contact, are due"
        ));
    };
    let mut numbers = block.chunks_exact(8).map(number);
    out.joint_force.clear();
    out.joint_torque.clear();
    out.contacts.clear();
    for _ in 0..scene.joints.len() {
        out.joint_force.push(three(&mut numbers));
        out.joint_torque.push(three(&mut numbers));
    }
    let count = rest.checked_div(contact).unwrap_or(0);
    for index in 0..count {
        let read = read_contact(&mut numbers, scene);
        let wrong = |node| format!("contact {index} is of {node}, which is no body or particle");
        out.contacts.push(read.map_err(wrong)?);
    }
    Ok(())
}

/// The number that stands where a body or particle is due, if it is none.
fn read_contact(
    numbers: &mut impl Iterator<Item = f64>,
    scene: &Scene,
) -> Result<ContactForce, f64> {
    let nodes = scene.bodies.len() + scene.particles.len();
    let node = |value: f64| {
        let known = value >= 0.0 && value < nodes as f64 && value.fract() == 0.0;
        if known { Ok(value as u32) } else { Err(value) }
    };
    let mut next = || numbers.next().unwrap_or(f64::NAN);
    let bodies = [node(next())?, node(next())?];
    let mut corners = [None; 2];
    for side in &mut corners {
        let pairs: [[f64; 2]; 3] = std::array::from_fn(|_| [next(), next()]);
        if pairs[0][0] == -1.0 {
            continue;
        }
        let mut read = [(0, 0.0); 3];
        for (corner, [value, share]) in read.iter_mut().zip(pairs) {
            *corner = (node(value)?, share);
        }
        *side = Some(read);
    }
    let (point, normal) = (three(numbers), three(numbers));
    let [gap, fixed, sliding] = three(numbers).into();
    let force = three(numbers);
    Ok(ContactForce { bodies, corners, point, normal, gap, friction: [fixed, sliding], force })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Vec3,
        scene::{Body, Contacts, Endpoint, Joint, JointKind},
    };

    fn scene() -> Scene {
        let bodies = vec![Body::solid_box(Vec3::repeat(1.0), 1.0); 4];
        let joint = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
        let contacts = Some(Contacts::default());
        Scene { bodies, joints: vec![joint; 2], contacts, ..Scene::default() }
    }

    fn forces() -> Multipliers {
        let plain = ContactForce {
            bodies: [3, 1],
            point: Vec3::new(1.0, 2.0, 3.0),
            normal: Vec3::new(0.0, 0.6, 0.8),
            gap: -1e-3,
            friction: [0.7, 0.5],
            force: Vec3::new(0.1, 0.2, f64::INFINITY),
            ..ContactForce::default()
        };
        let triangle = Some([(0, 0.25), (2, 0.5), (3, 0.25)]);
        let face = ContactForce { corners: [None, triangle], force: Vec3::x(), ..plain };
        Multipliers {
            joint_force: vec![Vec3::new(1.0, -2.0, 3.0), Vec3::x()],
            joint_torque: vec![Vec3::y(), Vec3::new(4.0, 5.0, 6.0)],
            contacts: vec![plain, face],
        }
    }

    #[test]
    fn joints_and_contacts_keep_every_bit() {
        let (scene, forces) = (scene(), forces());
        let (mut block, mut back) = (vec![7], Multipliers::default());
        write_forces(&forces, &mut block);
        assert_eq!((block.len(), forces_len(&scene)), (2 * 48 + 2 * 208, [2 * 48, 208]));
        read_forces(&block, &scene, &mut back).unwrap();
        assert_eq!(back, forces);
    }

    #[test]
    fn what_are_no_forces_is_refused() {
        let (mut scene, mut block) = (scene(), Vec::new());
        let mut out = Multipliers::default();
        write_forces(&forces(), &mut block);
        let short = read_forces(&block[8..], &scene, &mut out).unwrap_err();
        assert_eq!(short, "forces of 504 bytes where 96, and 208 for each contact, are due");
        for (place, value, said) in [(38, 4.0, "4"), (13, 0.5, "0.5"), (48, f64::NAN, "NaN")] {
            let mut wrong = block.clone();
            wrong[8 * place..8 * place + 8].copy_from_slice(&f64::to_le_bytes(value));
            let found = read_forces(&wrong, &scene, &mut out).unwrap_err();
            let contact = (place - 12) / 26;
            let due = format!("contact {contact} is of {said}, which is no body or particle");
            assert_eq!(found, due);
        }
        scene.contacts = None;
        assert!(read_forces(&block, &scene, &mut out).is_err(), "nothing touches there");
        assert_eq!(read_forces(&block[..96], &scene, &mut out), Ok(()));
        assert_eq!((out.joint_force.len(), out.contacts.len()), (2, 0));
    }
}
