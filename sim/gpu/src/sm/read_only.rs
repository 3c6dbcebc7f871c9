//! The read-only caches of an SM: constants and textures, which the load/store unit asks in turn with the L1D, and
//! instructions, which the issue stage asks when a warp comes to another line of code.
//!
//! Each is an L1D that nobody writes to, with a miss queue of its own; the crossbar's port takes from the queues in turn.
//! Constants, parameters and code lie above local memory in the program's address space, where the L2 and DRAM see them.
use super::coalescer::Transaction;
use super::l1d::{self, Access, L1d};
use super::lsu::InstId;
use super::part::Load;
use super::parts::SmParts;
use super::scheduler::WarpMask;
use super::{BYPASS_TOKEN, Hold, Sm, TickContext, warps_of};
use crate::cache::SECTOR_BYTES;
use crate::config::{GpuConfig, Sm as SmConfig};
pub use crate::config::{SIDES, Side};
use crate::packet::{Packet, PacketKind};
use crate::stats::{CacheCounters, FailCause};
use crate::witness::Witness;
use selvedge_ptx::memory::physical;
use selvedge_ptx::ptx::{CODE_REGION, CONST_REGION, MemAccess, PARAM_REGION, Space};
use selvedge_state::State;

/// Where the kind of a read-only cache stands in its number for the witness, above the SM's.
const NUMBER_SHIFT: u16 = 12;

/// Marks the token of a read-only cache's miss; the cache's number follows, then the token itself.
pub(super) const SIDE_TOKEN: u32 = 1 << 30;
/// Place of the cache's number in a token.
const SIDE_SHIFT: u32 = 28;

impl Side {
    fn of_token(token: u32) -> Self {
        SIDES[(token >> SIDE_SHIFT & 3) as usize]
    }

    /// The cache that a read was sent by, and its own token; none for a read of the L1D or one that bypassed the L1D.
    pub fn of_read(token: u32) -> Option<(Self, u32)> {
        let is_side = token & SIDE_TOKEN != 0 && token & BYPASS_TOKEN == 0;
        is_side.then(|| (Self::of_token(token), token & ((1 << SIDE_SHIFT) - 1)))
    }

    fn token(self, token: u32) -> u32 {
        SIDE_TOKEN | (self as u32) << SIDE_SHIFT | token
    }
}

/// Returns whether the data of this read fill a line of the L1D: no read-only cache sent it, and it does not bypass the L1D.
pub fn fills_l1d(packet: &Packet) -> bool {
    packet.token & (BYPASS_TOKEN | SIDE_TOKEN) == 0
}

/// The read-only caches that there are.
#[derive(State)]
pub struct Sides {
    caches: [Option<Box<L1d>>; SIDES.len()],
    /// None of them is there.
    is_empty: bool,
    /// Which queue the crossbar's port looks at first: 0 the L1D's, then these.
    turn: usize,
    /// Warps whose next instruction is in flight.
    pub fetching: WarpMask,
    /// Those among them whose miss could not be sent yet.
    pub retrying: WarpMask,
}

impl Sides {
    /// The caches of a configuration, empty.
    pub fn new(sm: &SmConfig) -> Self {
        let cache = |side: Side| {
            let config = sm.read_only(side);
            config.is_there().then(|| Box::new(L1d::new(&config.as_l1d())))
        };
        let caches = SIDES.map(cache);
        let is_empty = caches.iter().all(Option::is_none);
        Sides { caches, is_empty, turn: 0, fetching: 0, retrying: 0 }
    }

    /// Lets `witness` follow what they hold: caches of SM `sm`, with numbers beyond those of the L1Ds.
    pub fn watch(&mut self, witness: &Witness, sm: u16) {
        for (side, cache) in (1..).zip(&mut self.caches) {
            cache.iter_mut().for_each(|cache| cache.watch(witness, sm | side << NUMBER_SHIFT));
        }
    }

    /// Returns whether there is such a cache.
    pub fn has(&self, side: Side) -> bool {
        self.caches[side as usize].is_some()
    }

    /// One of the caches.
    pub fn get(&mut self, side: Side) -> Option<&mut L1d> {
        self.caches[side as usize].as_deref_mut()
    }

