//! Loads, stores and atomics of a warp.

use super::access::{AccessKind, Fault, MemAccess};
use super::float::Rounding;
use super::forms::{AtomicOp, MemoryForm, Number, NumberType, Space};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::{LANE_BIT, Lane, blend, lanes};
use super::small_float::SmallFloat;
use super::warp::Warp;
use super::{CONST_WINDOW, Env, LOCAL_REGION, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use crate::memory::DeviceMemory;

/// Max bytes per lane of one access.
const MOST_BYTES: usize = 32;

type Result<T> = std::result::Result<T, Box<Fault>>;

/// Fills `access` with the lanes' addresses and resolves generic ones. Returns the lanes whose addresses are in other
/// spaces.
pub(super) fn addresses(
    warp: &Warp,
    kernel: &Kernel,
    instr: &Instr,
    form: MemoryForm,
    mask: u32,
    access: &mut MemAccess,
) -> u32 {
    let offset = instr.offset as u64;
    if instr.a == NONE {
        access.address = [offset; 32];
    } else if form.wide_address {
        let base = warp.double(kernel, instr.a);
        access.address = base.map(|base| base.wrapping_add(offset));
    } else {
        let base = warp.word(kernel, instr.a);
        access.address = base.map(|base| u64::from(base.wrapping_add(offset as u32)));
    }
    access.more.clear();
    access.mask = mask;
    access.space = form.space;
    access.bytes = form.element.bits / 8 * form.elements;
    access.cache = form.cache;
    if form.space == Space::Generic { resolve(mask, access) } else { 0 }
}

/// Returns the space and start of the window that contains a generic address.
fn window(address: u64) -> (Space, u64) {
    for (space, base) in [
        (Space::Shared, SHARED_WINDOW),
        (Space::Local, LOCAL_WINDOW),
        (Space::Const, CONST_WINDOW),
        (Space::Param, PARAM_WINDOW),
    ] {
        if address.wrapping_sub(base) < WINDOW_BYTES {
            return (space, base);
        }
    }
    (Space::Global, 0)
}

/// Converts generic addresses to addresses in the state space of the lowest lane. Returns the lanes in other spaces.
pub(crate) fn resolve(mask: u32, access: &mut MemAccess) -> u32 {
    let first = mask.trailing_zeros() as usize;
    let (space, base) = window(access.address[first]);
    access.space = space;
    let mut others = 0;
    for lane in lanes(mask) {
        if window(access.address[lane]).0 == space {
            access.address[lane] -= base;
        } else {
            others |= LANE_BIT[lane];
        }
    }
    access.mask &= !others;
    others
}

/// Returns the lowest and the highest address of the lanes in `mask`.
#[inline(always)]
fn span(addresses: &[u64; 32], mask: u32) -> (u64, u64) {
    let (mut low, mut high) = (u64::MAX, 0);
    for (&address, bit) in addresses.iter().zip(LANE_BIT) {
        let active = mask & bit != 0;
        low = low.min(if active { address } else { u64::MAX });
        high = high.max(if active { address } else { 0 });
    }
    (low, high)
}

/// Returns a fault if any lane is misaligned. Sizes are powers of two.
#[inline(always)]
fn check_alignment(warp: &Warp, kernel: &Kernel, env: &Env, access: &MemAccess) -> Result<()> {
    let mut low_bits = 0;
    for (address, bit) in access.address.iter().zip(LANE_BIT) {
        low_bits |= if access.mask & bit != 0 { *address } else { 0 };
    }
    let size = u64::from(access.bytes);
    if low_bits & (size - 1) == 0 { Ok(()) } else { Err(misaligned(warp, kernel, env, access)) }
}

#[cold]
fn misaligned(warp: &Warp, kernel: &Kernel, env: &Env, access: &MemAccess) -> Box<Fault> {
    let size = u64::from(access.bytes);
    let lane = lanes(access.mask).find(|&lane| access.address[lane] & (size - 1) != 0).unwrap_or(0);
    let address = access.address[lane];
    let what = format!("needs an address that is a multiple of {size}, got {address:#x}");
    warp.fault(kernel, env.launch, lane as u32, address, what)
}

#[cold]
fn out_of_bounds(
    warp: &Warp,
    kernel: &Kernel,
    env: &Env,
    access: &MemAccess,
    lane: usize,
    size: u64,
) -> Box<Fault> {
    let address = access.address[lane];
    let verb = match access.kind {
        AccessKind::Load => "reads",
        AccessKind::Store => "writes",
        AccessKind::Atomic { .. } => "updates",
    };
    let bytes = access.bytes;
    let what = match access.space {
        Space::Global => {
            let nearest = env.memory.describe_nearest(address);
            let last = address.saturating_add(u64::from(bytes) - 1);
            // Other addresses are faults in every configuration.
            let advice = if DeviceMemory::may_be_void(address, last) {
                "; a configuration with `memory.out_of_bounds = \"zero\"` allows it"
            } else {
                ""
            };
            format!(
                "{verb} {bytes} bytes at global address {address:#x}, outside every buffer ({nearest}){advice}"
            )
        }
        space => {
            let name = format!("{space:?}").to_lowercase();
            format!(
                "{verb} {bytes} bytes at {name} address {address:#x}, but the {name} memory has {size} bytes"
            )
        }
    };
    warp.fault(kernel, env.launch, lane as u32, address, what)
}

/// Returns a fault if any lane accesses bytes beyond `size`.
fn check_span(warp: &Warp, kernel: &Kernel, env: &Env, access: &MemAccess, size: usize) -> Result<()> {
    let (_, high) = span(&access.address, access.mask);
    let size = size as u64;
    if high.saturating_add(u64::from(access.bytes)) <= size {
        return Ok(());
    }
    let beyond = |lane: &usize| access.address[*lane].saturating_add(u64::from(access.bytes)) > size;
    let lane = lanes(access.mask).find(beyond).unwrap_or(0);
    Err(out_of_bounds(warp, kernel, env, access, lane, size))
}

/// Returns the element at `offset` in `bytes`, whose bounds must have been checked.
#[inline(always)]
fn read_element(bytes: &[u8], offset: usize, size: usize) -> u64 {
    match size {
        4 => u64::from(u32::from_le_bytes(fixed(bytes, offset))),
        8 => u64::from_le_bytes(fixed(bytes, offset)),
        2 => u64::from(u16::from_le_bytes(fixed(bytes, offset))),
        _ => u64::from(bytes[offset]),
    }
}

#[inline(always)]
fn fixed<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[offset..offset + N]);
    out
}

