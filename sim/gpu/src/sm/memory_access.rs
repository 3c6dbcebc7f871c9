//! Memory accesses of an SM: transactions of the load/store unit at the L1D, packets to the L2, and replies.
use super::events::SmEvent;
use super::l1d::{self, L1dAccess, Times};
use super::latency_queue::QueuedTransaction;
use super::part::{Hit, L1dEvent, L1dFill, Load, MemoryEvent};
use super::token::{InstId, ReplyToken};
use super::{SimResult, Sm, TickContext};
use crate::config::{BypassedLoads, ReadOnlyCache};
use crate::packet::{Packet, PacketKind};
use crate::stage::Offer;
use crate::stats::FailCause;
use selvedge_ptx::memory::physical;
use selvedge_ptx::ptx::AccessKind;

impl Sm {
    pub(super) fn receive(&mut self, ctx: &mut TickContext<'_>) -> SimResult<()> {
        if self.parts.busy() {
            self.run_parts(ctx)?;
        }
        if self.memory.held_reply.is_some() {
            if let Some(packet) = self.memory.held_reply.take() {
                self.answer(packet, ctx);
            }
        } else if ctx.system.has_reply(usize::from(self.id))
            && let Some(packet) = ctx.system.receive(usize::from(self.id))
        {
            self.answer(packet, ctx);
        }
        Ok(())
    }

    /// Runs a cycle of the mechanism's parts, and takes the lines, hits and packets that leave them.
    #[inline(never)]
    fn run_parts(&mut self, ctx: &mut TickContext<'_>) -> SimResult<()> {
        self.parts.tick(ctx.now, ctx.memory)?;
        self.settle_lines(ctx);
        self.take_answers(ctx)?;
        while let Some(fill) = self.parts.pop_fill() {
            self.fill(&fill.packet, ctx);
        }
        if self.parts.takes_hits() {
            while let Some(inst) = self.parts.pop_hit() {
                self.data_arrived(inst, ctx.now);
            }
        }
        while self.memory.l1d.can_queue() {
            let Some(packet) = self.parts.pop_store() else { break };
            self.memory.l1d.queue(packet);
        }
        Ok(())
    }

    /// Invalidates lines that the mechanism cannot read any more. Places lines that leave the mechanism's compressor in the L1D.
    fn settle_lines(&mut self, ctx: &TickContext<'_>) {
        while let Some(line) = self.parts.stale_line() {
            self.memory.l1d.invalidate_line(line);
        }
        while let Some((line, blocks)) = self.parts.placed() {
            let mut l1d_ctx = l1d::AccessContext {
                now: ctx.now,
                asked: ctx.now,
                parts: &mut self.parts,
                memory: ctx.memory,
            };
            self.memory.l1d.place(line, blocks, &mut l1d_ctx);
        }
    }

    fn answer(&mut self, packet: Packet, ctx: &TickContext<'_>) {
        match packet.kind {
            PacketKind::ReadReply => {
                let warp = self.warp_of_read(ReplyToken::unpack(packet.token));
                let mut fill = L1dFill { packet, warp };
                match self.parts.offer_fill(ctx.now, &mut fill, ctx.memory) {
                    Offer::Pass => self.fill(&fill.packet, ctx),
                    Offer::Taken => {}
                    Offer::Full => self.memory.held_reply = Some(packet),
                }
            }
            PacketKind::AtomicReply | PacketKind::WriteAck => match ReplyToken::unpack(packet.token) {
                ReplyToken::Atomic(inst) => self.data_arrived(inst, ctx.now),
                ReplyToken::Store(warp) => self.store_acknowledged(warp),
                ReplyToken::WriteBack => {}
                token => unreachable!("the reply to a write is for {token:?}"),
            },
            PacketKind::Fragment => {}
            kind => unreachable!("the memory system sent a request back: {kind:?}"),
        }
    }

    /// Returns the warp whose read has this token.
    fn warp_of_read(&self, token: ReplyToken) -> u8 {
        match token {
            ReplyToken::ReadOnly(ReadOnlyCache::Instruction, warp) => warp as u8,
            ReplyToken::Prefetch(warp) | ReplyToken::Store(warp) => warp,
            ReplyToken::Load(inst)
            | ReplyToken::Bypass(inst)
            | ReplyToken::Atomic(inst)
            | ReplyToken::ReadOnly(_, inst) => self.memory.lsu.peek(inst).warp,
            ReplyToken::WriteBack => unreachable!("a write-back reads nothing"),
        }
    }