    fn all(&self) -> impl Iterator<Item = &L1d> {
        self.caches.iter().filter_map(Option::as_deref)
    }

    /// Returns whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.is_empty || self.retrying == 0 && self.all().all(L1d::is_idle)
    }

    /// Returns whether the SM must run in the next cycle for them.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.is_empty && (self.retrying != 0 || self.all().any(|cache| cache.outgoing().is_some()))
    }

    /// Counters of a cache; zero when there is none.
    pub fn counters(&self, side: Side) -> CacheCounters {
        self.caches[side as usize].as_ref().map_or_else(CacheCounters::default, |cache| cache.counters())
    }

    /// Invalidates every line, as at the start of a kernel.
    pub fn invalidate_all(&mut self) {
        self.caches.iter_mut().flatten().for_each(|cache| cache.invalidate_all());
    }

    /// Invalidates the lines of one program.
    pub fn invalidate_program(&mut self, program: u8) {
        self.caches.iter_mut().flatten().for_each(|cache| cache.invalidate_program(program));
    }

    /// The miss queue whose packet leaves next, of those with one that `can_leave`; `None` for the L1D's.
    pub fn next_queue(&mut self, l1d: &L1d, can_leave: impl Fn(&Packet) -> bool) -> Option<Option<Side>> {
        if self.is_empty {
            return l1d.outgoing().is_some_and(can_leave).then_some(None);
        }
        let queues = 1 + SIDES.len();
        for offset in 0..queues {
            let number = (self.turn + offset) % queues;
            let side = number.checked_sub(1).map(|side| SIDES[side]);
            let outgoing = match side {
                None => l1d.outgoing(),
                Some(side) => self.caches[side as usize].as_ref().and_then(|cache| cache.outgoing()),
            };
            if outgoing.is_some_and(&can_leave) {
                self.turn = (number + 1) % queues;
                return Some(side);
            }
        }
        None
    }
}

/// The longest hit latency, for the events' horizon.
pub fn longest_latency(config: &GpuConfig) -> u32 {
    SIDES.map(|side| config.sm.read_only(side).hit_latency).into_iter().fold(0, u32::max)
}

/// Appends a transaction for each address that lanes of a constant or parameter load name, in the order of the lanes:
/// the cache delivers one of them per cycle.
pub fn constant_transactions(access: &MemAccess, line_bytes: u32, out: &mut Vec<Transaction>) {
    let region = if access.space == Space::Param { PARAM_REGION } else { CONST_REGION };
    let mut lanes = access.mask;
    let mut seen: Vec<u64> = Vec::new();
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let address = region + access.address[lane];
        if seen.contains(&address) {
            continue;
        }
        seen.push(address);
        let line = address & !u64::from(line_bytes - 1);
        let sector = ((address - line) / u64::from(SECTOR_BYTES)) as u32;
        out.push(Transaction { line, sectors: 1 << sector, ..Transaction::default() });
    }
}

impl Sm {
    fn side_packet(&self, side: Side, line: u64, kernel: u8, token: u32) -> Packet {
        let bytes = self.config.sm.read_only(side).line_bytes;
        let line = physical(kernel, line);
        Packet {
            kind: PacketKind::Read,
            line,
            sectors: u32::MAX >> (32 - bytes / SECTOR_BYTES),
            full_sectors: false,
            words: 0,
            data_bytes: 0,
            sm: self.id,
            slice: self.map.slice(line),
            kernel,
            token: side.token(token),
            payload: 0,
            witness: 0,
        }
    }

    /// Looks up a line in a read-only cache for `waiter`.
    fn ask_side(
        &mut self,
        side: Side,
        line: u64,
        load: Load,
        waiter: InstId,
        ctx: &TickContext<'_>,
    ) -> Access {
        let packet = self.side_packet(side, line, load.kernel, waiter);
        let load = Load { line: packet.line, sectors: packet.sectors, ..load };
        let mut l1d_ctx = l1d::Context {
            now: ctx.now,
            asked: ctx.now,
            parts: &mut SmParts::default(),
            memory: &ctx.memory,
        };
        let cache = self.sides.get(side).expect("only caches that are there are asked");
        let found = cache.look_up(packet.line, packet.sectors);
        cache.load(packet, found, &load, waiter, &mut l1d_ctx)
    }

