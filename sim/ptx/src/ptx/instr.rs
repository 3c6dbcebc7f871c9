//! Decoded form of a kernel, which the executor runs and the timing model reads.

use selvedge_state::State;
use std::sync::Arc;

use super::alu::Alu;
use super::half::{CompareForm, HalfForm, NarrowForm};
use super::matrix::{CopyForm, LoadMatrixForm, MatrixForm};
use super::region::Region;
use super::special::{Live, Special};
use super::surface_ops::SurfaceForm;

/// Absent register or guard.
pub(crate) const NONE: u16 = u16::MAX;
/// Position past the last instruction: reconvergence point of paths that only meet at the exit.
pub(crate) const NO_PC: u32 = u32::MAX;

/// Functional unit of an instruction, for the dispatch of a timing model.
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
    /// Calls of system functions: printing and allocation.
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
    /// Memory of one thread.
    Local,
    /// Constant bank.
    Const,
    /// Kernel parameters.
    Param,
    /// Decided by the address. Only [`Instr::space`] returns it; an executed access always has another space.
    Generic,
}

/// Cache operator of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, State)]
pub enum CacheOp {
    /// `.ca`, `.wb` or none: cached in all levels.
    All,
    /// `.cg`, and the relaxed and acquire forms: cached in L2 only.
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

/// Interpretation of the bits of a memory element or a conversion.
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
    /// Returns whether a value is a floating-point number.
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

/// Form of a memory instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryForm {
    pub space: Space,
    pub element: NumberType,
    /// Elements per lane: 1, 2, 4 or 8.
    pub elements: u8,
    /// `true`: the element registers are in the 64-bit file.
    pub wide_register: bool,
    /// Bits of the element registers, to which loaded values are extended.
    pub register_bits: u8,
    /// `true`: the address register is in the 64-bit file.
    pub wide_address: bool,
    pub cache: CacheOp,
    pub atomic: AtomicOp,
    /// `true`: an atomic without a result.
    pub reduction: bool,
}

/// A conversion that is not a row of the arithmetic table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ConvertForm {
    pub to: NumberType,
    pub from: NumberType,
    pub rounding: super::float::Rounding,
    /// `true`: rounds to an integer (`.rni` and similar).
    pub integral: bool,
    pub saturate: bool,
    pub flush: bool,
    pub to_register_bits: u8,
    pub from_wide: bool,
}

/// An addition or subtraction that reads or writes the carry flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CarryForm {
    pub subtract: bool,
    pub reads: bool,
    pub writes: bool,
    /// `Some`: multiplies the first two operands. `true` takes the high half of the product, `false` the low half.
    pub product: Option<bool>,
    /// `true`: the factors are signed.
    pub signed: bool,
    pub wide: bool,
}

/// Selection of the lane that `shfl` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VoteMode {
    All,
    Any,
    Uniform,
    Ballot,
}

/// Reduction of the predicates at a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReduceMode {
    All,
    Any,
    Count,
}

/// Interpretation of the dimensions of a texture.
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
    /// Number of dimensions, 1 to 3, layers and faces included.
    pub dimensions: u8,
    pub shape: TextureShape,
    /// `true`: the coordinates are floating-point numbers.
    pub float_coordinates: bool,
    /// `true`: the result is a floating-point number.
    pub float_result: bool,
}

/// Function of the system.
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
    /// A call through a pointer that matches no candidate function.
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

/// Register operations that few kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rare {
    Half(HalfForm),
    CompareHalves(CompareForm),
    Narrow(NarrowForm),
    /// `cvt.pack` to integers of `bits` bits.
    PackClamped {
        bits: u8,
        signed: bool,
    },
    Matrix(MatrixForm),
}

/// Memory accesses that few kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RareAccess {
    LoadMatrix(LoadMatrixForm),
    Copy(CopyForm),
    Surface(SurfaceForm),
}

impl RareAccess {
    /// Returns the state space for the memory system.
    fn space(self) -> Space {
        match self {
            Self::LoadMatrix(_) => Space::Shared,
            Self::Copy(_) | Self::Surface(_) => Space::Global,
        }
    }

    /// Returns the bytes that one lane transfers.
    fn bytes(self) -> u8 {
        match self {
            Self::LoadMatrix(_) => 16,
            Self::Copy(form) => form.bytes,
            Self::Surface(form) => form.bytes * form.elements,
        }
    }
}

