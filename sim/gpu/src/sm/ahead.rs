//! An SM that runs through a window of cycles ahead of the memory system: what it is given, and what it leaves to be replayed.
//!
//! At the start of a window all replies that arrive in it are known, and the SM's port of the crossbar has room for some flits
//! even if none leaves it. As long as that is all that the SM needs, it runs alone. Its packets and its accesses to global
//! memory take effect when the memory system comes to their cycles.
use super::{SimFault, SimResult, Sm, TickContext};
use crate::packet::Packet;
use crate::partition::{MemorySystem, Near, Taken};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{AccessLog, Global};
use std::collections::VecDeque;

/// What an SM sends to and receives from.
pub enum Link<'a> {
    /// The memory system.
    System(&'a mut MemorySystem),
    /// Its side of the crossbar alone, while it runs ahead.
    Ahead(&'a mut Port),
    /// The SMs' side of the crossbar alone, while the memory system runs beside them.
    Beside(&'a mut Near, &'a mut dyn Taken),
}

impl Link<'_> {
    /// Returns whether a reply has arrived at SM `sm`.
    #[inline(always)]
    pub(super) fn has_reply(&self, sm: usize) -> bool {
        match self {
            Link::System(system) => system.has_reply(sm),
            Link::Beside(near, _) => near.has_reply(sm),
            Link::Ahead(port) => port.replies.front().is_some_and(|(at, _)| *at <= port.now),
        }
    }

    /// Takes the oldest reply that has arrived at SM `sm`.
    #[inline(always)]
    pub(super) fn receive(&mut self, sm: usize) -> Option<Packet> {
        match self {
            Link::System(system) => system.receive(sm),
            Link::Beside(near, taken) => near.receive(sm, *taken),
            Link::Ahead(port) => {
                port.received.push_back(port.now);
                port.replies.pop_front().map(|(_, packet)| packet)
            }
        }
    }

    /// Returns whether there is room for a packet of SM `sm`.
    #[inline(always)]
    pub(super) fn can_send(&self, sm: usize, packet: &Packet) -> bool {
        match self {
            Link::System(system) => system.can_send(sm, packet),
            Link::Beside(near, _) => near.can_send(sm, packet),
            Link::Ahead(port) => packet.flits(port.flit_bytes) <= port.room,
        }
    }

    /// Sends a packet of SM `sm`, for which there is room.
    #[inline(always)]
    pub(super) fn send(&mut self, sm: usize, packet: Packet) {
        match self {
            Link::System(system) => system.send(sm, packet),
            Link::Beside(near, _) => near.send(sm, packet),
            Link::Ahead(port) => {
                port.room -= packet.flits(port.flit_bytes);
                port.sent.push_back((port.now, packet));
            }
        }
    }
}

/// An SM's side of the crossbar in a window.
#[derive(Debug, Default)]
pub struct Port {
    now: u64,
    /// Bytes of a flit.
    pub flit_bytes: u32,
    /// Flits that the port takes even if none leaves it.
    pub room: u32,
    /// The replies of the window that have not been received, with their core cycles of arrival, the oldest first.
    pub replies: VecDeque<(u64, Packet)>,
    /// Core cycles in which a reply was received.
    received: VecDeque<u64>,
    /// Packets that were sent, with their core cycles.
    sent: VecDeque<(u64, Packet)>,
}

/// What an SM is given for a window, and what it has done there.
#[derive(Debug, Default)]
pub struct Ahead {
    /// The next cycle in which it must run.
    pub wake: u64,
    /// The last cycle that it has run through.
    pub until: u64,
    /// The cycles of the window in which it ran, one bit each.
    pub ran: u64,
    /// Its side of the crossbar.
    pub port: Port,
    /// Flits of the largest packet that it may send.
    pub most_flits: u32,
    /// It stops when a CTA ends, whose room the next one takes.
    pub stops_at_cta: bool,
    /// Core cycles and warps of the accesses in the log.
    accessed: VecDeque<(u64, u8)>,
    log: AccessLog,
    /// Accesses of the log that were replayed.
    replayed: usize,
    /// Kernel slots of CTAs that ended, with their core cycles.
    finished: VecDeque<(u64, u8)>,
    /// What was wrong in cycle `until`.
    fault: Option<Box<SimFault>>,
}