#[inline(always)]
fn write_element(bytes: &mut [u8], offset: usize, size: usize, value: u64) {
    bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

#[inline(always)]
fn write_fixed<const N: usize>(bytes: &mut [u8], offset: usize, value: [u8; N]) {
    bytes[offset..offset + N].copy_from_slice(&value);
}

/// Calls `f` for each lane of `access`, in lane order, with the memory that contains the access, the offset in it,
/// and the lane.
pub(super) fn each_lane(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    access: &MemAccess,
    mut f: impl FnMut(&mut [u8], usize, usize),
) -> Result<()> {
    check_alignment(warp, kernel, env, access)?;
    match access.space {
        Space::Global | Space::Generic => {
            let (low, high) = span(&access.address, access.mask);
            let last = high.saturating_add(u64::from(access.bytes) - 1);
            if let Some((base, bytes)) = env.memory.buffer_with_mut(low, last) {
                for lane in lanes(access.mask) {
                    f(bytes, (access.address[lane] - base) as usize, lane);
                }
                note_written(env, access, access.mask);
                return Ok(());
            }
            let mut inside = access.mask;
            for lane in lanes(access.mask) {
                let address = access.address[lane];
                let last = address.saturating_add(u64::from(access.bytes) - 1);
                let is_void = env.memory.is_void(address, last);
                match env.memory.buffer_with_mut(address, last) {
                    Some((base, bytes)) => f(bytes, (address - base) as usize, lane),
                    None if is_void => {
                        f(&mut [0; MOST_BYTES], 0, lane);
                        inside &= !LANE_BIT[lane];
                    }
                    None => return Err(out_of_bounds(warp, kernel, env, access, lane, 0)),
                }
            }
            note_written(env, access, inside);
        }
        Space::Shared => {
            let (_, high) = span(&access.address, access.mask);
            if high.saturating_add(access.bytes.into()) > env.shared.len() as u64 {
                return each_cluster_lane(warp, kernel, env, access, f);
            }
            lanes(access.mask).for_each(|lane| f(env.shared, access.address[lane] as usize, lane));
        }
        Space::Local => {
            let size = kernel.local_bytes as usize;
            check_span(warp, kernel, env, access, size)?;
            for lane in lanes(access.mask) {
                f(&mut warp.local[lane * size..(lane + 1) * size], access.address[lane] as usize, lane);
            }
        }
        Space::Const | Space::Param => {}
    }
    Ok(())
}

/// Calls `f` as [`each_lane`] does, for an access to the shared memory of several CTAs of a cluster.
#[cold]
fn each_cluster_lane(
    warp: &Warp,
    kernel: &Kernel,
    env: &mut Env,
    access: &MemAccess,
    mut f: impl FnMut(&mut [u8], usize, usize),
) -> Result<()> {
    for lane in lanes(access.mask) {
        let address = access.address[lane];
        let is_remote = env.is_remote(address);
        match env.shared_at(address, access.bytes.into()) {
            Ok(bytes) => f(bytes, 0, lane),
            Err(what) if is_remote => {
                return Err(warp.fault(kernel, env.launch, lane as u32, address, what));
            }
            Err(_) => return Err(out_of_bounds(warp, kernel, env, access, lane, env.shared.len() as u64)),
        }
    }
    Ok(())
}

/// Records the bytes that an access to global memory has written.
#[inline(always)]
fn note_written(env: &mut Env, access: &MemAccess, lanes: u32) {
    if access.kind != AccessKind::Load {
        env.memory.note_written(lanes, &access.address, access.bytes);
    }
}

/// Assigns local accesses the addresses that the memory system sees: lane-interleaved, one region per warp.
fn place_local(warp: &Warp, kernel: &Kernel, access: &mut MemAccess) {
    if access.space != Space::Local {
        return;
    }
    let size = u64::from(access.bytes);
    let region = LOCAL_REGION + warp.warp_in_grid * u64::from(kernel.local_bytes.next_multiple_of(16)) * 32;
    for lane in lanes(access.mask) {
        access.address[lane] = region + access.address[lane] / size * size * 32 + lane as u64 * size;
    }
}

/// Values in all lanes, for each element of a vector.
type LaneElements = [[u64; 32]; 8];

/// Sign-extends values of `bits` bits.
fn extend(values: &mut [u64; 32], bits: u8) {
    let unused = 64 - u32::from(bits);
    for value in values {
        *value = ((*value << unused) as i64 >> unused) as u64;
    }
}

/// Executes a load.
pub(crate) fn load(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<()> {
    access.kind = AccessKind::Load;
    let others = addresses(warp, kernel, instr, form, mask, access);
    if others == 0 && form.elements == 1 && form.element.bits == 32 && form.register_bits == 32 {
        load_words(warp, kernel, env, instr.vector[0], access)?;
    } else {
        load_group(warp, kernel, env, instr, form, access)?;
        other_groups(warp, kernel, env, instr, form, others, access, load_group)?;
    }
    place_local(warp, kernel, access);
    Ok(())
}

type AccessFn = fn(&mut Warp, &Kernel, &mut Env, &Instr, MemoryForm, &mut MemAccess) -> Result<()>;

/// Executes the lanes of a generic access that are in other spaces than the lowest lane.
#[expect(
    clippy::too_many_arguments,
    reason = "the state of one access, each part borrowed from another owner"
)]
fn other_groups(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    mut others: u32,
    access: &MemAccess,
    group: AccessFn,
) -> Result<()> {
    while others != 0 {
        let mut rest = access.clone();
        rest.mask = others;
        others = resolve(others, &mut rest);
        group(warp, kernel, env, instr, form, &mut rest)?;
    }
    Ok(())
}

