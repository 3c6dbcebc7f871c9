//! The instructions of one warp in a trace, in issue order.
//!
//! A record begins with a byte of flags. It then has the differences from the expected values: the position in the kernel's code,
//! if it is not the next one, and the lanes, if they changed. Further bytes depend on the kind of the instruction. Addresses are
//! a base and a stride, if these describe all lanes.
use super::bytes::{DecodeResult, TraceDecoder, TraceEncoder, entry, number_of};
use super::change::{self, Edit};
use selvedge_ptx::memory::{Change, DeviceMemory};
use selvedge_ptx::ptx::{AccessKind, AtomicOp, CacheOp, MemAccess, Space, Step};
use selvedge_state::State;
use std::num::NonZeroU32;

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(super) enum RecordKind {
    Alu,
    Memory,
    Texture,
    Barrier,
    Fence,
    Exit,
    /// A bulk copy.
    Bulk,
    /// A wait until bulk copies have read shared memory.
    AwaitReads,
}

const KINDS: [RecordKind; 8] = [
    RecordKind::Alu,
    RecordKind::Memory,
    RecordKind::Texture,
    RecordKind::Barrier,
    RecordKind::Fence,
    RecordKind::Exit,
    RecordKind::Bulk,
    RecordKind::AwaitReads,
];
const KIND_BITS: u8 = 0b111;
const JUMPS: u8 = 1 << 3;
const OTHER_LANES: u8 = 1 << 4;
const CHANGES_MEMORY: u8 = 1 << 5;
const ARRIVES_ONLY: u8 = 1 << 6;
const FLAGS: u8 = 0x7f;

pub(super) const SPACES: [Space; 6] =
    [Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param, Space::Generic];
const CACHE_OPS: [CacheOp; 5] =
    [CacheOp::All, CacheOp::Global, CacheOp::Streaming, CacheOp::Volatile, CacheOp::ReadOnly];
const ATOMIC_OPS: [AtomicOp; 10] = [
    AtomicOp::Add,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::Inc,
    AtomicOp::Dec,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
    AtomicOp::Exch,
    AtomicOp::Cas,
];
const LOAD: u8 = 0;
const STORE: u8 = 1;
const ATOMIC: u8 = 2;
const REDUCTION: u8 = 3;
/// Max accesses of a bulk copy beyond the first, each of 512 bytes: 32 lanes copy all of the largest shared memory.
const MOST_GROUPS: u64 = 32 * 512;
/// Set in the second byte of an access whose addresses have no common stride.
const SCATTERED: u8 = 1 << 7;

/// An executed instruction, in the form in which it is recorded.
pub(super) struct Executed<'a> {
    /// Index in the kernel's code.
    pub pc: u32,
    /// Active lanes of the path that ran.
    pub active: u32,
    pub step: Step,
    /// The access of a load, store, atomic or texture; otherwise ignored.
    pub access: &'a MemAccess,
    /// Changes of memory by the instruction, and the memory with the written values.
    pub changes: Option<(&'a [Change], &'a DeviceMemory)>,
}

/// Encodes the records of a warp.
#[derive(Debug, Default, State)]
pub(super) struct StreamWriter {
    out: TraceEncoder,
    next_pc: u32,
    lanes: u32,
    address: u64,
}