    /// Handles the data of a read, at the L1D or at a read-only cache.
    fn fill(&mut self, packet: &Packet, ctx: &TickContext<'_>) {
        let now = ctx.now;
        let token = ReplyToken::unpack(packet.token);
        match token {
            ReplyToken::ReadOnly(cache, _) => return self.fill_read_only(cache, packet, ctx),
            ReplyToken::Bypass(inst) => {
                self.memory.l1d.bypass_ended(packet);
                self.memory.unblock(Some(FailCause::BypassSlot));
                return self.data_arrived(inst, now);
            }
            _ => {}
        }
        self.memory.unblock(None);
        let mut l1d_ctx = l1d::AccessContext { now, asked: now, parts: &mut self.parts, memory: ctx.memory };
        let (mut woken, Times { missed, asked }) = self.memory.fill(None, packet, &mut l1d_ctx);
        let counters = &mut self.tally.counters;
        if matches!(token, ReplyToken::Prefetch(_)) {
            counters.prefetches_returned += 1;
        } else {
            counters.misses_returned += 1;
            counters.miss_latency_cycles += now - missed;
            counters.load_latency_cycles += now - asked;
            self.parts.l1d_event(now, &L1dEvent::Returned { cycles: now - missed });
        }
        for inst in woken.drain(..) {
            let warp = self.memory.lsu.peek(inst).warp;
            let mut hit = Hit { inst, warp, line: packet.line, after_fill: true };
            if self.parts.offer_hit(now, &mut hit, ctx.memory) == Offer::Pass {
                self.data_arrived(inst, now);
            }
        }
        self.memory.keep(woken);
    }

    pub(super) fn store_acknowledged(&mut self, warp: u8) {
        if let Some(slot) = &mut self.residents.warps[usize::from(warp)] {
            slot.stores -= 1;
        }
        self.after_result(warp);
    }

    /// Counts the data of one transaction of a load or atomic. The last one completes the instruction.
    pub(super) fn data_arrived(&mut self, inst: InstId, now: u64) {
        if !self.memory.lsu.answered(inst) {
            return;
        }
        let (warp, pc, kernel, writes_back, shared, on_l1d_path) = {
            let i = self.memory.lsu.get(inst);
            (i.warp, i.pc, i.kernel, i.writes_back, i.shared, i.is_on_l1d_path())
        };
        self.memory.lsu.retire(inst);
        if !self.asynchronous.is_empty() {
            self.copy_completed(inst, now);
        }
        if on_l1d_path {
            self.parts.memory_event(now, kernel, MemoryEvent::Completed);
        }
        if writes_back {
            if self.issue_stage.collector.is_some() {
                self.write_banks(warp, pc);
            }
            self.write_back(warp, pc);
        } else if !shared {
            self.complete_without_result(warp);
        }
    }

    /// Completes a memory instruction without destination registers, for which the warp may have had to wait.
    fn complete_without_result(&mut self, warp: u8) {
        self.residents.warp_mut(warp).in_flight -= 1;
        self.after_result(warp);
    }

    pub(super) fn run_lsu(&mut self, ctx: &TickContext<'_>) {
        let now = ctx.now;
        if self.memory.latency_queue.is_there() {
            self.run_latency_queue(ctx);
        }
        let Some(head) = self.memory.lsu.head() else { return };
        if let Some(cause) = self.memory.blocked {
            self.fail(head, cause, now);
            return;
        }
        if self.memory.ready_at(head) > now {
            return;
        }
        if self.memory.lsu.peek(head).shared {
            self.access_shared(head, now);
        } else if self.memory.is_in_latency_queue(head) {
            self.enter_latency_queue(head, now);
        } else if !self.memory.is_behind_its_warp(head) {
            self.access_banks(head, ctx);
        }
    }

    /// Tries the next transaction of `head`. With banks, tries further ones, until one needs a bank that is taken in this cycle.
    #[inline(always)]
    fn access_banks(&mut self, head: InstId, ctx: &TickContext<'_>) {
        let has_banks = self.memory.has_banks();
        let mut taken = 0;
        loop {
            if has_banks {
                let banks = self.memory.banks_of(head, self.memory.lsu.peek(head).next);
                if taken & banks != 0 {
                    return;
                }
                taken |= banks;
            }
            self.access_l1d(head, ctx);
            if !has_banks || self.memory.lsu.head() != Some(head) || self.memory.blocked.is_some() {
                return;
            }
            let inst = self.memory.lsu.peek(head);
            if inst.is_atomic() || !inst.is_on_l1d_path() {
                return;
            }
        }
    }

