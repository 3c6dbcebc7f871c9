//! System functions for kernels: printing, allocation, launches, failed assertions and traps.

use super::access::{AccessKind, Fault, MemAccess};
use super::forms::{CacheOp, Space};
use super::instr::{Instr, NONE};
use super::kernel::Kernel;
use super::lane::lanes;
use super::signatures::{RuntimeCall, SystemCall};
use super::warp::Warp;
use super::{Env, device_runtime, memory_ops};
use std::ops::Range;

type Result<T> = std::result::Result<T, Box<Fault>>;

/// Max length of a string from a kernel, in bytes.
const MAX_TEXT: usize = 4096;

/// Executes `call` in the lanes of `mask`, the lowest first.
pub(crate) fn call(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    instr: &Instr,
    call: SystemCall,
    mask: u32,
) -> Result<()> {
    let mut results = [0u64; 32];
    for lane in lanes(mask) {
        let argument = |index: u16| match index {
            NONE => 0,
            index => warp.double(kernel, index)[lane],
        };
        let first = if matches!(call, SystemCall::Runtime(_)) { 0 } else { argument(instr.a) };
        let done = match call {
            SystemCall::Print => print(warp, kernel, env, lane, first, argument(instr.b)),
            SystemCall::Allocate => Ok(allocate(env, first)),
            SystemCall::Free => free(env, first).map(|()| 0),
            SystemCall::NoFunction => Err(format!(
                "calls {first:#x}, which is no function with such parameters, or one in progress"
            )),
            SystemCall::Trap => Err("stops the kernel".to_owned()),
            SystemCall::Runtime(call) => device_runtime::call(warp, kernel, env, instr, call, lane),
            SystemCall::Assert => {
                let text = |address| string(warp, kernel, env, lane, address).unwrap_or_else(|why| why);
                let line = warp.word(kernel, instr.c)[lane];
                Err(format!(
                    "fails: assertion `{}` in {}, line {line}, function {}",
                    text(first),
                    text(argument(instr.b)),
                    text(argument(instr.vector[0]))
                ))
            }
        };
        results[lane] = done.map_err(|what| warp.fault(kernel, env.launch, lane as u32, first, what))?;
    }
    if instr.d != NONE {
        let is_address =
            matches!(call, SystemCall::Allocate | SystemCall::Runtime(RuntimeCall::ParameterBuffer));
        let bits = if is_address { 64 } else { 32 };
        warp.set_bits(instr.d, bits, &results, mask);
    }
    Ok(())
}

/// Returns the address of new memory, or 0 if the allocation fails.
fn allocate(env: &mut Env, bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { env.memory.alloc(bytes, "malloc").unwrap_or(0) }
}

fn free(env: &mut Env, address: u64) -> std::result::Result<(), String> {
    if address == 0 {
        return Ok(());
    }
    env.memory.free(address).map_err(|error| error.to_string())
}

/// Returns the state space of a generic address, and the offset in it.
fn resolve(lane: usize, address: u64) -> (Space, u64) {
    let mut access = MemAccess {
        space: Space::Generic,
        kind: AccessKind::Load,
        bytes: 1,
        mask: 1 << lane,
        address: [address; 32],
        cache: CacheOp::All,
        more: Vec::new(),
        then: Vec::new(),
    };
    memory_ops::resolve(1 << lane, &mut access);
    (access.space, access.address[lane])
}

/// Returns the bytes at `offset` in a state space, or an error.
fn range(address: u64, offset: u64, bytes: usize, space: usize) -> std::result::Result<Range<usize>, String> {
    let start = usize::try_from(offset).ok();
    let range = start.and_then(|start| Some(start..start.checked_add(bytes)?));
    range.filter(|range| range.end <= space).ok_or_else(|| {
        format!("accesses {bytes} bytes at generic address {address:#x}, outside its state space")
    })
}

/// Writes bytes of one lane's memory at a generic address.
pub(super) fn write(
    warp: &mut Warp,
    kernel: &Kernel,
    env: &mut Env,
    lane: usize,
    address: u64,
    bytes: &[u8],
) -> std::result::Result<(), String> {
    let (space, offset) = resolve(lane, address);
    let local = kernel.local_bytes as usize;
    let space: &mut [u8] = match space {
        Space::Shared => env.shared,
        Space::Local => &mut warp.local[lane * local..(lane + 1) * local],
        Space::Const | Space::Param => return Err(format!("writes to {address:#x}, which is read-only")),
        Space::Global | Space::Generic => {
            let written = env.memory.set(offset, bytes.len() as u64, |out| out.copy_from_slice(bytes));
            return written.map_err(|error| error.to_string());
        }
    };
    let range = range(address, offset, bytes.len(), space.len())?;
    space[range].copy_from_slice(bytes);
    Ok(())
}

/// Reads `out.len()` bytes of one lane's memory at a generic address.
pub(super) fn read(
    warp: &Warp,
    kernel: &Kernel,
    env: &Env,
    lane: usize,
    address: u64,
    out: &mut [u8],
) -> std::result::Result<(), String> {
    let (space, offset) = resolve(lane, address);
    let local = kernel.local_bytes as usize;
    let bytes: &[u8] = match space {
        Space::Shared => env.shared,
        Space::Local => &warp.local[lane * local..(lane + 1) * local],
        Space::Const => env.constants,
        Space::Param => env.params,
        Space::Global | Space::Generic => {
            return env.memory.read(offset, out).map_err(|error| error.to_string());
        }
    };
    out.copy_from_slice(&bytes[range(address, offset, out.len(), bytes.len())?]);
    Ok(())
}

/// Reads a zero-terminated string at a generic address.
fn string(
    warp: &Warp,
    kernel: &Kernel,
    env: &Env,
    lane: usize,
    address: u64,
) -> std::result::Result<String, String> {
    let mut text = Vec::new();
    loop {
        let mut byte = [0];
        read(warp, kernel, env, lane, address.wrapping_add(text.len() as u64), &mut byte)?;
        if byte[0] == 0 || text.len() == MAX_TEXT {
            return Ok(String::from_utf8_lossy(&text).into_owned());
        }
        text.push(byte[0]);
    }
}

/// `vprintf`: passes the formatted message to the host. Returns the number of arguments, or -1 without a format.
fn print(
    warp: &Warp,
    kernel: &Kernel,
    env: &mut Env,
    lane: usize,
    format: u64,
    arguments: u64,
) -> std::result::Result<u64, String> {
    if format == 0 {
        return Ok(u64::from(u32::MAX));
    }
    let format = string(warp, kernel, env, lane, format)?;
    let mut next = arguments;
    let mut count = 0;
    let message = super::print::format(&format, |argument| {
        let bytes = argument.bytes();
        next = next.next_multiple_of(bytes as u64);
        let mut value = [0; 8];
        read(warp, kernel, env, lane, next, &mut value[..bytes])?;
        next += bytes as u64;
        count += 1;
        let value = u64::from_le_bytes(value);
        if argument == super::print::ArgumentType::Text {
            return string(warp, kernel, env, lane, value).map(super::print::PrintedValue::Text);
        }
        Ok(super::print::PrintedValue::Bits(value))
    })?;
    env.memory.print(&message);
    Ok(count)
}
