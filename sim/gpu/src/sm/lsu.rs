//! The load/store unit, which executes memory instructions in program order, one L1D transaction or bank cycle at a time.
use super::coalescer::{
    Transaction, bank_conflict_degree, coalesce, constant_transactions, count_operations, split_segments,
};
use super::token::InstId;
use crate::config::{self, ReadOnlyCache};
use selvedge_ptx::ptx::{AccessKind, CacheOp, Kernel, MemAccess, Space};
use selvedge_state::State;
use std::collections::VecDeque;

/// A memory instruction from issue until its last data arrive.
#[derive(Debug, State)]
pub struct MemInst {
    /// Warp slot.
    pub warp: u8,
    /// CTA slot.
    pub cta: u8,
    /// Program.
    pub kernel: u8,
    /// Index of the instruction in the code, which gives its destination registers.
    pub pc: u32,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Bytes per lane.
    pub lane_bytes: u8,
    /// `true` if the instruction writes registers.
    pub writes_back: bool,
    /// `true` if all its transactions bypass the L1D (volatile and cache-global accesses).
    pub bypass: bool,
    /// Bypass decision for the next transaction; `None` until it is tried for the first time.
    pub bypasses: Option<bool>,
    /// The core cycle in which the next transaction reached the L1D; `None` until it is tried for the first time.
    pub asked: Option<u64>,
    /// `true` for an access to shared memory, which does not use the L1D.
    pub shared: bool,
    /// `true` for an access to the shared memory of another CTA of the cluster.
    pub remote: bool,
    /// The read-only cache that it uses instead of the L1D.
    pub read_only: Option<ReadOnlyCache>,
    /// First cycle after address generation.
    pub ready_at: u64,
    /// Cycles for which it occupies the shared-memory banks.
    pub bank_cycles: u32,
    /// Transactions that have not been answered, sent or not.
    pub outstanding: u32,
    /// Transactions that have entered the latency queue, if there is one.
    pub entered: usize,
    /// Index of the next transaction to send.
    pub next: usize,
    /// The coalesced transactions.
    pub transactions: Vec<Transaction>,
}

/// The queue of an SM's load/store unit, and all memory instructions in flight.
#[derive(State)]
pub struct Lsu {
    capacity: usize,
    /// Splits transactions of small elements into segments (`sm.lsu.segments`).
    segments: bool,
    queue: VecDeque<InstId>,
    /// The first instruction of the queue.
    head: Option<InstId>,
    insts: Vec<MemInst>,
    free: Vec<InstId>,
    live: usize,
    /// First cycle in which the shared-memory banks are free.
    pub banks_free_at: u64,
}

/// The properties of a memory instruction at its issue.
pub struct IssuedAccess {
    /// Warp slot.
    pub warp: u8,
    /// CTA slot.
    pub cta: u8,
    /// Program.
    pub kernel: u8,
    /// Index of the instruction in the code.
    pub pc: u32,
    /// `true` if the instruction writes registers.
    pub writes_back: bool,
    /// First cycle after address generation.
    pub ready_at: u64,
    /// The read-only cache that it uses, if any.
    pub read_only: Option<ReadOnlyCache>,
}

impl Lsu {
    /// Returns an idle unit.
    pub fn new(config: &config::LsuConfig) -> Self {
        let capacity = config.queue as usize;
        Lsu {
            capacity,
            segments: config.segments,
            queue: VecDeque::with_capacity(capacity),
            head: None,
            insts: Vec::new(),
            free: Vec::new(),
            live: 0,
            banks_free_at: 0,
        }
    }

    /// Returns whether the queue can take one more instruction.
    pub fn has_room(&self) -> bool {
        self.queue.len() < self.capacity
    }