    /// Tries the oldest transactions in the latency queue whose latency has passed, until one needs a bank that is taken in this
    /// cycle.
    #[inline(never)]
    fn run_latency_queue(&mut self, ctx: &TickContext<'_>) {
        let Some(oldest) = self.memory.latency_queue.oldest() else { return };
        if let Some(cause) = self.memory.latency_queue.blocked {
            self.fail(oldest.inst, cause, ctx.now);
            return;
        }
        let mut taken = 0;
        while self.memory.latency_queue.blocked.is_none()
            && let Some(QueuedTransaction { at, inst, banks }) = self.memory.latency_queue.oldest()
            && at <= ctx.now
            && taken & banks == 0
        {
            taken |= banks;
            self.access_l1d(inst, ctx);
        }
    }

    /// Puts the head's next transactions into the latency queue, until one needs a bank that is full or taken in this cycle. After
    /// the last one, the next instruction becomes the head.
    #[inline(never)]
    fn enter_latency_queue(&mut self, head: InstId, now: u64) {
        let mut taken = 0;
        loop {
            let banks = self.memory.banks_of(head, self.memory.lsu.peek(head).entered);
            if taken & banks != 0 || !self.memory.latency_queue.has_room(banks) {
                return;
            }
            taken |= banks;
            self.memory.latency_queue.enter(now, head, banks);
            let inst = self.memory.lsu.get(head);
            inst.entered += 1;
            if inst.entered == inst.transactions.len() {
                self.pop_lsu(head, now);
                return;
            }
        }
    }

    /// Removes the head, which has sent its last transaction. The mechanism may choose the instruction that follows.
    fn pop_lsu(&mut self, head: InstId, now: u64) {
        if !self.memory.lsu.has_room() {
            self.issue_stage.wake();
        }
        let parts = &self.parts;
        let early = self.memory.pop(head, |inst| parts.request_queue(inst.warp, inst.cta));
        if let Some(kernel) = early {
            self.parts.memory_event(now, kernel, MemoryEvent::ServedEarly);
        }
    }

    #[inline(never)]
    fn access_shared(&mut self, head: InstId, now: u64) {
        let inst = self.memory.lsu.get(head);
        let (cycles, writes_back) = (u64::from(inst.bank_cycles), inst.writes_back);
        let sm = &self.config.sm;
        let latency = if inst.remote { sm.cluster.latency } else { sm.lsu.shared_latency };
        self.memory.lsu.banks_free_at = now + cycles;
        self.tally.counters.bank_conflict_cycles += cycles - 1;
        self.pop_lsu(head, now);
        if writes_back {
            let at = now + cycles - 1 + u64::from(latency);
            self.events.push(now, at, SmEvent::Data { inst: head });
        } else {
            self.memory.lsu.retire(head);
        }
    }

    /// Offers a hit's data, which leave the L1D's array in this cycle, to the mechanism's stage.
    #[inline(never)]
    pub(super) fn hit_data(&mut self, inst: InstId, line: u64, ctx: &TickContext<'_>) {
        if !self.is_hit_accepted(inst, line, ctx) {
            self.memory.waiting_hits.push_back((inst, line));
        }
    }

    /// Offers the waiting hits to the mechanism's stage again, the oldest first, until the stage is full.
    pub(super) fn offer_waiting_hits(&mut self, ctx: &TickContext<'_>) {
        while let Some((inst, line)) = self.memory.waiting_hits.front().copied()
            && self.is_hit_accepted(inst, line, ctx)
        {
            self.memory.waiting_hits.pop_front();
        }
    }

    /// Offers a hit's data to the mechanism's stage, and returns whether the stage accepts them.
    fn is_hit_accepted(&mut self, inst: InstId, line: u64, ctx: &TickContext<'_>) -> bool {
        let warp = self.memory.lsu.peek(inst).warp;
        let mut hit = Hit { inst, warp, line, after_fill: false };
        let offer = self.parts.offer_hit(ctx.now, &mut hit, ctx.memory);
        if offer == Offer::Pass {
            self.events.push(ctx.now, ctx.now + 1, SmEvent::Data { inst });
        }
        offer != Offer::Full
    }