/// Loads one 32-bit word per lane, the most common load.
fn load_words(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    register: u16,
    access: &MemAccess,
) -> Result<()> {
    if register == NONE {
        return load_checked(warp, kernel, env, access, |_, _, _| {});
    }
    let mut out = [0u32; 32];
    if !load_lanes(env, access, &mut out) {
        load_checked(warp, kernel, env, access, |bytes, offset, lane| {
            out[lane] = u32::from_le_bytes(fixed(bytes, offset));
        })?;
    }
    blend(&mut warp.registers.words[usize::from(register)], &out, access.mask);
    Ok(())
}

/// Loads the words of the lanes of `access` if they are aligned, and in one buffer or outside global memory. Returns
/// `false` otherwise. Inactive lanes receive arbitrary values.
#[inline(always)]
fn load_lanes(env: &mut Env, access: &MemAccess, out: &mut [u32; 32]) -> bool {
    let mut of_all = [0; 32];
    let addresses = if access.mask == u32::MAX {
        &access.address
    } else {
        // Inactive lanes use the address of an active lane.
        let first = access.address[access.mask.trailing_zeros() as usize & 31];
        for (lane, (address, own)) in of_all.iter_mut().zip(&access.address).enumerate() {
            *address = if access.mask & LANE_BIT[lane] != 0 { *own } else { first };
        }
        &of_all
    };
    let bytes: &[u8] = match access.space {
        Space::Global => {
            return load_from(addresses, out, |first, last| env.memory.buffer_with(first, last));
        }
        Space::Shared => env.shared,
        Space::Const => env.constants,
        Space::Param => env.params,
        Space::Local | Space::Generic => return false,
    };
    load_from(addresses, out, |_, last| (last < bytes.len() as u64).then_some((0, bytes)))
}

