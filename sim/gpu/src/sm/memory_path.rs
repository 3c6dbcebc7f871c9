//! The path between an SM's load/store unit and the crossbar: latency queue, L1D and read-only caches.
use super::l1d::{self, L1d};
use super::l1d_banks::{BankSet, L1dBanks};
use super::latency_queue::LatencyQueue;
use super::lsu::{Lsu, MemInst};
use super::part::Load;
use super::read_only::ReadOnlyCaches;
use super::token::{InstId, ReplyToken};
use crate::cache::SECTOR_BYTES;
use crate::config::{GpuConfig, ReadOnlyCache};
use crate::packet::{Operations, Packet, PacketKind};
use crate::partition::AddressMap;
use crate::stats::FailCause;
use crate::witness::Witness;
use selvedge_ptx::memory::physical;
use selvedge_ptx::ptx::AccessKind;
use selvedge_state::State;
use std::collections::VecDeque;

/// The memory path of an SM.
#[derive(State)]
pub struct MemoryPath {
    /// Number of the SM.
    sm: u16,
    pub lsu: Lsu,
    banks: L1dBanks,
    pub latency_queue: LatencyQueue,
    pub l1d: L1d,
    pub read_only: ReadOnlyCaches,
    map: AddressMap,
    /// A reply that the mechanism has no room for yet.
    pub held_reply: Option<Packet>,
    /// Hits and their lines that the mechanism has no room for yet, oldest first.
    pub waiting_hits: VecDeque<(InstId, u64)>,
    /// `true` if the L1D's packet waits only for room in the crossbar.
    waits_for_port: bool,
    /// The cause that blocks the load/store unit's head, if nothing has changed since its failure.
    pub blocked: Option<FailCause>,
    /// Memory for the instructions or warps that a fill wakes.
    woken: Vec<InstId>,
    pub witness: Witness,
}

impl MemoryPath {
    /// Returns the empty memory path of SM `sm`. `has_one_port`: the L1D takes one transaction per cycle in spite of its banks.
    pub fn new(sm: u16, config: &GpuConfig, has_one_port: bool) -> Self {
        let banks = L1dBanks::new(if has_one_port { 1 } else { config.l1d.banks });
        MemoryPath {
            sm,
            lsu: Lsu::new(&config.sm.lsu),
            banks,
            latency_queue: LatencyQueue::new(config.l1d.front_latency, config.l1d.banks),
            l1d: L1d::new(&config.l1d),
            read_only: ReadOnlyCaches::new(&config.sm),
            map: AddressMap::new(&config.l2),
            held_reply: None,
            waiting_hits: VecDeque::new(),
            waits_for_port: false,
            blocked: None,
            woken: Vec::new(),
            witness: Witness::default(),
        }
    }

    /// Lets `witness` follow the contents of the caches.
    pub fn watch(&mut self, witness: &Witness) {
        self.witness = witness.clone();
        self.l1d.watch(witness, self.sm);
        self.read_only.watch(witness, self.sm);
    }

    /// Returns whether no request is in flight.
    pub fn is_idle(&self) -> bool {
        self.lsu.in_flight() == 0
            && self.l1d.is_idle()
            && self.read_only.is_idle()
            && self.held_reply.is_none()
    }

    /// Returns whether a packet waits for the request crossbar.
    #[inline]
    pub fn has_to_send(&self) -> bool {
        self.l1d.outgoing().is_some() || self.read_only.has_work()
    }

    /// Removes and returns the next packet that `can_leave`, round-robin over the caches.
    #[inline]
    pub fn take_outgoing(&mut self, can_leave: impl Fn(&Packet) -> bool) -> Option<Packet> {
        let cache = self.read_only.next_queue(&self.l1d, can_leave)?;
        let packet = self.cache(cache).sent();
        self.unblock(Some(FailCause::MissQueue));
        packet
    }

    /// Returns the packet that waits for room in the crossbar, if room would wake the SM.
    pub fn port_wait(&self) -> Option<&Packet> {
        if self.waits_for_port { self.l1d.outgoing() } else { None }
    }