impl StreamWriter {
    /// Removes and returns the bytes so far, and resets the writer.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(self).out.bytes
    }

    /// Appends an instruction.
    pub fn push(&mut self, done: &Executed) {
        let (kind, lanes, mut flags) = match done.step {
            Step::Alu { active } => (RecordKind::Alu, active, 0),
            // A replay has no barriers of other CTAs.
            Step::Message { .. } => (RecordKind::Alu, done.active, 0),
            Step::Async if done.access.space == Space::Global => (RecordKind::Bulk, done.active, 0),
            Step::Memory | Step::PhaseEnd | Step::Async => (RecordKind::Memory, done.access.mask, 0),
            Step::AwaitReads => (RecordKind::AwaitReads, done.active, 0),
            Step::Texture { active } => (RecordKind::Texture, active, 0),
            Step::Barrier { arrive_only, .. } => {
                (RecordKind::Barrier, done.active, if arrive_only { ARRIVES_ONLY } else { 0 })
            }
            // An instruction for which the lanes still wait is recorded when they execute it.
            Step::Yield | Step::Suspend { .. } => return,
            Step::Fence => (RecordKind::Fence, done.active, 0),
            Step::Exit => (RecordKind::Exit, done.active, 0),
        };
        let changes = done.changes.filter(|(changes, _)| !changes.is_empty());
        flags |= number_of(&KINDS, &kind);
        flags |= if done.pc == self.next_pc { 0 } else { JUMPS };
        flags |= if lanes == self.lanes { 0 } else { OTHER_LANES };
        flags |= if changes.is_some() { CHANGES_MEMORY } else { 0 };
        self.out.byte(flags);
        if flags & JUMPS != 0 {
            self.out.signed(i64::from(done.pc) - i64::from(self.next_pc));
        }
        if flags & OTHER_LANES != 0 {
            self.out.mask(lanes);
        }
        (self.next_pc, self.lanes) = (done.pc + 1, lanes);
        match done.step {
            Step::Async if kind == RecordKind::Bulk => {
                self.out.mask(done.access.mask);
                self.access(done.access);
                self.out.number(done.access.more.len() as u64);
                self.more(done.access);
            }
            Step::Memory | Step::PhaseEnd | Step::Async => self.access(done.access),
            Step::Texture { .. } => {
                self.out.mask(done.access.mask);
                self.access(done.access);
                self.out.byte(done.access.more.len() as u8);
                self.more(done.access);
            }
            Step::Barrier { id, threads, .. } => {
                self.out.number(id.into());
                self.out.number(threads.map_or(0, NonZeroU32::get).into());
            }
            Step::Alu { .. } | Step::Message { .. } | Step::Yield | Step::Suspend { .. } => {}
            Step::Fence | Step::AwaitReads | Step::Exit => {}
        }
        if let Some((changes, memory)) = changes {
            change::encode(changes, memory, &mut self.out);
        }
    }

    /// Appends the further accesses of a texture sample or bulk copy.
    fn more(&mut self, access: &MemAccess) {
        for (mask, addresses) in &access.more {
            self.out.mask(*mask);
            let scattered = stride(*mask, addresses).is_none();
            self.out.byte(u8::from(scattered));
            self.addresses(*mask, addresses);
        }
    }

    fn access(&mut self, access: &MemAccess) {
        let (kind, op) = match access.kind {
            AccessKind::Load => (LOAD, AtomicOp::Add),
            AccessKind::Store => (STORE, AtomicOp::Add),
            AccessKind::Atomic { op, reduction: false } => (ATOMIC, op),
            AccessKind::Atomic { op, reduction: true } => (REDUCTION, op),
        };
        let (space, cache) = (number_of(&SPACES, &access.space), number_of(&CACHE_OPS, &access.cache));
        self.out.byte(space | cache << 3 | kind << 6);
        let scattered = if stride(access.mask, &access.address).is_none() { SCATTERED } else { 0 };
        let width = access.bytes.trailing_zeros() as u8;
        self.out.byte(width | number_of(&ATOMIC_OPS, &op) << 3 | scattered);
        self.addresses(access.mask, &access.address);
    }

    fn addresses(&mut self, mask: u32, addresses: &[u64; 32]) {
        let mut listed = lanes(mask).map(|lane| addresses[lane]);
        let Some(base) = listed.next() else { return };
        self.out.signed(base.wrapping_sub(self.address) as i64);
        self.address = base;
        if let Some(stride) = stride(mask, addresses) {
            return self.out.signed(stride);
        }
        let mut last = base;
        for address in listed {
            self.out.signed(address.wrapping_sub(last) as i64);
            last = address;
        }
    }
}

/// Returns the distance from each lane of `mask` to the next, if it is the same for all lanes.
fn stride(mask: u32, addresses: &[u64; 32]) -> Option<i64> {
    let mut listed = lanes(mask).map(|lane| addresses[lane]);
    let (Some(first), Some(second)) = (listed.next(), listed.next()) else { return Some(0) };
    let (stride, mut last) = (second.wrapping_sub(first), second);
    for address in listed {
        if address.wrapping_sub(last) != stride {
            return None;
        }
        last = address;
    }
    Some(stride as i64)
}

/// Returns the lanes of a mask in ascending order.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

/// The head of a record: the data that is needed before the instruction issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(super) struct RecordHead {
    pub kind: RecordKind,
    /// Index in the kernel's code.
    pub pc: u32,
    /// Lanes that execute the instruction.
    pub lanes: u32,
    flags: u8,
}

/// Values that the next record of a warp is relative to.
#[derive(Debug, Clone, Default, State)]
pub(super) struct Cursor {
    next_pc: u32,
    lanes: u32,
    address: u64,
}

