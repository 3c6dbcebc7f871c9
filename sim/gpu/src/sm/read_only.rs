//! The read-only caches of an SM. The load/store unit accesses constants and textures, one instruction at a time with the L1D.
//! The issue stage fetches instructions when a warp enters another line of code.
//!
//! Each cache is an L1D without stores and with its own miss queue. The crossbar's port serves the miss queues round-robin.
//! Constants, parameters and code are above local memory in the program's address space, where the L2 and DRAM see them.
use super::coalescer::Transaction;
use super::l1d::{self, Access, L1d};
use super::launch::LaunchedKernel;
use super::lsu::InstId;
use super::part::Load;
use super::parts::SmParts;
use super::scheduler::WarpMask;
use super::{BYPASS_TOKEN, Hold, Sm, TickContext, warps_of};
use crate::cache::SECTOR_BYTES;
use crate::config::{GpuConfig, Sm as SmConfig};
pub use crate::config::{SIDES, Side};
use crate::packet::{Operations, Packet, PacketKind};
use crate::stats::{CacheCounters, FailCause};
use crate::witness::Witness;
use selvedge_ptx::memory::{physical, program_of, within_program};
use selvedge_ptx::ptx::{CODE_REGION, CONST_REGION, MemAccess, PARAM_REGION, Space};
use selvedge_state::State;

/// Position of the kind of a read-only cache in its number for the witness. The bits below are the SM's number.
const NUMBER_SHIFT: u16 = 12;

/// Marks the token of a read-only cache's miss. The cache's number and the instruction or warp are in the bits below.
pub(super) const SIDE_TOKEN: u32 = 1 << 30;
/// Position of the cache's number in a token.
const SIDE_SHIFT: u32 = 28;

impl Side {
    fn of_token(token: u32) -> Self {
        SIDES[(token >> SIDE_SHIFT & 3) as usize]
    }

    /// Returns the cache that sent a read, and the cache's own token. `None` for a read of the L1D or a bypass of it.
    pub fn of_read(token: u32) -> Option<(Self, u32)> {
        let is_side = token & SIDE_TOKEN != 0 && token & BYPASS_TOKEN == 0;
        is_side.then(|| (Self::of_token(token), token & ((1 << SIDE_SHIFT) - 1)))
    }

    fn token(self, token: u32) -> u32 {
        SIDE_TOKEN | (self as u32) << SIDE_SHIFT | token
    }
}

/// Returns whether the data of this read fill a line of the L1D: no read-only cache sent it, and it did not bypass the L1D.
pub fn fills_l1d(packet: &Packet) -> bool {
    packet.token & (BYPASS_TOKEN | SIDE_TOKEN) == 0
}

/// Banks of the constant cache that differ from the previous launch in the slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// `true` if the arguments differ.
    pub parameters: bool,
    /// `true` if the host has written constant memory, or the kernel belongs to another module.
    pub constants: bool,
}

/// Digests of the constants and arguments of the last launch in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Banks {
    parameters: u64,
    constants: u64,
}

impl Banks {
    /// Replaces the digests by the digests of `kernel`. Returns which banks have changed.
    pub fn replace(&mut self, kernel: &LaunchedKernel) -> Changed {
        let new = Banks { parameters: fnv(&kernel.params), constants: fnv(&kernel.kernel.constants) };
        let old = std::mem::replace(self, new);
        Changed { parameters: old.parameters != new.parameters, constants: old.constants != new.constants }
    }
}

/// Returns the FNV-1a digest of `bytes`.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The read-only caches of an SM, as configured.
#[derive(State)]
pub struct Sides {
    caches: [Option<Box<L1d>>; SIDES.len()],
    /// `true` if the configuration has no such cache.
    is_empty: bool,
    /// The miss queue that the crossbar's port considers first: 0 is the L1D's, then the caches' in order.
    turn: usize,
    /// Warps whose next instruction is being fetched.
    pub fetching: WarpMask,
    /// Warps of `fetching` whose miss could not be sent yet.
    pub retrying: WarpMask,
}

