//! The SM part of memoization: the warps that look up or store a region's results, and the look-up table.
//!
//! A region whose results are seldom found is not looked up for a while. A warp has at most one assist warp, and waits for it.
use super::counters::MemoCounters;
use super::routines::{RegionShape, routines};
use super::table::{SharedTable, agree, entries_in};
use crate::deployment::{AssistControllers, Deployment, Wanted};
use crate::lanes::{Lanes, ParentRegion};
use crate::warp::{AssistLatencies, AssistWarp};
use selvedge_gpu::has;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::sm::part::{
    AssistIssue, Extras, IssueReport, L1dEvent, L1dObserver, RegionEntry, RegionMemo, RegionReply, SmPart,
    WarpHold, WarpObserver, Word,
};
use selvedge_gpu::sm::scheduler::WarpMask;
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::KernelRegion;
use selvedge_state::State;
use std::collections::{BTreeMap, VecDeque};

/// A region's credit: the initial value, the max, the value after a rest, the gain of a hit, and the loss of a miss.
const CREDIT: Credit = Credit { first: 64, most: 128, rested: 8, found: 4, missed: 1 };

/// The predicate with the lanes in which a look-up has found an entry.
const FOUND: u8 = 2;

/// Cycles for which a region without credit rests: it is not looked up.
const REST: u64 = 16_384;

/// Parameters of the regions' credit.
struct Credit {
    first: u32,
    most: u32,
    rested: u32,
    found: u32,
    missed: u32,
}

/// The settings that the options and the configuration give.
#[derive(Clone, Copy, Debug, State)]
pub(super) struct MemoSettings {
    /// Max entries of the table.
    pub(super) entries: u32,
    /// Min instructions of a region without a loop.
    pub(super) least: u32,
    /// The controllers, with their throttles.
    pub(super) controllers: AssistControllers,
    /// Latencies of assist-warp instructions.
    pub(super) latencies: AssistLatencies,
    /// Bytes of the SM's shared memory.
    pub(super) shared_bytes: u32,
}

/// The error of an entry of the look-up table that differs from the region's results.
#[derive(Debug, thiserror::Error)]
#[error(
    "{instance}: the look-up table has {found:#x} where region {region} gives {computed:#x} in lane {lane} of warp {warp}"
)]
struct WrongResult {
    instance: String,
    region: u16,
    warp: u8,
    lane: usize,
    found: u32,
    computed: u32,
}

/// The work of an assist warp.
#[derive(Clone, State)]
struct MemoWork {
    entry: RegionEntry,
    /// The results to store; empty for a look-up.
    results: Vec<Word>,
}

impl MemoWork {
    fn is_lookup(&self) -> bool {
        self.results.is_empty()
    }
}

/// The credit of a region.
#[derive(Clone, Copy, Debug, State)]
struct Standing {
    credit: u32,
    /// First cycle in which the region is looked up.
    from: u64,
}

#[derive(State)]
pub(super) struct MemoSm {
    // The table precedes the assist warps, because their state refers to it.
    table: SharedTable,
    assists: Deployment<MemoWork>,
    options: MemoSettings,
    /// Look-ups and stores without an assist warp yet, the oldest first.
    waiting: VecDeque<MemoWork>,
    answers: VecDeque<RegionReply>,
    /// Results that were found for warps that have not skipped their region yet, by warp slot.
    told: BTreeMap<u8, (RegionEntry, Vec<Word>)>,
    /// Regions that warps execute, by warp slot, until their end.
    inside: BTreeMap<u8, RegionEntry>,
    /// Credit by kernel slot and region.
    standings: BTreeMap<(u8, u16), Standing>,
    counters: MemoCounters,
}

impl MemoSm {
    pub(super) fn new(id: u32, options: MemoSettings, probes: &Probes) -> Self {
        let mut own = MemoSm {
            assists: Deployment::new(id, &options.controllers, options.latencies, routines(), probes),
            options,
            table: SharedTable::default(),
            waiting: VecDeque::new(),
            answers: VecDeque::new(),
            told: BTreeMap::new(),
            inside: BTreeMap::new(),
            standings: BTreeMap::new(),
            counters: MemoCounters::default(),
        };
        own.fit_table(options.shared_bytes);
        own
    }