    /// Tries the next transaction of `head` at the L1D or at a read-only cache.
    fn access_l1d(&mut self, head: InstId, ctx: &TickContext<'_>) {
        let inst = self.memory.lsu.get(head);
        let (kind, kernel, read_only) = (inst.kind, inst.kernel, inst.read_only);
        if let Some(cache) = read_only {
            match self.load_read_only(cache, head, ctx) {
                Ok(()) => self.advance(head, ctx.now),
                Err(cause) => self.block(head, cause, ctx.now),
            }
            return;
        }
        let asked = match self.memory.latency_queue.oldest() {
            Some(oldest) if oldest.inst == head => oldest.at - u64::from(self.config.l1d.front_latency),
            _ => ctx.now,
        };
        let inst = self.memory.lsu.get(head);
        inst.asked.get_or_insert(asked);
        let warp = inst.warp;
        let sent = match kind {
            AccessKind::Load => self.load(head, ctx),
            AccessKind::Store => self.write(self.memory.packet(head, ReplyToken::Store(warp)), ctx),
            AccessKind::Atomic { .. } => self.write(self.memory.packet(head, ReplyToken::Atomic(head)), ctx),
        };
        match sent {
            Ok(()) => {
                self.parts.memory_event(ctx.now, kernel, MemoryEvent::Request);
                self.advance(head, ctx.now);
            }
            Err(cause) => self.block(head, cause, ctx.now),
        }
    }

    /// Blocks an instruction at a cache until a resource becomes available.
    fn block(&mut self, head: InstId, cause: FailCause, now: u64) {
        self.memory.block(head, cause);
        self.fail(head, cause, now);
    }

    /// Counts a failed access of an instruction in this cycle.
    fn fail(&mut self, head: InstId, cause: FailCause, now: u64) {
        self.memory.count_failures(head, cause, 1);
        let inst = self.memory.lsu.peek(head);
        if inst.is_on_l1d_path() {
            let kernel = inst.kernel;
            self.parts.memory_event(now, kernel, MemoryEvent::ReservationFailure);
        }
    }

    /// Sends the next transaction of a load to the L1D, or past the L1D to the L2.
    fn load(&mut self, head: InstId, ctx: &TickContext<'_>) -> Result<(), FailCause> {
        let inst = self.memory.lsu.peek(head);
        let (kernel, transaction) = (inst.kernel, inst.transaction());
        let line = physical(kernel, transaction.line);
        let sectors = self.memory.l1d.sectors_of(transaction.sectors);
        if self.bypasses(head, line, sectors, ctx.now) {
            if self.parts.holds_store(line) {
                return Err(FailCause::MissQueue);
            }
            return self.bypass(head);
        }
        let found = self.memory.l1d.look_up(line, sectors);
        if found.is_hit() && !self.parts.observes_loads() {
            self.memory.l1d.hit(found, kernel);
            self.await_hit(head, line, ctx.now);
            return Ok(());
        }
        if !found.is_hit() && self.parts.holds_store(line) {
            return Err(FailCause::MissQueue);
        }
        let load = self.described(head, line, sectors);
        let asked = self.memory.lsu.peek(head).asked.unwrap_or(ctx.now);
        let packet = Packet { sectors, ..self.memory.packet(head, ReplyToken::Load(head)) };
        let mut l1d_ctx =
            l1d::AccessContext { now: ctx.now, asked, parts: &mut self.parts, memory: ctx.memory };
        let access = self.memory.l1d.load(packet, found, &load, head, &mut l1d_ctx);
        if let L1dAccess::Fail(cause) = access
            && cause != FailCause::MissQueue
            && self.parts.bypasses_failure(ctx.now, &load, cause)
        {
            self.memory.lsu.get(head).bypasses = Some(true);
            return self.bypass(head);
        }
        match access {
            L1dAccess::Hit => {
                self.await_hit(head, line, ctx.now);
                Ok(())
            }
            L1dAccess::Pending | L1dAccess::Miss | L1dAccess::SectorMiss => Ok(()),
            L1dAccess::Fail(cause) => Err(cause),
        }
    }

    /// Returns whether the next transaction of `head` bypasses the L1D. Decides this at its first try.
    fn bypasses(&mut self, head: InstId, line: u64, sectors: u32, now: u64) -> bool {
        let inst = self.memory.lsu.peek(head);
        if let Some(bypasses) = inst.bypasses {
            return bypasses;
        }
        let mut bypasses = inst.bypass || self.config.l1d.bypass == BypassedLoads::All;
        if !bypasses && self.parts.chooses_bypass() {
            let load = self.described(head, line, sectors);
            bypasses = self.parts.bypasses(now, &load);
        }
        self.memory.lsu.get(head).bypasses = Some(bypasses);
        bypasses
    }

    /// Sends the next transaction of `head` past the L1D.
    fn bypass(&mut self, head: InstId) -> Result<(), FailCause> {
        self.memory.l1d.bypass(self.memory.packet(head, ReplyToken::Bypass(head)))
    }