/// Loads the words at `addresses`. `find` returns the memory that contains a first and a last byte, with the address
/// of its start. Returns `false` if it finds none, or if an address is misaligned.
#[inline(always)]
fn load_from<'a>(
    addresses: &[u64; 32],
    out: &mut [u32; 32],
    find: impl FnOnce(u64, u64) -> Option<(u64, &'a [u8])>,
) -> bool {
    let first = addresses[0];
    let (mut bits, mut differs, mut unequal) = (0, 0, 0);
    for (lane, address) in addresses.iter().enumerate() {
        bits |= address;
        differs |= address ^ first;
        unequal |= address ^ first.wrapping_add(4 * lane as u64);
    }
    if bits % 4 != 0 {
        return false;
    }
    if differs == 0 {
        let Some((base, bytes)) = find(first, first.saturating_add(3)) else { return false };
        *out = [u32::from_le_bytes(fixed(bytes, (first - base) as usize)); 32];
    } else if unequal == 0 {
        let Some((base, bytes)) = find(first, first.saturating_add(127)) else { return false };
        let start = (first - base) as usize;
        for (value, word) in out.iter_mut().zip(bytes[start..start + 128].as_chunks::<4>().0) {
            *value = u32::from_le_bytes(*word);
        }
    } else {
        let low = addresses.iter().fold(u64::MAX, |low, address| low.min(*address));
        let high = addresses.iter().fold(0, |high, address| high.max(*address));
        let Some((base, bytes)) = find(low, high.saturating_add(3)) else { return false };
        for (value, &address) in out.iter_mut().zip(addresses) {
            *value = u32::from_le_bytes(fixed(bytes, (address - base) as usize));
        }
    }
    true
}

