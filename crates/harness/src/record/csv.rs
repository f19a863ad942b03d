//! Tables as CSV: plain SI numbers, empty cells for what was not measured, quotes only where needed.

use std::fmt::Write as _;

use taut_core::{Multipliers, Scene, State, Vec3};

use super::{RunRow, metric, metric_names};
use crate::ruler::Metrics;

/// A number in the shortest form that reads back to the same bits.
pub fn number(value: f64) -> String {
    // `Display` writes 1e-300 with 300 zeros; `Debug` changes to an exponent.
    format!("{value:?}")
}

/// `frames.csv`: one line per row and frame.
pub fn frames_csv(scene: &str, rows: &[&RunRow]) -> String {
    let names = metric_names(rows.iter().flat_map(|r| &r.frames).map(|f| &f.metrics));
    // Where a row has moved starts, the envelope of each metric follows all metrics.
    let with_envelope = rows.iter().any(|row| row.sensitivity.is_some());
    let ends: &[&str] = if with_envelope { &["low", "high"] } else { &[] };
    let envelope: Vec<String> =
        names.iter().flat_map(|name| ends.iter().map(move |end| format!("{name}_{end}"))).collect();
    let all: Vec<&str> = names.iter().copied().chain(envelope.iter().map(String::as_str)).collect();
    let mut out = header("scene,label,backend,iterations,step,time_s", &all);
    for row in rows {
        let head = row_head(scene, row);
        let spread = |name: &str| row.sensitivity.as_ref()?.metrics.iter().find(|m| m.name == name);
        for (i, frame) in row.frames.iter().enumerate() {
            let _ = write!(out, "{head},{},{}", frame.step, number(frame.time_s));
            cells(&mut out, &names, &frame.metrics);
            if with_envelope {
                out.pop();
                for name in &names {
                    match spread(name) {
                        Some(m) => {
                            let _ = write!(out, ",{},{}", number(m.low[i]), number(m.high[i]));
                        }
                        None => out.push_str(",,"),
                    }
                }
                out.push('\n');
            }
        }
    }
    out
}

/// `trace.csv`: one line per row, start and point.
pub fn trace_csv(scene: &str, rows: &[&RunRow]) -> String {
    let points = rows.iter().flat_map(|r| &r.curves).flat_map(|c| &c.points);
    let names = metric_names(points.map(|p| &p.metrics));
    let mut out = header("scene,label,backend,iterations,start,iteration,closed", &names);
    for row in rows {
        let head = row_head(scene, row);
        for curve in &row.curves {
            for point in &curve.points {
                let _ = write!(out, "{head},{},{},{}", curve.start, point.iteration, point.closed);
                cells(&mut out, &names, &point.metrics);
            }
        }
    }
    out
}

/// `time.csv`: one line per row; times per frame in seconds.
pub fn times_csv(scene: &str, rows: &[&RunRow]) -> String {
    let mut out = "scene,label,backend,iterations,substeps,status,\
        step_median_s,step_mad_s,step_min_s,step_max_s,samples,\
        throughput_median_s,throughput_mad_s,throughput_min_s,throughput_max_s,steps_per_sample,\
        collide_s,prepare_s,iterate_s,finish_s,device\n"
        .to_owned();
    for row in rows {
        let _ = write!(out, "{},{},{}", row_head(scene, row), row.substeps, row.status.name());
        match &row.times {
            Some(times) => {
                let (one, many, stages) = (times.step_s, times.throughput_step_s, times.stages);
                for value in [one.median, one.mad, one.min, one.max] {
                    let _ = write!(out, ",{}", number(value));
                }
                let _ = write!(out, ",{}", one.samples);
                for value in [many.median, many.mad, many.min, many.max] {
                    let _ = write!(out, ",{}", number(value));
                }
                let _ = write!(out, ",{}", times.steps_per_sample);
                for value in [stages.collide, stages.prepare, stages.iterate, stages.finish] {
                    let _ = write!(out, ",{}", number(value));
                }
            }
            None => out.push_str(&",".repeat(14)),
        }
        let _ = writeln!(out, ",{}", row.device.name());
    }
    out
}

/// `states.csv`: the pose and motion of every body after the frames asked for.
///
/// Bodies are numbered in scene order. The quaternion is that of the polar factor of the frame,
/// body to world, with `qw >= 0`; velocities are of the centre of mass, angular ones in world axes.
pub fn states_csv(runs: &[(&RunRow, &[(u32, State)])]) -> String {
    let mut out = "label,frame,body,px,py,pz,qx,qy,qz,qw,vx,vy,vz,wx,wy,wz\n".to_owned();
    for (row, states) in runs {
        let label = quoted(&row.label);
        for (step, state) in *states {
            for (index, body) in state.bodies.iter().enumerate() {
                let _ = write!(out, "{label},{step},{index}");
                vector(&mut out, &body.position);
                let q = body.rotation().into_inner();
                let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
                vector(&mut out, &(q.imag() * sign));
                let _ = write!(out, ",{}", number(q.w * sign));
                vector(&mut out, &body.velocity);
                vector(&mut out, &body.omega());
                out.push('\n');
            }
        }
    }
    out
}

