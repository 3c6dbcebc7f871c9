//! The decoded form of a kernel: what the executor runs and the timing model reads.

use selvedge_state::State;
use std::sync::Arc;

use super::alu::Alu;
use super::half::{CompareForm, HalfForm, NarrowForm};
use super::matrix::{CopyForm, LoadMatrixForm, MatrixForm};
use super::region::Region;
use super::special::{Live, Special};
use super::surface_ops::SurfaceForm;

/// No register, no guard, no reconvergence point.
pub(crate) const NONE: u16 = u16::MAX;
/// "Past the last instruction": where paths meet that only meet by exiting.
pub(crate) const NO_PC: u32 = u32::MAX;

/// Functional unit that an instruction needs; what a timing model dispatches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpClass {
    /// Integer additions, logic, shifts, comparisons, selections and moves.
    Int,
    /// Integer multiplications, with or without an addition.
    IntMul,
    /// Integer divisions and remainders.
    IntDiv,
    /// Single-precision arithmetic.
    Fp32,
    /// Single-precision division and square root, correctly rounded (several operations in hardware).
    Fp32Div,
    /// Double-precision arithmetic.
    Fp64,
    /// Double-precision division and square root.
    Fp64Div,
    /// Transcendental functions and approximate reciprocals: the special function unit.
    Sfu,
    /// Conversions between types.
    Convert,
    /// Branches and instructions without effect.
    Control,
    /// Data exchange between the lanes of a warp: shuffles and votes.
    Warp,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Atomic operations and reductions.
    Atomic,
    /// Texture samples.
    Texture,
    /// Calls of what the system gives to kernels: printing and allocation.
    System,
    /// CTA-wide barriers.
    Barrier,
    /// Memory fences.
    Fence,
    /// The end of a thread.
    Exit,
}

/// State space of a memory access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, State)]
pub enum Space {
    /// Device memory.
    Global,
    /// The CTA's scratchpad.
    Shared,
    /// A thread's own memory.
    Local,
    /// Constant bank.
    Const,
    /// Kernel parameters.
    Param,
    /// Decided by the address; only [`Instr::space`] says so, an access has always one of the others.
    Generic,
}

/// Cache operator of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, State)]
pub enum CacheOp {
    /// `.ca`, `.wb` or none: cached in all levels.
    All,
    /// `.cg` (and the relaxed and acquiring forms): cached in L2 only.
    Global,
    /// `.cs`, `.lu`: streamed, likely used once.
    Streaming,
    /// `.cv`, `.volatile`, `.wt`: not served from L1.
    Volatile,
    /// `.nc`: read-only data.
    ReadOnly,
}

/// Operation of an atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, State)]
pub enum AtomicOp {
    /// Addition, wrapping for integers.
    Add,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Increment that wraps to 0 beyond the operand.
    Inc,
    /// Decrement that wraps to the operand.
    Dec,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Exchange.
    Exch,
    /// Compare and swap.
    Cas,
}

/// How the bits of a memory element or a conversion are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Unsigned,
    Signed,
    Float,
    /// `bf16`
    Brain,
    /// Two `f16` in a word, for atomics.
    HalfPair,
    /// Two `bf16` in a word, for atomics.
    BrainPair,
}

impl Number {
    /// Whether a value is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Brain)
    }
}

/// A fundamental type by kind and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberType {
    pub number: Number,
    pub bits: u8,
}

/// What a memory instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryForm {
    pub space: Space,
    pub element: NumberType,
    /// Elements per lane: 1, 2, 4 or 8.
    pub elements: u8,
    /// Whether the element registers are in the 64-bit file.
    pub wide_register: bool,
    /// Bits of the element registers, for extension.
    pub register_bits: u8,
    /// Whether the address register is in the 64-bit file.
    pub wide_address: bool,
    pub cache: CacheOp,
    pub atomic: AtomicOp,
    /// An atomic without a result.
    pub reduction: bool,
}