/// Operation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// A row of the arithmetic table.
    Alu(Alu),
    /// A comparison whose result is combined with a predicate, or that has two results.
    SetPredicate(Alu, Combine),
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
    ReadLive(Live),
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
        op: Alu,
        combine: Combine,
        float: bool,
    },
    Barrier {
        arrive: bool,
    },
    /// A barrier that reduces predicates. [`Instr::offset`] is nonzero if they are negated.
    BarrierReduce(ReduceMode),
    Texture(TextureForm),
    /// Memory accesses that few kernels use.
    RareAccess(RareAccess),
    System(SystemCall),
    Fence,
    Nothing,
    Exit,
}

/// Combination of a `setp` comparison with predicate `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Combine {
    pub op: Option<PredicateOp>,
    pub negate: bool,
    /// Second result: the complement of the comparison, combined in the same way.
    pub second: u16,
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
    /// Index of the instruction at which the paths of a branch reconverge.
    pub(crate) reconvergence: u32,
    /// Offset of an address, or the immediate of a few other instructions.
    pub(crate) offset: i64,
    pub(crate) named: [u16; MAX_NAMED],
    pub(crate) dest_count: u8,
    pub(crate) source_count: u8,
}

impl Instr {
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

    /// Returns the state space of a load, store or atomic; [`Space::Generic`] if it depends on the address.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        match &self.op {
            Op::Load(form) | Op::Store(form) | Op::Atomic(form) => Some(form.space),
            Op::Texture(_) => Some(Space::Global),
            Op::RareAccess(access) => Some(access.space()),
            _ => None,
        }
    }

    /// Returns the bytes per lane of a load, store or atomic.
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

    /// Returns the index in the code of a branch's target.
    #[must_use]
    pub fn branch_target(&self) -> Option<u32> {
        matches!(self.op, Op::Branch).then_some(self.target)
    }

    /// Returns the index in the code at which the paths of a branch reconverge: its immediate post-dominator. `None`
    /// for other instructions, and for branches whose paths only meet at the exit.
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
    /// An array of bytes: a structure as argument.
    Bytes,
}

/// A kernel parameter and its position in the parameter bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Name in the PTX.
    pub name: String,
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Type class.
    pub kind: ParamKind,
}

/// A decoded kernel.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Name of the entry.
    pub name: String,
    /// Name of its PTX file.
    pub file: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of all parameters, in bytes.
    pub param_bytes: u32,
    /// The instructions. A warp's pc is an index into them.
    pub code: Vec<Instr>,
    /// Static shared memory of a CTA, in bytes.
    pub shared_bytes: u32,
    /// `true`: the kernel declares `.extern .shared`, and the launch adds dynamic shared memory.
    pub dynamic_shared: bool,
    /// Local memory of a thread, in bytes.
    pub local_bytes: u32,
    /// 32-bit registers of a thread, for occupancy: an estimate of the allocation by NVIDIA's assembler. A 64-bit
    /// register counts as two, a predicate as none. It is within the limits of `.maxnreg` and `.minnctapersm`.
    pub registers: u32,
    /// Exclusive upper bound of the numbers in [`Instr::dests`] and [`Instr::sources`].
    pub register_count: usize,
    /// `.reqntid` or `.maxntid`: threads in x, y and z. `true` demands exactly this number.
    pub cta_limit: Option<([u32; 3], bool)>,
    /// The module's constant bank.
    pub constants: Arc<[u8]>,
    /// Parts of the code whose results depend only on their inputs, in code order.
    pub regions: Vec<Region>,
    /// Target lists of indexed branches.
    pub(crate) branch_lists: Vec<Vec<u32>>,
    /// Registers of instructions whose registers exceed the fields of [`Instr`].
    pub(crate) operand_lists: Vec<Box<[u16]>>,
    /// Hidden predicate that is always true, if an instruction reads it.
    pub(crate) true_predicate: Option<u16>,
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) word_pool: Vec<[u32; 32]>,
    pub(crate) double_pool: Vec<[u64; 32]>,
    /// Registers in each file, hidden ones included.
    pub(crate) words: usize,
    pub(crate) doubles: usize,
    pub(crate) predicates: usize,
    /// Hidden registers that hold the values of special registers.
    pub(crate) specials: Vec<(u16, Special)>,
}

impl Kernel {
    /// Creates a kernel of a trace. `code` consists of [`Instr::of_trace`] instructions.
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

    /// Returns the source text of instruction `pc`, with runs of blanks collapsed.
    #[must_use]
    pub fn text(&self, pc: u32) -> &str {
        self.texts.get(pc as usize).map_or("", |t| t)
    }
}