    /// Returns the description of the next transaction of `head` for mechanisms.
    fn described(&self, head: InstId, line: u64, sectors: u32) -> Load {
        let inst = self.memory.lsu.peek(head);
        let slot = self.residents.warp(inst.warp);
        Load {
            kernel: inst.kernel,
            warp: inst.warp,
            warp_of_cta: slot.index,
            cta: inst.cta,
            resident_ctas: self.residents.all_ctas as u8,
            launch_ctas: slot.kernel.dims.ctas(),
            pc: inst.pc,
            line,
            sectors,
            index: inst.next as u8,
            last: inst.next + 1 == inst.transactions.len(),
        }
    }

    /// Schedules a hit's data after the L1D's latency, through the mechanism's stage if there is one.
    fn await_hit(&mut self, inst: InstId, line: u64, now: u64) {
        let at = now + u64::from(self.config.l1d.hit_latency);
        if self.parts.takes_hits() {
            // The stage can take the data in the cycle in which they would otherwise be available.
            self.events.push(now, (at - 1).max(now + 1), SmEvent::Hit { inst, line });
        } else {
            self.events.push(now, at, SmEvent::Data { inst });
        }
    }

    /// Handles a store or atomic. A write-back L1D may keep a store. Otherwise the write policy updates the L1D, and the packet
    /// goes to the L2, through the mechanism's stage if there is one.
    fn write(&mut self, mut packet: Packet, ctx: &TickContext<'_>) -> Result<(), FailCause> {
        if self.memory.l1d.keep(&packet) {
            self.tally.counters.stores_kept += 1;
            return Ok(());
        }
        if !self.memory.l1d.can_queue() {
            return Err(FailCause::MissQueue);
        }
        packet.witness = self.memory.witness.store(packet.line, packet.sectors);
        let stage = match packet.kind {
            PacketKind::Write => self.parts.offer_store(ctx.now, &mut packet, ctx.memory),
            _ if self.parts.holds_store(packet.line) => Offer::Full,
            _ => Offer::Pass,
        };
        match stage {
            Offer::Full => {
                self.memory.witness.not_stored(packet.witness);
                return Err(FailCause::MissQueue);
            }
            Offer::Taken => {}
            Offer::Pass => self.memory.l1d.queue(packet),
        }
        self.tally.counters.atomics_sent += u64::from(packet.kind == PacketKind::Atomic);
        if let ReplyToken::Store(warp) = ReplyToken::unpack(packet.token) {
            self.residents.warp_mut(warp).stores += 1;
        }
        let mut l1d_ctx =
            l1d::AccessContext { now: ctx.now, asked: ctx.now, parts: &mut self.parts, memory: ctx.memory };
        self.memory.l1d.write(&packet, &mut l1d_ctx);
        Ok(())
    }

    /// Advances `head` to its next transaction. After the last one, the next instruction becomes the head.
    fn advance(&mut self, head: InstId, now: u64) {
        let inst = self.memory.lsu.get(head);
        inst.next += 1;
        inst.bypasses = None;
        inst.asked = None;
        let is_last = inst.next == inst.transactions.len();
        let (warp, kernel, is_store) = (inst.warp, inst.kernel, inst.kind == AccessKind::Store);
        let is_in_queue = self.memory.is_in_latency_queue(head);
        if is_in_queue {
            self.memory.latency_queue.leave();
        }
        if !is_last {
            return;
        }
        if !is_in_queue {
            self.pop_lsu(head, now);
        }
        if !is_store {
            return;
        }
        // A store is complete for the SM when its last packet has left. Only fences wait for the acknowledgements.
        self.memory.lsu.retire(head);
        if !self.asynchronous.is_empty() {
            self.copy_completed(head, now);
        }
        self.parts.memory_event(now, kernel, MemoryEvent::Completed);
        self.complete_without_result(warp);
    }

    /// Sends the next packet for which the crossbar has room. Returns whether it sent any.
    pub(super) fn send(&mut self, ctx: &mut TickContext<'_>) -> bool {
        if !self.memory.has_to_send() {
            return false;
        }
        let sm = usize::from(self.id);
        let sent = self.memory.take_outgoing(|packet| ctx.system.can_send(sm, packet));
        let Some(packet) = sent else { return false };
        self.tally.counters.l1d_writebacks +=
            u64::from(ReplyToken::unpack(packet.token) == ReplyToken::WriteBack);
        ctx.system.send(sm, packet);
        true
    }
}
