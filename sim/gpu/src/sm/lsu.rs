//! The load/store unit: memory instructions in program order, one L1D transaction or bank cycle at a time.
use crate::config::Side;
use crate::sm::coalescer::{Transaction, bank_conflict_degree, coalesce};
use crate::sm::read_only::constant_transactions;
use selvedge_ptx::ptx::{AccessKind, CacheOp, MemAccess, Space};
use selvedge_state::State;
use std::collections::VecDeque;

/// Handle of a memory instruction in flight.
pub type InstId = u32;

/// A memory instruction from issue to the last of its data.
#[derive(Debug, State)]
pub struct MemInst {
    /// Warp slot.
    pub warp: u8,
    /// CTA slot.
    pub cta: u8,
    /// Kernel slot.
    pub kernel: u8,
    /// Index of the instruction, for its destination registers.
    pub pc: u32,
    /// Load, store or atomic.
    pub kind: AccessKind,
    /// Whether the warp waits for registers.
    pub writes_back: bool,
    /// Whether it bypasses the L1D (volatile and cache-global accesses).
    pub bypass: bool,
    /// Whether the next transaction bypasses the L1D. Not known before it was its turn.
    pub passes: Option<bool>,
    /// The core cycle in which the next transaction came to the L1D; not known before it was its turn.
    pub asked: Option<u64>,
    /// Whether it is of shared memory and not of the L1D path.
    pub shared: bool,
    /// The read-only cache that it reads through, rather than the L1D.
    pub side: Option<Side>,
    /// First cycle in which address generation is through.
    pub ready_at: u64,
    /// Cycles that the shared-memory banks need.
    pub bank_cycles: u32,
    /// Transactions still to be sent or answered.
    pub outstanding: u32,
    /// Transactions that are in flight to the L1D's tags or have passed them, where there is such a way.
    pub entered: usize,
    /// Index of the next transaction to send.
    pub next: usize,
    /// The coalesced transactions.
    pub transactions: Vec<Transaction>,
}

/// The queue of one SM's load/store unit and the instructions in flight.
#[derive(State)]
pub struct Lsu {
    capacity: usize,
    queue: VecDeque<InstId>,
    /// The first of the queue.
    head: Option<InstId>,
    insts: Vec<MemInst>,
    free: Vec<InstId>,
    live: usize,
    /// The shared-memory banks are busy until this cycle.
    pub banks_free_at: u64,
}

/// What is known of a memory instruction when it issues.
pub struct Issued {
    /// Warp slot.
    pub warp: u8,
    /// CTA slot.
    pub cta: u8,
    /// Kernel slot.
    pub kernel: u8,
    /// Index of the instruction.
    pub pc: u32,
    /// Whether the warp waits for registers.
    pub writes_back: bool,
    /// First cycle in which address generation is through.
    pub ready_at: u64,
    /// The read-only cache that it reads through, if it does.
    pub side: Option<Side>,
}

impl Lsu {
    /// An empty unit for `capacity` waiting instructions.
    pub fn new(capacity: u32) -> Self {
        Lsu {
            capacity: capacity as usize,
            queue: VecDeque::with_capacity(capacity as usize),
            head: None,
            insts: Vec::new(),
            free: Vec::new(),
            live: 0,
            banks_free_at: 0,
        }
    }

    /// Returns whether one more instruction can wait.
    pub fn has_room(&self) -> bool {
        self.queue.len() < self.capacity
    }

    /// Takes an issued instruction: coalesces its addresses or counts its bank conflicts.
    pub fn accept(&mut self, issued: &Issued, access: &MemAccess, line_bytes: u32, banks: u32) -> InstId {
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
        inst.writes_back = issued.writes_back;
        inst.bypass = matches!(access.cache, CacheOp::Global | CacheOp::Volatile);
        inst.shared = access.space == Space::Shared;
        inst.side = issued.side;
        inst.ready_at = issued.ready_at;
        inst.entered = 0;
        inst.next = 0;
        inst.passes = None;
        inst.asked = None;
        inst.transactions.clear();
        if inst.shared {
            inst.bank_cycles = bank_conflict_degree(access, banks);
            inst.outstanding = 1;
        } else if inst.side == Some(Side::Constant) {
            constant_transactions(access, line_bytes, &mut inst.transactions);
            inst.outstanding = inst.transactions.len() as u32;
        } else {
            coalesce(access, line_bytes, &mut inst.transactions);
            inst.outstanding = inst.transactions.len() as u32;
        }
        self.queue.push_back(id);
        self.head.get_or_insert(id);
        id
    }

    /// The instruction whose turn it is.
    pub fn head(&self) -> Option<InstId> {
        self.head
    }

    /// The head has sent its last transaction.
    pub fn pop(&mut self) {
        self.queue.pop_front();
        self.head = self.queue.front().copied();
    }

    /// Takes the first instruction of queue `at` to the head, or if there is none the first of the queue with the lowest
    /// number; true when that was not the head already.
    pub fn go_on_with(&mut self, at: u8, queue_of: impl Fn(&MemInst) -> u8) -> bool {
        let rank = |id: &InstId| {
            let queue = queue_of(&self.insts[*id as usize]);
            (queue != at, queue)
        };
        // Of equals the first is the least: each queue stays in the order of issue.
        let next = self.queue.iter().map(rank).enumerate().min_by_key(|(_, rank)| *rank);
        let Some((place, _)) = next.filter(|(place, _)| *place > 0) else { return false };
        let id = self.queue.remove(place).expect("it waits");
        self.queue.push_front(id);
        self.head = Some(id);
        true
    }

    /// An instruction in flight, to read.
    pub fn peek(&self, id: InstId) -> &MemInst {
        &self.insts[id as usize]
    }

    /// An instruction in flight.
    pub fn get(&mut self, id: InstId) -> &mut MemInst {
        &mut self.insts[id as usize]
    }

    /// One transaction of `id` is answered; true when it was the last.
    pub fn answered(&mut self, id: InstId) -> bool {
        let inst = &mut self.insts[id as usize];
        debug_assert!(inst.outstanding > 0, "answer to a completed instruction");
        inst.outstanding -= 1;
        inst.outstanding == 0
    }

    /// Forgets a completed instruction.
    pub fn retire(&mut self, id: InstId) {
        self.live -= 1;
        self.free.push(id);
    }

    /// Memory instructions in flight, those waiting included.
    pub fn in_flight(&self) -> usize {
        self.live
    }

    /// Memory instructions that wait for their turn.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }
}

impl MemInst {
    /// Returns its next transaction.
    #[inline]
    pub fn transaction(&self) -> &Transaction {
        &self.transactions[self.next]
    }

    /// Returns whether it goes through the L1D, and does not bypass it to the L2.
    pub fn is_on_l1d_path(&self) -> bool {
        !self.shared && self.side.is_none()
    }

    fn empty() -> Self {
        MemInst {
            warp: 0,
            cta: 0,
            kernel: 0,
            pc: 0,
            kind: AccessKind::Load,
            writes_back: false,
            bypass: false,
            passes: None,
            asked: None,
            shared: false,
            side: None,
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
        let mut lsu = Lsu::new(2);
        let issued = Issued { warp: 0, cta: 0, kernel: 0, pc: 0, writes_back: true, ready_at: 0, side: None };
        for _ in 0..2 {
            assert!(lsu.has_room());
            lsu.accept(&issued, &MemAccess::new(), 128, 32);
        }
        assert!(!lsu.has_room());
        lsu.pop();
        assert!(lsu.has_room());
    }
}
