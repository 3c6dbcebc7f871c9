//! A launch in a trace: the kernel in the form for the timing model, the grid, and the instructions of each warp.
use super::bytes::{Damage, TraceDecoder};
use super::change::Edit;
use super::stream::{Cursor, RecordHead, RecordKind, lanes};
use selvedge_ptx::ptx::{
    AccessKind, Instr, Kernel, LOCAL_REGION, LaunchDims, MemAccess, OpClass, Space, Step,
};
use selvedge_state::SharedObject;
use std::ops::Range;
use std::sync::Arc;

/// First address beyond the address space of a program.
const ADDRESS_END: u64 = 1 << 42;

/// A launch whose records were checked.
#[derive(Debug)]
pub struct TraceLaunch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Grid and block.
    pub dims: LaunchDims,
    /// Ranges of the warps' records in `bytes`, in the order of the warps in the grid.
    pub(super) streams: Vec<Range<usize>>,
    /// Bytes that contain the records.
    pub(super) bytes: Arc<Vec<u8>>,
    /// Bytes per instruction in the code, the distance of program counters.
    pub instruction_bytes: u64,
    /// Bytes of local memory per thread if the records contain offsets in local memory; `None` if they contain addresses.
    pub(super) local_bytes: Option<u64>,
    /// Counts of the launch.
    pub summary: LaunchSummary,
    /// CTAs that the trace omits because they have no instructions. Their warps only exit.
    pub empty_ctas: u64,
}

/// Counts of a launch, collected when the trace is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSummary {
    /// Kernel name.
    pub name: String,
    /// Grid size in CTAs.
    pub grid: [u32; 3],
    /// Block size in threads.
    pub block: [u32; 3],
    /// Number of warp instructions.
    pub warp_instructions: u64,
    /// Active lanes of the warp instructions.
    pub thread_instructions: u64,
    /// Warp instructions that load, including textures.
    pub loads: u64,
    /// Warp instructions that store.
    pub stores: u64,
    /// Warp instructions that are atomics or reductions.
    pub atomics: u64,
    /// Bytes of values that the launch writes to device memory; 0 in a trace without values.
    pub value_bytes: u64,
}

/// The key is constant, because a trace runs one launch at a time.
impl SharedObject for TraceLaunch {
    fn key(&self) -> u64 {
        0
    }
}

impl TraceLaunch {
    /// Checks every record and collects the summary.
    pub(super) fn checked(mut self) -> Result<Self, Damage> {
        let mut summary = LaunchSummary {
            name: self.kernel.name.clone(),
            grid: self.dims.grid,
            block: self.dims.block,
            ..LaunchSummary::default()
        };
        let mut access = MemAccess::new();
        for stream in &self.streams {
            self.check_stream(stream.clone(), &mut access, &mut summary)?;
        }
        self.summary = summary;
        Ok(self)
    }

    fn check_stream(
        &self,
        stream: Range<usize>,
        access: &mut MemAccess,
        summary: &mut LaunchSummary,
    ) -> Result<(), Damage> {
        let mut from = TraceDecoder::new(&self.bytes, stream);
        let mut cursor = Cursor::default();
        let mut last = RecordKind::Alu;
        while !from.is_at_end() {
            let at = from.at;
            let head = cursor.head(&mut from, self.kernel.code.len())?;
            let instr = &self.kernel.code[head.pc as usize];
            fits(instr, head.kind).map_err(|what| Damage { at, what })?;
            let step = cursor.body(&mut from, &head, access, |edit| {
                if let Edit::Write { values, .. } = edit {
                    summary.value_bytes += values.len() as u64;
                }
                Ok(())
            })?;
            if matches!(step, Step::Memory | Step::Texture { .. } | Step::Async) {
                self.check_access(instr, access).map_err(|what| Damage { at, what })?;
                match access.kind {
                    AccessKind::Load => summary.loads += 1,
                    AccessKind::Store => summary.stores += 1,
                    AccessKind::Atomic { .. } => summary.atomics += 1,
                }
            }
            summary.warp_instructions += 1;
            summary.thread_instructions += u64::from(head.lanes.count_ones());
            last = head.kind;
        }
        if last != RecordKind::Exit {
            return Err(from.damage("a warp's instructions do not end with its exit"));
        }
        Ok(())
    }

    /// Checks an access. Returns a message if the memory path could not perform it.
    fn check_access(&self, instr: &Instr, access: &MemAccess) -> Result<(), String> {
        let declared = instr.space().unwrap_or(Space::Global);
        if declared != access.space && declared != Space::Generic {
            return Err(format!("an instruction of {declared:?} memory accesses {:?} memory", access.space));
        }
        if !access.kind.returns_value() && !instr.dests().is_empty() {
            return Err("an instruction that returns nothing has a destination".into());
        }
        if matches!(access.space, Space::Const | Space::Param) {
            return Ok(());
        }
        let allowed = match access.space {
            Space::Global => 0..LOCAL_REGION,
            Space::Local if self.local_bytes.is_none() => LOCAL_REGION..ADDRESS_END,
            _ => 0..1 << 32,
        };
        let others = access.more.iter().map(|(mask, addresses)| (*mask, addresses));
        for (mask, addresses) in std::iter::once((access.mask, &access.address)).chain(others) {
            for address in lanes(mask).map(|lane| addresses[lane]) {
                let bytes = u64::from(access.bytes);
                if !address.is_multiple_of(bytes) {
                    return Err(format!("address {address:#x} of {bytes} bytes: must be multiples of them"));
                }
                if !allowed.contains(&address) || allowed.end - address < bytes {
                    let (first, end, space) = (allowed.start, allowed.end, access.space);
                    return Err(format!("{space:?} address {address:#x}: must be {first:#x} to {end:#x}"));
                }
            }
        }
        Ok(())
    }

    /// Returns a decoder for a stream that [`TraceLaunch::checked`] has checked.
    pub(super) fn decoder(&self, stream: &Range<usize>) -> TraceDecoder<'_> {
        TraceDecoder::new(&self.bytes, stream.clone())
    }

    /// Returns the number of warps in the grid; `None` if it is too large for a trace.
    pub(super) fn warps(dims: &LaunchDims) -> Option<usize> {
        let warps = dims.ctas().checked_mul(u64::from(dims.warps_per_cta()))?;
        usize::try_from(warps).ok()
    }
}

/// Checks that an instruction of this class can have a record of this kind. A guard may have disabled the instruction in every
/// lane. Its record is then arithmetic without lanes.
fn fits(instr: &Instr, kind: RecordKind) -> Result<(), String> {
    let class = instr.class;
    let can = match kind {
        RecordKind::Alu => true,
        RecordKind::Memory => matches!(class, OpClass::Load | OpClass::Store | OpClass::Atomic),
        RecordKind::Texture => class == OpClass::Texture,
        RecordKind::Barrier => class == OpClass::Barrier,
        RecordKind::Bulk => matches!(class, OpClass::Load | OpClass::Store),
        RecordKind::Fence | RecordKind::AwaitReads => class == OpClass::Fence,
        RecordKind::Exit => class == OpClass::Exit,
    };
    if can { Ok(()) } else { Err(format!("an instruction of class {class:?} is recorded as {kind:?}")) }
}

/// Reads the head of the next record, if any. The stream must have been checked.
pub(super) fn next_head(cursor: &mut Cursor, from: &mut TraceDecoder, length: usize) -> Option<RecordHead> {
    if from.is_at_end() {
        return None;
    }
    Some(cursor.head(from, length).expect("the stream was checked when it was read"))
}
