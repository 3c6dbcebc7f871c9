//! The launches in progress, and the dispatch of their CTAs to SMs.
use crate::config::SmConfig;
use crate::share::Share;
use crate::sm::Sm;
use crate::sm::launch::LaunchedKernel;
use crate::sm::read_only::{Banks, Changed};
use selvedge_ptx::clusters::ClusterMember;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::ops::Range;
use std::sync::Arc;

/// Bits of a CTA slot in the name of a CTA.
const SLOT_BITS: u32 = 8;

/// Returns the name of the CTA in a slot of an SM.
fn place_name(sm: u16, slot: u8) -> u32 {
    u32::from(sm) << SLOT_BITS | u32::from(slot)
}

/// Returns the SM and the slot of the CTA with a name.
pub fn place_of(name: u32) -> (usize, u8) {
    ((name >> SLOT_BITS) as usize, name as u8)
}

/// Returns the SM of each CTA of a cluster in a group of SMs, always the one with the fewest CTAs. `None` if the cluster does not fit.
fn places(kernel: &LaunchedKernel, share: &Share, group: &[Sm], all_sms: usize) -> Option<Vec<usize>> {
    let mut added = vec![0; group.len()];
    let mut places = Vec::new();
    for _ in 0..kernel.dims.cluster_ctas() {
        let (slot, program) = (usize::from(kernel.slot), usize::from(kernel.program));
        let fits = |place: &usize| {
            let (sm, added) = (&group[*place], added[*place]);
            let id = usize::from(sm.number());
            added < sm.room_for(kernel) && share.allows(program, id, all_sms, sm.resident_ctas(slot) + added)
        };
        let load = |place: &usize| group[*place].all_resident_ctas() + added[*place];
        let place = (0..group.len()).filter(fits).min_by_key(load)?;
        added[place] += 1;
        places.push(place);
    }
    Some(places)
}

/// A launch in progress.
#[derive(State)]
pub struct Running {
    pub kernel: Arc<LaunchedKernel>,
    /// The first core cycle in which a CTA may start.
    pub from: u64,
    /// The CTA to dispatch next.
    pub next: u64,
    /// CTAs that have finished.
    pub done: u64,
    /// CTAs of the launch.
    pub total: u64,
    /// CTAs that had finished at the last search for livelocks.
    pub done_before: Option<u64>,
    /// `true` after a warning that the launch is in a livelock.
    pub livelocked: bool,
}

/// A slow start of a launch in its middle. CTAs that started together would stay in step. With it, the progress of the first
/// resident CTAs is spread evenly from their beginning to their end, as in the middle of a whole launch.
pub struct SlowStart {
    /// CTAs that start slowly.
    pub ctas: u64,
    /// Mean number of warp instructions of a CTA.
    pub instructions: f64,
    /// CTAs that have started.
    pub started: u64,
}

impl SlowStart {
    /// Returns whether one more CTA may start after `issued` warp instructions. All resident CTAs progress at the same rate. For
    /// progress that differs by a step of `1 / ctas`, CTA `n` starts when the earlier ones have issued
    /// `n * n / (2 * ctas)` times the instructions of a CTA.
    fn allows(&self, issued: u64) -> bool {
        let number = self.started as f64;
        issued as f64 >= number * number / (2.0 * self.ctas as f64) * self.instructions
    }
}

/// The launches in progress.
#[derive(State)]
pub struct Launches {
    /// The launches, by priority and in the order of their starts.
    pub running: Vec<Running>,
    /// Digests of the constants and arguments of the last launches.
    banks: Banks,
    pub share: Share,
    #[state(skip = "only an interval of a launch has it, after its state is loaded")]
    pub slow_start: Option<SlowStart>,
    /// `true` while a CTA may fit an SM. Becomes `false` when none fits, until a CTA finishes or a launch starts.
    pub may_dispatch: bool,
    /// SMs of a group, in which a cluster runs.
    #[state(skip = "the configuration")]
    group_sms: u32,
    /// The SM that takes the next CTA, if it has room.
    pub next_sm: usize,
    /// Kernel slots of the CTAs that have finished and are not counted.
    pub finished: Vec<u8>,
}