/// A conversion other than the common ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConvertForm {
    pub to: NumberType,
    pub from: NumberType,
    pub rounding: super::float::Rounding,
    /// Round to an integral value (`.rni` and its kin).
    pub integral: bool,
    pub saturate: bool,
    pub flush: bool,
    pub to_register_bits: u8,
    pub from_wide: bool,
}

/// Source of the other operand of a carry-chain operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CarryForm {
    pub subtract: bool,
    pub reads: bool,
    pub writes: bool,
    /// Multiply the first two operands, and take this half of the product.
    pub product: Option<bool>,
    /// Whether the factors are signed.
    pub signed: bool,
    pub wide: bool,
}

/// How `shfl` finds the lane it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// What `vote` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// What a barrier returns of its threads' predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReduceMode {
    All,
    Any,
    Count,
}

/// How the dimensions of a texture are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextureShape {
    Plain,
    /// The last dimension counts layers, which are not filtered.
    Layered,
    /// The last dimension counts the six faces of a cube.
    Cube,
}

/// A texture sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextureForm {
    /// One to three, layers and faces included.
    pub dimensions: u8,
    pub shape: TextureShape,
    /// Whether the coordinates are floating-point numbers.
    pub float_coordinates: bool,
    /// Whether the result is.
    pub float_result: bool,
}

/// What the system does for a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf`
    Print,
    /// `malloc`
    Allocate,
    /// `free`
    Free,
    /// `__assertfail`
    Assert,
    /// `trap` and `brkpt`
    Trap,
    /// A call through a pointer to no function that could be meant.
    NoFunction,
}

/// Bitwise operation on predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PredicateOp {
    And,
    Or,
    Xor,
    Not,
    Move,
    False,
    True,
}

/// Operations on registers that few kernels do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rare {
    Half(HalfForm),
    CompareHalves(CompareForm),
    Narrow(NarrowForm),
    /// `cvt.pack` to integers of so many bits.
    PackClamped {
        bits: u8,
        signed: bool,
    },
    Matrix(MatrixForm),
}

/// Accesses to memory that few kernels make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RareAccess {
    LoadMatrix(LoadMatrixForm),
    Copy(CopyForm),
    Surface(SurfaceForm),
}

impl RareAccess {
    /// The state space that the memory system sees.
    fn space(self) -> Space {
        match self {
            Self::LoadMatrix(_) => Space::Shared,
            Self::Copy(_) | Self::Surface(_) => Space::Global,
        }
    }

    /// Bytes that one lane moves.
    fn bytes(self) -> u8 {
        match self {
            Self::LoadMatrix(_) => 16,
            Self::Copy(form) => form.bytes,
            Self::Surface(form) => form.bytes * form.elements,
        }
    }
}

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// A row of the arithmetic table.
    Alu(Alu),
    /// A comparison whose result is combined with a predicate, or that has two results.
    SetPredicate(Alu, Combine),
    Predicate(PredicateOp),
    Convert(ConvertForm),
    Carry(CarryForm),
    /// Two to four registers into one, lowest first.
    Pack(u8),
    /// One register into two to four, lowest first.
    Unpack(u8),
    /// `bfi`: a bit field into a word.
    Insert {
        wide: bool,
    },
    /// Any bitwise function of three words, as a table.
    Lop3,
    ReadLive(Live),
    /// What few kernels do, out of the way of what all do.
    Rare(Rare),
    Branch,
    Load(MemoryForm),
    Store(MemoryForm),
    Atomic(MemoryForm),
    Shuffle(ShuffleMode),
    Vote(VoteMode),
    /// Lanes with the same value.
    Match {
        all: bool,
        wide: bool,
    },
    /// One value of the lanes' values.
    Reduce {
        op: AtomicOp,
        signed: bool,
    },
    ActiveMask,
    /// A branch to one of the targets of a list, whose number [`Instr::target`] is.
    BranchIndexed,
    /// A comparison as a word: all ones, or 1.0 for floating-point results.
    SetWord {
        op: Alu,
        combine: Combine,
        float: bool,
    },
    Barrier {
        arrive: bool,
    },
    /// A barrier that counts predicates; `negate` in [`Instr::offset`].
    BarrierReduce(ReduceMode),
    Texture(TextureForm),
    /// An access to memory that few kernels make.
    RareAccess(RareAccess),
    System(SystemCall),
    Fence,
    Nothing,
    Exit,
}