impl Sides {
    /// Returns the caches of a configuration, empty.
    pub fn new(sm: &SmConfig) -> Self {
        let cache = |side: Side| {
            let config = sm.read_only(side);
            config.is_there().then(|| Box::new(L1d::new(&config.as_l1d())))
        };
        let caches = SIDES.map(cache);
        let is_empty = caches.iter().all(Option::is_none);
        Sides { caches, is_empty, turn: 0, fetching: 0, retrying: 0 }
    }

    /// Lets `witness` follow the contents of the caches of SM `sm`, under numbers above the L1Ds' numbers.
    pub fn watch(&mut self, witness: &Witness, sm: u16) {
        for (side, cache) in (1..).zip(&mut self.caches) {
            cache.iter_mut().for_each(|cache| cache.watch(witness, sm | side << NUMBER_SHIFT));
        }
    }

    /// Returns whether the configuration has this cache.
    pub fn has(&self, side: Side) -> bool {
        self.caches[side as usize].is_some()
    }

    /// Returns a cache, if the configuration has it.
    pub fn get(&mut self, side: Side) -> Option<&mut L1d> {
        self.caches[side as usize].as_deref_mut()
    }

    fn all(&self) -> impl Iterator<Item = &L1d> {
        self.caches.iter().filter_map(Option::as_deref)
    }

    /// Returns whether no read is in flight.
    pub fn is_idle(&self) -> bool {
        self.is_empty || self.retrying == 0 && self.all().all(L1d::is_idle)
    }

    /// Returns whether the SM must run in the next cycle because of these caches.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.is_empty && (self.retrying != 0 || self.all().any(|cache| cache.outgoing().is_some()))
    }

    /// Returns the counters of a cache; zero if the configuration does not have it.
    pub fn counters(&self, side: Side) -> CacheCounters {
        self.caches[side as usize].as_ref().map_or_else(CacheCounters::default, |cache| cache.counters())
    }

    /// Invalidates the lines that a launch of `program` must not find. Code stays, because it is never written. Constants and
    /// parameters stay unless they have `changed`. Any program or the host may have written textures: all lines of textures are
    /// invalidated if the launch `is_alone`, else the lines of its program.
    pub fn launch(&mut self, program: u8, is_alone: bool, changed: Changed) {
        if let Some(texture) = self.get(Side::Texture) {
            if is_alone { texture.invalidate_all() } else { texture.invalidate_program(program) }
        }
        let is_stale = |line: u64| match within_program(line) {
            PARAM_REGION.. => changed.parameters,
            _ => changed.constants,
        };
        if let Some(constant) = self.get(Side::Constant)
            && (changed.parameters || changed.constants)
        {
            constant.invalidate_where(|line| program_of(line) == program && is_stale(line));
        }
    }

    /// Returns the next miss queue, round-robin, with a packet that `can_leave`. The inner `None` is the L1D's queue.
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

/// Returns the longest hit latency, which the horizon of the SM's events must include.
pub fn longest_latency(config: &GpuConfig) -> u32 {
    SIDES.map(|side| config.sm.read_only(side).hit_latency).into_iter().fold(0, u32::max)
}

/// Appends one transaction for each distinct address of a constant or parameter load, in the order of the lanes. The cache
/// delivers one address per cycle.
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
            operations: Operations::default(),
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
        let mut l1d_ctx =
            l1d::Context { now: ctx.now, asked: ctx.now, parts: &mut SmParts::default(), memory: ctx.memory };
        let cache = self.sides.get(side).expect("only caches that are there are asked");
        let found = cache.look_up(packet.line, packet.sectors);
        cache.load(packet, found, &load, waiter, &mut l1d_ctx)
    }

    /// Sends the next transaction of `head` to a read-only cache.
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

    /// Handles the arrival of a line at a read-only cache.
    pub(super) fn fill_side(&mut self, packet: &Packet, ctx: &TickContext<'_>) {
        let side = Side::of_token(packet.token);
        let mut woken = std::mem::take(&mut self.woken);
        let mut l1d_ctx =
            l1d::Context { now: ctx.now, asked: ctx.now, parts: &mut SmParts::default(), memory: ctx.memory };
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

    /// Looks up the warp's next instruction if it is in another line of code. A miss holds the warp until the line arrives.
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

    /// Retries fetches whose miss could not be sent.
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
