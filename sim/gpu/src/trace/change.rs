//! Changes of device memory in a trace: written values, allocations and releases.
use super::bytes::{DecodeResult, TraceDecoder, TraceEncoder};
use selvedge_ptx::memory::{Change, DeviceMemory, MemoryError};

/// A change of memory, as decoded from a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit<'a> {
    Write { address: u64, values: &'a [u8] },
    Allocate { address: u64, bytes: u64 },
    Free { address: u64 },
}

const WRITE: u8 = 0;
const ALLOCATE: u8 = 1;
const FREE: u8 = 2;

/// Writes the changes with the current values of memory. Skips writes to memory that was freed since.
pub(super) fn encode(changes: &[Change], memory: &DeviceMemory, out: &mut TraceEncoder) {
    let mut runs: Vec<Change> = Vec::with_capacity(changes.len());
    for change in changes {
        // Consecutive writes of several lanes become one run.
        if let (Some(Change::Wrote { address, bytes }), Change::Wrote { address: next, bytes: more }) =
            (runs.last_mut(), change)
            && *address + *bytes == *next
        {
            *bytes += more;
            continue;
        }
        runs.push(*change);
    }
    let mut values = Vec::new();
    let is_there = |change: &Change| match change {
        Change::Wrote { address, bytes } => memory.holds(*address, *bytes),
        _ => true,
    };
    runs.retain(is_there);
    out.number(runs.len() as u64);
    let mut last = 0u64;
    for change in runs {
        let (tag, address, bytes) = match change {
            Change::Wrote { address, bytes } => (WRITE, address, bytes),
            Change::Allocated { address, bytes } => (ALLOCATE, address, bytes),
            Change::Freed { address } => (FREE, address, 0),
        };
        out.byte(tag);
        out.signed(address.wrapping_sub(last) as i64);
        last = address;
        match tag {
            WRITE => {
                values.resize(bytes as usize, 0);
                memory.read(address, &mut values).expect("it was found to be there");
                out.block(&values);
            }
            ALLOCATE => out.number(bytes),
            _ => {}
        }
    }
}

/// Reads changes and passes each to `each`.
pub(super) fn decode<'a>(
    from: &mut TraceDecoder<'a>,
    mut each: impl FnMut(Edit<'a>) -> DecodeResult<()>,
) -> DecodeResult<()> {
    let count = from.number()?;
    let mut address = 0u64;
    for _ in 0..count {
        let at = from.at;
        let tag = from.byte()?;
        address = address.wrapping_add(from.signed()? as u64);
        each(match tag {
            WRITE => Edit::Write { address, values: from.block()? },
            ALLOCATE => Edit::Allocate { address, bytes: from.number()? },
            FREE => Edit::Free { address },
            other => {
                let what = format!("change of memory = {other}: must be {WRITE} to {FREE}");
                return Err(super::bytes::Damage { at, what });
            }
        })?;
    }
    Ok(())
}

/// Applies a change to memory.
pub(super) fn apply(edit: Edit, memory: &mut DeviceMemory) -> Result<(), MemoryError> {
    match edit {
        Edit::Write { address, values } => memory.write(address, values),
        Edit::Allocate { address, bytes } => memory.alloc_at(address, bytes, "of the trace"),
        Edit::Free { address } => memory.free(address),
    }
}