    /// Returns the words for a region's assist warps: its tag, the shift of its hash, the inputs, the results, and a number
    /// that is alternately even and odd.
    fn words(&self, work: &MemoWork) -> Vec<Word> {
        let RegionEntry { kernel, region, inputs, .. } = &work.entry;
        let tag = 1 + (u32::from(*kernel) << 16 | u32::from(*region));
        let shift = self.table.lock().shift();
        let turn = [self.counters.stored as u32; 32];
        [[tag; 32], [shift; 32]].iter().chain(inputs).chain(&work.results).chain([&turn]).copied().collect()
    }

    /// Resizes the table to the free shared memory `left`. A resize clears the table.
    fn fit_table(&mut self, left: u32) {
        let entries = entries_in(left, self.options.entries);
        // The table grows only while no CTA is on the SM. Otherwise each CTA that ends would clear it.
        let is_alone = left == self.options.shared_bytes;
        let own = self.table.lock().size();
        if entries < own || entries > own && is_alone {
            self.table.lock().clear(entries);
            self.counters.cleared += u64::from(own > 0);
            self.counters.entries = self.counters.entries.max(u64::from(entries));
        }
    }

    /// Updates a region's credit after a look-up.
    fn judge(&mut self, entry: &RegionEntry, now: u64, is_known: bool) {
        let fresh = Standing { credit: CREDIT.first, from: 0 };
        let standing = self.standings.entry((entry.kernel, entry.region)).or_insert(fresh);
        if is_known {
            standing.credit = (standing.credit + CREDIT.found).min(CREDIT.most);
        } else if standing.credit > CREDIT.missed {
            standing.credit -= CREDIT.missed;
        } else if standing.from <= now {
            *standing = Standing { credit: CREDIT.rested, from: now + REST };
            self.counters.given_up += 1;
        }
    }

    /// Handles the result of an assist warp.
    fn finish(&mut self, assist: AssistWarp<MemoWork>, now: u64) {
        let is_known = assist.made().is_some();
        let found = assist.lanes.predicate(FOUND);
        let MemoWork { mut entry, results } = assist.work;
        if !results.is_empty() {
            self.counters.stored += 1;
            return;
        }
        let warp = entry.warp;
        self.judge(&entry, now, is_known);
        self.counters.found += u64::from(is_known);
        if is_known {
            self.told.insert(warp, (entry, assist.lanes.region.given));
        } else {
            // The lanes that were found need no store.
            entry.mask &= !found;
            self.inside.insert(warp, entry);
        }
        self.answers.push_back(RegionReply { warp, is_known });
    }

    fn shape(work: &MemoWork) -> Option<RegionShape> {
        RegionShape::of(work.entry.inputs.len(), work.entry.results)
    }
}

impl SmPart for MemoSm {
    fn tick(&mut self, now: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.assists.check()?;
        while let Some(assist) = self.assists.take_done(now) {
            self.finish(assist, now);
        }
        let next = self.waiting.iter().position(|work| !self.assists.has_assist(work.entry.warp));
        let wanted = next.and_then(|at| {
            let work = &self.waiting[at];
            let shape = Self::shape(work)?;
            let event = if work.is_lookup() { shape.lookup_event() } else { shape.store_event() };
            Some(Wanted { event, warp: work.entry.warp, mask: Some(work.entry.mask) })
        });
        let is_taken = self.assists.step(now, wanted)?;
        if let Some(work) = next.filter(|_| is_taken).and_then(|at| self.waiting.remove(at)) {
            let region = ParentRegion {
                words: self.words(&work),
                given: Vec::new(),
                table: Some(SharedTable::clone(&self.table)),
            };
            self.assists.start(work.entry.warp, true, work, Lanes::of_region(region));
        }
        Ok(())
    }

