//! The L1 data cache: tags, MSHRs and the miss queue, with reservation failures counted by cause.
//!
//! Write-evict, no write-allocate: a store invalidates the line it hits and goes to the L2.
use crate::cache::{MshrTable, Probe, TagArray};
use crate::config::{Allocate, L1d as L1dConfig};
use crate::memory::program_of;
use crate::packet::{Packet, PacketKind};
use crate::sm::launch::KERNEL_SLOTS;
use crate::sm::lsu::InstId;
use crate::stats::{CacheCounters, Decision, FailCause};
use std::collections::VecDeque;

/// What became of one load transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The line is there.
    Hit,
    /// The line is on its way; the instruction waits with those that asked before.
    Pending,
    /// A miss was sent.
    Miss,
    /// A resource is missing; the access must be tried again.
    Fail(FailCause),
}

/// The L1 data cache of one SM.
pub struct L1d {
    config: L1dConfig,
    tags: TagArray<()>,
    mshr: MshrTable<InstId>,
    /// When each MSHR was taken, in core cycles.
    missed_at: Vec<u64>,
    miss_queue: VecDeque<Packet>,
    /// Accesses and their outcomes.
    pub counters: CacheCounters,
    /// The same by kernel slot.
    pub by_kernel: [CacheCounters; KERNEL_SLOTS],
}

impl L1d {
    /// An empty cache.
    pub fn new(config: &L1dConfig) -> Self {
        L1d {
            config: *config,
            tags: TagArray::new(config.sets, config.ways, config.line_bytes, config.index),
            mshr: MshrTable::new(config.mshr_entries, config.mshr_merges),
            missed_at: vec![0; config.mshr_entries as usize],
            miss_queue: VecDeque::with_capacity(config.miss_queue as usize),
            counters: CacheCounters::default(),
            by_kernel: [CacheCounters::default(); KERNEL_SLOTS],
        }
    }

    /// Invalidates every line, as at the start of a kernel. Nothing may be in flight.
    pub fn invalidate_all(&mut self) {
        debug_assert!(self.mshr.is_empty(), "misses in flight");
        self.tags =
            TagArray::new(self.config.sets, self.config.ways, self.config.line_bytes, self.config.index);
    }

    /// Invalidates the lines of one program, as at the start of its kernel while others run. None of its own may be in
    /// flight.
    pub fn invalidate_program(&mut self, program: u8) {
        self.tags.invalidate_valid(|line| program_of(line) == program);
    }

    /// Looks up the line of a load in core cycle `now`; on a miss `packet` is queued for the L2.
    pub fn load(&mut self, packet: Packet, inst: InstId, now: u64) -> Access {
        let outcome = self.try_load(packet, inst, now);
        let decision = match outcome {
            Access::Hit => Decision::Hit,
            Access::Pending => Decision::Pending,
            Access::Miss => Decision::Miss,
            Access::Fail(_) => return outcome,
        };
        self.decide(decision, false, packet.kernel, packet.line);
        outcome
    }

    fn try_load(&mut self, packet: Packet, inst: InstId, now: u64) -> Access {
        if let Probe::Hit(slot) = self.tags.probe(packet.line) {
            self.tags.touch(slot);
            return Access::Hit;
        }
        if let Some(id) = self.mshr.find(packet.line) {
            if !self.mshr.can_merge(id) {
                return Access::Fail(FailCause::MshrMerge);
            }
            self.mshr.merge(id, inst);
            return Access::Pending;
        }
        if !self.mshr.can_allocate() {
            return Access::Fail(FailCause::MshrEntry);
        }
        if !self.can_queue() {
            return Access::Fail(FailCause::MissQueue);
        }
        if self.config.allocate == Allocate::OnMiss {
            let Some(victim) = self.tags.victim(packet.line) else { return Access::Fail(FailCause::Line) };
            self.tags.reserve(victim.slot, packet.line);
        }
        let id = self.mshr.allocate(packet.line, inst);
        self.missed_at[id.index()] = now;
        self.miss_queue.push_back(packet);
        Access::Miss
    }

    /// A store or atomic passes: the line it hits is evicted. The caller queues the packet.
    pub fn write(&mut self, kernel: u8, line: u64) {
        let decision = match self.tags.probe(line) {
            Probe::Hit(slot) => {
                self.tags.invalidate(slot);
                Decision::Hit
            }
            _ => Decision::Miss,
        };
        self.decide(decision, true, kernel, line);
    }

    fn decide(&mut self, decision: Decision, is_write: bool, kernel: u8, line: u64) {
        self.counters.decide(decision, is_write, line);
        self.by_kernel[usize::from(kernel)].decide(decision, is_write, line);
    }

    /// A kernel's load passes by the cache: counted, not looked up.
    pub fn bypass(&mut self, kernel: u8) {
        self.counters.bypasses += 1;
        self.by_kernel[usize::from(kernel)].bypasses += 1;
    }

    /// A kernel's access could not be decided in so many cycles.
    pub fn fail(&mut self, kernel: u8, cause: FailCause, cycles: u64) {
        self.counters.reservation_fails.add(cause, cycles);
        self.by_kernel[usize::from(kernel)].reservation_fails.add(cause, cycles);
    }

    /// The data of `line` have come; the waiting instructions are appended to `woken` in order of arrival. Gives the
    /// core cycle of the miss.
    ///
    /// # Panics
    /// When there was no miss of that line.
    pub fn fill(&mut self, line: u64, woken: &mut Vec<InstId>) -> u64 {
        match (self.config.allocate, self.tags.probe(line)) {
            (_, Probe::Reserved(slot)) => self.tags.fill(slot),
            (Allocate::OnFill, Probe::Miss) => {
                if let Some(victim) = self.tags.victim(line) {
                    self.tags.reserve(victim.slot, line);
                    self.tags.fill(victim.slot);
                }
            }
            _ => {}
        }
        let id = self.mshr.find(line).expect("a fill answers a miss");
        self.mshr.release(line, woken);
        self.missed_at[id.index()]
    }

    /// Is there room in the miss queue?
    pub fn can_queue(&self) -> bool {
        self.miss_queue.len() < self.config.miss_queue as usize
    }

    /// Queues a store or atomic for the L2; the caller has checked [`L1d::can_queue`].
    pub fn queue(&mut self, packet: Packet) {
        debug_assert!(self.can_queue(), "miss queue overflow");
        self.miss_queue.push_back(packet);
    }

    /// The packet that the crossbar should take next.
    pub fn outgoing(&self) -> Option<&Packet> {
        self.miss_queue.front()
    }

    /// Removes and returns the packet that the crossbar took.
    pub fn sent(&mut self) -> Option<Packet> {
        self.miss_queue.pop_front()
    }

    /// Is nothing in flight?
    pub fn is_idle(&self) -> bool {
        self.miss_queue.is_empty() && self.mshr.is_empty()
    }

    /// Misses in flight, for a deadlock report.
    pub fn describe_waiting(&self) -> String {
        format!("{} misses in flight, {} packets in the miss queue", self.mshr.len(), self.miss_queue.len())
    }
}

/// The packet kinds that the L1D sends.
pub fn kind_of(access: crate::ptx::AccessKind) -> PacketKind {
    match access {
        crate::ptx::AccessKind::Load => PacketKind::Read,
        crate::ptx::AccessKind::Store => PacketKind::Write,
        crate::ptx::AccessKind::Atomic { .. } => PacketKind::Atomic,
    }
}
