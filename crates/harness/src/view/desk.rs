//! What the window shows and what its controls do, without the window.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use taut_core::{Pull, Scene, Settings, State};

use super::{
    board::Board,
    handhold::Handhold,
    knobs::fields,
    office::{PaneOrder, PaneWork},
    worker::Worker,
};
use crate::{Setup, checkout::Checkout, command_of, film::Replayed, places, spec::Spec};

/// The most panes that a window has.
pub const PANES_MAX: usize = 4;
/// What the states that one can go back to may take in all panes together [B].
const RING_BYTES: usize = 512 << 20;

/// Where the scene comes from, and what of it was changed.
#[derive(Clone, Debug)]
pub(crate) struct SceneSource {
    /// Where scenes are found.
    pub(crate) root: Checkout,
    /// As it was named on the command line.
    pub(crate) argument: String,
    /// Values of parameters that were given.
    pub(crate) set: Vec<(String, f64)>,
    /// Values of all parameters in force.
    pub(crate) parameters: Vec<(String, f64)>,
}

/// What one pane shows.
#[derive(Clone, Debug)]
pub(crate) enum PaneSubject {
    /// A run that is made while it is watched.
    Live(Spec),
    /// A run that was recorded.
    Recorded(Arc<Replayed>),
}

impl PaneSubject {
    fn work(&self) -> PaneWork {
        match self {
            Self::Live(spec) => PaneWork::Solve(spec.clone()),
            Self::Recorded(run) => PaneWork::Play(Arc::clone(run)),
        }
    }

    /// Name of the pane.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Live(spec) => &spec.label,
            Self::Recorded(run) => &run.label,
        }
    }

    /// Name of the backend.
    pub(crate) fn backend(&self) -> &str {
        match self {
            Self::Live(spec) => &spec.backend,
            Self::Recorded(run) => &run.backend,
        }
    }
}

/// One pane with the thread that fills it.
#[derive(Debug)]
pub(crate) struct Pane {
    pub(crate) subject: PaneSubject,
    pub(crate) worker: Worker,
}

/// What a pane shows at the moment.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The frame after which it is.
    pub(crate) frame: u32,
    /// Steps and iterates of the next frame that are done.
    pub(crate) within: Option<[u32; 2]>,
    /// Where everything is.
    pub(crate) state: Arc<State>,
    /// What has become of the run, in words, where it has failed by then.
    pub(crate) failed: Option<String>,
    /// Why.
    pub(crate) reason: String,
}

/// Panes at one scene time.
#[derive(Debug)]
pub struct Desk {
    pub(crate) setup: Setup,
    pub(crate) scene: Arc<Scene>,
    pub(crate) source: SceneSource,
    pub(crate) panes: Vec<Pane>,
    /// The frame that is shown, and the one that workers were sent to.
    cursor: u32,
    ordered: u32,
    playing: bool,
    /// When the frame that is shown was first asked for.
    since: Instant,
    hold: Option<Handhold>,
    /// What was last refused, and why.
    pub(crate) complaint: Option<String>,
    /// What followed from the last change.
    pub(crate) news: String,
}