    fn busy(&self) -> bool {
        self.assists.busy() || !self.waiting.is_empty() || !self.answers.is_empty()
    }

    fn counters(&self, out: &mut MechanismCounters) {
        self.assists.count(out);
        self.counters.report(out);
    }

    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.assists.traces());
    }

    has!(&warp_hold: WarpHold);
    has!(assist: AssistIssue, memo: RegionMemo, l1d_observer: L1dObserver, warp_observer: WarpObserver);
}

impl WarpHold for MemoSm {
    fn held_warps(&self) -> WarpMask {
        self.waiting.iter().fold(self.assists.held_warps(), |held, work| held | 1 << work.entry.warp)
    }
}

impl AssistIssue for MemoSm {
    fn extras(&mut self, now: u64) -> Option<Extras> {
        self.assists.extras(now)
    }

    fn issue_extra(&mut self, now: u64, warp: u8) -> u32 {
        self.assists.issue_extra(now, warp)
    }

    fn issue_ended(&mut self, report: &IssueReport) {
        self.assists.issue_ended(report);
    }

    fn issue_idle_extra(&mut self, _: u64) {}
}

impl RegionMemo for MemoSm {
    fn wants_region(&mut self, now: u64, kernel: u8, number: u16, region: &KernelRegion) -> bool {
        let fits = RegionShape::of(KernelRegion::words(&region.inputs), KernelRegion::words(&region.results))
            .is_some();
        let rests = self.standings.get(&(kernel, number)).is_some_and(|standing| standing.from > now);
        let is_worth_it = region.has_loop || region.end - region.start >= self.options.least;
        fits && is_worth_it && !rests && self.table.lock().size() > 0
    }

    fn region_entered(&mut self, _: u64, entry: RegionEntry) {
        self.counters.asked += 1;
        self.inside.remove(&entry.warp);
        self.waiting.push_back(MemoWork { entry, results: Vec::new() });
    }

    fn region_reply(&mut self) -> Option<RegionReply> {
        self.answers.pop_front()
    }

    fn region_skipped(
        &mut self,
        warp: u8,
        instructions: u64,
        results: &[Word],
    ) -> Result<(), MechanismFault> {
        self.counters.skipped += instructions;
        let Some((RegionEntry { region, mask, .. }, found)) = self.told.remove(&warp) else { return Ok(()) };
        let wrong = found.iter().zip(results).find(|(found, computed)| !agree(found, computed, mask));
        let Some((found, computed)) = wrong else {
            debug_assert_eq!(found.len(), results.len(), "an entry has all results");
            return Ok(());
        };
        let lane = (0..32).find(|lane| mask >> lane & 1 == 1 && found[*lane] != computed[*lane]).unwrap_or(0);
        let instance = self.assists.name(warp).into();
        let (found, computed) = (found[lane], computed[lane]);
        Err(Box::new(WrongResult { instance, region, warp, lane, found, computed }))
    }

    fn region_computed(&mut self, _: u64, warp: u8, results: Vec<Word>) {
        if let Some(entry) = self.inside.remove(&warp) {
            self.waiting.push_back(MemoWork { entry, results });
        }
    }

    fn free_shared_bytes(&mut self, bytes: u32) {
        self.fit_table(bytes);
    }
}

impl L1dObserver for MemoSm {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        // The next kernel has other regions, and constants may have changed.
        if let L1dEvent::Flushed { .. } = event {
            let entries = self.table.lock().size();
            self.table.lock().clear(entries);
            self.standings.clear();
            self.counters.cleared += u64::from(entries > 0);
        }
    }
}

impl WarpObserver for MemoSm {
    fn stores_awaited(&mut self, _: u8, _: bool) {}

    fn warp_exited(&mut self, warp: u8) {
        debug_assert!(!self.assists.has_assist(warp), "an assist warp outlives its parent");
        self.inside.remove(&warp);
    }
}