    /// The head's next transaction, in a read-only cache.
    pub(super) fn load_side(
        &mut self,
        side: Side,
        head: InstId,
        ctx: &TickContext<'_>,
    ) -> Result<(), FailCause> {
        let inst = self.lsu.peek(head);
        let line = inst.transactions[inst.next].line;
        let load = Load { kernel: inst.kernel, warp: inst.warp, pc: inst.pc, line, ..Load::default() };
        match self.ask_side(side, line, load, head, ctx) {
            Access::Hit => {
                let latency = self.config.sm.read_only(side).hit_latency;
                self.wheel.push(ctx.now, ctx.now + u64::from(latency), super::Event::Data { inst: head });
                Ok(())
            }
            Access::Pending | Access::Miss | Access::SectorMiss => Ok(()),
            Access::Fail(cause) => Err(cause),
        }
    }

    /// A read-only cache's line has come.
    pub(super) fn fill_side(&mut self, packet: &Packet, ctx: &TickContext<'_>) {
        let side = Side::of_token(packet.token);
        let mut woken = std::mem::take(&mut self.woken);
        let mut l1d_ctx = l1d::Context {
            now: ctx.now,
            asked: ctx.now,
            parts: &mut SmParts::default(),
            memory: &ctx.memory,
        };
        let cache = self.sides.get(side).expect("only caches that are there miss");
        cache.fill(packet, &mut woken, &mut l1d_ctx);
        self.blocked = None;
        for waiter in woken.drain(..) {
            match side {
                Side::Constant | Side::Texture => self.data_arrived(waiter, ctx.now),
                Side::Instruction => {
                    self.sides.fetching &= !(1 << waiter);
                    self.update_need(waiter as u8);
                }
            }
        }
        self.woken = woken;
    }

    /// Returns whether the warp has come to another line of code. Then it is looked up; a miss holds the warp until the line is there.
    #[inline]
    pub(super) fn fetch_instruction(&mut self, warp: u8, ctx: &TickContext<'_>) {
        if self.sides.has(Side::Instruction) {
            self.look_up_instruction(warp, ctx);
        }
    }

    #[inline(never)]
    fn look_up_instruction(&mut self, warp: u8, ctx: &TickContext<'_>) {
        let Some(slot) = self.warps[usize::from(warp)].as_mut().filter(|slot| slot.hold != Hold::Exited)
        else {
            return;
        };
        let Some(pc) = slot.warp.pc() else { return };
        let line_bytes = u64::from(self.config.sm.instruction.line_bytes);
        let address = CODE_REGION + slot.kernel.code_offset + u64::from(pc) * slot.kernel.instruction_bytes;
        let line = address & !(line_bytes - 1);
        if slot.code_line == Some(line) {
            return;
        }
        let load = Load { kernel: slot.kernel.slot, warp, pc, line, ..Load::default() };
        let outcome = self.ask_side(Side::Instruction, line, load, u32::from(warp), ctx);
        let bit = 1 << warp;
        self.sides.retrying &= !bit;
        self.sides.fetching &= !bit;
        match outcome {
            Access::Hit => {}
            Access::Pending | Access::Miss | Access::SectorMiss => self.sides.fetching |= bit,
            Access::Fail(cause) => {
                self.sides.fetching |= bit;
                self.sides.retrying |= bit;
                let cache = self.sides.get(Side::Instruction).expect("it was asked");
                cache.fail(load.kernel, cause, 1);
                return;
            }
        }
        let slot = self.warps[usize::from(warp)].as_mut().expect("it is resident");
        slot.code_line = Some(line);
    }

    /// Tries again what could not be sent.
    #[inline]
    pub(super) fn retry_fetches(&mut self, ctx: &TickContext<'_>) {
        if self.sides.retrying != 0 {
            self.retry_some(ctx);
        }
    }

    #[inline(never)]
    fn retry_some(&mut self, ctx: &TickContext<'_>) {
        for warp in warps_of(self.sides.retrying) {
            self.fetch_instruction(warp, ctx);
            self.update_need(warp);
        }
    }
}