impl Cursor {
    /// Reads the head of the next record, and checks its pc against the `length` of the code.
    pub fn head(&mut self, from: &mut TraceDecoder, length: usize) -> DecodeResult<RecordHead> {
        let at = from.at;
        let flags = from.byte()?;
        let kind = entry(&KINDS, flags & KIND_BITS, "kind of instruction", at)?;
        if flags & !FLAGS != 0 || flags & ARRIVES_ONLY != 0 && kind != RecordKind::Barrier {
            return Err(super::bytes::Damage { at, what: format!("flags = {flags:#x}: no such flag") });
        }
        let jump = if flags & JUMPS != 0 { from.signed()? } else { 0 };
        let pc = i64::from(self.next_pc).checked_add(jump).and_then(|pc| u32::try_from(pc).ok());
        let pc = pc.filter(|&pc| (pc as usize) < length).ok_or_else(|| super::bytes::Damage {
            at,
            what: format!("the warp leaves the kernel's {length} instructions"),
        })?;
        if flags & OTHER_LANES != 0 {
            self.lanes = from.mask()?;
        }
        self.next_pc = pc + 1;
        Ok(RecordHead { kind, pc, lanes: self.lanes, flags })
    }

    /// Reads the rest of a record: the access into `access`, and each change of memory through `edit`.
    pub fn body<'a>(
        &mut self,
        from: &mut TraceDecoder<'a>,
        head: &RecordHead,
        access: &mut MemAccess,
        edit: impl FnMut(Edit<'a>) -> DecodeResult<()>,
    ) -> DecodeResult<Step> {
        let step = match head.kind {
            RecordKind::Alu => Step::Alu { active: head.lanes },
            RecordKind::Memory => {
                access.more.clear();
                self.access(from, head.lanes, access)?;
                Step::Memory
            }
            RecordKind::Texture => {
                let mask = from.mask()?;
                access.more.clear();
                self.access(from, mask, access)?;
                let count = from.byte()?;
                self.more(from, count.into(), access)?;
                Step::Texture { active: head.lanes }
            }
            RecordKind::Barrier => {
                let id = from.at_most(15, "barrier")? as u8;
                let threads = from.at_most(1024, "threads of a barrier")? as u32;
                if !threads.is_multiple_of(32) {
                    let what = format!("threads of a barrier = {threads}: must be multiples of 32");
                    return Err(from.damage(what));
                }
                Step::Barrier {
                    id,
                    threads: NonZeroU32::new(threads),
                    arrive_only: head.flags & ARRIVES_ONLY != 0,
                }
            }
            RecordKind::Bulk => {
                let mask = from.mask()?;
                access.more.clear();
                self.access(from, mask, access)?;
                let count = from.at_most(MOST_GROUPS, "accesses of a bulk copy")?;
                self.more(from, count, access)?;
                Step::Async
            }
            RecordKind::Fence => Step::Fence,
            RecordKind::AwaitReads => Step::AwaitReads,
            RecordKind::Exit => Step::Exit,
        };
        if head.flags & CHANGES_MEMORY != 0 {
            change::decode(from, edit)?;
        }
        Ok(step)
    }

    /// Reads the further accesses of a texture sample or bulk copy.
    fn more(&mut self, from: &mut TraceDecoder, count: u64, access: &mut MemAccess) -> DecodeResult<()> {
        for _ in 0..count {
            let mask = from.mask()?;
            let scattered = from.byte()? != 0;
            let mut addresses = [0; 32];
            self.addresses(from, mask, scattered, &mut addresses)?;
            access.more.push((mask, addresses));
        }
        Ok(())
    }

    fn access(&mut self, from: &mut TraceDecoder, mask: u32, access: &mut MemAccess) -> DecodeResult<()> {
        let at = from.at;
        let (first, second) = (from.byte()?, from.byte()?);
        access.space = entry(&SPACES[..5], first & 7, "state space", at)?;
        access.cache = entry(&CACHE_OPS, first >> 3 & 7, "cache operator", at)?;
        let op = entry(&ATOMIC_OPS, second >> 3 & 15, "atomic operation", at + 1)?;
        access.kind = match first >> 6 {
            LOAD => AccessKind::Load,
            STORE => AccessKind::Store,
            other => AccessKind::Atomic { op, reduction: other == REDUCTION },
        };
        access.bytes = 1 << entry(&[0, 1, 2, 3, 4, 5], second & 7, "width of an access", at + 1)?;
        access.mask = mask;
        self.addresses(from, mask, second & SCATTERED != 0, &mut access.address)
    }