    /// Ends a cycle in which a packet was `sent` or not. Returns whether the SM needs the next cycle, for the caches or because
    /// the mechanism `is_busy`. A packet of the L1D without room in the crossbar waits until there is room
    /// ([`Self::port_wait`]). After one packet was sent, the next one may have room at once.
    #[inline(always)]
    pub fn needs_next_cycle(&mut self, sent: bool, is_busy: impl FnOnce() -> bool) -> bool {
        let has_packet = self.l1d.outgoing().is_some();
        let soon = sent && has_packet || self.read_only.has_work() || self.held_reply.is_some() || is_busy();
        self.waits_for_port = has_packet && !soon;
        soon
    }

    /// Returns the first cycle, at least `soon`, in which a memory instruction or transaction may leave its queue.
    #[inline(always)]
    pub fn next_access(&self, soon: u64) -> u64 {
        let mut next = u64::MAX;
        if let (Some(head), None) = (self.lsu.head(), self.blocked)
            && self.may_leave_lsu(head)
        {
            next = next.min(self.ready_at(head).max(soon));
        }
        if let (Some(oldest), None) = (self.latency_queue.oldest(), self.latency_queue.blocked) {
            next = next.min(oldest.at.max(soon));
        }
        next
    }

    /// Returns whether the load/store unit leaves the L1D's port free in cycle `now`.
    pub fn l1d_port_is_free(&self, now: u64) -> bool {
        match self.latency_queue.is_there() {
            true => self.latency_queue.oldest().is_none_or(|oldest| oldest.at > now),
            false => self.lsu.head().is_none_or(|head| self.ready_at(head) > now),
        }
    }

    /// Returns whether the head's next transaction may leave the load/store unit, for the latency queue or past it.
    #[inline(always)]
    fn may_leave_lsu(&self, head: InstId) -> bool {
        if !self.latency_queue.is_there() {
            return true;
        }
        let inst = self.lsu.peek(head);
        match inst.has_latency() {
            true => self.latency_queue.has_room(self.banks_of(head, inst.entered)),
            false => !self.is_behind_its_warp(head),
        }
    }

    /// Returns the first cycle in which the head may access memory.
    #[inline(always)]
    pub fn ready_at(&self, head: InstId) -> u64 {
        let inst = self.lsu.peek(head);
        if inst.shared { inst.ready_at.max(self.lsu.banks_free_at) } else { inst.ready_at }
    }

    /// Returns whether `head` is an atomic that must wait for earlier accesses of its warp in the latency queue.
    #[inline(always)]
    pub fn is_behind_its_warp(&self, head: InstId) -> bool {
        let inst = self.lsu.peek(head);
        inst.is_on_l1d_path()
            && inst.is_atomic()
            && self.latency_queue.instructions().any(|before| self.lsu.peek(before).warp == inst.warp)
    }

    /// Returns whether the latency queue holds the transactions of `head`.
    #[inline]
    pub fn is_in_latency_queue(&self, head: InstId) -> bool {
        self.latency_queue.is_there() && self.lsu.peek(head).has_latency()
    }

    /// Returns whether the L1D takes several transactions per cycle.
    #[inline(always)]
    pub fn has_banks(&self) -> bool {
        self.banks.are_several()
    }

    /// Returns the L1D banks of transaction `number` of an instruction.
    #[inline(always)]
    pub fn banks_of(&self, inst: InstId, number: usize) -> BankSet {
        self.banks.of(&self.lsu.peek(inst).transactions[number])
    }

