//! A decoded kernel, which the executor runs and the timing model reads.

use std::sync::Arc;

use super::LaunchDims;
use super::instr::Instr;
use super::registers::Literals;
use super::special::Special;

/// An input or result register of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionValue {
    /// Scoreboard number.
    pub number: u16,
    /// `true`: 64 bits; `false`: 32 bits.
    pub wide: bool,
    /// Index in its register file.
    pub(crate) index: u16,
}

/// A part of a kernel's code with one entry and one exit. It reads only registers and constants, and writes only
/// registers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelRegion {
    /// Index of the first instruction.
    pub start: u32,
    /// Index one past the last instruction.
    pub end: u32,
    /// `true`: it contains a backward branch.
    pub has_loop: bool,
    /// Registers on which its results depend.
    pub inputs: Vec<RegionValue>,
    /// Registers that it writes and later code reads.
    pub results: Vec<RegionValue>,
}

impl KernelRegion {
    /// Returns the number of 32-bit words of `values`.
    #[must_use]
    pub fn words(values: &[RegionValue]) -> usize {
        values.iter().map(|value| 1 + usize::from(value.wide)).sum()
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

/// A kernel that others of its module can launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LaunchableKernel {
    /// Value of a pointer to it.
    pub address: u64,
    /// Name of the entry.
    pub name: String,
    /// Size of all parameters, in bytes.
    pub param_bytes: u64,
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
    /// 32-bit registers of a thread, for occupancy: an estimate of the allocation by NVIDIA's assembler, unless
    /// [`Module::set_registers`](super::Module::set_registers) has replaced it. A 64-bit register counts as two, a
    /// predicate as none. The estimate is within the limits of `.maxnreg` and `.minnctapersm`.
    pub registers: u32,
    /// Exclusive upper bound of the numbers in [`Instr::dests`] and [`Instr::sources`].
    pub register_count: usize,
    /// `.reqntid` or `.maxntid`: threads in x, y and z. `true` demands exactly this number.
    pub cta_limit: Option<([u32; 3], bool)>,
    /// `.reqnctapercluster`: CTAs of a cluster in x, y and z, which a launch must have.
    pub cluster: Option<[u32; 3]>,
    /// `true`: the kernel uses the barrier of its cluster.
    pub(crate) has_cluster_barrier: bool,
    /// The module's constant bank.
    pub constants: Arc<[u8]>,
    /// Kernels of the module that the kernel can launch; empty if it launches none.
    pub(crate) launchable: Arc<[LaunchableKernel]>,
    /// Parts of the code whose results depend only on their inputs, in code order.
    pub regions: Vec<KernelRegion>,
    /// Target lists of indexed branches.
    pub(crate) branch_lists: Vec<Vec<u32>>,
    /// Registers of instructions whose registers exceed the fields of [`Instr`].
    pub(crate) operand_lists: Vec<Box<[u16]>>,
    /// Hidden predicate that is always true, if an instruction reads it.
    pub(crate) true_predicate: Option<u16>,
    pub(crate) texts: Vec<Box<str>>,
    pub(crate) literals: Literals,
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
            cluster: None,
            has_cluster_barrier: false,
            constants: Arc::from([]),
            launchable: Arc::from([]),
            regions: Vec::new(),
            branch_lists: Vec::new(),
            operand_lists: Vec::new(),
            true_predicate: None,
            texts: Vec::new(),
            literals: Literals::default(),
            words: 0,
            doubles: 0,
            predicates: 0,
            specials: Vec::new(),
        }
    }

    /// Returns the launch with the clusters that the kernel demands, if the launch has no clusters.
    #[must_use]
    pub fn with_clusters(&self, launch: LaunchDims) -> LaunchDims {
        match self.cluster {
            Some(cluster) if launch.cluster == [1; 3] => LaunchDims { cluster, ..launch },
            _ => launch,
        }
    }

    /// Returns whether the CTAs of a launch run in clusters. A cluster of one CTA counts if the kernel uses its barrier.
    #[must_use]
    pub fn runs_in_clusters(&self, launch: &LaunchDims) -> bool {
        self.has_cluster_barrier || launch.cluster != [1; 3]
    }

    /// Returns the source text of instruction `pc`, with runs of blanks collapsed.
    #[must_use]
    pub fn text(&self, pc: u32) -> &str {
        self.texts.get(pc as usize).map_or("", |t| t)
    }
}
