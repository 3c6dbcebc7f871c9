//! The path between an SM and memory: L1D accesses of the load/store unit, packets to the L2, and replies.
use super::l1d::{self, Access, Times, WRITEBACK_TOKEN};
use super::lsu::{InstId, MemInst};
use super::part::{Fill, Hit, L1dEvent, Load, MemoryEvent};
use super::prefetch::is_prefetch;
use super::read_only::{SIDE_TOKEN, Side};
use super::{BYPASS_TOKEN, Event, SimResult, Sm, TickContext};
use crate::config::Bypass;
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
        if self.held_reply.is_some() {
            if let Some(packet) = self.held_reply.take() {
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
        while self.l1d.can_queue() {
            let Some(packet) = self.parts.pop_store() else { break };
            self.l1d.queue(packet);
        }
        Ok(())
    }

    /// Invalidates lines that the mechanism cannot read any more. Places lines that leave the mechanism's compressor in the L1D.
    fn settle_lines(&mut self, ctx: &TickContext<'_>) {
        while let Some(line) = self.parts.stale_line() {
            self.l1d.invalidate_line(line);
        }
        while let Some((line, blocks)) = self.parts.placed() {
            let mut l1d_ctx =
                l1d::Context { now: ctx.now, asked: ctx.now, parts: &mut self.parts, memory: ctx.memory };
            self.l1d.place(line, blocks, &mut l1d_ctx);
        }
    }

    fn answer(&mut self, packet: Packet, ctx: &TickContext<'_>) {
        match packet.kind {
            PacketKind::ReadReply => {
                let warp = self.warp_of_read(packet.token);
                let mut fill = Fill { packet, warp };
                match self.parts.offer_fill(ctx.now, &mut fill, ctx.memory) {
                    Offer::Pass => self.fill(&fill.packet, ctx),
                    Offer::Taken => {}
                    Offer::Full => self.held_reply = Some(packet),
                }
            }
            PacketKind::AtomicReply => self.data_arrived(packet.token, ctx.now),
            PacketKind::WriteAck if packet.token == WRITEBACK_TOKEN => {}
            PacketKind::WriteAck => self.store_acknowledged(packet.token),
            PacketKind::Fragment => {}
            kind => unreachable!("the memory system sent a request back: {kind:?}"),
        }
    }

    /// Returns the warp whose read has this token.
    fn warp_of_read(&self, token: u32) -> u8 {
        match Side::of_read(token) {
            Some((Side::Instruction, warp)) => warp as u8,
            Some((_, inst)) => self.lsu.peek(inst).warp,
            None if is_prefetch(token) => token as u8,
            None => self.lsu.peek(token & !BYPASS_TOKEN).warp,
        }
    }

    /// Handles the data of a read, at the L1D or at a read-only cache.
    fn fill(&mut self, packet: &Packet, ctx: &TickContext<'_>) {
        let now = ctx.now;
        if packet.token & (BYPASS_TOKEN | SIDE_TOKEN) == SIDE_TOKEN {
            return self.fill_side(packet, ctx);
        }
        if packet.token & BYPASS_TOKEN != 0 {
            self.l1d.passed(packet);
            self.unblock(Some(FailCause::BypassSlot));
            self.data_arrived(packet.token & !BYPASS_TOKEN, now);
            return;
        }
        self.unblock(None);
        let mut woken = std::mem::take(&mut self.woken);
        let mut l1d_ctx = l1d::Context { now, asked: now, parts: &mut self.parts, memory: ctx.memory };
        let Times { missed, asked } = self.l1d.fill(packet, &mut woken, &mut l1d_ctx);
        if is_prefetch(packet.token) {
            self.counters.prefetches_returned += 1;
        } else {
            self.counters.misses_returned += 1;
            self.counters.miss_latency_cycles += now - missed;
            self.counters.load_latency_cycles += now - asked;
            self.parts.l1d_event(now, &L1dEvent::Returned { cycles: now - missed });
        }
        for inst in woken.drain(..) {
            let warp = self.lsu.peek(inst).warp;
            let mut hit = Hit { inst, warp, line: packet.line, after_fill: true };
            if self.parts.offer_hit(now, &mut hit, ctx.memory) == Offer::Pass {
                self.data_arrived(inst, now);
            }
        }
        self.woken = woken;
    }

    fn store_acknowledged(&mut self, token: u32) {
        let warp = token as u8;
        if let Some(slot) = &mut self.warps[usize::from(warp)] {
            slot.stores -= 1;
        }
        self.after_result(warp);
    }

    /// Counts the data of one transaction of a load or atomic. The last one completes the instruction.
    pub(super) fn data_arrived(&mut self, inst: InstId, now: u64) {
        if !self.lsu.answered(inst) {
            return;
        }
        let (warp, pc, kernel, writes_back, shared, on_l1d_path) = {
            let i = self.lsu.get(inst);
            (i.warp, i.pc, i.kernel, i.writes_back, i.shared, i.is_on_l1d_path())
        };
        self.lsu.retire(inst);
        if on_l1d_path {
            self.parts.memory_event(now, kernel, MemoryEvent::Completed);
        }
        if writes_back {
            if self.collector.is_some() {
                self.write_banks(warp, pc);
            }
            self.write_back(warp, pc);
        } else if !shared {
            self.unanswered_no_more(warp);
        }
    }

    /// Completes a memory instruction without destination registers, for which the warp may have had to wait.
    fn unanswered_no_more(&mut self, warp: u8) {
        let slot =
            self.warps[usize::from(warp)].as_mut().expect("the warp waits for its memory instructions");
        slot.in_flight -= 1;
        self.after_result(warp);
    }

    /// Lets blocked accesses retry if `cause` blocked them; `None` lets all retry.
    fn unblock(&mut self, cause: Option<FailCause>) {
        for blocked in [&mut self.blocked, &mut self.front.blocked] {
            if cause.is_none() || *blocked == cause {
                *blocked = None;
            }
        }
    }

    pub(super) fn run_lsu(&mut self, ctx: &TickContext<'_>) {
        let now = ctx.now;
        if self.front.is_there() {
            self.run_front(ctx);
        }
        let Some(head) = self.lsu.head() else { return };
        if let Some(cause) = self.blocked {
            self.fail(head, cause, now);
            return;
        }
        if self.lsu_ready_at(head) > now {
            return;
        }
        let inst = self.lsu.get(head);
        if inst.shared {
            self.access_shared(head, now);
        } else if self.front.is_there() && inst.passes_front() {
            self.enter_front(head, now);
        } else if !self.is_behind_its_warp(head) {
            self.access_l1d(head, ctx);
        }
    }

    /// Returns whether `head` is an atomic that must wait for earlier accesses of its warp in the queue in front of the L1D.
    pub(super) fn is_behind_its_warp(&self, head: InstId) -> bool {
        let inst = self.lsu.peek(head);
        inst.is_on_l1d_path()
            && inst.is_atomic()
            && self.front.instructions().any(|before| self.lsu.peek(before).warp == inst.warp)
    }

    /// Tries the oldest transaction in the queue in front of the L1D, if its latency has passed.
    #[inline(never)]
    fn run_front(&mut self, ctx: &TickContext<'_>) {
        let Some((at, oldest)) = self.front.oldest() else { return };
        if let Some(cause) = self.front.blocked {
            self.fail(oldest, cause, ctx.now);
        } else if at <= ctx.now {
            self.access_l1d(oldest, ctx);
        }
    }

    /// Puts the head's next transaction into the queue in front of the L1D. After the last one, the next instruction becomes the
    /// head.
    #[inline(never)]
    fn enter_front(&mut self, head: InstId, now: u64) {
        if !self.front.has_room() {
            return;
        }
        self.front.enter(now, head);
        let inst = self.lsu.get(head);
        inst.entered += 1;
        if inst.entered == inst.transactions.len() {
            self.pop_lsu(head, now);
        }
    }

    /// Removes the head, which has sent its last transaction. The mechanism may choose the instruction that follows.
    fn pop_lsu(&mut self, head: InstId, now: u64) {
        if !self.lsu.has_room() {
            self.issue_from = 0;
        }
        self.lsu.pop();
        let parts = &self.parts;
        let queue = |inst: &MemInst| parts.request_queue(inst.warp, inst.cta);
        let Some(at) = queue(self.lsu.peek(head)) else { return };
        if self.lsu.go_on_with(at, |inst| queue(inst).unwrap_or(0)) {
            let kernel = self.lsu.head().map_or(0, |next| self.lsu.peek(next).kernel);
            self.parts.memory_event(now, kernel, MemoryEvent::ServedEarly);
        }
    }

    #[inline(never)]
    fn access_shared(&mut self, head: InstId, now: u64) {
        let inst = self.lsu.get(head);
        let (cycles, writes_back) = (u64::from(inst.bank_cycles), inst.writes_back);
        self.lsu.banks_free_at = now + cycles;
        self.counters.bank_conflict_cycles += cycles - 1;
        self.pop_lsu(head, now);
        if writes_back {
            let at = now + cycles - 1 + u64::from(self.config.sm.lsu.shared_latency);
            self.wheel.push(now, at, Event::Data { inst: head });
        } else {
            self.lsu.retire(head);
        }
    }

    /// Offers a hit's data, which leave the L1D's array in this cycle, to the mechanism's stage.
    #[inline(never)]
    pub(super) fn hit_data(&mut self, inst: InstId, line: u64, ctx: &TickContext<'_>) {
        let warp = self.lsu.peek(inst).warp;
        let mut hit = Hit { inst, warp, line, after_fill: false };
        match self.parts.offer_hit(ctx.now, &mut hit, ctx.memory) {
            Offer::Pass => self.wheel.push(ctx.now, ctx.now + 1, Event::Data { inst }),
            Offer::Taken => {}
            Offer::Full => self.wheel.push(ctx.now, ctx.now + 1, Event::Hit { inst, line }),
        }
    }

    /// Tries the next transaction of `head` at the L1D or at a read-only cache.
    fn access_l1d(&mut self, head: InstId, ctx: &TickContext<'_>) {
        let inst = self.lsu.get(head);
        let (kind, kernel, side) = (inst.kind, inst.kernel, inst.side);
        if let Some(side) = side {
            match self.load_side(side, head, ctx) {
                Ok(()) => self.advance(head, ctx.now),
                Err(cause) => self.block(head, cause, ctx.now),
            }
            return;
        }
        let asked = match self.front.oldest() {
            Some((at, oldest)) if oldest == head => at - u64::from(self.config.l1d.front_latency),
            _ => ctx.now,
        };
        let inst = self.lsu.get(head);
        inst.asked.get_or_insert(asked);
        let warp = u32::from(inst.warp);
        let sent = match kind {
            AccessKind::Load => self.load(head, ctx),
            AccessKind::Store => self.write(self.packet(head, warp), ctx),
            AccessKind::Atomic { .. } => self.write(self.packet(head, head), ctx),
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
        let is_behind_front = self.front.is_there() && self.lsu.peek(head).passes_front();
        let blocked = if is_behind_front { &mut self.front.blocked } else { &mut self.blocked };
        *blocked = Some(cause);
        self.fail(head, cause, now);
    }

    /// Counts a failed access of an instruction in this cycle.
    fn fail(&mut self, head: InstId, cause: FailCause, now: u64) {
        self.count_failures(head, cause, 1);
        let inst = self.lsu.peek(head);
        if inst.is_on_l1d_path() {
            let kernel = inst.kernel;
            self.parts.memory_event(now, kernel, MemoryEvent::ReservationFailure);
        }
    }

    /// Counts cycles in which the access of an instruction failed, in the cache that it uses.
    pub(super) fn count_failures(&mut self, head: InstId, cause: FailCause, cycles: u64) {
        let (kernel, side) = (self.lsu.peek(head).kernel, self.lsu.peek(head).side);
        side.and_then(|side| self.sides.get(side)).unwrap_or(&mut self.l1d).fail(kernel, cause, cycles);
    }

    /// Returns the packet for the next transaction of `head`.
    fn packet(&self, head: InstId, token: u32) -> Packet {
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
            line,
            sectors: transaction.sectors,
            full_sectors: transaction.full_sectors(),
            words,
            operations: transaction.operations,
            data_bytes,
            sm: self.id,
            slice: self.map.slice(line),
            kernel,
            token,
            payload: 0,
            witness: 0,
        }
    }

    /// Sends the next transaction of a load to the L1D, or past the L1D to the L2.
    fn load(&mut self, head: InstId, ctx: &TickContext<'_>) -> Result<(), FailCause> {
        let inst = self.lsu.peek(head);
        let (kernel, transaction) = (inst.kernel, inst.transaction());
        let line = physical(kernel, transaction.line);
        let sectors = self.l1d.sectors_of(transaction.sectors);
        if self.passes(head, line, sectors, ctx.now) {
            return self.pass(head);
        }
        let found = self.l1d.look_up(line, sectors);
        if found.is_hit() && !self.parts.observes_loads() {
            self.l1d.hit(found, kernel);
            self.await_hit(head, line, ctx.now);
            return Ok(());
        }
        let load = self.described(head, line, sectors);
        let asked = self.lsu.peek(head).asked.unwrap_or(ctx.now);
        let packet = Packet { sectors, ..self.packet(head, head) };
        let mut l1d_ctx = l1d::Context { now: ctx.now, asked, parts: &mut self.parts, memory: ctx.memory };
        let access = self.l1d.load(packet, found, &load, head, &mut l1d_ctx);
        if let Access::Fail(cause) = access
            && cause != FailCause::MissQueue
            && self.parts.bypasses_failure(ctx.now, &load, cause)
        {
            self.lsu.get(head).passes = Some(true);
            return self.pass(head);
        }
        match access {
            Access::Hit => {
                self.await_hit(head, line, ctx.now);
                Ok(())
            }
            Access::Pending | Access::Miss | Access::SectorMiss => Ok(()),
            Access::Fail(cause) => Err(cause),
        }
    }

    /// Returns whether the next transaction of `head` bypasses the L1D. Decides this at its first try.
    fn passes(&mut self, head: InstId, line: u64, sectors: u32, now: u64) -> bool {
        let inst = self.lsu.peek(head);
        if let Some(passes) = inst.passes {
            return passes;
        }
        let mut passes = inst.bypass || self.config.l1d.bypass == Bypass::All;
        if !passes && self.parts.chooses_bypass() {
            let load = self.described(head, line, sectors);
            passes = self.parts.bypasses(now, &load);
        }
        self.lsu.get(head).passes = Some(passes);
        passes
    }

    /// Sends the next transaction of `head` past the L1D.
    fn pass(&mut self, head: InstId) -> Result<(), FailCause> {
        self.l1d.pass(self.packet(head, head | BYPASS_TOKEN))
    }

    /// Returns the description of the next transaction of `head` for mechanisms.
    fn described(&self, head: InstId, line: u64, sectors: u32) -> Load {
        let inst = self.lsu.peek(head);
        let slot = self.warps[usize::from(inst.warp)].as_ref().expect("the warp waits for its loads");
        Load {
            kernel: inst.kernel,
            warp: inst.warp,
            warp_of_cta: slot.index,
            cta: inst.cta,
            resident_ctas: self.all_ctas as u8,
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
            self.wheel.push(now, (at - 1).max(now + 1), Event::Hit { inst, line });
        } else {
            self.wheel.push(now, at, Event::Data { inst });
        }
    }

    /// Handles a store or atomic. A write-back L1D may keep a store. Otherwise the write policy updates the L1D, and the packet
    /// goes to the L2, through the mechanism's stage if there is one.
    fn write(&mut self, mut packet: Packet, ctx: &TickContext<'_>) -> Result<(), FailCause> {
        if self.l1d.keep(&packet) {
            self.counters.stores_kept += 1;
            return Ok(());
        }
        if !self.l1d.can_queue() {
            return Err(FailCause::MissQueue);
        }
        packet.witness = self.witness.store(packet.line, packet.sectors);
        let stage = match packet.kind {
            PacketKind::Write => self.parts.offer_store(ctx.now, &mut packet, ctx.memory),
            _ => Offer::Pass,
        };
        match stage {
            Offer::Full => {
                self.witness.not_stored(packet.witness);
                return Err(FailCause::MissQueue);
            }
            Offer::Taken => {}
            Offer::Pass => self.l1d.queue(packet),
        }
        self.counters.atomics_sent += u64::from(packet.kind == PacketKind::Atomic);
        if packet.kind == PacketKind::Write {
            let warp = self.warps[packet.token as usize].as_mut().expect("the warp waits for its stores");
            warp.stores += 1;
        }
        let mut l1d_ctx =
            l1d::Context { now: ctx.now, asked: ctx.now, parts: &mut self.parts, memory: ctx.memory };
        self.l1d.write(&packet, &mut l1d_ctx);
        Ok(())
    }

    /// Advances `head` to its next transaction. After the last one, the next instruction becomes the head.
    fn advance(&mut self, head: InstId, now: u64) {
        let inst = self.lsu.get(head);
        inst.next += 1;
        inst.passes = None;
        inst.asked = None;
        let is_last = inst.next == inst.transactions.len();
        let (warp, kernel, is_store) = (inst.warp, inst.kernel, inst.kind == AccessKind::Store);
        let is_in_front = self.front.is_there() && inst.passes_front();
        if is_in_front {
            self.front.leave();
        }
        if !is_last {
            return;
        }
        if !is_in_front {
            self.pop_lsu(head, now);
        }
        if !is_store {
            return;
        }
        // A store is complete for the SM when its last packet has left. Only fences wait for the acknowledgements.
        self.lsu.retire(head);
        self.parts.memory_event(now, kernel, MemoryEvent::Completed);
        self.unanswered_no_more(warp);
    }

    /// Sends the next packet for which the crossbar has room. Returns whether it sent any.
    pub(super) fn send(&mut self, ctx: &mut TickContext<'_>) -> bool {
        if !self.has_to_send() {
            return false;
        }
        let sm = usize::from(self.id);
        let can_leave = |packet: &Packet| ctx.system.can_send(sm, packet);
        let Some(side) = self.sides.next_queue(&self.l1d, can_leave) else { return false };
        let cache = side.and_then(|side| self.sides.get(side)).unwrap_or(&mut self.l1d);
        let packet = cache.sent().expect("there is an outgoing packet");
        self.counters.l1d_writebacks += u64::from(packet.token == WRITEBACK_TOKEN);
        ctx.system.send(sm, packet);
        self.unblock(Some(FailCause::MissQueue));
        true
    }
}
