//! Output of the parser: variables, functions, and instructions with opcodes still in text form.

/// PTX fundamental type of a declared register, variable or parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Pred,
    /// Bits, signed or unsigned integer, or floating point, of the given number of bytes.
    Scalar {
        /// Size in bytes.
        bytes: u8,
        /// `true`: initialisers are floating-point numbers.
        float: bool,
    },
}

impl Type {
    /// Returns the type called `name`, which includes the dot.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let (float, bits) = match name {
            ".pred" => return Some(Self::Pred),
            ".b8" | ".u8" | ".s8" => (false, 8),
            ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => (false, 16),
            ".b32" | ".u32" | ".s32" | ".f16x2" | ".bf16x2" | ".tf32" => (false, 32),
            ".b64" | ".u64" | ".s64" => (false, 64),
            // Handles are opaque words of 64 bits.
            ".texref" | ".samplerref" | ".surfref" => (false, 64),
            ".f32" => (true, 32),
            ".f64" => (true, 64),
            _ => return None,
        };
        Some(Self::Scalar { bytes: bits / 8, float })
    }

    /// Returns the size in bytes; 1 for a predicate.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            Self::Pred => 1,
            Self::Scalar { bytes, .. } => bytes,
        }
    }
}

/// State space that a variable is declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableSpace {
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// Index of a variable in [`Ast::variables`].
pub(crate) type VariableId = u32;
/// Index of a register in [`Function::registers`].
pub(crate) type RegisterId = u32;
/// Index of a scope in [`Function::scopes`].
pub(crate) type ScopeId = u32;

#[derive(Debug, Clone)]
pub(crate) struct PtxVariable {
    pub name: String,
    pub space: VariableSpace,
    pub alignment: u32,
    /// Size in bytes; 0 for an `.extern` array of open size.
    pub bytes: u64,
    /// `true` for `.extern .shared x[]`: the launch gives its size.
    pub open: bool,
    /// `true`: an `.extern` declaration, without a definition so far.
    pub external: bool,
    pub initial: Vec<Initial>,
    /// Type of one element.
    pub element: Type,
    /// Bytes of one element and of its initialiser.
    pub element_bytes: u8,
    pub line: u32,
}

/// One element's initial value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Initial {
    /// The element's bits.
    Bits(u64),
    /// The address of a variable or function, plus an offset. `generic` selects a generic address.
    Address { name: String, offset: i64, generic: bool },
}

/// A declared register that an instruction uses.
#[derive(Debug, Clone)]
pub(crate) struct PtxRegister {
    pub name: String,
    /// Size in bits; 1 for a predicate.
    pub width: u8,
}

/// An operand of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand {
    Register(RegisterId),
    NegatedRegister(RegisterId),
    /// `a.b0`: a byte or half-word of a register, or several.
    Part(RegisterId, Box<str>),
    Integer(i128),
    Single(u32),
    Double(u64),
    Special(String),
    /// The address of a variable plus an offset.
    Variable(VariableId, i64),
    /// `[base + offset]`
    Address(Box<Operand>, i64),
    /// `{a, b}`
    Vector(Vec<Operand>),
    /// `(a, b)`, the arguments of a call.
    Arguments(Vec<Operand>),
    /// `a|b`
    Pair(RegisterId, RegisterId),
    /// `_`
    Sink,
    /// A label or a function, looked up from a scope when the function is complete.
    Name(String, ScopeId),
}

/// An instruction with its opcode still in text form.
#[derive(Debug, Clone)]
pub(crate) struct RawInstruction {
    pub line: u32,
    /// Byte offsets of the instruction's text in the source.
    pub span: (u32, u32),
    /// Guard register, and whether it is negated.
    pub guard: Option<(RegisterId, bool)>,
    pub opcode: String,
    /// `true`: a pragma forbids unrolling of the loop that contains the instruction.
    pub rolled: bool,
    pub operands: Vec<Operand>,
}

/// Names declared within a pair of braces.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameScope {
    pub parent: Option<ScopeId>,
}

