//! Operands and forms of instructions, which the decoder makes and the executor reads.

use selvedge_state::State;

use super::float::Rounding;
use super::lane_ops::LaneForm;
use super::small_float::SmallFloat;
use super::video::VideoForm;

/// Max work of a matrix product in [`OpClass::Matrix`] and [`OpClass::MatrixFp64`].
pub const MOST_MATRIX_WORK: u16 = u16::MAX;

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
    /// Matrix products of a warp. The work counts multiply-adds of 16-bit factors; one of n bits counts as n / 16.
    Matrix(u16),
    /// Matrix products of a warp in double precision. The work counts multiply-adds.
    MatrixFp64(u16),
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
    /// Decided by the address. Only [`Instr::space`](super::Instr::space) returns it; an executed access always has another space.
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
    pub rounding: Rounding,
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

/// Combination of a `setp` comparison with predicate `c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Combine {
    pub op: Option<PredicateOp>,
    pub negate: bool,
    /// Second result: the complement of the comparison, combined in the same way.
    pub second: u16,
}

/// An operation on 16-bit floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HalfOp {
    Add,
    Subtract,
    Multiply,
    /// A product and a sum, rounded once.
    Fma,
    Negate,
    Absolute,
    Minimum,
    Maximum,
    Exponential,
    Tangent,
}

impl HalfOp {
    /// Returns the number of operands.
    pub(crate) fn operands(self) -> usize {
        match self {
            Self::Fma => 3,
            Self::Negate | Self::Absolute | Self::Exponential | Self::Tangent => 1,
            _ => 2,
        }
    }
}

/// Arithmetic on 16-bit floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HalfForm {
    pub op: HalfOp,
    pub format: SmallFloat,
    /// `true`: two elements per register.
    pub pair: bool,
    /// `.ftz`: subnormal numbers are zero.
    pub flush: bool,
    /// `.sat`: the result is clamped to 0..1, NaN to 0.
    pub saturate: bool,
    /// `.relu`: a negative result is 0.
    pub relu: bool,
    /// `.NaN`: a minimum or maximum with a NaN input is NaN.
    pub nan: bool,
    /// `.xorsign.abs`: the smaller or larger magnitude, with the sign of the product.
    pub xor_sign: bool,
}

/// Relations between two numbers for which a comparison is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Relation {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

impl Relation {
    /// Returns the relation that `setp` calls `name`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let [less, equal, greater, unordered] = match name {
            "eq" => [0, 1, 0, 0],
            "ne" => [1, 0, 1, 0],
            "lt" => [1, 0, 0, 0],
            "le" => [1, 1, 0, 0],
            "gt" => [0, 0, 1, 0],
            "ge" => [0, 1, 1, 0],
            "equ" => [0, 1, 0, 1],
            "neu" => [1, 0, 1, 1],
            "ltu" => [1, 0, 0, 1],
            "leu" => [1, 1, 0, 1],
            "gtu" => [0, 0, 1, 1],
            "geu" => [0, 1, 1, 1],
            "num" => [1, 1, 1, 0],
            "nan" => [0, 0, 0, 1],
            _ => return None,
        }
        .map(|bit| bit == 1);
        Some(Self { less, equal, greater, unordered })
    }

    pub(crate) fn holds(self, a: f64, b: f64) -> bool {
        match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Less) => self.less,
            Some(std::cmp::Ordering::Equal) => self.equal,
            Some(std::cmp::Ordering::Greater) => self.greater,
            None => self.unordered,
        }
    }
}

/// Result format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CompareResult {
    /// Two predicates: one per element of a pair, or the comparison and its complement.
    Predicates,
    /// All ones, in the element's part of the destination.
    Ones,
    /// 1.0 in the operands' format.
    Number,
}

/// A comparison of 16-bit floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CompareForm {
    pub relation: Relation,
    pub format: SmallFloat,
    pub pair: bool,
    pub flush: bool,
    pub result: CompareResult,
    /// Bits of the destination register.
    pub bits: u8,
    /// Operation that combines the comparison with the predicate in `Instr::c`.
    pub combine: Option<PredicateOp>,
    pub negate: bool,
}

/// Operands of a narrowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NarrowSource {
    /// One number in a register.
    One,
    /// Two numbers in two registers, the upper number first.
    Two,
    /// Two numbers in one register.
    Pair,
}

/// A conversion between small formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NarrowForm {
    pub to: SmallFloat,
    pub from: SmallFloat,
    pub source: NarrowSource,
    pub rounding: Rounding,
    /// `.rna`: to nearest, ties away from zero.
    pub ties_away: bool,
    pub relu: bool,
    /// `.satfinite`: an overflow gives the largest finite number.
    pub finite: bool,
}

/// Type of the elements of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    Float(SmallFloat),
    Double,
    Unsigned8,
    Signed8,
    Unsigned4,
    Signed4,
    Bit,
}

