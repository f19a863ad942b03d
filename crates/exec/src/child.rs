//! A process at the other end of pipes: one line asked, one line answered, each within a limit.

use std::{
    collections::BTreeSet,
    io::{self, ErrorKind, Read, Write},
    os::{
        fd::AsFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    path::Path,
    process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::{Map, Value};

use crate::{
    fault::{BlockDue, LinkFault, Reply},
    program::{Limits, Program},
    tail::Tail,
};

/// A line is no longer, its newline included [bytes].
const LINE: usize = 64 * 1024;
/// So long a process may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// What is told of a line that is no reply [bytes].
const TOLD: usize = 60;

/// Groups of processes that have not ended.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every process that was started, with all that it has started: for a program that ends without waiting for them.
pub fn kill_all() {
    for &group in &*groups() {
        signal(group, Signal::SIGKILL);
    }
}

fn signal(group: u32, signal: Signal) {
    // A group that is gone already needs no signal.
    let _ = killpg(Pid::from_raw(group as i32), signal);
}

/// A process that leads a group of its own, all of which ends with it.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    /// `None` once it was asked to end.
    input: Option<ChildStdin>,
    output: ChildStdout,
    words: Tail,
    limits: Limits,
    /// Bytes that came and were not yet read.
    got: Vec<u8>,
    asked: u64,
    what: String,
    /// Steps taken since the last scene.
    pub(crate) steps: u64,
    /// No longer talked to.
    broken: bool,
}

impl Child {
    /// Starts a program.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(crate) fn start(program: &Program) -> Result<Self, String> {
        let (name, arguments) = program.command.split_first().ok_or("an empty command")?;
        let mut command = Command::new(name);
        command.args(arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for library in ["OMP", "OPENBLAS", "MKL", "RAYON"] {
            command.env(format!("{library}_NUM_THREADS"), program.threads.to_string());
        }
        command.env("PYTHONHASHSEED", "0").env("TAUT_PROTOCOL", "1").envs(&program.env);
        if let Some(directory) = &program.directory {
            if !directory.is_dir() {
                return Err(format!("there is no directory {}", directory.display()));
            }
            command.current_dir(directory);
        }
        let cannot = |error: &dyn std::fmt::Display| format!("cannot start `{name}`: {error}");
        let mut groups = groups();
        let mut process = command.spawn().map_err(|error| cannot(&plain(&error)))?;
        groups.insert(process.id());
        drop(groups);
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(cannot(&"it has no pipes"));
        };
        let unblock = |pipe: &dyn AsFd| fcntl(pipe.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK));
        unblock(&input).and(unblock(&output)).map_err(|error| cannot(&error))?;
        let words = Tail::of(errors).map_err(|error| cannot(&plain(&error)))?;
        widen(&input);
        widen(&output);
        Ok(Self {
            process,
            input: Some(input),
            output,
            words,
            limits: program.limits,
            got: Vec::new(),
            asked: 0,
            what: String::new(),
            steps: 0,
            broken: false,
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it can still be asked.
    pub(crate) fn is_well(&self) -> bool {
        !self.broken
    }

    /// Takes what it has said beside its answers until now.
    pub(crate) fn hear(&self) {
        self.words.hear();
    }

    /// From now on what it says beside its answers is added to this file, and what it said before there was any.
    pub(crate) fn log_to(&self, path: Option<&Path>) {
        self.words.log_to(path);
    }

    /// What it said last beside its answers.
    pub(crate) fn said(&self) -> Vec<u8> {
        self.words.words()
    }

    /// Asks, and waits for the answer; `due` is what has to follow a good one.
    ///
    /// # Errors
    /// A refusal, or the end of the process.
    pub(crate) fn ask(
        &mut self,
        request: &str,
        mut keys: Map<String, Value>,
        block: &[u8],
        limit: Duration,
        due: BlockDue,
    ) -> Result<Reply, LinkFault> {
        if self.broken {
            return Err(LinkFault::Broken("has ended before".to_owned()));
        }
        let deadline = Deadline { end: Instant::now().checked_add(limit), limit };
        self.what = request.to_owned();
        self.asked += 1;
        keys.insert("do".to_owned(), request.into());
        keys.insert("n".to_owned(), self.asked.into());
        if !block.is_empty() {
            keys.insert("bytes".to_owned(), block.len().into());
        }
        self.unasked()?;
        let mut line = Value::Object(keys).to_string().into_bytes();
        line.push(b'\n');
        self.send(&line, deadline)?;
        self.send(block, deadline)?;
        self.answer(deadline, due)
    }

    /// The answer to the request that was sent last.
    fn answer(&mut self, deadline: Deadline, due: BlockDue) -> Result<Reply, LinkFault> {
        let line = self.line(deadline)?;
        let parsed: Option<Map<String, Value>> = serde_json::from_slice(&line).ok();
        let good = |keys: &Map<String, Value>| keys.get("ok").and_then(Value::as_bool);
        let Some((keys, ok)) = parsed.and_then(|keys| good(&keys).map(|ok| (keys, ok))) else {
            return Err(self.no_reply(&line));
        };
        let number = keys.get("n").and_then(Value::as_u64);
        if number != Some(self.asked) {
            let number = number.map_or("none".to_owned(), |n| n.to_string());
            return Err(self.broken(format!(
                "not a reply: it answers request {number}, asked was {}",
                self.asked
            )));
        }
        let told = match keys.get("bytes") {
            None => 0,
            // Nobody sends more than there is memory for; so much is no block that is due either.
            Some(bytes) => bytes.as_u64().unwrap_or(u64::MAX),
        };
        let due = if ok { due } else { BlockDue::NOTHING };
        if !due.takes(told) {
            let due = due.words();
            return Err(self.broken(format!("not a reply: a block of {told} bytes where {due}")));
        }
        let told = told as usize;
        self.got.reserve(told.saturating_sub(self.got.len()));
        while self.got.len() < told {
            self.more(deadline)?;
        }
        let rest = self.got.split_off(told);
        let block = std::mem::replace(&mut self.got, rest);
        if !self.got.is_empty() {
            let unasked = std::mem::take(&mut self.got);
            return Err(self.no_reply(&unasked));
        }
        if ok {
            return Ok(Reply { keys, block });
        }
        let text = |key: &str| keys.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Err(LinkFault::Refused {
            kind: text("kind"),
            message: plain_line(&shown(text("message").as_bytes(), 500)),
        })
    }

    /// What has come without a request.
    fn unasked(&mut self) -> Result<(), LinkFault> {
        let mut part = [0; LINE];
        match self.output.read(&mut part) {
            Ok(count @ 1..) => Err(self.no_reply(&part[..count])),
            // An end that was not asked for shows up when the request is sent, or has no answer.
            _ => Ok(()),
        }
    }

    fn line(&mut self, deadline: Deadline) -> Result<Vec<u8>, LinkFault> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.got[searched..].iter().position(|&byte| byte == b'\n') {
                let rest = self.got.split_off(searched + at + 1);
                let mut line = std::mem::replace(&mut self.got, rest);
                line.pop();
                if line.len() < LINE {
                    return Ok(line);
                }
                return Err(self.too_long(&line));
            }
            searched = self.got.len();
            if searched >= LINE {
                let line = std::mem::take(&mut self.got);
                return Err(self.too_long(&line));
            }
            self.more(deadline)?;
        }
    }

    fn too_long(&mut self, line: &[u8]) -> LinkFault {
        let start = shown(line, TOLD);
        self.broken(format!("not a reply: a line of more than {LINE} bytes: {start:?}"))
    }

    fn no_reply(&mut self, line: &[u8]) -> LinkFault {
        let first = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let shown = shown(first, TOLD);
        self.broken(format!("not a reply: {shown:?}"))
    }

    /// Waits for some bytes and keeps them.
    fn more(&mut self, deadline: Deadline) -> Result<(), LinkFault> {
        loop {
            let before = self.got.len();
            self.got.resize(before + LINE, 0);
            let read = self.output.read(&mut self.got[before..]);
            self.got.truncate(before + read.as_ref().map_or(0, |count| *count));
            match read {
                Ok(0) => return Err(self.gone("output")),
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !ready(&self.output, PollFlags::POLLIN, deadline) {
                        return Err(self.silent(deadline));
                    }
                }
                Err(error) => return Err(self.broken(format!("cannot be read: {error}"))),
            }
        }
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Deadline) -> Result<(), LinkFault> {
        while !bytes.is_empty() {
            let Some(input) = &mut self.input else { return Err(self.gone("input")) };
            match input.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !ready(&*input, PollFlags::POLLOUT, deadline) {
                        return Err(self.silent(deadline));
                    }
                }
                Err(_) => return Err(self.gone("input")),
            }
        }
        Ok(())
    }

    fn silent(&mut self, deadline: Deadline) -> LinkFault {
        let seconds = (deadline.limit.as_secs_f64() * 1e3).round() / 1e3;
        self.broken(format!("no answer in {seconds} s, killed"))
    }

    /// It has closed a pipe: how it ended.
    fn gone(&mut self, pipe: &str) -> LinkFault {
        let why = match self.ended_within(GRACE) {
            Some(status) => match status.signal() {
                Some(number) => {
                    let name = Signal::try_from(number).map_or("unknown", Signal::as_str);
                    format!("ended by signal {number} ({name})")
                }
                None => format!("exited with status {}", status.code().unwrap_or_default()),
            },
            None => format!("closed its {pipe} without ending"),
        };
        self.broken(why)
    }

    /// Ends the process: from here on it is not talked to.
    pub(crate) fn broken(&mut self, why: String) -> LinkFault {
        self.kill();
        self.broken = true;
        let after = match self.steps {
            0 => String::new(),
            1 => " after 1 step".to_owned(),
            steps => format!(" after {steps} steps"),
        };
        let last = self.words.last_words();
        let last = if last.is_empty() { last } else { format!("; its last words: {last}") };
        LinkFault::Broken(format!("{why}, in {}{after}{last}", self.what))
    }

    fn ended_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            if begin.elapsed() >= limit {
                return None;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// Asks the whole group to end, and ends it.
    fn kill(&mut self) {
        if !matches!(self.process.try_wait(), Ok(Some(_))) {
            signal(self.process.id(), Signal::SIGTERM);
            self.ended_within(GRACE);
        }
        // Also what the leader of the group has left behind.
        signal(self.process.id(), Signal::SIGKILL);
        groups().remove(&self.process.id());
        let _ = self.process.wait();
    }

    /// Says `bye` or only ends the input, and tells how the process ended.
    ///
    /// # Errors
    /// It does not end by itself.
    pub(crate) fn end(&mut self, bye: bool) -> Result<ExitStatus, String> {
        let deadline = Deadline { end: Instant::now().checked_add(GRACE), limit: GRACE };
        if bye && !self.broken {
            let line = format!("{{\"do\":\"bye\",\"n\":{}}}\n", self.asked + 1);
            let _ = self.send(line.as_bytes(), deadline);
        }
        self.input = None;
        let status = self.ended_within(GRACE);
        self.broken = true;
        self.kill();
        self.words.finish();
        status.ok_or_else(|| format!("does not end within {} s", GRACE.as_secs()))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.broken {
            let _ = self.end(true);
        }
    }
}

/// Until when something is waited for.
#[derive(Clone, Copy)]
struct Deadline {
    /// `None` is never.
    end: Option<Instant>,
    limit: Duration,
}

/// Waits until a pipe can be used; `false` where the time is up before.
fn ready(pipe: &dyn AsFd, flags: PollFlags, deadline: Deadline) -> bool {
    loop {
        let left = deadline.end.map(|end| end.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return false;
        }
        // A millisecond more, since what is less than one would not wait at all.
        let left = left.map(|left| left + Duration::from_millis(1));
        let wait = left.and_then(|left| PollTimeout::try_from(left).ok());
        let mut pipes = [PollFd::new(pipe.as_fd(), flags)];
        if poll(&mut pipes, wait.unwrap_or(PollTimeout::MAX)).is_ok_and(|ready| ready > 0) {
            return true;
        }
    }
}

/// Makes room for a large state, so that it takes few turns of both processes.
fn widen(pipe: &impl AsFd) {
    #[cfg(target_os = "linux")]
    // Where the system grants less, it only takes longer.
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(1 << 20));
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}

/// What the system says, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// A text as one line that no terminal takes for anything else.
fn plain_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

/// The first bytes of a text.
fn shown(bytes: &[u8], count: usize) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(count)]).into_owned()
}
