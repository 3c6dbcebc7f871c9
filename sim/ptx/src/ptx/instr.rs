//! A decoded instruction.

use super::alu::AluOp;
use super::forms::{
    AtomicOp, BulkForm, CacheOp, CarryForm, Combine, ConvertForm, MbarrierForm, MemoryForm, Number,
    NumberType, OpClass, PredicateOp, Rare, RareAccess, ReduceMode, SentForm, ShuffleMode, Space, TensorForm,
    TextureForm, VoteMode, WarpGroupForm,
};
use super::signatures::SystemCall;
use super::special::LiveSpecial;

/// Absent register or guard.
pub(crate) const NONE: u16 = u16::MAX;
/// Position past the last instruction: reconvergence point of paths that only meet at the exit.
pub(crate) const NO_PC: u32 = u32::MAX;

/// Operation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// A row of the arithmetic table.
    Alu(AluOp),
    /// A comparison whose result is combined with a predicate, or that has two results.
    SetPredicate(AluOp, Combine),
    Predicate(PredicateOp),
    Convert(ConvertForm),
    Carry(CarryForm),
    /// Packs two to four registers into one, lowest first.
    Pack(u8),
    /// Unpacks one register into two to four, lowest first.
    Unpack(u8),
    /// `bfi`: inserts a bit field into a word.
    Insert {
        wide: bool,
    },
    /// Any bitwise function of three words, as a truth table.
    Lop3,
    ReadLive(LiveSpecial),
    /// Operations that few kernels use, apart from the hot path.
    Rare(Rare),
    Branch,
    Load(MemoryForm),
    Store(MemoryForm),
    Atomic(MemoryForm),
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    /// Lanes with equal values.
    Match {
        all: bool,
        wide: bool,
    },
    /// Reduction of the lanes' values to one.
    Reduce {
        op: AtomicOp,
        signed: bool,
    },
    ActiveMask,
    /// A branch to a target from list [`Instr::target`].
    BranchIndexed,
    /// A comparison with a word as result: all ones, or 1.0 for floating-point results.
    SetWord {
        op: AluOp,
        combine: Combine,
        float: bool,
    },
    Barrier {
        arrive: bool,
    },
    /// `barrier.cluster`: arrives at the barrier of the cluster, or waits for its phase.
    ClusterBarrier {
        waits: bool,
    },
    /// A barrier that reduces predicates. [`Instr::offset`] is nonzero if they are negated.
    BarrierReduce(ReduceMode),
    Texture(TextureForm),
    /// Memory accesses that few kernels use.
    RareAccess(RareAccess),
    Mbarrier(MbarrierForm),
    Bulk(BulkForm),
    Tensor(TensorForm),
    Sent(SentForm),
    /// Waits until bulk copies have read shared memory.
    AwaitReads,
    /// `wgmma.mma_async`.
    WarpGroup(WarpGroupForm),
    System(SystemCall),
    Fence,
    /// `bar.warp.sync`: the lanes of the warp wait for each other.
    Gather,
    Nothing,
    Exit,
}

impl Op {
    /// Returns whether the lanes of a warp exchange values by the operation, or wait for each other.
    pub(super) fn needs_members(self) -> bool {
        match self {
            Op::Barrier { .. } | Op::BarrierReduce(_) | Op::Gather => true,
            Op::Shuffle(_) | Op::Vote(_) | Op::Match { .. } | Op::Reduce { .. } | Op::WarpGroup(_) => true,
            Op::Rare(rare) => matches!(rare, Rare::Transpose | Rare::Elect | Rare::Matrix(_)),
            Op::RareAccess(access) => {
                matches!(access, RareAccess::LoadMatrix(_) | RareAccess::StoreMatrix(_))
            }
            _ => false,
        }
    }
}

/// Max scoreboard registers of one instruction.
pub(crate) const MAX_NAMED: usize = 14;