impl Desk {
    /// Starts to fill panes with the start of their runs.
    ///
    /// # Errors
    /// When there is none or more than [`PANES_MAX`], or when threads cannot be started.
    pub(crate) fn open(
        setup: &Setup,
        threads: usize,
        scene: Scene,
        source: SceneSource,
        subjects: Vec<PaneSubject>,
    ) -> anyhow::Result<Self> {
        let count = subjects.len();
        ensure!(
            (1..=PANES_MAX).contains(&count),
            "{count} runs: a window has one to {PANES_MAX} panes: name fewer with -b"
        );
        let scene = Arc::new(scene);
        let pane = |subject: PaneSubject| {
            let room = RING_BYTES / count;
            let worker = Worker::start(setup, threads, Arc::clone(&scene), subject.work(), room)?;
            Ok(Pane { subject, worker })
        };
        let panes = subjects.into_iter().map(pane).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self {
            setup: setup.clone(),
            scene,
            source,
            panes,
            cursor: 0,
            ordered: 0,
            playing: false,
            since: Instant::now(),
            hold: None,
            complaint: None,
            news: String::new(),
        })
    }

    /// The frame that is shown.
    pub fn frame(&self) -> u32 {
        self.cursor
    }

    /// Time that is shown [s].
    pub(crate) fn time_s(&self) -> f64 {
        f64::from(self.cursor) * self.scene.dt
    }

    /// Whether it goes on by itself.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Whether a pane still works on what was asked for.
    pub fn is_busy(&self) -> bool {
        self.panes.iter().any(|pane| pane.worker.is_busy())
    }

    /// What is being pulled.
    pub(crate) fn hold(&self) -> Option<Handhold> {
        self.hold
    }

    /// Starts or stops to go on by itself.
    pub fn toggle(&mut self) {
        self.playing = !self.playing;
        self.since = Instant::now();
    }

    /// One frame on.
    pub fn step(&mut self) {
        self.playing = false;
        self.forward();
    }

    /// One frame back, as far as states are kept.
    pub fn back(&mut self) {
        self.playing = false;
        let kept = self.panes.iter().map(|pane| pane.worker.board().ring.first()).max();
        self.cursor = self.cursor.saturating_sub(1).max(kept.unwrap_or(0)).min(self.cursor);
    }

    /// One iterate on, from the newest state on, in panes that have not ended its frame before the others.
    pub fn iterate(&mut self) {
        self.playing = false;
        self.cursor = self.ordered;
        for pane in &self.panes {
            let ahead = pane.worker.board().reached > self.cursor;
            if !ahead {
                pane.worker.order(PaneOrder::Iterate);
            }
        }
    }

    /// Back to the start.
    pub fn restart(&mut self) {
        (self.cursor, self.ordered, self.playing) = (0, 0, false);
        self.let_go();
        self.panes.iter().for_each(|pane| pane.worker.order(PaneOrder::Restart));
    }

    fn forward(&mut self) {
        self.cursor += 1;
        self.ordered = self.ordered.max(self.cursor);
        self.since = Instant::now();
        let order = PaneOrder::To(self.cursor);
        self.panes.iter().for_each(|pane| pane.worker.order(order.clone()));
    }

    /// Goes on where that is due: in play, once every pane that can is there and its time is over.
    pub fn tick(&mut self) {
        let arrived = |frame: u32| {
            self.panes.iter().all(|pane| {
                let board = pane.worker.board();
                board.over || board.reached >= frame
            })
        };
        // Iterates end frames, too.
        if !self.playing && self.cursor == self.ordered && arrived(self.cursor + 1) {
            let alive = self.panes.iter().any(|pane| !pane.worker.board().over);
            if alive {
                self.cursor += 1;
                self.ordered = self.cursor;
            }
        }
        self.playing &= self.can_go_on();
        let due = self.since.elapsed() >= Duration::from_secs_f64(self.scene.dt.min(1.0));
        if self.playing && due && arrived(self.cursor) {
            self.forward();
        }
    }

    /// Draws a point of a body towards a point of the world from the next frame on, in every pane; or lets go.
    pub(crate) fn pull(&mut self, hold: Option<Handhold>) {
        if hold == self.hold {
            return;
        }
        self.hold = hold;
        let holds: Vec<Handhold> = hold.into_iter().collect();
        for pane in &self.panes {
            pane.worker.order(PaneOrder::Hold(holds.clone()));
        }
    }

    /// What a pane is pulled at in the frame that follows its newest one.
    pub fn pulls(&self, pane: usize) -> Vec<Pull> {
        let board = self.panes[pane].worker.board();
        let newest = board.ring.up_to(u32::MAX);
        let pull = |hold: Handhold| Some(hold.pull(&self.scene, newest?.1));
        self.hold.and_then(pull).into_iter().collect()
    }

    fn let_go(&mut self) {
        self.pull(None);
    }

    /// What a pane shows at the frame of the window; an older state where it has not come so far.
    pub(crate) fn shown(&self, pane: usize) -> Option<Shown> {
        let board = self.panes[pane].worker.board();
        let (frame, state) = board.ring.up_to(self.cursor)?;
        let newest = self.cursor == self.ordered && frame == board.ring.last();
        let within = board.within.as_ref().filter(|_| newest);
        let failed = board.failure(state.time_s.max(self.time_s()));
        Some(Shown {
            frame,
            within: within.map(|w| [w.steps, w.spent]),
            state: within.map_or_else(|| Arc::clone(state), |w| Arc::clone(&w.state)),
            failed: failed.map(str::to_owned),
            reason: if failed.is_some() { board.reason.clone() } else { String::new() },
        })
    }

    /// The board of a pane.
    pub(crate) fn board(&self, pane: usize) -> std::sync::MutexGuard<'_, Board> {
        self.panes[pane].worker.board()
    }

    /// What has become of a pane by now, in words; nothing while all is well.
    pub fn failure(&self, pane: usize) -> Option<String> {
        self.shown(pane)?.failed
    }

    /// The state that a pane shows.
    pub fn state(&self, pane: usize) -> Option<Arc<State>> {
        Some(self.shown(pane)?.state)
    }

    /// Expands the scene anew with a parameter of another value, and starts again.
    pub(crate) fn set_parameter(&mut self, name: &str, value: f64) {
        let mut set = self.source.set.clone();
        match set.iter_mut().find(|(key, _)| key == name) {
            Some((_, own)) => *own = value,
            None => set.push((name.to_owned(), value)),
        }
        match places::load(&self.source.root, &self.source.argument, &set) {
            Ok((_, loaded)) => {
                self.source.set = set;
                self.source.parameters = loaded.parameters;
                self.scene = Arc::new(loaded.scene);
                self.complaint = None;
                (0..self.panes.len()).for_each(|pane| self.begin(pane));
                self.restart_clock();
            }
            Err(error) => self.complaint = Some(format!("{error:#}")),
        }
    }

    /// Builds the solver of a pane anew with a setting of another value. All start again: at one time, the others
    /// would be older than a run whose warm start is lost.
    pub(crate) fn set_setting(&mut self, pane: usize, key: &str, value: &str) {
        let PaneSubject::Live(spec) = &mut self.panes[pane].subject else { return };
        let mut all = fields(spec.settings.as_str());
        match all.iter_mut().find(|(own, _)| own == key) {
            Some((_, own)) => value.clone_into(own),
            None => all.push((key.to_owned(), value.to_owned())),
        }
        let text: Vec<String> = all.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        spec.settings = Settings::from_ron(format!("({})", text.join(", ")));
        let label = &spec.label;
        self.news = format!("{label}: {key} = {value}; started anew, without a warm start");
        (0..self.panes.len()).for_each(|pane| self.begin(pane));
        self.restart_clock();
    }

    fn begin(&self, pane: usize) {
        let Pane { subject, worker } = &self.panes[pane];
        let work = Box::new(subject.work());
        worker.order(PaneOrder::Begin(Arc::clone(&self.scene), work));
    }

    fn restart_clock(&mut self) {
        (self.cursor, self.ordered, self.playing, self.hold) = (0, 0, false, None);
        self.since = Instant::now();
    }

    /// Whether any pane can go on from the frame that is shown.
    pub(crate) fn can_go_on(&self) -> bool {
        self.panes.iter().any(|pane| {
            let board = pane.worker.board();
            !board.over || board.ring.last() > self.cursor
        })
    }

    /// The scene and the live panes as words of a command line, with the budget of the first of these.
    pub(crate) fn subject_words(&self) -> Vec<String> {
        let mut words = self.scene_words();
        let live: Vec<&Spec> = self.live().collect();
        for spec in &live {
            words.extend(["-b".to_owned(), as_argument(spec)]);
        }
        if let Some(spec) = live.first() {
            words.extend(["--iterations".to_owned(), spec.iterations.to_string()]);
            words.extend(["--substeps".to_owned(), spec.substeps.to_string()]);
        }
        words
    }

    fn live(&self) -> impl Iterator<Item = &Spec> {
        self.panes.iter().filter_map(|pane| match &pane.subject {
            PaneSubject::Live(spec) => Some(spec),
            PaneSubject::Recorded(_) => None,
        })
    }

    fn scene_words(&self) -> Vec<String> {
        let mut words = vec![self.source.argument.clone()];
        for (key, value) in &self.source.set {
            words.extend(["--set".to_owned(), format!("{key}={value}")]);
        }
        words
    }

    /// The command that makes what is seen without a window; one for each budget.
    pub(crate) fn command(&self) -> String {
        let mut budgets: Vec<([u32; 2], Vec<&Spec>)> = Vec::new();
        for spec in self.live() {
            let budget = [spec.iterations, spec.substeps];
            match budgets.iter_mut().find(|(own, _)| *own == budget) {
                Some((_, all)) => all.push(spec),
                None => budgets.push((budget, vec![spec])),
            }
        }
        let one = |([iterations, substeps], specs): &([u32; 2], Vec<&Spec>)| {
            let mut words = vec!["run".to_owned()];
            words.extend(self.scene_words());
            for spec in specs {
                words.extend(["-b".to_owned(), as_argument(spec)]);
            }
            words.extend(["--iterations".to_owned(), iterations.to_string()]);
            words.extend(["--substeps".to_owned(), substeps.to_string()]);
            words.extend(["--steps".to_owned(), self.cursor.max(1).to_string()]);
            command_of(words.iter().map(String::as_str))
        };
        budgets.iter().map(one).collect::<Vec<_>>().join(" && ")
    }
}

/// A row as it is named on the command line.
fn as_argument(spec: &Spec) -> String {
    let settings: Vec<String> = fields(spec.settings.as_str())
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let label = if spec.label == spec.backend { "" } else { &spec.label };
    // A label that ends before a colon is told from settings by the sign of equality.
    let label = if label.is_empty() || label.contains([':', '=']) {
        String::new()
    } else {
        format!("{label}=")
    };
    let settings =
        if settings.is_empty() { String::new() } else { format!(":{}", settings.join(",")) };
    format!("{label}{}{settings}", spec.backend)
}
