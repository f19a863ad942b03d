//! What the protocol asks of a program, whatever its method.

use std::time::Instant;

use serde_json::{Map, json};
use taut_core::{
    Determinism, Multipliers, Quat, Runs, Scene, Step, Vec3,
    protocol::{block_len, write_block},
    scene::Body,
};

use crate::{
    fault::{BlockDue, LinkFault},
    hello::Refinement,
    link::{ProcessLink, keys},
    program::{Program, limit},
    settings::JsonSettings,
};

/// The checks, cheap and fundamental ones first.
pub(crate) const NAMES: &[&str] = &[
    "hello_in_time",
    "unknown_requests_survive",
    "bad_settings_are_told",
    "bad_states_are_told",
    "load_then_read",
    "batches_equal_steps",
    "parts_equal_steps",
    "scene_forgets",
    "static_bodies_stay",
    "forces_change_nothing",
    "audit_agrees",
    "no_work_in_read",
    "clocks_agree",
    "memory_stays",
    "bye_and_end_of_input",
];

/// What each check asks: a skip with its reason, or what was found instead.
type CheckAnswer = Result<Option<String>, String>;

/// Runs one check on processes of its own.
pub(crate) fn ask(name: &str, program: &Program) -> CheckAnswer {
    let mut link = ProcessLink::open(program)?;
    let scene = scene(&link)?;
    let run = WireRun { program, scene };
    match name {
        "hello_in_time" => Ok(None),
        "unknown_requests_survive" => unknown_requests(&mut link),
        "bad_settings_are_told" => run.bad_settings(&mut link),
        "bad_states_are_told" => run.bad_states(&mut link),
        "load_then_read" => run.load_then_read(&mut link),
        "batches_equal_steps" => run.batches(&mut link),
        "parts_equal_steps" => run.parts(&mut link),
        "scene_forgets" => run.scene_forgets(&mut link),
        "static_bodies_stay" => run.static_bodies(&mut link),
        "forces_change_nothing" => run.forces(&mut link),
        "audit_agrees" => run.audit(&mut link),
        "no_work_in_read" => run.reading(&mut link),
        "clocks_agree" => run.clocks(&mut link),
        "memory_stays" => run.memory(&mut link),
        "bye_and_end_of_input" => run.endings(link),
        _ => Err(format!("there is no check `{name}`")),
    }
}

/// Boxes that fly and turn, and one that stays where a program takes it.
fn scene(link: &ProcessLink) -> Result<Scene, String> {
    if !link.hello.takes("body.dynamic") {
        return Err("it takes no `body.dynamic`, on which all else is asked".to_owned());
    }
    let mut body = Body::solid_box(Vec3::new(0.2, 0.4, 0.6), 500.0).at(Vec3::new(1.0, 2.0, 3.0));
    body.rotation = Quat::from_scaled_axis(Vec3::new(0.1, 0.5, -0.3));
    body.velocity = Vec3::new(0.3, 0.0, 1.0);
    body.omega = Vec3::new(0.5, 1.0, 2.0);
    let mut bodies = vec![body.clone(), body.at(Vec3::new(-4.0, 0.0, 3.0))];
    if link.hello.takes("body.static") {
        bodies.push(bodies[0].clone().at(Vec3::new(9.0, 9.0, 9.0)).fixed());
        bodies[2].velocity = Vec3::zeros();
        bodies[2].omega = Vec3::zeros();
    }
    let gravity = Vec3::new(0.0, 0.0, -9.81);
    let name = "wire".to_owned();
    Ok(Scene { name, gravity, dt: STEP.dt, steps: 100, bodies, ..Scene::default() })
}

const STEP: Step = Step { dt: 0.01, iterations: 4 };

fn words(fault: LinkFault) -> String {
    fault.words()
}

/// That a request was refused as such.
fn refused(answer: Result<(), LinkFault>, kind: &str, about: &str) -> Result<(), String> {
    match answer {
        Err(LinkFault::Refused { kind: found, .. }) if found == kind => Ok(()),
        Err(fault) => Err(format!("{about} gives: {}", fault.words())),
        Ok(()) => Err(format!("{about} is taken")),
    }
}