    fn addresses(
        &mut self,
        from: &mut TraceDecoder,
        mask: u32,
        scattered: bool,
        out: &mut [u64; 32],
    ) -> DecodeResult<()> {
        if mask == 0 {
            return Ok(());
        }
        self.address = self.address.wrapping_add(from.signed()? as u64);
        let mut address = self.address;
        let stride = if scattered { 0 } else { from.signed()? };
        for (number, lane) in lanes(mask).enumerate() {
            if number > 0 {
                address = address.wrapping_add(if scattered { from.signed()? } else { stride } as u64);
            }
            out[lane] = address;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn instruction() -> impl Strategy<Value = (u32, u32, Step, u32, [u64; 32])> {
        let step = prop_oneof![
            any::<u32>().prop_map(|active| Step::Alu { active }),
            Just(Step::Memory),
            any::<u32>().prop_map(|active| Step::Texture { active }),
            (0u8..16, 0u32..32, any::<bool>()).prop_map(|(id, warps, arrive_only)| {
                Step::Barrier { id, threads: NonZeroU32::new(warps * 32), arrive_only }
            }),
            Just(Step::Fence),
            Just(Step::AwaitReads),
            Just(Step::Exit),
        ];
        let addresses = prop_oneof![
            prop::array::uniform32(any::<u64>()),
            (any::<u64>(), any::<i32>()).prop_map(|(base, stride)| {
                std::array::from_fn(|lane| base.wrapping_add((lane as i64 * i64::from(stride)) as u64))
            }),
        ];
        (0u32..1000, any::<u32>(), step, any::<u32>(), addresses)
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_is_read(list in prop::collection::vec(instruction(), 1..40)) {
            let mut writer = StreamWriter::default();
            let access = |mask: u32, address: &[u64; 32]| MemAccess {
                mask,
                address: *address,
                kind: AccessKind::Atomic { op: AtomicOp::Xor, reduction: true },
                cache: CacheOp::Volatile,
                bytes: 8,
                space: Space::Shared,
                more: vec![(mask.rotate_left(3), *address)],
                then: Vec::new(),
            };
            for (pc, active, step, mask, addresses) in &list {
                let access = access(*mask, addresses);
                writer.push(&Executed { pc: *pc, active: *active, step: *step, access: &access, changes: None });
            }
            let bytes = writer.take();
            let mut from = TraceDecoder::new(&bytes, 0..bytes.len());
            let (mut cursor, mut read) = (Cursor::default(), MemAccess::new());
            for (pc, active, step, mask, addresses) in &list {
                let head = cursor.head(&mut from, 1000).expect("it was written");
                let back = cursor.body(&mut from, &head, &mut read, |_| Ok(())).expect("it was written");
                prop_assert_eq!((head.pc, back), (*pc, *step));
                let wanted = access(*mask, addresses);
                if matches!(step, Step::Memory | Step::Texture { .. }) {
                    prop_assert_eq!((read.space, read.kind, read.bytes), (wanted.space, wanted.kind, 8));
                    prop_assert_eq!((read.mask, read.cache), (*mask, wanted.cache));
                    for lane in lanes(*mask) {
                        prop_assert_eq!(read.address[lane], addresses[lane]);
                    }
                } else if !matches!(step, Step::Alu { .. }) {
                    prop_assert_eq!(head.lanes, *active);
                }
                if matches!(step, Step::Texture { .. }) {
                    prop_assert_eq!(read.more.len(), 1);
                }
            }
            prop_assert!(from.is_at_end());
        }
    }
    #[test]
    fn a_bulk_copy_keeps_all_its_accesses() {
        let more: Vec<_> =
            (1u32..400).map(|group| (u32::MAX >> (group % 9), run(512 * u64::from(group)))).collect();
        let written = MemAccess { mask: u32::MAX, bytes: 16, address: run(0), more, ..MemAccess::default() };
        let mut writer = StreamWriter::default();
        writer.push(&Executed { pc: 3, active: 1, step: Step::Async, access: &written, changes: None });
        let bytes = writer.take();
        let mut from = TraceDecoder::new(&bytes, 0..bytes.len());
        let (mut cursor, mut read) = (Cursor::default(), MemAccess::new());
        let head = cursor.head(&mut from, 4).expect("it was written");
        let step = cursor.body(&mut from, &head, &mut read, |_| Ok(())).expect("it was written");
        assert_eq!(
            (head.lanes, step, read.mask, read.bytes, read.address),
            (1, Step::Async, u32::MAX, 16, run(0))
        );
        let lanes_of = |access: &MemAccess| -> Vec<Vec<u64>> {
            access.more.iter().map(|(mask, of)| lanes(*mask).map(|lane| of[lane]).collect()).collect()
        };
        assert_eq!(lanes_of(&read), lanes_of(&written));
        assert!(from.is_at_end());
    }

    /// Returns the addresses of adjacent pieces.
    fn run(base: u64) -> [u64; 32] {
        std::array::from_fn(|lane| 0x1000 + base + 16 * lane as u64)
    }
}