    /// Takes an issued instruction: coalesces its addresses, or counts its bank conflicts.
    pub fn accept(
        &mut self,
        issued: &IssuedAccess,
        access: &MemAccess,
        line_bytes: u32,
        banks: u32,
    ) -> InstId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.insts.push(MemInst::empty());
            self.insts.len() as InstId - 1
        });
        self.live += 1;
        let inst = &mut self.insts[id as usize];
        inst.warp = issued.warp;
        inst.cta = issued.cta;
        inst.kernel = issued.kernel;
        inst.pc = issued.pc;
        inst.kind = access.kind;
        inst.lane_bytes = access.bytes;
        inst.writes_back = issued.writes_back;
        inst.bypass = matches!(access.cache, CacheOp::Global | CacheOp::Volatile);
        inst.shared = access.space == Space::Shared;
        inst.remote = false;
        inst.read_only = issued.read_only;
        inst.ready_at = issued.ready_at;
        inst.entered = 0;
        inst.next = 0;
        inst.bypasses = None;
        inst.asked = None;
        inst.transactions.clear();
        if inst.shared {
            inst.bank_cycles = bank_conflict_degree(access, banks);
            inst.outstanding = 1;
        } else if inst.read_only == Some(ReadOnlyCache::Constant) {
            constant_transactions(access, line_bytes, &mut inst.transactions);
            inst.outstanding = inst.transactions.len() as u32;
        } else {
            coalesce(access, line_bytes, &mut inst.transactions);
            count_operations(access, line_bytes, &mut inst.transactions);
            if self.segments && inst.read_only.is_none() && !matches!(access.kind, AccessKind::Atomic { .. })
            {
                split_segments(access.bytes, &mut inst.transactions);
            }
            inst.outstanding = inst.transactions.len() as u32;
        }
        self.queue.push_back(id);
        self.head.get_or_insert(id);
        id
    }

    /// Returns the first instruction of the queue.
    pub fn head(&self) -> Option<InstId> {
        self.head
    }

    /// Removes the first instruction, which has sent its last transaction.
    pub fn pop(&mut self) {
        self.queue.pop_front();
        self.head = self.queue.front().copied();
    }

    /// Moves the oldest instruction of queue `at` to the head. If it has none, moves the oldest instruction of the nonempty queue
    /// with the lowest number. Returns whether the head changed.
    pub fn go_on_with(&mut self, at: u8, queue_of: impl Fn(&MemInst) -> u8) -> bool {
        let rank = |id: &InstId| {
            let queue = queue_of(&self.insts[*id as usize]);
            (queue != at, queue)
        };
        // `min_by_key` returns the first of equal elements, so that each queue stays in the order of issue.
        let next = self.queue.iter().map(rank).enumerate().min_by_key(|(_, rank)| *rank);
        let Some((place, _)) = next.filter(|(place, _)| *place > 0) else { return false };
        let id = self.queue.remove(place).expect("it waits");
        self.queue.push_front(id);
        self.head = Some(id);
        true
    }

    /// Returns an instruction in flight, for reading.
    pub fn peek(&self, id: InstId) -> &MemInst {
        &self.insts[id as usize]
    }

    /// Returns an instruction in flight, for changes.
    pub fn get(&mut self, id: InstId) -> &mut MemInst {
        &mut self.insts[id as usize]
    }

    /// Counts a reply to a transaction of `id`. Returns whether it was the last.
    pub fn answered(&mut self, id: InstId) -> bool {
        let inst = &mut self.insts[id as usize];
        debug_assert!(inst.outstanding > 0, "answer to a completed instruction");
        inst.outstanding -= 1;
        inst.outstanding == 0
    }

    /// Returns the copies to shared memory of a warp of `kernel` that are in flight.
    pub fn copies_of(&self, warp: u8, kernel: &Kernel) -> Vec<InstId> {
        let is_one = |inst: &MemInst| {
            let is_load = inst.warp == warp && inst.kind == AccessKind::Load && inst.outstanding > 0;
            is_load && kernel.code[inst.pc as usize].is_copy()
        };
        (0..).zip(&self.insts).filter(|(_, inst)| is_one(inst)).map(|(id, _)| id).collect()
    }

    /// Frees the entry of a completed instruction.
    pub fn retire(&mut self, id: InstId) {
        self.live -= 1;
        self.free.push(id);
    }

    /// Returns the number of memory instructions in flight, including those in the queue.
    pub fn in_flight(&self) -> usize {
        self.live
    }

    /// Returns the number of memory instructions in the queue.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}

impl MemInst {
    /// Returns the next transaction to send.
    #[inline]
    pub fn transaction(&self) -> &Transaction {
        &self.transactions[self.next]
    }

    /// Returns whether the instruction accesses global or local memory through the L1D path, including bypasses of the L1D.
    pub fn is_on_l1d_path(&self) -> bool {
        !self.shared && self.read_only.is_none()
    }

    /// Returns whether it is an atomic, which the L2 executes.
    pub fn is_atomic(&self) -> bool {
        matches!(self.kind, AccessKind::Atomic { .. })
    }

    /// Returns whether its transactions pass the latency queue, if the configuration has one.
    pub fn has_latency(&self) -> bool {
        self.is_on_l1d_path() && !self.is_atomic()
    }

    fn empty() -> Self {
        MemInst {
            warp: 0,
            cta: 0,
            kernel: 0,
            pc: 0,
            kind: AccessKind::Load,
            lane_bytes: 0,
            writes_back: false,
            bypass: false,
            bypasses: None,
            asked: None,
            shared: false,
            remote: false,
            read_only: None,
            ready_at: 0,
            bank_cycles: 0,
            outstanding: 0,
            entered: 0,
            next: 0,
            transactions: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_instructions_wait_as_there_are_places() {
        let mut config = crate::config::GpuConfig::load("gtx480").expect("built in").sm.lsu;
        config.queue = 2;
        let mut lsu = Lsu::new(&config);
        let issued = IssuedAccess {
            warp: 0,
            cta: 0,
            kernel: 0,
            pc: 0,
            writes_back: true,
            ready_at: 0,
            read_only: None,
        };
        for _ in 0..2 {
            assert!(lsu.has_room());
            lsu.accept(&issued, &MemAccess::new(), 128, 32);
        }
        assert!(!lsu.has_room());
        lsu.pop();
        assert!(lsu.has_room());
    }
}