/// States of particles after some frames, numbered in scene order; velocities and places in world axes.
pub fn particles_csv(runs: &[(&RunRow, &[(u32, State)])]) -> String {
    let mut out = "label,frame,particle,px,py,pz,vx,vy,vz\n".to_owned();
    for (row, states) in runs {
        let label = quoted(&row.label);
        for (step, state) in *states {
            for (index, particle) in state.particles.iter().enumerate() {
                let _ = write!(out, "{label},{step},{index}");
                vector(&mut out, &particle.position);
                vector(&mut out, &particle.velocity);
                out.push('\n');
            }
        }
    }
    out
}

/// Forces and torques of the joints on their B sides in the steps to some frames, in world axes, where the solver tells
/// them; joints are numbered in scene order.
pub fn joint_forces_csv(runs: &[(&RunRow, &[(u32, Multipliers)])]) -> String {
    let mut out = "label,frame,joint,fx,fy,fz,tx,ty,tz\n".to_owned();
    for (row, forces) in runs {
        let label = quoted(&row.label);
        for (step, forces) in *forces {
            let joints = forces.joint_force.iter().zip(&forces.joint_torque);
            for (index, (force, torque)) in joints.enumerate() {
                let _ = write!(out, "{label},{step},{index}");
                vector(&mut out, force);
                vector(&mut out, torque);
                out.push('\n');
            }
        }
    }
    out
}

/// Forces of the contacts on body A in the steps to some frames, with their points and normals, in world axes.
pub fn contact_forces_csv(runs: &[(&RunRow, &[(u32, Multipliers)])]) -> String {
    let mut out = "label,frame,a,b,px,py,pz,nx,ny,nz,fx,fy,fz\n".to_owned();
    for (row, forces) in runs {
        let label = quoted(&row.label);
        for (step, forces) in *forces {
            for contact in &forces.contacts {
                let [a, b] = contact.bodies;
                let _ = write!(out, "{label},{step},{a},{b}");
                vector(&mut out, &contact.point);
                vector(&mut out, &contact.normal);
                vector(&mut out, &contact.force);
                out.push('\n');
            }
        }
    }
    out
}

/// What the numbers of bodies, particles and joints stand for; names may be empty.
pub fn names_csv(scene: &Scene) -> String {
    let mut out = "kind,index,name\n".to_owned();
    let bodies = scene.bodies.iter().map(|body| &body.name);
    let particles = scene.particles.iter().map(|particle| &particle.name);
    let joints = scene.joints.iter().map(|joint| &joint.name);
    let mut list = |kind: &str, names: &mut dyn Iterator<Item = &String>| {
        for (index, name) in names.enumerate() {
            let _ = writeln!(out, "{kind},{index},{}", quoted(name));
        }
    };
    list("body", &mut bodies.into_iter());
    list("particle", &mut particles.into_iter());
    list("joint", &mut joints.into_iter());
    out
}

fn vector(out: &mut String, v: &Vec3) {
    for value in v.iter() {
        let _ = write!(out, ",{}", number(*value));
    }
}

fn header(fixed: &str, names: &[&str]) -> String {
    let mut out = fixed.to_owned();
    for name in names {
        let _ = write!(out, ",{name}");
    }
    out.push('\n');
    out
}

fn row_head(scene: &str, row: &RunRow) -> String {
    format!("{},{},{},{}", quoted(scene), quoted(&row.label), quoted(&row.backend), row.iterations)
}

fn cells(out: &mut String, names: &[&str], metrics: &Metrics) {
    for name in names {
        out.push(',');
        if let Some(value) = metric(metrics, name) {
            out.push_str(&number(value));
        }
    }
    out.push('\n');
}

/// A text cell by RFC 4180.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Frame, Spread, Stages, Times},
        spec::Spec,
    };

    #[test]
    fn numbers_read_back_to_the_same_bits() {
        for value in [0.1, 1.0 / 3.0, 1e-300, -2.5e17, 5e-324, f64::MAX, 0.0] {
            let text = number(value);
            assert!(text.len() < 26, "{text}");
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn a_metric_one_row_lacks_is_an_empty_cell() {
        let frame = |metrics| Frame { step: 1, time_s: 0.5, metrics };
        let mut a = RunRow::new(&Spec { label: "A, \"x\"".to_owned(), ..Spec::new("null", 3) });
        a.frames = vec![frame(vec![("e_m".into(), 0.25)])];
        let mut b = RunRow::new(&Spec::new("null", 4));
        b.frames = vec![frame(vec![("e_m".into(), 1e-9), ("w_m".into(), 2.0)])];
        let text = frames_csv("rope", &[&a, &b]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "scene,label,backend,iterations,step,time_s,e_m,w_m");
        assert_eq!(lines[1], "rope,\"A, \"\"x\"\"\",null,3,1,0.5,0.25,");
        assert_eq!(lines[2], "rope,null,null,4,1,0.5,1e-9,2.0");
    }

    #[test]
    fn rows_without_times_have_as_many_cells() {
        let mut timed = RunRow::new(&Spec::new("null", 1));
        let spread = Spread::of(&[1.0, 2.0, 4.0]).unwrap();
        timed.times = Some(Times {
            iterations: 1,
            warmup: 0,
            step_s: spread,
            steps_per_sample: 2,
            throughput_step_s: spread,
            throughput_processor_s: None,
            stages: Stages::default(),
            pipe: None,
        });
        let text = times_csv("rope", &[&timed, &RunRow::new(&Spec::new("null", 1))]);
        let counts: Vec<usize> = text.lines().map(|l| l.split(',').count()).collect();
        assert_eq!(counts, [21, 21, 21]);
    }
}