/// A kernel or device function.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub name: String,
    pub line: u32,
    pub entry: bool,
    /// `false` for a declaration without a body.
    pub defined: bool,
    /// Line and message of the error that made it unreadable. The other fields are then invalid.
    pub error: Option<(u32, String)>,
    /// Parameters in order, as variables in the parameter space.
    pub parameters: Vec<FunctionParameter>,
    pub returns: Vec<FunctionParameter>,
    pub registers: Vec<PtxRegister>,
    pub scopes: Vec<NameScope>,
    pub labels: std::collections::HashMap<(ScopeId, String), u32>,
    /// Labels in each `.branchtargets` list.
    pub target_lists: std::collections::HashMap<(ScopeId, String), Vec<String>>,
    pub code: Vec<RawInstruction>,
    /// Bodies of inlined calls: the first instruction, and one past the last.
    pub bodies: Vec<(u32, u32)>,
    /// Variables of the shared, local and parameter spaces that the body declares.
    pub locals: Vec<VariableId>,
    /// `.reqntid` or `.maxntid`: threads per CTA in x, y and z. `true` demands exactly this number.
    pub cta_limit: Option<([u32; 3], bool)>,
    /// `.reqnctapercluster`: CTAs of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// `.maxnreg`: max registers of a thread.
    pub register_limit: Option<u32>,
    /// `.minnctapersm`: min CTAs that an SM holds.
    pub least_ctas: Option<u32>,
}

impl Function {
    /// Returns an error, with the line, if the function could not be read.
    pub(crate) fn readable(&self) -> Result<(), (u32, String)> {
        self.error.clone().map_or(Ok(()), Err)
    }
}

/// Bytes of the barrier of a cooperative launch: the size of the structure, and its counter of CTAs.
const WORKSPACE_BYTES: u64 = 8;

impl Ast {
    /// Declares the barrier of cooperative launches, unless it exists.
    pub(crate) fn need_grid_workspace(&mut self, line: u32) {
        if self.grid_workspace.is_some() {
            return;
        }
        let id = self.variables.len() as VariableId;
        self.variables.push(PtxVariable {
            name: "%grid_workspace".to_owned(),
            space: VariableSpace::Global,
            alignment: WORKSPACE_BYTES as u32,
            bytes: WORKSPACE_BYTES,
            open: false,
            external: false,
            initial: Vec::new(),
            element: Type::Scalar { bytes: 4, float: false },
            element_bytes: 4,
            line,
        });
        self.globals.push(id);
        self.grid_workspace = Some(id);
    }
}

impl Ast {
    /// Adds the stacks of recursive functions and of `alloca`, each of `bytes` bytes for a thread.
    pub(crate) fn add_stacks(&mut self, bytes: u64) {
        self.call_stack = Some(self.add_stack("%call_stack", bytes));
        self.dynamic_stack = Some(self.add_stack("%dynamic_stack", bytes));
    }

    fn add_stack(&mut self, name: &str, bytes: u64) -> VariableId {
        self.variables.push(PtxVariable {
            name: name.to_owned(),
            space: VariableSpace::Local,
            alignment: 16,
            bytes,
            open: false,
            external: false,
            initial: Vec::new(),
            element: Type::Scalar { bytes: 1, float: false },
            element_bytes: 1,
            line: 0,
        });
        self.variables.len() as VariableId - 1
    }
}

/// Returns the compute capability of a target such as `sm_70`; 0 for a target without a number.
pub(crate) fn architecture(target: &str) -> u32 {
    let digits = target.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or(0)
}

/// Returns the value of a pointer to function `index` of a file.
pub(crate) fn function_address(index: usize) -> u64 {
    super::FUNCTIONS_BASE + 16 * index as u64
}

/// A parameter of a function: in memory, or (device functions only) in a register.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FunctionParameter {
    Memory(VariableId),
    Register(RegisterId),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Ast {
    /// Compute capability of the target, such as 70 for `sm_70`.
    pub architecture: u32,
    pub address_bits: u8,
    pub variables: Vec<PtxVariable>,
    /// Module-level variables in order.
    pub globals: Vec<VariableId>,
    /// Barrier of cooperative launches, if the code reads its address.
    pub grid_workspace: Option<VariableId>,
    /// Stack of the frames of recursive functions, which kernels that call them declare.
    pub call_stack: Option<VariableId>,
    /// Stack of `alloca`, which kernels that use it declare.
    pub dynamic_stack: Option<VariableId>,
    /// `.global` and `.const` variables that functions declare.
    pub statics: Vec<VariableId>,
    pub functions: Vec<Function>,
}