/// How `setp` combines its comparison with predicate `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Combine {
    pub op: Option<PredicateOp>,
    pub negate: bool,
    /// Second result: the comparison's complement, combined likewise.
    pub second: u16,
}

/// Most scoreboard registers that one instruction names.
pub(crate) const MAX_NAMED: usize = 14;

/// A decoded instruction.
#[derive(Debug, Clone)]
pub struct Instr {
    /// Line in the PTX source, from 1.
    pub line: u32,
    /// Unit that executes it.
    pub class: OpClass,
    pub(crate) flags: u8,
    pub(crate) guard_negated: bool,
    pub(crate) op: Op,
    pub(crate) guard: u16,
    pub(crate) d: u16,
    pub(crate) a: u16,
    pub(crate) b: u16,
    pub(crate) c: u16,
    /// Elements of a vector operand.
    pub(crate) vector: [u16; 8],
    /// Branch target.
    pub(crate) target: u32,
    /// Where the paths of a branch meet again.
    pub(crate) reconvergence: u32,
    /// Offset of an address, or the immediate of a few others.
    pub(crate) offset: i64,
    pub(crate) named: [u16; MAX_NAMED],
    pub(crate) dest_count: u8,
    pub(crate) source_count: u8,
}

impl Instr {
    /// An instruction of a trace: what a timing model asks of it, and nothing that could be executed. None with more
    /// registers than an instruction can name.
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
            line,
            class,
            flags: 0,
            guard_negated: false,
            op: space.map_or(Op::Nothing, |space| Op::Load(access(space))),
            guard: NONE,
            d: NONE,
            a: NONE,
            b: NONE,
            c: NONE,
            vector: [NONE; 8],
            target: NO_PC,
            reconvergence: NO_PC,
            offset: 0,
            named,
            dest_count: dests.len() as u8,
            source_count: sources.len() as u8,
        })
    }

    /// Scoreboard numbers of the registers it writes.
    #[must_use]
    pub fn dests(&self) -> &[u16] {
        &self.named[..usize::from(self.dest_count)]
    }

    /// Scoreboard numbers of the registers it reads, its guard and address registers among them. A register may
    /// appear twice.
    #[must_use]
    pub fn sources(&self) -> &[u16] {
        &self.named[usize::from(self.dest_count)..usize::from(self.dest_count + self.source_count)]
    }

    /// State space of a load, store or atomic; [`Space::Generic`] when only the address tells.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        match &self.op {
            Op::Load(form) | Op::Store(form) | Op::Atomic(form) => Some(form.space),
            Op::Texture(_) => Some(Space::Global),
            Op::RareAccess(access) => Some(access.space()),
            _ => None,
        }
    }

    /// Bytes that one lane moves, of a load, store or atomic.
    #[must_use]
    pub fn access_bytes(&self) -> Option<u8> {
        match &self.op {
            Op::Load(form) | Op::Store(form) | Op::Atomic(form) => {
                Some(form.element.bits / 8 * form.elements)
            }
            Op::RareAccess(access) => Some(access.bytes()),
            _ => None,
        }
    }

    /// Index in the code of a branch's target.
    #[must_use]
    pub fn branch_target(&self) -> Option<u32> {
        matches!(self.op, Op::Branch).then_some(self.target)
    }

    /// Index in the code at which the paths of a branch meet again: its immediate post-dominator. None for other
    /// instructions, and for branches whose paths only meet by exiting.
    #[must_use]
    pub fn reconvergence_point(&self) -> Option<u32> {
        (matches!(self.op, Op::Branch | Op::BranchIndexed) && self.reconvergence != NO_PC)
            .then_some(self.reconvergence)
    }
}