impl Launches {
    /// Returns no launches, for a GPU with groups of `group_sms` SMs. One kernel at a time has the whole GPU.
    pub fn new(group_sms: u32) -> Self {
        Launches {
            running: Vec::new(),
            banks: Banks::default(),
            share: Share::LeftOver,
            slow_start: None,
            may_dispatch: false,
            group_sms,
            next_sm: 0,
            finished: Vec::new(),
        }
    }

    /// Returns the banks of constants that differ from the previous launch in the slot of `kernel`.
    pub fn changed(&mut self, kernel: &LaunchedKernel, sm: &SmConfig) -> Changed {
        debug_assert!(self.running.iter().all(|other| other.kernel.slot != kernel.slot), "the slot is taken");
        let new = self.banks.replace(kernel);
        if sm.keep_constants { Changed::default() } else { new }
    }

    /// Adds a launch whose CTAs may start from core cycle `from` on.
    pub fn start(&mut self, kernel: Arc<LaunchedKernel>, from: u64) {
        let at = self.running.partition_point(|other| other.kernel.priority >= kernel.priority);
        let launch = Running {
            from,
            next: 0,
            done: 0,
            total: kernel.dims.ctas(),
            kernel,
            done_before: None,
            livelocked: false,
        };
        self.running.insert(at, launch);
        self.may_dispatch = true;
    }

    /// Starts none of the remaining CTAs.
    pub fn abandon(&mut self) {
        for running in &mut self.running {
            running.total = running.next;
        }
        self.retire_ended();
    }

    /// Removes launches that have ended.
    pub fn retire_ended(&mut self) {
        self.running.retain(|running| running.done < running.total);
    }

    /// Counts the finished CTAs, and removes launches that have ended. Returns the number of CTAs of all launches that have
    /// finished.
    pub fn count_finished(&mut self) -> u64 {
        for slot in self.finished.drain(..) {
            if let Some(running) = self.running.iter_mut().find(|r| r.kernel.slot == slot) {
                running.done += 1;
            }
        }
        let done = self.running.iter().map(|r| r.done).sum();
        self.retire_ended();
        self.may_dispatch = self.has_ctas_left();
        done
    }

    /// Returns the number of CTAs of all launches.
    pub fn total(&self) -> u64 {
        self.running.iter().map(|r| r.total).sum()
    }

    fn has_ctas_left(&self) -> bool {
        self.running.iter().any(|running| running.next < running.total)
    }

    /// Starts clusters ([`Launches::dispatch_clusters`]), then gives the SMs CTAs of other launches ([`Launches::dispatch_ctas`]).
    pub fn dispatch(
        &mut self,
        now: u64,
        issued: u64,
        sms: &mut [Sm],
        memory: &mut DeviceMemory,
        mut took: impl FnMut(usize),
    ) {
        let has_clusters = |running: &Running| running.kernel.in_clusters && running.next < running.total;
        let any = self.running.iter().any(has_clusters)
            && self.dispatch_clusters(now, issued, sms, memory, &mut took);
        self.dispatch_ctas(now, issued, sms, took);
        self.may_dispatch |= any && self.has_ctas_left();
    }

