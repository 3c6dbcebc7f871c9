//! Bulk copies between global and shared memory, and between the shared memories of a cluster, which a warp does not wait for.

use super::access::{AccessKind, Completion, CompletionEffect, Fault, MemAccess};
use super::forms::{BulkDirection, BulkForm, CacheOp, MbarrierOp, SentForm, Space};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::lanes;
use super::warp::{Step, Warp};
use super::{Env, mbarrier, memory_ops};
use crate::clusters;
use crate::memory::DeviceMemory;

/// Bytes of the pieces that the memory system sees. All addresses and sizes are multiples of it.
pub(super) const PIECE: u64 = 16;

/// Describes a copy to the memory system, as the accesses of 32 lanes to adjacent pieces. `pieces` are global addresses.
pub(super) fn describe(access: &mut MemAccess, kind: AccessKind, pieces: impl Iterator<Item = u64>) {
    access.kind = kind;
    access.space = Space::Global;
    access.bytes = PIECE as u8;
    // The copies do not pass the L1D.
    access.cache = CacheOp::Global;
    access.mask = 0;
    access.more.clear();
    let mut groups: Vec<(u32, [u64; 32])> = Vec::new();
    for (number, address) in pieces.enumerate() {
        if number % 32 == 0 {
            groups.push((0, [0; 32]));
        }
        if let Some((mask, addresses)) = groups.last_mut() {
            *mask |= 1 << (number % 32);
            addresses[number % 32] = address;
        }
    }
    let mut groups = groups.into_iter();
    if let Some((mask, addresses)) = groups.next() {
        (access.mask, access.address) = (mask, addresses);
    }
    access.more.extend(groups);
}

/// One lane's part of a bulk copy.
#[derive(Clone, Copy)]
struct Part {
    lane: usize,
    /// Global address; the address of the source in a copy between CTAs.
    global: u64,
    shared: u64,
    bytes: u64,
}

type Result<T> = std::result::Result<T, String>;

impl Part {
    fn check(self, direction: BulkDirection, env: &mut Env) -> Result<()> {
        let between = direction == BulkDirection::BetweenCtas;
        let other = if between { "source" } else { "global" };
        for (name, value) in [(other, self.global), ("shared", self.shared)] {
            if !value.is_multiple_of(PIECE) {
                return Err(format!("needs a {name} address that is a multiple of {PIECE}, got {value:#x}"));
            }
        }
        if !self.bytes.is_multiple_of(PIECE) {
            return Err(format!("copies {} bytes; must be a multiple of {PIECE}", self.bytes));
        }
        if between {
            check_shared(self.global, self.bytes, env)?;
        }
        check_shared(self.shared, self.bytes, env)
    }

    fn copy(self, direction: BulkDirection, env: &mut Env) -> Result<()> {
        let mut bytes = vec![0; self.bytes as usize];
        match direction {
            BulkDirection::ToGlobal => {
                bytes.copy_from_slice(env.shared_at(self.shared, self.bytes)?);
                return write(env.memory, self.global, &bytes);
            }
            BulkDirection::BetweenCtas => bytes.copy_from_slice(env.shared_at(self.global, self.bytes)?),
            BulkDirection::ToShared | BulkDirection::Multicast => read(env.memory, self.global, &mut bytes)?,
        }
        env.shared_at(self.shared, self.bytes)?.copy_from_slice(&bytes);
        Ok(())
    }
}

/// The CTAs whose shared memory the lanes' copies change.
pub(super) struct CopyTargets {
    /// Rank of the executing CTA.
    own: u32,
    /// Ranks of the CTAs of each lane, one bit each; `None`: the CTA of the address.
    ranks: Option<[u32; 32]>,
}

impl CopyTargets {
    /// Reads the ranks of a multicast in a register.
    pub(super) fn new(
        warp: &Warp,
        kernel: &Kernel,
        env: &Env,
        direction: BulkDirection,
        register: u16,
    ) -> Self {
        let ranks = (direction == BulkDirection::Multicast).then(|| *warp.word(kernel, register));
        CopyTargets { own: env.rank(), ranks }
    }

    /// Returns the places of `address` in the CTAs of a lane.
    pub(super) fn places(&self, lane: usize, address: u64) -> impl Iterator<Item = u64> {
        let (own, ranks) = (self.own, self.ranks.map(|ranks| ranks[lane]));
        let only = ranks.is_none().then_some(address);
        let several =
            lanes(ranks.unwrap_or(0) & 0xffff).map(move |rank| clusters::map(address, rank as u32, own));
        only.into_iter().chain(several)
    }
}

/// Copies from global memory. Memory outside every buffer reads as zeros if the configuration allows it.
pub(super) fn read(memory: &mut DeviceMemory, global: u64, to: &mut [u8]) -> Result<()> {
    let last = global.saturating_add((to.len() as u64).saturating_sub(1));
    if let Some((base, bytes)) = memory.buffer_with(global, last) {
        to.copy_from_slice(&bytes[(global - base) as usize..][..to.len()]);
        return Ok(());
    }
    for (address, to) in (global..).step_by(PIECE as usize).zip(to.chunks_mut(PIECE as usize)) {
        let last = address.saturating_add(to.len() as u64 - 1);
        let is_void = memory.is_void(address, last);
        match memory.buffer_with(address, last) {
            Some((base, bytes)) => to.copy_from_slice(&bytes[(address - base) as usize..][..to.len()]),
            None if is_void => to.fill(0),
            None => return Err(outside(memory, "reads", address, to.len())),
        }
    }
    Ok(())
}