/// Type class of a kernel parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Bits or an integer of up to 8 bytes.
    Integer,
    /// A single- or double-precision number.
    Float,
    /// An array of bytes: a structure passed by value.
    Bytes,
}

/// A kernel parameter and its place in the parameter bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Name in the PTX.
    pub name: String,
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// What it holds.
    pub kind: ParamKind,
}

/// A kernel, decoded.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Name of the entry.
    pub name: String,
    /// Name of the file it came from.
    pub file: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter bytes.
    pub param_bytes: u32,
    /// The instructions; a warp's pc is an index.
    pub code: Vec<Instr>,
    /// Static shared memory of a CTA in bytes.
    pub shared_bytes: u32,
    /// Whether the kernel declares `.extern .shared`: the launch adds dynamic shared memory.
    pub dynamic_shared: bool,
    /// Local memory of a thread in bytes.
    pub local_bytes: u32,
    /// 32-bit registers of a thread, for occupancy: an estimate of what NVIDIA's assembler allocates (a 64-bit register counts
    /// two, predicates none), and no more than `.maxnreg` and `.minnctapersm` allow.
    pub registers: u32,
    /// Numbers that [`Instr::dests`] and [`Instr::sources`] use: 0 up to this.
    pub register_count: usize,
    /// `.reqntid` or `.maxntid`: threads in x, y and z, and whether exactly these are demanded.
    pub cta_limit: Option<([u32; 3], bool)>,
    /// The module's constant bank.
    pub constants: Arc<[u8]>,
    /// Parts of the code whose results follow from their inputs alone, in its order.
    pub regions: Vec<Region>,
    /// Target lists of indexed branches.
    pub(crate) branch_lists: Vec<Vec<u32>>,
    /// Registers of instructions that have more than others.
    pub(crate) operand_lists: Vec<Box<[u16]>>,
    /// Hidden predicate that is true, where an instruction reads it.
    pub(crate) true_predicate: Option<u16>,
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) word_pool: Vec<[u32; 32]>,
    pub(crate) double_pool: Vec<[u64; 32]>,
    /// Registers in each file, hidden ones included.
    pub(crate) words: usize,
    pub(crate) doubles: usize,
    pub(crate) predicates: usize,
    /// Hidden registers that hold special registers.
    pub(crate) specials: Vec<(u16, Special)>,
}

impl Kernel {
    /// Returns whether some instruction calls the system, samples a texture, accesses a surface or copies from global to
    /// shared memory: it must not find a frozen memory ([`super::Global::Frozen`]).
    pub fn needs_whole_memory(&self) -> bool {
        self.code.iter().any(|instr| matches!(instr.op, Op::System(_) | Op::Texture(_) | Op::RareAccess(_)))
    }

    /// A kernel of a trace, of [`Instr::of_trace`]s.
    pub fn of_trace(name: &str, file: &str, code: Vec<Instr>, shared_bytes: u32, registers: u32) -> Self {
        let named = code.iter().flat_map(|instr| instr.dests().iter().chain(instr.sources()));
        let register_count = named.max().map_or(0, |&most| usize::from(most) + 1);
        Self {
            name: name.to_owned(),
            file: file.to_owned(),
            params: Vec::new(),
            param_bytes: 0,
            code,
            shared_bytes,
            dynamic_shared: true,
            local_bytes: 0,
            registers,
            register_count,
            cta_limit: None,
            constants: Arc::from([]),
            regions: Vec::new(),
            branch_lists: Vec::new(),
            operand_lists: Vec::new(),
            true_predicate: None,
            texts: Vec::new(),
            word_pool: Vec::new(),
            double_pool: Vec::new(),
            words: 0,
            doubles: 0,
            predicates: 0,
            specials: Vec::new(),
        }
    }

    /// The text of instruction `pc` as the source has it, blanks collapsed.
    #[must_use]
    pub fn text(&self, pc: u32) -> &str {
        self.texts.get(pc as usize).map_or("", |t| t)
    }
}