impl Factor {
    /// Returns the bits of an element.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::Float(format) => format.bits(),
            Self::Double => 64,
            Self::Unsigned8 | Self::Signed8 => 8,
            Self::Unsigned4 | Self::Signed4 => 4,
            Self::Bit => 1,
        }
    }

    /// Returns the number of elements in a register.
    pub(crate) fn per_register(self) -> usize {
        (32 / usize::from(self.bits())).max(1)
    }

    /// Returns whether elements are integers of several bits.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Unsigned8 | Self::Signed8 | Self::Unsigned4 | Self::Signed4)
    }

    /// Returns whether elements have the type f16.
    pub(crate) fn is_half(self) -> bool {
        self == Self::Float(SmallFloat::Half)
    }

    /// Returns the value of element `index` of a register.
    pub(crate) fn element(self, register: u64, index: usize) -> f64 {
        let bits = u32::from(self.bits());
        let low = (register >> (index as u32 * bits)) as u32 & (u32::MAX >> 32u32.saturating_sub(bits));
        match self {
            Self::Float(format) => format.decode(low),
            Self::Double => f64::from_bits(register),
            Self::Unsigned8 | Self::Unsigned4 | Self::Bit => f64::from(low),
            Self::Signed8 => f64::from(low as u8 as i8),
            Self::Signed4 => f64::from((low as u8 as i8) << 4 >> 4),
        }
    }
}

/// Type of the elements of the result or the addend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    Half,
    Single,
    Double,
    Integer,
}

/// Variant of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Plain,
    /// `.satfinite`: clamps overflows of integers instead of wrapping.
    Finite,
    /// `.and.popc`: counts the bits set in both. Without it, bits are compared: `.xor.popc`.
    And,
    /// Four columns of the products of 8 x 4 and 4 x 8 matrices in the quarters of a warp. `left`: the first four.
    Quarters {
        a_by_row: bool,
        b_by_row: bool,
        left: bool,
    },
}

/// A product of two matrices, added to a third of 8 or 16 rows and 8 columns. List `Instr::target` of
/// `Kernel::operand_lists` has the registers: result, first factor, second factor, addend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MatrixForm {
    /// `true`: 16 rows; `false`: 8.
    pub tall: bool,
    /// Logarithm of the columns of the first factor.
    pub k_bits: u8,
    pub a: Factor,
    pub b: Factor,
    pub to: Sum,
    pub from: Sum,
    /// Rounding in double precision.
    pub rounding: Rounding,
    pub variant: Variant,
}

impl MatrixForm {
    /// Returns the rows, divided by eight.
    pub(crate) fn blocks(self) -> usize {
        if self.tall { 2 } else { 1 }
    }

    /// Returns the columns of the first factor.
    pub(crate) fn k(self) -> usize {
        1 << self.k_bits
    }

    /// Returns the functional unit, with the work of the product.
    pub(crate) fn class(self) -> OpClass {
        let elements = match self.variant {
            // Four products of eight rows and four columns.
            Variant::Quarters { .. } => 4 * 8 * 4,
            _ if self.tall => 16 * 8,
            _ => 8 * 8,
        };
        let multiply_adds = elements * self.k();
        match self.a {
            Factor::Double => OpClass::MatrixFp64(multiply_adds as u16),
            factor => OpClass::Matrix((multiply_adds * usize::from(factor.bits()) / 16) as u16),
        }
    }

    /// Returns the number of registers of the result, of the first factor, of the second factor, and of the addend.
    pub(crate) fn registers(self) -> [usize; 4] {
        if let Variant::Quarters { .. } = self.variant {
            let of = |sum| if sum == Sum::Half { 2 } else { 4 };
            return [of(self.to), 2, 2, of(self.from)];
        }
        let blocks = self.blocks();
        let second = self.k() / (4 * self.a.per_register());
        let of = |sum| if sum == Sum::Half { blocks } else { 2 * blocks };
        [of(self.to), blocks * second, second, of(self.from)]
    }
}

/// A product of 64 rows. List `Instr::target` of `Kernel::operand_lists` has the registers: the sums, then the first factor
/// or its descriptor, the descriptor of the second factor, and the predicate that adds the old sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WarpGroupForm {
    pub a: Factor,
    pub b: Factor,
    pub to: Sum,
    pub variant: Variant,
    /// Columns of the result, divided by eight.
    pub blocks: u8,
    /// `true`: the first factor is in shared memory; `false`: in registers.
    pub shared_a: bool,
    /// `true`: adjacent elements of the factor belong to one line; `false`: to one inner position.
    pub a_by_line: bool,
    pub b_by_line: bool,
    pub negate_a: bool,
    pub negate_b: bool,
}

impl WarpGroupForm {
    /// Returns the form of eight columns of a warp's part.
    pub(crate) fn part(self) -> MatrixForm {
        // The inner side of each factor has 32 bytes.
        let k = 256 / u32::from(self.a.bits());
        MatrixForm {
            tall: true,
            k_bits: k.trailing_zeros() as u8,
            a: self.a,
            b: self.b,
            to: self.to,
            from: self.to,
            rounding: Rounding::Nearest,
            variant: self.variant,
        }
    }

    /// Returns the number of registers of the sums.
    pub(crate) fn sums(self) -> usize {
        usize::from(self.blocks) * self.part().registers()[0]
    }