    /// Returns whether an access waits for a resource.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.blocked.is_some() || self.latency_queue.blocked.is_some()
    }

    /// Blocks an instruction at a cache until a resource becomes available.
    pub fn block(&mut self, head: InstId, cause: FailCause) {
        let is_in_queue = self.is_in_latency_queue(head);
        let blocked = if is_in_queue { &mut self.latency_queue.blocked } else { &mut self.blocked };
        *blocked = Some(cause);
    }

    /// Lets blocked accesses retry if `cause` blocked them; `None` lets all retry.
    pub fn unblock(&mut self, cause: Option<FailCause>) {
        for blocked in [&mut self.blocked, &mut self.latency_queue.blocked] {
            if cause.is_none() || *blocked == cause {
                *blocked = None;
            }
        }
    }

    /// Counts cycles in which the access of an instruction failed, in the cache that it uses.
    pub fn count_failures(&mut self, head: InstId, cause: FailCause, cycles: u64) {
        let inst = self.lsu.peek(head);
        let (kernel, cache) = (inst.kernel, inst.read_only);
        self.cache(cache).fail(kernel, cause, cycles);
    }

    /// Counts failures for cycles of sleep in which accesses stayed blocked.
    pub fn count_slept_failures(&mut self, cycles: u64) {
        if let (Some(cause), Some(head)) = (self.blocked, self.lsu.head()) {
            self.count_failures(head, cause, cycles);
        }
        if let (Some(cause), Some(oldest)) = (self.latency_queue.blocked, self.latency_queue.oldest()) {
            self.count_failures(oldest.inst, cause, cycles);
        }
    }

    /// Removes the head of the load/store unit. If the mechanism has queues, `queue_of` chooses the instruction that follows.
    /// Returns the kernel of an instruction that is served before an earlier one.
    pub fn pop(&mut self, head: InstId, queue_of: impl Fn(&MemInst) -> Option<u8>) -> Option<u8> {
        self.lsu.pop();
        let at = queue_of(self.lsu.peek(head))?;
        let is_early = self.lsu.go_on_with(at, |inst| queue_of(inst).unwrap_or(0));
        is_early.then(|| self.lsu.head().map_or(0, |next| self.lsu.peek(next).kernel))
    }

    /// Fills a read-only `cache`, or the L1D if it is `None`. Returns the instructions or warps that waited for the data, and the
    /// times of the miss. [`Self::keep`] takes the list back.
    pub fn fill(
        &mut self,
        cache: Option<ReadOnlyCache>,
        packet: &Packet,
        ctx: &mut l1d::AccessContext<'_>,
    ) -> (Vec<InstId>, l1d::Times) {
        let mut woken = std::mem::take(&mut self.woken);
        let times = self.cache(cache).fill(packet, &mut woken, ctx);
        (woken, times)
    }

    /// Keeps the memory of a list that [`Self::fill`] returned, for the next fill.
    pub fn keep(&mut self, woken: Vec<InstId>) {
        debug_assert!(woken.is_empty(), "all are awake");
        self.woken = woken;
    }

    /// Returns a read-only `cache`, or the L1D if it is `None`.
    #[inline]
    fn cache(&mut self, cache: Option<ReadOnlyCache>) -> &mut L1d {
        cache.and_then(|cache| self.read_only.get(cache)).unwrap_or(&mut self.l1d)
    }

    /// Looks up a line in a read-only cache for `waiter`.
    pub fn look_up_read_only(
        &mut self,
        cache: ReadOnlyCache,
        line_bytes: u32,
        load: Load,
        waiter: u32,
        ctx: &mut l1d::AccessContext<'_>,
    ) -> l1d::L1dAccess {
        let sectors = u32::MAX >> (32 - line_bytes / SECTOR_BYTES);
        let line = physical(load.kernel, load.line);
        let packet = self.read(line, sectors, load.kernel, ReplyToken::ReadOnly(cache, waiter));
        let load = Load { line, sectors, ..load };
        let cache = self.read_only.get(cache).expect("only caches that are there are asked");
        let found = cache.look_up(line, sectors);
        cache.load(packet, found, &load, waiter, ctx)
    }

    /// Returns the packet of a read.
    #[inline(always)]
    pub fn read(&self, line: u64, sectors: u32, kernel: u8, token: ReplyToken) -> Packet {
        Packet {
            kind: PacketKind::Read,
            line,
            sectors,
            full_sectors: false,
            words: 0,
            operations: Operations::default(),
            data_bytes: 0,
            sm: self.sm,
            slice: self.map.slice(line),
            kernel,
            token: token.pack(),
            payload: 0,
            witness: 0,
        }
    }

    /// Returns the packet for the next transaction of `head`.
    pub fn packet(&self, head: InstId, token: ReplyToken) -> Packet {
        let inst = self.lsu.peek(head);
        let (transaction, kind, kernel) = (inst.transaction(), inst.kind, inst.kernel);
        let data_bytes = match kind {
            AccessKind::Load => 0,
            AccessKind::Store => transaction.byte_count() as u16,
            AccessKind::Atomic { .. } => u16::from(transaction.operations.all) * u16::from(inst.lane_bytes),
        };
        let words = match kind {
            AccessKind::Load => 0,
            AccessKind::Store => transaction.words(),
            AccessKind::Atomic { .. } => transaction.touched_words(),
        };
        let line = physical(kernel, transaction.line);
        Packet {
            kind: l1d::kind_of(kind),
            full_sectors: transaction.full_sectors(),
            words,
            operations: transaction.operations,
            data_bytes,
            ..self.read(line, transaction.sectors, kernel, token)
        }
    }
}