impl Ahead {
    /// Forgets the window before.
    pub fn begin(&mut self) {
        self.port.replies.clear();
        debug_assert!(self.port.received.is_empty() && self.port.sent.is_empty(), "all was replayed");
        self.log.clear();
        self.accessed.clear();
        self.replayed = 0;
        self.ran = 0;
        self.fault = None;
    }
}

/// Takes the oldest of a queue if it is `due`.
fn pop_if<T>(queue: &mut VecDeque<T>, due: impl FnOnce(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(due) { queue.pop_front() } else { None }
}

impl Sm {
    /// Runs through the cycles after `now` up to `end`, at most 64, or until it needs to know more; `memory` is as it was after cycle `now`.
    pub fn run_ahead(&mut self, ahead: &mut Ahead, mut now: u64, end: u64, memory: &DeviceMemory) {
        let begin = now;
        let mut finished = std::mem::take(&mut self.finished_ctas);
        loop {
            let reply = ahead.port.replies.front().map_or(u64::MAX, |(at, _)| *at);
            let next = ahead.wake.min(reply).max(now + 1);
            if next > end {
                ahead.until = end;
                break;
            }
            if ahead.port.room < ahead.most_flits || self.gives_early(&ahead.port, next) {
                ahead.until = next - 1;
                break;
            }
            now = next;
            ahead.port.now = now;
            ahead.until = now;
            ahead.ran |= 1 << (now - begin - 1);
            let before = ahead.log.len();
            let mut ctx = TickContext {
                now,
                memory: Global::Frozen { memory, log: &mut ahead.log },
                system: Link::Ahead(&mut ahead.port),
            };
            match self.tick(&mut ctx) {
                Ok(wake) => ahead.wake = wake,
                Err(fault) => {
                    ahead.fault = Some(fault);
                    break;
                }
            }
            ahead.accessed.extend(self.accessed[before..].iter().map(|warp| (now, *warp)));
            self.take_finished(&mut finished);
            let has_finished = !finished.is_empty();
            ahead.finished.extend(finished.drain(..).map(|slot| (now, slot)));
            if has_finished && ahead.stops_at_cta || self.is_idle() {
                break;
            }
        }
        self.finished_ctas = finished;
        self.accessed.clear();
        self.merged.clear();
    }

    /// Returns whether a reply in cycle `now` may give a load its value sooner than an L1D hit: one that came when its line was in
    /// flight. What the value is, is known only when the memory system has come there.
    fn gives_early(&self, port: &Port, now: u64) -> bool {
        let is_awaited = |(at, packet): &(u64, Packet)| *at <= now && self.merged.contains(&packet.line);
        !self.merged.is_empty() && port.replies.front().is_some_and(is_awaited)
    }

    /// Lets what the SM has done in cycle `now`, through which it has run ahead, take effect; adds the kernel slots of CTAs that
    /// ended to `finished`.
    ///
    /// # Errors
    /// What the SM found wrong then.
    pub fn replay(
        &mut self,
        ahead: &mut Ahead,
        now: u64,
        memory: &mut DeviceMemory,
        mut link: Link<'_>,
        finished: &mut Vec<u8>,
    ) -> SimResult<()> {
        let sm = usize::from(self.id);
        while let Some((_, warp)) = pop_if(&mut ahead.accessed, |(at, _)| *at == now) {
            let slot =
                self.warps[usize::from(warp)].as_mut().expect("a warp stays while it awaits its access");
            slot.warp.replay(&slot.kernel.kernel, memory, &ahead.log, ahead.replayed);
            ahead.replayed += 1;
        }
        if pop_if(&mut ahead.port.received, |at| *at == now).is_some() {
            let received = link.receive(sm);
            debug_assert!(received.is_some(), "a reply that the SM has received has arrived");
        }
        if let Some((_, packet)) = pop_if(&mut ahead.port.sent, |(at, _)| *at == now) {
            link.send(sm, packet);
        }
        while let Some((_, slot)) = pop_if(&mut ahead.finished, |(at, _)| *at == now) {
            finished.push(slot);
        }
        if now == ahead.until { ahead.fault.take().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Returns whether a mechanism leaves the SM alone in a window.
    pub fn stands_alone(&self) -> bool {
        self.parts.stands_alone() && !self.witness.is_there()
    }
}