/// A decoded instruction.
#[derive(Debug, Clone)]
pub struct Instr {
    /// Line in the PTX source, from 1.
    pub line: u32,
    /// Functional unit.
    pub class: OpClass,
    pub(crate) flags: u8,
    pub(crate) guard_negated: bool,
    pub(crate) op: Op,
    pub(crate) guard: u16,
    pub(crate) d: u16,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// Registers of a vector operand.
    pub(crate) vector: [u16; 8],
    /// Index of the branch target in the code, or of a list.
    pub(crate) target: u32,
    /// Index of the instruction at which the paths of a branch reconverge, or the offset of an mbarrier.
    pub(crate) reconvergence: u32,
    /// Offset of an address, or the immediate of a few other instructions. Nonzero in a backward branch of a loop that may
    /// wait for other threads.
    pub(crate) offset: i64,
    pub(crate) named: [u16; MAX_NAMED],
    pub(crate) dest_count: u8,
    pub(crate) source_count: u8,
}

impl Instr {
    /// Returns an instruction without effect and without registers.
    pub(super) fn blank(line: u32) -> Self {
        Self {
            line,
            class: OpClass::Control,
            flags: 0,
            guard_negated: false,
            op: Op::Nothing,
            guard: NONE,
            d: NONE,
            a: NONE,
            b: NONE,
            c: NONE,
            vector: [NONE; 8],
            target: NO_PC,
            reconvergence: NO_PC,
            offset: 0,
            named: [0; MAX_NAMED],
            dest_count: 0,
            source_count: 0,
        }
    }

    /// Creates an instruction of a trace. It has only the data that a timing model needs, and cannot be executed.
    /// Returns `None` if it has more than `MAX_NAMED` registers.
    pub fn of_trace(
        line: u32,
        class: OpClass,
        space: Option<Space>,
        dests: &[u16],
        sources: &[u16],
    ) -> Option<Self> {
        let mut named = [NONE; MAX_NAMED];
        named.get_mut(..dests.len())?.copy_from_slice(dests);
        named.get_mut(dests.len()..dests.len() + sources.len())?.copy_from_slice(sources);
        let element = NumberType { number: Number::Unsigned, bits: 32 };
        let access = |space| MemoryForm {
            space,
            element,
            elements: 1,
            wide_register: false,
            register_bits: 32,
            wide_address: false,
            cache: CacheOp::All,
            atomic: AtomicOp::Add,
            reduction: false,
        };
        Some(Self {
            class,
            op: space.map_or(Op::Nothing, |space| Op::Load(access(space))),
            named,
            dest_count: dests.len() as u8,
            source_count: sources.len() as u8,
            ..Self::blank(line)
        })
    }

    /// Returns the scoreboard numbers of the registers that it writes.
    #[must_use]
    pub fn dests(&self) -> &[u16] {
        &self.named[..usize::from(self.dest_count)]
    }

    /// Returns the scoreboard numbers of the registers that it reads, guard and address registers included. A
    /// register may appear twice.
    #[must_use]
    pub fn sources(&self) -> &[u16] {
        &self.named[usize::from(self.dest_count)..usize::from(self.dest_count + self.source_count)]
    }

    /// Returns whether it is an asynchronous copy of each lane to shared memory (`cp.async`).
    #[must_use]
    pub fn is_copy(&self) -> bool {
        matches!(self.op, Op::RareAccess(RareAccess::Copy(_)))
    }

    /// Returns the state space of a load, store or atomic; [`Space::Generic`] if it depends on the address.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        match &self.op {
            Op::Load(form) | Op::Store(form) | Op::Atomic(form) => Some(form.space),
            Op::Texture(_) => Some(Space::Global),
            Op::RareAccess(access) => Some(access.space()),
            Op::Mbarrier(_) | Op::Sent(_) => Some(Space::Shared),
            Op::Bulk(_) | Op::Tensor(_) => Some(Space::Global),
            _ => None,
        }
    }
}