fn unknown_requests(link: &mut ProcessLink) -> CheckAnswer {
    let time = limit(link.child.limits().read_s, 0, 1.0);
    let answer = link.child.ask("dance", Map::new(), &[], time, BlockDue::NOTHING).map(drop);
    refused(answer, "unknown", "an unknown request")?;
    let extra = keys(json!({"unheard": {"of": [1, 2]}}));
    link.child.ask("ping", extra, &[], time, BlockDue::NOTHING).map_err(words)?;
    Ok(None)
}

struct WireRun<'a> {
    program: &'a Program,
    scene: Scene,
}

impl WireRun<'_> {
    fn defaults(&self) -> JsonSettings {
        crate::settings::to_json(&self.program.settings).unwrap_or_default()
    }

    /// Sends the scene and its initial state.
    fn start(&self, link: &mut ProcessLink) -> Result<(), String> {
        link.scene(&self.scene, &self.defaults()).map_err(words)?;
        self.restart(link)
    }

    fn restart(&self, link: &mut ProcessLink) -> Result<(), String> {
        link.load(&self.scene.initial_state()).map_err(words)
    }

    fn block(&self, link: &mut ProcessLink) -> Result<Vec<u8>, String> {
        Ok(link.read_raw(&self.scene).map_err(words)?.0)
    }

    fn steps(&self, link: &mut ProcessLink, count: u32) -> Result<(), String> {
        link.step(STEP, count, &[]).map_err(words)
    }

    fn bad_settings(&self, link: &mut ProcessLink) -> CheckAnswer {
        let mut send = |settings: &JsonSettings, about: &str| {
            let answer = link.scene(&self.scene, settings).map(drop);
            refused(answer, "settings", about)
        };
        send(&keys(json!({"no such setting": 1})), "an unknown setting")?;
        for (key, value) in link.hello.settings.clone() {
            let wrong = if value.is_object() { json!(true) } else { json!({"wrong": []}) };
            let mut settings = Map::new();
            settings.insert(key.clone(), wrong.clone());
            let answer = link.scene(&self.scene, &settings).map(drop);
            refused(answer, "settings", &format!("`{key}` as {wrong}"))?;
        }
        self.start(link)?;
        Ok(None)
    }

    fn bad_states(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        let mut block = Vec::new();
        write_block(&self.scene.initial_state(), link.form(), &mut block);
        let short = link.load_block(0.0, &[], &block[8..]);
        refused(short, "state", "a state that is too short")?;
        block.extend([0; 8]);
        let long = link.load_block(0.0, &[], &block);
        refused(long, "state", "a state that is too long")?;
        self.restart(link)?;
        self.steps(link, 1)?;
        Ok(None)
    }

    fn load_then_read(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        let mut sent = Vec::new();
        write_block(&self.scene.initial_state(), link.form(), &mut sent);
        link.load_block(0.25, &[], &sent).map_err(words)?;
        let (block, time_s, broken) = link.read_raw(&self.scene).map_err(words)?;
        let place = block.iter().zip(&sent).position(|(a, b)| a != b);
        match (place, time_s == 0.25 && broken.is_empty()) {
            (Some(byte), _) => Err(format!("number {} of the state comes back changed", byte / 8)),
            (None, false) => Err("time or broken joints come back changed".to_owned()),
            (None, true) => Ok(None),
        }
    }

    /// A skip where equal bits are not promised.
    fn repeats(link: &ProcessLink) -> Option<String> {
        let bitwise = link.hello.determinism() == Determinism::Bitwise;
        (!bitwise).then(|| "does not promise equal bits".to_owned())
    }

    fn batches(&self, link: &mut ProcessLink) -> CheckAnswer {
        if let skip @ Some(_) = Self::repeats(link) {
            return Ok(skip);
        }
        self.start(link)?;
        self.steps(link, 5)?;
        let batch = self.block(link)?;
        self.restart(link)?;
        (0..5).try_for_each(|_| self.steps(link, 1))?;
        same(&batch, &self.block(link)?, "`count: 5` and five steps")
    }

    fn parts(&self, link: &mut ProcessLink) -> CheckAnswer {
        if link.hello.iteration != Refinement::Refine {
            return Ok(Some("its steps have no parts".to_owned()));
        }
        if let skip @ Some(_) = Self::repeats(link) {
            return Ok(skip);
        }
        self.start(link)?;
        self.steps(link, 3)?;
        let whole = self.block(link)?;
        self.restart(link)?;
        for _ in 0..3 {
            let begin = json!({"dt": STEP.dt, "iterations": STEP.iterations, "count": 1});
            link.advance("begin", begin, &[], 0).map_err(words)?;
            for _ in 0..STEP.iterations {
                link.advance("iterate", json!({"count": 1}), &[], 0).map_err(words)?;
                self.block(link)?;
            }
            link.advance("end", json!({}), &[], 1).map_err(words)?;
        }
        same(&whole, &self.block(link)?, "steps and their parts")
    }

    fn scene_forgets(&self, link: &mut ProcessLink) -> CheckAnswer {
        if let skip @ Some(_) = Self::repeats(link) {
            return Ok(skip);
        }
        let mut other = self.scene.clone();
        other.gravity *= 0.5;
        other.bodies.truncate(1);
        let before = WireRun { program: self.program, scene: other };
        before.start(link)?;
        before.steps(link, 7)?;
        self.start(link)?;
        self.steps(link, 5)?;
        let again = self.block(link)?;
        let mut fresh = ProcessLink::open(self.program)?;
        self.start(&mut fresh)?;
        self.steps(&mut fresh, 5)?;
        same(&again, &self.block(&mut fresh)?, "a second scene and a fresh process")
    }

    fn static_bodies(&self, link: &mut ProcessLink) -> CheckAnswer {
        if self.scene.bodies.len() < 3 {
            return Ok(Some("it takes no `body.static`".to_owned()));
        }
        self.start(link)?;
        let before = self.block(link)?;
        self.steps(link, 20)?;
        let after = self.block(link)?;
        let width = 8 * link.form().width();
        debug_assert_eq!(block_len(&self.scene, link.form()), 3 * width);
        same(&before[2 * width..], &after[2 * width..], "a static body before and after")
    }

    /// They are there after steps, in a block that fits the scene, and asking for them moves nothing.
    fn forces(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        self.steps(link, 2)?;
        let before = self.block(link)?;
        if !link.forces(&self.scene, &mut Multipliers::default()).map_err(words)? {
            return Ok(Some("it tells no forces".to_owned()));
        }
        same(&before, &self.block(link)?, "the states before and after `forces`")
    }

    fn audit(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        let Some(audit) = link.audit(self.scene.bodies.len()).map_err(words)? else {
            return Ok(Some("it tells nothing of what it compiled".to_owned()));
        };
        audit.agree(&self.scene, &self.program.deviations).map(|_| None)
    }

    /// The least of some times: what else runs on the machine only ever adds.
    fn least_s(mut timed: impl FnMut() -> Result<f64, String>) -> Result<f64, String> {
        let times: Result<Vec<f64>, String> = (0..30).map(|_| timed()).collect();
        Ok(times?.into_iter().fold(f64::INFINITY, f64::min))
    }

    fn reading(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        self.steps(link, 1)?;
        let read = |link: &mut ProcessLink| {
            let start = Instant::now();
            self.block(link)?;
            Ok(start.elapsed().as_secs_f64())
        };
        let idle = Self::least_s(|| read(link))?;
        let after = Self::least_s(|| {
            self.steps(link, 1)?;
            read(link)
        })?;
        let step = Self::least_s(|| {
            let start = Instant::now();
            self.steps(link, 10)?;
            Ok(start.elapsed().as_secs_f64() / 10.0)
        })?;
        // Short steps leave caches cold, which is no work put off.
        let allowed = (0.05 * step).max(50e-6 + idle);
        if after - idle > allowed {
            return Err(format!(
                "reading takes {:.1} us after a step and {:.1} us after reading, a step {:.1} us",
                1e6 * after,
                1e6 * idle,
                1e6 * step
            ));
        }
        Ok(None)
    }

    /// What the process says it spent, against its clock as this side reads it. One that computes on a graphics device
    /// spends little on processors, and is held to the wall alone.
    fn clocks(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        let on_processor = link.hello.runs() == Runs::OnCpu;
        let mut count = 1;
        loop {
            // What a process does to load a state is no step, and it need not tell of it.
            self.restart(link)?;
            let told = link.spent;
            let before = processor_s(link.child.id());
            if on_processor && before.is_none() {
                return Ok(Some("the clocks of other processes cannot be read here".to_owned()));
            }
            let start = Instant::now();
            self.steps(link, count)?;
            let wall = start.elapsed().as_secs_f64();
            let spent = processor_s(link.child.id()).zip(before).map_or(0.0, |(b, a)| b - a);
            if (if on_processor { spent } else { wall }) < 0.2 && count < 1 << 24 {
                count *= 2;
                continue;
            }
            let [said_wall, said] = [0, 1].map(|k| link.spent[k] - told[k]);
            if said_wall == 0.0 && said == 0.0 {
                return Ok(Some("it tells no `wall_s` and no `cpu_s`".to_owned()));
            }
            let close = !on_processor || (spent - said).abs() <= 0.02 * spent + 1e-3;
            if !close || said_wall > wall {
                return Err(format!(
                    "it says {said:.4} s on processors and {said_wall:.4} s on the wall, its clock says {spent:.4} s \
                     and the wall here {wall:.4} s"
                ));
            }
            return Ok(None);
        }
    }

    fn memory(&self, link: &mut ProcessLink) -> CheckAnswer {
        self.start(link)?;
        let rounds = |link: &mut ProcessLink, count: u32| {
            (0..count).try_for_each(|_| {
                self.steps(link, 1)?;
                self.block(link).map(drop)
            })
        };
        rounds(link, 100)?;
        let Some(before) = resident(link.child.id()) else {
            return Ok(Some("memory of other processes cannot be read here".to_owned()));
        };
        rounds(link, 1000)?;
        let after = resident(link.child.id()).unwrap_or(before);
        if after as f64 > 1.1 * before as f64 {
            return Err(format!("1,000 steps and reads take {before} pages to {after}"));
        }
        Ok(None)
    }

    fn endings(&self, mut link: ProcessLink) -> CheckAnswer {
        self.start(&mut link)?;
        let status = link.child.end(true).map_err(|why| format!("after `bye` it {why}"))?;
        if !status.success() {
            return Err(format!("after `bye` it ends with {status}"));
        }
        let mut other = ProcessLink::open(self.program)?;
        self.start(&mut other)?;
        other.child.end(false).map_err(|why| format!("after the end of its input it {why}"))?;
        Ok(None)
    }
}

fn same(a: &[u8], b: &[u8], about: &str) -> CheckAnswer {
    match a.iter().zip(b).position(|(a, b)| a != b) {
        Some(byte) => Err(format!("{about} differ, first in number {}", byte / 8)),
        None => Ok(None),
    }
}

/// What a process has spent on processors [s].
fn processor_s(process: u32) -> Option<f64> {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    {
        let process = nix::unistd::Pid::from_raw(i32::try_from(process).ok()?);
        let now =
            nix::time::clock_getcpuclockid(process).and_then(nix::time::clock_gettime).ok()?;
        Some(std::time::Duration::from(now).as_secs_f64())
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    {
        let _ = process;
        None
    }
}

/// Pages that a process has in memory.
fn resident(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told_by_number() {
        assert_eq!(same(&[0; 16], &[0; 16], "x"), Ok(None));
        let mut other = [0; 16];
        other[9] = 1;
        assert_eq!(same(&[0; 16], &other, "two"), Err("two differ, first in number 1".to_owned()));
    }
}
