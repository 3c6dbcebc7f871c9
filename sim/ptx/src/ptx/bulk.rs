//! Bulk copies between global and shared memory, which a warp does not wait for.

use super::access::{AccessKind, Completion, Fault, MemAccess};
use super::forms::{BulkForm, CacheOp, Space};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::lanes;
use super::warp::{Step, Warp};
use super::{Env, mbarrier};
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
    global: u64,
    shared: u64,
    bytes: u64,
}

type Result<T> = std::result::Result<T, String>;

impl Part {
    fn check(self, shared_bytes: usize) -> Result<()> {
        for (name, value) in [("global", self.global), ("shared", self.shared)] {
            if !value.is_multiple_of(PIECE) {
                return Err(format!("needs a {name} address that is a multiple of {PIECE}, got {value:#x}"));
            }
        }
        if !self.bytes.is_multiple_of(PIECE) {
            return Err(format!("copies {} bytes; must be a multiple of {PIECE}", self.bytes));
        }
        check_shared(self.shared, self.bytes, shared_bytes)
    }

    /// Copies between global and shared memory.
    fn copy(self, to_shared: bool, env: &mut Env) -> Result<()> {
        let shared = &mut env.shared[self.shared as usize..][..self.bytes as usize];
        if to_shared { read(env.memory, self.global, shared) } else { write(env.memory, self.global, shared) }
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
pub(super) fn check_shared(address: u64, bytes: u64, shared_bytes: usize) -> Result<()> {
    if address.saturating_add(bytes) > shared_bytes as u64 {
        return Err(format!(
            "copies {bytes} bytes at shared address {address:#x}, but the shared memory has {shared_bytes} bytes"
        ));
    }
    Ok(())
}

/// Returns the addresses of an operand: the register `index`, if there is one, plus `offset`.
pub(super) fn addresses(warp: &Warp, kernel: &Kernel, index: u16, wide: bool, offset: u64) -> [u64; 32] {
    if index == NONE {
        return [offset; 32];
    }
    let mask = if wide { u64::MAX } else { u32::MAX.into() };
    warp.bits(kernel, index, wide).map(|base| base.wrapping_add(offset) & mask)
}

/// Executes a bulk copy. The global address is [`Instr::a`] plus [`Instr::offset`]. The shared address is [`Instr::b`] plus
/// [`Instr::target`]. [`Instr::c`] is the number of bytes. The mbarrier is at the first vector register plus
/// [`Instr::reconvergence`].
pub(crate) fn copy(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: BulkForm,
    mask: u32,
    access: &mut MemAccess,
) -> std::result::Result<Step, Box<Fault>> {
    let global = addresses(warp, kernel, instr.a, form.wide_global, instr.offset as u64);
    let shared = addresses(warp, kernel, instr.b, form.wide_shared, instr.target.into());
    let bytes = *warp.word(kernel, instr.c);
    let parts: Vec<Part> = lanes(mask)
        .map(|lane| Part { lane, global: global[lane], shared: shared[lane], bytes: bytes[lane].into() })
        .collect();
    access.then.clear();
    if form.to_shared {
        complete_at(warp, kernel, env, instr, form.wide_barrier, mask, &bytes, access)?;
    }
    for part in &parts {
        let copied = part.check(env.shared.len()).and_then(|()| part.copy(form.to_shared, env));
        copied.map_err(|what| warp.fault(kernel, env.launch, part.lane as u32, part.global, what))?;
    }
    let kind = if form.to_shared { AccessKind::Load } else { AccessKind::Store };
    let pieces =
        parts.iter().flat_map(|part| (part.global..part.global + part.bytes).step_by(PIECE as usize));
    describe(access, kind, pieces);
    warp.advance();
    Ok(Step::Async)
}

/// Adds the completion of each lane's copy at its mbarrier.
#[expect(clippy::too_many_arguments, reason = "the state of one copy, each part borrowed from another owner")]
pub(super) fn complete_at(
    warp: &Warp,
    kernel: &Kernel,
    env: &Env,
    instr: &Instr,
    wide: bool,
    mask: u32,
    bytes: &[u32; 32],
    access: &mut MemAccess,
) -> std::result::Result<(), Box<Fault>> {
    let barriers = addresses(warp, kernel, instr.vector[0], wide, instr.reconvergence.into());
    for lane in lanes(mask) {
        let address = barriers[lane];
        mbarrier::check_address(address, env.shared.len())
            .map_err(|what| warp.fault(kernel, env.launch, lane as u32, address, what))?;
        let pc = warp.current.pc;
        access.then.push(Completion {
            address: address as u32,
            bytes: Some(bytes[lane]),
            pc,
            lane: lane as u8,
        });
    }
    Ok(())
}