    /// Starts at most one cluster per group of SMs, each in the group with the fewest CTAs per SM. Returns whether it has started any.
    #[cold]
    fn dispatch_clusters(
        &mut self,
        now: u64,
        issued: u64,
        sms: &mut [Sm],
        memory: &mut DeviceMemory,
        took: &mut impl FnMut(usize),
    ) -> bool {
        let (count, group_sms) = (sms.len(), self.group_sms as usize);
        let groups = || (0..count).step_by(group_sms).map(|start| start..count.min(start + group_sms));
        let mut any = false;
        for _ in groups() {
            if self.is_held(issued) {
                break;
            }
            let share = &self.share;
            let mut waiting = self.running.iter_mut().filter(|running| {
                running.kernel.in_clusters && running.next < running.total && running.from <= now
            });
            let found = waiting.find_map(|running| {
                let fitting = groups().filter_map(|group| {
                    let places = places(&running.kernel, share, &sms[group.clone()], count)?;
                    Some((group, places))
                });
                let load = |group: &Range<usize>| {
                    let ctas: u32 = sms[group.clone()].iter().map(Sm::all_resident_ctas).sum();
                    (u64::from(ctas) << 16) / group.len() as u64
                };
                let (group, places) = fitting.min_by_key(|(group, _)| load(group))?;
                Some((running, group.start, places))
            });
            let Some((running, start, places)) = found else { break };
            let kernel = Arc::clone(&running.kernel);
            let (next, ctas) = (running.next, kernel.dims.cluster_ctas());
            running.next += u64::from(ctas);
            if let Some(slow) = &mut self.slow_start {
                slow.started += u64::from(ctas);
            }
            let threads = kernel.dims.threads_per_cta();
            let cluster = memory.clusters_mut().start(ctas, threads, kernel.shared_bytes as usize);
            for (rank, place) in (0..).zip(places) {
                let (member, id) = (ClusterMember { cluster, rank }, start + place);
                sms[id].resume(now);
                let slot = sms[id].launch(&kernel, kernel.dims.cta(next + u64::from(rank)), Some(member));
                memory.clusters_mut().name(member, place_name(id as u16, slot));
                took(id);
            }
            any = true;
        }
        any
    }

    /// Gives each SM at most one CTA, in round-robin order after the SM that last took one. An SM takes the CTA of the first
    /// launch that may use the SM and fits it. Calls `took` with each SM that took a CTA. `issued` is the number of warp
    /// instructions that were issued, if there is a slow start.
    fn dispatch_ctas(&mut self, now: u64, issued: u64, sms: &mut [Sm], mut took: impl FnMut(usize)) {
        let count = sms.len();
        let mut any = false;
        let first = self.next_sm;
        for offset in 0..count {
            if self.is_held(issued) {
                break;
            }
            let id = (first + offset) % count;
            let (sm, share) = (&mut sms[id], &self.share);
            let fits = |running: &&mut Running| {
                let slot = usize::from(running.kernel.slot);
                running.next < running.total
                    && running.from <= now
                    && !running.kernel.in_clusters
                    && share.allows(usize::from(running.kernel.program), id, count, sm.resident_ctas(slot))
                    && sm.can_launch(&running.kernel)
            };
            let Some(running) = self.running.iter_mut().find(fits) else { continue };
            let cta = running.kernel.dims.cta(running.next);
            running.next += 1;
            if let Some(slow) = &mut self.slow_start {
                slow.started += 1;
            }
            sm.resume(now);
            sm.launch(&running.kernel, cta, None);
            took(id);
            self.next_sm = (id + 1) % count;
            any = true;
        }
        let awaits_a_launch = || self.running.iter().any(|running| running.from > now);
        let is_slow = self.slow_start.is_some();
        self.may_dispatch = self.has_ctas_left() && (any || is_slow || awaits_a_launch());
    }

    /// Returns whether a slow start holds the next CTA. Ends the slow start after its last CTA.
    fn is_held(&mut self, issued: u64) -> bool {
        let Some(slow) = &self.slow_start else { return false };
        if slow.started >= slow.ctas {
            self.slow_start = None;
            return false;
        }
        // Without CTAs on the SMs, no instruction issues.
        let is_idle = self.running.iter().all(|running| running.done == running.next);
        !is_idle && !slow.allows(issued)
    }
}
