//! Protocol 1 of crates/exec/PROTOCOL.md: requests on standard input, answers on what was standard output.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use nix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

use crate::{scene::Scene, settings::Settings, solver::Solver};

/// Numbers of a body: position 3, quaternion x y z w, velocity 3, angular velocity in world axes 3.
pub(crate) const WIDTH: usize = 13;

pub(crate) type BodyState = [f64; WIDTH];

/// Says no; the process lives on. Kinds: unsupported, settings, state, capacity, not_converged, device, internal.
pub(crate) struct Refusal {
    kind: &'static str,
    message: String,
}

impl Refusal {
    pub(crate) fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new("unsupported", message)
    }
}

/// The keys of an answer, and the bytes after it.
type Answer = Result<(Value, Vec<u8>), Refusal>;

/// Requests and answers about one scene at a time.
#[derive(Default)]
struct Conversation {
    solver: Option<Solver>,
    /// Whether a state was loaded.
    ready: bool,
    time_s: f64,
    broken: Vec<usize>,
    /// What was loaded, until the first step: singles would read back to other bits.
    loaded: Option<Vec<u8>>,
}

impl Conversation {
    fn answer(&mut self, request: &Value, block: &[u8]) -> Answer {
        match request["do"].as_str().unwrap_or_default() {
            "ping" | "bye" => Ok((json!({}), Vec::new())),
            "hello" => Ok((Solver::hello(), Vec::new())),
            "scene" => self.scene(request, block),
            "load" => self.load(request, block),
            "step" => self.step(request),
            "read" => self.read(),
            "audit" => {
                let block = self.solver()?.audit().to_string().into_bytes();
                Ok((json!({"bytes": block.len()}), block))
            }
            other => Err(Refusal::new("unknown", format!("there is no request `{other}`"))),
        }
    }

    fn solver(&mut self) -> Result<&mut Solver, Refusal> {
        self.solver.as_mut().ok_or_else(|| Refusal::new("internal", "there is no scene yet"))
    }

    fn running(&mut self) -> Result<&mut Solver, Refusal> {
        if !self.ready {
            return Err(Refusal::new("internal", "there is no state yet"));
        }
        self.solver()
    }

    fn scene(&mut self, request: &Value, block: &[u8]) -> Answer {
        *self = Self::default();
        let none = Map::new();
        let settings = Settings::new(request["settings"].as_object().unwrap_or(&none))?;
        let scene: Scene = serde_json::from_slice(block).map_err(|error| {
            Refusal::new("internal", format!("the scene cannot be read: {error}"))
        })?;
        self.solver = Some(Solver::new(scene, settings)?);
        Ok((json!({"settings": settings.told()}), Vec::new()))
    }

    fn load(&mut self, request: &Value, block: &[u8]) -> Answer {
        let solver = self.solver()?;
        let due = 8 * WIDTH * solver.bodies();
        if block.len() != due {
            let words = format!("a state of {} bytes where {due} are due", block.len());
            return Err(Refusal::new("state", words));
        }
        let numbers = block.chunks_exact(8).map(|eight| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(eight);
            f64::from_le_bytes(bytes)
        });
        let numbers: Vec<f64> = numbers.collect();
        let bodies: Vec<BodyState> =
            numbers.chunks_exact(WIDTH).map(|body| std::array::from_fn(|k| body[k])).collect();
        let broken = request["broken"].as_array().into_iter().flatten();
        let broken: Vec<usize> = broken.filter_map(|k| Some(k.as_u64()? as usize)).collect();
        solver.load(bodies, &broken)?;
        self.time_s = request["time_s"].as_f64().unwrap_or(0.0);
        self.broken = broken;
        self.loaded = Some(block.to_vec());
        self.ready = true;
        Ok((json!({}), Vec::new()))
    }

    fn step(&mut self, request: &Value) -> Answer {
        let dt = request["dt"].as_f64().unwrap_or(0.0);
        let iterations = i32::try_from(request["iterations"].as_u64().unwrap_or(1));
        let iterations = iterations
            .map_err(|_| Refusal::new("capacity", "so many sub-steps cannot be counted"))?;
        let count = request["count"].as_u64().unwrap_or(1);
        let (wall, cpu) = (Instant::now(), processor()?);
        self.running()?;
        // What was loaded is no longer what the engine holds.
        self.loaded = None;
        for _ in 0..count {
            self.running()?.step(dt, iterations);
            self.time_s += dt;
        }
        let wall_s = wall.elapsed().as_secs_f64();
        let cpu_s = (processor()? - cpu).as_secs_f64();
        Ok((json!({"wall_s": wall_s, "cpu_s": cpu_s}), Vec::new()))
    }

    fn read(&mut self) -> Answer {
        let block = match &self.loaded {
            Some(loaded) => loaded.clone(),
            None => self.running()?.read().iter().flatten().flat_map(|x| x.to_le_bytes()).collect(),
        };
        let keys = json!({"time_s": self.time_s, "broken": self.broken, "bytes": block.len()});
        Ok((keys, block))
    }
}

/// What this process has spent on processors.
fn processor() -> Result<Duration, Refusal> {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    now.map(Duration::from).map_err(|error| Refusal::new("internal", format!("no clock: {error}")))
}

/// Answers until the input ends or `bye` comes.
pub(crate) fn serve() -> io::Result<()> {
    // Whatever is printed from here on goes to standard error: between the answers it would be taken for one.
    let answers = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    nix::unistd::dup2_stdout(io::stderr())?;
    let mut answers = BufWriter::with_capacity(1 << 20, answers);
    let mut requests = BufReader::with_capacity(1 << 20, io::stdin());
    let mut conversation = Conversation::default();
    let mut line = String::new();
    while requests.read_line(&mut line)? > 0 {
        let request: Value = serde_json::from_str(&line)?;
        let mut block = vec![0; request["bytes"].as_u64().unwrap_or(0) as usize];
        requests.read_exact(&mut block)?;
        let (mut keys, after) = match conversation.answer(&request, &block) {
            Ok((mut keys, after)) => {
                keys["ok"] = true.into();
                (keys, after)
            }
            Err(Refusal { kind, message }) => {
                (json!({"ok": false, "kind": kind, "message": message}), Vec::new())
            }
        };
        keys["n"] = request["n"].clone();
        writeln!(answers, "{keys}")?;
        answers.write_all(&after)?;
        answers.flush()?;
        if request["do"] == "bye" {
            break;
        }
        line.clear();
    }
    Ok(())
}