/// Reads as [`each_lane`] does, and also supports constants and parameters.
pub(super) fn load_checked(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    access: &MemAccess,
    mut f: impl FnMut(&[u8], usize, usize),
) -> Result<()> {
    let bytes: &[u8] = match access.space {
        Space::Const => env.constants,
        Space::Param => env.params,
        Space::Global | Space::Generic => {
            check_alignment(warp, kernel, env, access)?;
            return load_global(warp, kernel, env, access, f);
        }
        _ => return each_lane(warp, kernel, env, access, |bytes, offset, lane| f(bytes, offset, lane)),
    };
    check_alignment(warp, kernel, env, access)?;
    check_span(warp, kernel, env, access, bytes.len())?;
    lanes(access.mask).for_each(|lane| f(bytes, access.address[lane] as usize, lane));
    Ok(())
}

/// Calls `f` for each lane of a load from global memory, like [`each_lane`]. Leaves the memory unchanged.
fn load_global(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    access: &MemAccess,
    mut f: impl FnMut(&[u8], usize, usize),
) -> Result<()> {
    let (low, high) = span(&access.address, access.mask);
    let last = high.saturating_add(u64::from(access.bytes) - 1);
    if let Some((base, bytes)) = env.memory.buffer_with(low, last) {
        lanes(access.mask).for_each(|lane| f(bytes, (access.address[lane] - base) as usize, lane));
        return Ok(());
    }
    for lane in lanes(access.mask) {
        let address = access.address[lane];
        let last = address.saturating_add(u64::from(access.bytes) - 1);
        let is_void = env.memory.is_void(address, last);
        match env.memory.buffer_with(address, last) {
            Some((base, bytes)) => f(bytes, (address - base) as usize, lane),
            None if is_void => f(&[0; MOST_BYTES], 0, lane),
            None => return Err(out_of_bounds(warp, kernel, env, access, lane, 0)),
        }
    }
    Ok(())
}

fn load_group(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    access: &mut MemAccess,
) -> Result<()> {
    if form.elements == 1 {
        // An array of eight elements would have to be cleared for nothing.
        return load_into(warp, kernel, env, instr, form, access, &mut [[0; 32]]);
    }
    let mut out: LaneElements = [[0; 32]; 8];
    load_into(warp, kernel, env, instr, form, access, &mut out[..usize::from(form.elements)])
}

/// Loads the elements of a group of lanes through `out`.
#[inline(always)]
fn load_into(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    access: &mut MemAccess,
    out: &mut [[u64; 32]],
) -> Result<()> {
    match form.element.bits / 8 {
        8 => load_elements::<8>(warp, kernel, env, access, out),
        4 => load_elements::<4>(warp, kernel, env, access, out),
        2 => load_elements::<2>(warp, kernel, env, access, out),
        _ => load_elements::<1>(warp, kernel, env, access, out),
    }?;
    for (element, values) in out.iter_mut().enumerate() {
        if instr.vector[element] == NONE {
            continue;
        }
        if form.element.number == Number::Signed {
            extend(values, form.element.bits);
        }
        warp.set_bits(instr.vector[element], form.register_bits, values, access.mask);
    }
    Ok(())
}

/// Loads elements of `SIZE` bytes for each lane.
fn load_elements<const SIZE: usize>(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    access: &MemAccess,
    out: &mut [[u64; 32]],
) -> Result<()> {
    if let [values] = out {
        if let Some(value) = uniform_element::<SIZE>(env, access) {
            *values = [value; 32];
            return Ok(());
        }
        return load_checked(warp, kernel, env, access, |bytes, offset, lane| {
            values[lane] = read_element(bytes, offset, SIZE);
        });
    }
    load_checked(warp, kernel, env, access, |bytes, offset, lane| {
        for (element, values) in out.iter_mut().enumerate() {
            values[lane] = read_element(bytes, offset + element * SIZE, SIZE);
        }
    })
}