/// Copies to global memory. Memory outside every buffer does not change if the configuration allows it.
pub(super) fn write(memory: &mut DeviceMemory, global: u64, from: &[u8]) -> Result<()> {
    for (address, from) in (global..).step_by(PIECE as usize).zip(from.chunks(PIECE as usize)) {
        let last = address.saturating_add(from.len() as u64 - 1);
        let is_void = memory.is_void(address, last);
        match memory.buffer_with_mut(address, last) {
            Some((base, bytes)) => bytes[(address - base) as usize..][..from.len()].copy_from_slice(from),
            None if is_void => continue,
            None => return Err(outside(memory, "writes", address, from.len())),
        }
        memory.note_written(1, &[address; 32], from.len() as u8);
    }
    Ok(())
}

/// Returns the description of a fault: bytes outside every buffer.
fn outside(memory: &DeviceMemory, verb: &str, address: u64, bytes: usize) -> String {
    let nearest = memory.describe_nearest(address);
    format!("{verb} {bytes} bytes at global address {address:#x}, outside every buffer ({nearest})")
}

/// Checks that a copy is within shared memory.
pub(super) fn check_shared(address: u64, bytes: u64, env: &mut Env) -> Result<()> {
    env.check_shared(address, bytes, |shared_bytes| {
        format!(
            "copies {bytes} bytes at shared address {address:#x}, but the shared memory has {shared_bytes} bytes"
        )
    })
}

/// Returns the addresses of an operand: the register `index`, if there is one, plus `offset`.
pub(super) fn addresses(warp: &Warp, kernel: &Kernel, index: u16, wide: bool, offset: u64) -> [u64; 32] {
    if index == NONE {
        return [offset; 32];
    }
    let mask = if wide { u64::MAX } else { u32::MAX.into() };
    warp.bits(kernel, index, wide).map(|base| base.wrapping_add(offset) & mask)
}

/// Executes a bulk copy. The global address, or the source in a copy between CTAs, is [`Instr::a`] plus [`Instr::offset`]. The
/// shared address is [`Instr::b`] plus [`Instr::target`]. [`Instr::c`] is the number of bytes. The mbarrier is at the last vector
/// register plus [`Instr::reconvergence`]. The first vector register has the ranks of a multicast.
pub(crate) fn copy(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: BulkForm,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    let direction = form.direction;
    let global = addresses(warp, kernel, instr.a, form.wide_global, instr.offset as u64);
    let shared = addresses(warp, kernel, instr.b, form.wide_shared, instr.target.into());
    let bytes = *warp.word(kernel, instr.c);
    let targets = CopyTargets::new(warp, kernel, env, direction, instr.vector[0]);
    let parts: Vec<Part> = lanes(mask)
        .map(|lane| Part { lane, global: global[lane], shared: shared[lane], bytes: bytes[lane].into() })
        .collect();
    access.then.clear();
    if direction != BulkDirection::ToGlobal {
        complete_at(warp, kernel, env, instr, form.wide_barrier, &targets, mask, &bytes, access)?;
    }
    for part in &parts {
        for shared in targets.places(part.lane, part.shared) {
            let part = Part { shared, ..*part };
            let copied = part.check(direction, env).and_then(|()| part.copy(direction, env));
            copied.map_err(|what| warp.fault(kernel, env.launch, part.lane as u32, part.global, what))?;
        }
    }
    warp.advance();
    if direction == BulkDirection::BetweenCtas {
        access.mask = 0;
        return Ok(Step::Message { bytes: parts.iter().map(|part| part.bytes as u32).sum() });
    }
    let kind = if direction == BulkDirection::ToGlobal { AccessKind::Store } else { AccessKind::Load };
    let pieces =
        parts.iter().flat_map(|part| (part.global..part.global + part.bytes).step_by(PIECE as usize));
    describe(access, kind, pieces);
    Ok(Step::Async)
}

/// Adds the completion of each lane's copy at its mbarriers.
#[expect(clippy::too_many_arguments, reason = "the state of one copy, each part borrowed from another owner")]
pub(super) fn complete_at(
    warp: &Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    wide: bool,
    targets: &CopyTargets,
    mask: u32,
    bytes: &[u32; 32],
    access: &mut MemAccess,
) -> std::result::Result<(), Box<Fault>> {
    let barriers = addresses(warp, kernel, instr.vector[7], wide, instr.reconvergence.into());
    for lane in lanes(mask) {
        for address in targets.places(lane, barriers[lane]) {
            mbarrier::check_address(address, env)
                .map_err(|what| warp.fault(kernel, env.launch, lane as u32, address, what))?;
            access.then.push(Completion {
                effect: CompletionEffect::Mbarrier {
                    address: address as u32,
                    op: MbarrierOp::CompleteBytes,
                    operand: bytes[lane],
                },
                pc: warp.current.pc,
                lane: lane as u8,
            });
        }
    }
    Ok(())
}

/// Executes `st.async` or `red.async`. The mbarrier is as in [`copy`].
pub(crate) fn send(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: SentForm,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    let bytes = u32::from(form.access.element.bits / 8 * form.access.elements);
    let targets = CopyTargets::new(warp, kernel, env, BulkDirection::BetweenCtas, NONE);
    access.then.clear();
    complete_at(warp, kernel, env, instr, form.wide_barrier, &targets, mask, &[bytes; 32], access)?;
    if form.reduces {
        memory_ops::atomic(warp, kernel, env, instr, form.access, mask, access)?;
    } else {
        memory_ops::store(warp, kernel, env, instr, form.access, mask, access)?;
    }
    access.mask = 0;
    warp.advance();
    Ok(Step::Message { bytes: bytes * mask.count_ones() })
}