    /// Returns the functional unit, with the work of a warp.
    pub(crate) fn class(self) -> OpClass {
        match self.part().class() {
            // The largest product has one unit more than fits.
            OpClass::Matrix(work) => OpClass::Matrix(work.saturating_mul(self.blocks.into())),
            other => other,
        }
    }
}

/// `ldmatrix` and `stmatrix`: one, two or four 8 x 8 matrices of 16-bit elements in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoadMatrixForm {
    /// Number of matrices.
    pub count: u8,
    pub transpose: bool,
    pub wide_address: bool,
    /// `true`: the address is generic; `false`: it is in shared memory.
    pub generic: bool,
}

/// `cp.async`: a copy from global to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyForm {
    /// Bytes that a lane writes: 4, 8 or 16.
    pub bytes: u8,
    pub cache: CacheOp,
    /// `true`: the address in shared memory is in the 64-bit file.
    pub wide_to: bool,
    /// `true`: the address in global memory is in the 64-bit file.
    pub wide_from: bool,
}

/// Operation on an mbarrier object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub(crate) enum MbarrierOp {
    Init,
    Invalidate,
    Arrive {
        /// `true`: later phases expect fewer arrivals.
        drops: bool,
        /// `true`: the operand is a number of bytes that the phase expects; otherwise the number of arrivals.
        expects_bytes: bool,
        /// `false`: the arrival must not end the phase.
        completes: bool,
    },
    /// `cp.async.mbarrier.arrive`: arrives when the lane's copies are complete.
    ArriveLater {
        /// `true`: the phase already expects the arrival (`.noinc`).
        counted: bool,
    },
    ExpectBytes,
    CompleteBytes,
    Wait {
        /// `true`: the operand is the parity of the phase; otherwise a state.
        parity: bool,
        /// `true`: suspends the warp if the phase has not ended (`try_wait`).
        suspends: bool,
    },
}

/// An operation on mbarrier objects in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MbarrierForm {
    pub op: MbarrierOp,
    pub wide_address: bool,
    /// `true`: the address is generic; `false`: it is in shared memory.
    pub generic: bool,
}

/// Direction of a bulk copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BulkDirection {
    /// From global to shared memory.
    ToShared,
    /// From global memory to the shared memory of several CTAs of the cluster.
    Multicast,
    /// From shared to global memory.
    ToGlobal,
    /// From shared memory to that of another CTA of the cluster.
    BetweenCtas,
}

/// `cp.async.bulk`: a copy of adjacent bytes between global and shared memory, or between shared memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BulkForm {
    pub direction: BulkDirection,
    /// `true`: the address is in the 64-bit file. Between shared memories, this address is the source.
    pub wide_global: bool,
    pub wide_shared: bool,
    pub wide_barrier: bool,
}

/// `st.async` and `red.async`: a store or reduction in the shared memory of a CTA of the cluster, which an mbarrier there counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentForm {
    pub access: MemoryForm,
    /// `true`: a reduction.
    pub reduces: bool,
    /// `true`: the address of the mbarrier is in the 64-bit file.
    pub wide_barrier: bool,
}

/// `cp.async.bulk.tensor`: a copy of a box of a tensor between global and shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TensorForm {
    /// Never [`BulkDirection::BetweenCtas`].
    pub direction: BulkDirection,
    /// Dimensions of the tensor.
    pub rank: u8,
    pub wide_shared: bool,
    pub wide_barrier: bool,
}

/// Effect of an access outside the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Raises a fault.
    Trap,
    /// Accesses the nearest position inside.
    Clamp,
    /// Reads zeros, or writes nothing.
    Zero,
}

/// A surface load or store. `Instr::a` holds the handle, or `Instr::offset` is the address of a surface
/// reference. `Instr::b` and `Instr::c` hold the coordinates, x in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SurfaceForm {
    pub store: bool,
    /// Bytes per element.
    pub bytes: u8,
    /// Elements per lane: 1, 2 or 4.
    pub elements: u8,
    pub outside: Outside,
    /// Bits of the element registers.
    pub register_bits: u8,
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
    /// `movmatrix`: transposes an 8 x 8 matrix of 16-bit elements.
    Transpose,
    /// `elect.sync`: picks the lowest member.
    Elect,
    Lane(LaneForm),
    Video(VideoForm),
}

/// Memory accesses that few kernels use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RareAccess {
    LoadMatrix(LoadMatrixForm),
    StoreMatrix(LoadMatrixForm),
    Copy(CopyForm),
    Surface(SurfaceForm),
}

impl RareAccess {
    /// Returns whether it changes memory.
    pub(crate) fn writes(self) -> bool {
        match self {
            Self::LoadMatrix(_) => false,
            Self::StoreMatrix(_) | Self::Copy(_) => true,
            Self::Surface(form) => form.store,
        }
    }

    /// Returns the state space for the memory system.
    pub(crate) fn space(self) -> Space {
        match self {
            Self::LoadMatrix(_) | Self::StoreMatrix(_) => Space::Shared,
            Self::Copy(_) | Self::Surface(_) => Space::Global,
        }
    }
}