/// Returns the element that all lanes read, if they read the same parameter or constant. Makes the same checks as
/// [`load_checked`].
#[inline(always)]
fn uniform_element<const SIZE: usize>(env: &Env, access: &MemAccess) -> Option<u64> {
    let bytes: &[u8] = match access.space {
        Space::Const => env.constants,
        Space::Param => env.params,
        _ => return None,
    };
    let first = access.address[0];
    let differs = access.address.iter().fold(0, |differs, address| differs | (address ^ first));
    if access.mask != u32::MAX || differs != 0 || !first.is_multiple_of(SIZE as u64) {
        return None;
    }
    let from = usize::try_from(first).ok()?;
    let element = bytes.get(from..)?.get(..SIZE)?;
    Some(read_element(element, 0, SIZE))
}

/// Executes a store.
pub(crate) fn store(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<()> {
    access.kind = AccessKind::Store;
    let others = addresses(warp, kernel, instr, form, mask, access);
    if others == 0 && form.elements == 1 && form.element.bits == 32 && !form.wide_register {
        let values = *warp.word(kernel, instr.vector[0]);
        refuse_read_only(warp, kernel, env, access)?;
        each_lane(warp, kernel, env, access, |bytes, offset, lane| {
            write_fixed(bytes, offset, values[lane].to_le_bytes());
        })?;
    } else {
        store_group(warp, kernel, env, instr, form, access)?;
        other_groups(warp, kernel, env, instr, form, others, access, store_group)?;
    }
    place_local(warp, kernel, access);
    Ok(())
}

/// Returns a fault for a write to constants or parameters.
fn refuse_read_only(warp: &Warp, kernel: &Kernel, env: &Env, access: &MemAccess) -> Result<()> {
    if !matches!(access.space, Space::Const | Space::Param) {
        return Ok(());
    }
    let lane = access.mask.trailing_zeros();
    let address = access.address[lane as usize & 31];
    let what =
        format!("writes to {} memory, which is read-only", format!("{:?}", access.space).to_lowercase());
    Err(warp.fault(kernel, env.launch, lane, address, what))
}

fn store_group(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    access: &mut MemAccess,
) -> Result<()> {
    let (size, count) = (usize::from(form.element.bits / 8), usize::from(form.elements));
    let mut values: LaneElements = [[0; 32]; 8];
    for (element, values) in values.iter_mut().enumerate().take(count) {
        *values = warp.bits(kernel, instr.vector[element], form.wide_register);
    }
    refuse_read_only(warp, kernel, env, access)?;
    each_lane(warp, kernel, env, access, |bytes, offset, lane| {
        for (element, values) in values.iter().enumerate().take(count) {
            write_element(bytes, offset + element * size, size, values[lane]);
        }
    })
}

/// Executes an atomic. Its lanes execute one after the other, the lowest first.
pub(crate) fn atomic(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<()> {
    access.kind = AccessKind::Atomic { op: form.atomic, reduction: form.reduction };
    let others = addresses(warp, kernel, instr, form, mask, access);
    atomic_group(warp, kernel, env, instr, form, access)?;
    other_groups(warp, kernel, env, instr, form, others, access, atomic_group)?;
    place_local(warp, kernel, access);
    Ok(())
}

/// Executes an atomic that leaves memory unchanged. If it would change memory, returns `false` without any effect.
pub(crate) fn atomic_unseen(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    mask: u32,
    access: &mut MemAccess,
) -> Result<bool> {
    access.kind = AccessKind::Load;
    let others = addresses(warp, kernel, instr, form, mask, access);
    let size = usize::from(form.element.bits / 8);
    let operand = warp.bits(kernel, instr.b, form.wide_register);
    let swap =
        if form.atomic == AtomicOp::Cas { warp.bits(kernel, instr.c, form.wide_register) } else { [0; 32] };
    let flush = access.space == Space::Global;
    let mut changes = others != 0;
    each_lane(warp, kernel, env, access, |bytes, offset, lane| {
        let old = read_element(bytes, offset, size);
        let new = update(form, flush, old, operand[lane], swap[lane]);
        changes |= new.to_le_bytes()[..size] != old.to_le_bytes()[..size];
    })?;
    if !changes {
        warp.step(kernel, env, access)?;
    }
    Ok(!changes)
}

fn atomic_group(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    form: MemoryForm,
    access: &mut MemAccess,
) -> Result<()> {
    let size = usize::from(form.element.bits / 8);
    let operand = warp.bits(kernel, instr.b, form.wide_register);
    let swap =
        if form.atomic == AtomicOp::Cas { warp.bits(kernel, instr.c, form.wide_register) } else { [0; 32] };
    let mut old = [0; 32];
    // Single-precision sums flush subnormal numbers in the memory partitions, but not in shared memory.
    let flush = access.space == Space::Global;
    refuse_read_only(warp, kernel, env, access)?;
    each_lane(warp, kernel, env, access, |bytes, offset, lane| {
        let before = read_element(bytes, offset, size);
        old[lane] = before;
        write_element(bytes, offset, size, update(form, flush, before, operand[lane], swap[lane]));
    })?;
    if instr.d != NONE {
        warp.set_bits(instr.d, form.register_bits, &old, access.mask);
    }
    Ok(())
}

/// Returns the sum of one or two pairs of 16-bit floating-point numbers.
#[cold]
fn half_sum(of: NumberType, old: u32, operand: u32) -> u32 {
    let format = match of.number {
        Number::Brain | Number::BrainPair => SmallFloat::Brain,
        _ => SmallFloat::Half,
    };
    let sum = |shift: u32| {
        let [a, b] = [old, operand].map(|bits| format.decode(bits >> shift & 0xffff));
        format.encode(super::float::sum_to_odd(a, b), Rounding::Nearest) << shift
    };
    if of.bits == 16 { sum(0) } else { sum(0) | sum(16) }
}

/// Returns the value that an atomic stores. `flush` treats subnormal single-precision numbers as zero.
fn update(form: MemoryForm, flush: bool, old: u64, operand: u64, swap: u64) -> u64 {
    let bits = form.element.bits;
    let unused = 64 - u32::from(bits);
    let (old, operand) = (old << unused >> unused, operand << unused >> unused);
    let signed = |v: u64| (v << unused) as i64 >> unused;
    let is_signed = form.element.number == Number::Signed;
    match form.atomic {
        AtomicOp::Add if form.element.number == Number::Float && bits == 32 => {
            let zeroed = |value: f32| if flush { value.flush() } else { value };
            let sum = zeroed(zeroed(f32::from_bits(old as u32)) + zeroed(f32::from_bits(operand as u32)));
            u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
        AtomicOp::Add if matches!(form.element.number, Number::Unsigned | Number::Signed) => {
            old.wrapping_add(operand)
        }
        AtomicOp::Add if form.element.number != Number::Float || bits == 16 => {
            half_sum(form.element, old as u32, operand as u32).into()
        }
        AtomicOp::Add => super::float::add64(f64::from_bits(old), f64::from_bits(operand)).to_bits(),
        AtomicOp::Min if is_signed => signed(old).min(signed(operand)) as u64,
        AtomicOp::Min => old.min(operand),
        AtomicOp::Max if is_signed => signed(old).max(signed(operand)) as u64,
        AtomicOp::Max => old.max(operand),
        AtomicOp::Inc => {
            if old >= operand {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > operand {
                operand
            } else {
                old - 1
            }
        }
        AtomicOp::And => old & operand,
        AtomicOp::Or => old | operand,
        AtomicOp::Xor => old ^ operand,
        AtomicOp::Exch => operand,
        AtomicOp::Cas => {
            if old == operand {
                swap
            } else {
                old
            }
        }
    }
}
