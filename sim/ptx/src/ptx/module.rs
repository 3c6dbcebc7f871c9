//! A parsed PTX file: its kernels, its global variables and its constant bank.

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::{
    Ast, Function, FunctionParameter, Initial, Operand, Type, VariableId, VariableSpace, function_address,
};
use super::decode::{self, Addresses};
use super::error::PtxError;
use super::forms::Space;
use super::instr::Op;
use super::kernel::{Kernel, LaunchableKernel, Param, ParamKind};
use super::signatures::PARAMETER_BUFFER;
use super::{
    CONST_WINDOW, GLOBALS_BASE, WINDOW_BYTES, control_flow, inline, parser, pressure, promote, region,
};
use crate::memory::{DeviceMemory, MemoryError};

/// First compute capability with independent scheduling of lanes.
const INDEPENDENT_LANES: u32 = 70;
/// Max bytes of the constant bank.
const MAX_CONSTANT_BYTES: u64 = 64 << 10;
/// Max bytes of a kernel's parameters.
const MAX_PARAM_BYTES: u64 = 32_764;

/// A `.global` variable of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Global {
    name: String,
    address: u64,
    bytes: u64,
    initial: Vec<u8>,
}

/// A kernel of a module that cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: kernel '{kernel}': {}", error.file, error.line, error.message)]
pub struct RefusedKernel {
    /// Name of the entry.
    pub kernel: String,
    /// The error in the kernel, or in a function that it calls.
    pub error: PtxError,
}

/// Error of a lookup of a kernel by name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The module has no kernel of that name.
    #[error("there is no kernel '{0}'")]
    Unknown(String),
    /// The kernel exists but cannot be executed.
    #[error(transparent)]
    Refused(RefusedKernel),
}

/// A parsed PTX file.
#[derive(Debug)]
pub struct Module {
    kernels: Vec<Arc<Kernel>>,
    refused: Vec<RefusedKernel>,
    /// First error in any function.
    first_error: Option<PtxError>,
    globals: Vec<Global>,
    constants: Arc<[u8]>,
    /// Name, offset and size in bytes of each constant.
    constant_names: Vec<(String, u64, u64)>,
}

/// Error of a change to a constant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstantError {
    /// The module has no constant of that name.
    #[error("there is no constant '{name}'")]
    Unknown {
        /// Requested name.
        name: String,
    },
    /// The bytes exceed the constant.
    #[error("constant '{name}' has {size} bytes, got {given}")]
    TooLong {
        /// Name of the constant.
        name: String,
        /// Size of the constant, in bytes.
        size: u64,
        /// Number of bytes passed.
        given: usize,
    },
}

impl Module {
    /// Parses and decodes PTX text. Every kernel and function must be executable. `file_name` only appears in
    /// messages.
    ///
    /// # Errors
    /// [`PtxError`] for text that is not PTX, and for instructions that cannot be executed.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, PtxError> {
        let module = Self::parse_from(file_name, text, GLOBALS_BASE)?;
        module.first_error.clone().map_or(Ok(module), Err)
    }

    /// Parses and decodes PTX text, and assigns `.global` variables device addresses from `globals` on. If another
    /// module shares the memory, `globals` must be its [`Module::globals_end`] or above. A kernel that cannot be
    /// executed is no error here; [`Module::find`] rejects it.
    ///
    /// # Errors
    /// [`PtxError`] for text that is not PTX outside functions.
    pub fn parse_from(file_name: &str, text: &str, globals: u64) -> Result<Self, PtxError> {
        Self::parse_files(&[(file_name, text)], globals)
    }

    /// Parses and decodes several PTX files, each with its name for messages, as one module. The files are not
    /// linked: each has separate functions and variables. A lookup by name finds the variable of the first file that
    /// declares it. [`Module::find`] rejects kernels that cannot be executed.
    ///
    /// # Errors
    /// As [`Module::parse_from`], and for two kernels of the same name.
    pub fn parse_all(files: &[(String, String)]) -> Result<Self, PtxError> {
        let files: Vec<(&str, &str)> =
            files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
        Self::parse_files(&files, GLOBALS_BASE)
    }

    fn parse_files(files: &[(&str, &str)], globals: u64) -> Result<Self, PtxError> {
        let mut parsed = Vec::with_capacity(files.len());
        let mut ends = (globals, 0);
        let (mut globals, mut constants, mut constant_names) = (Vec::new(), Vec::new(), Vec::new());
        for &(file, text) in files {
            let ast = parser::parse(file, text)?;
            let layout = VariableLayout::new(&ast, ends).map_err(|(line, message)| PtxError {
                file: file.to_owned(),
                line,
                message,
            })?;
            ends = (layout.global_end, layout.constant_end);
            layout.images(&ast, &mut globals, &mut constants, &mut constant_names);
            parsed.push((file, text, ast, layout));
        }
        let constants: Arc<[u8]> = constants.into();
        let mut kernels: Vec<Arc<Kernel>> = Vec::new();
        let (mut refused, mut errors) = (Vec::new(), Vec::new());
        let mut files_of: HashMap<String, &str> = HashMap::new();
        for (file, text, ast, layout) in parsed {
            let fail = |line, message: String| PtxError { file: file.to_owned(), line, message };
            let unread = ast.functions.iter().filter_map(|function| function.error.clone());
            errors.extend(unread.map(|(line, message)| fail(line, message)));
            let functions = inline::functions(&ast);
            let launchable = launchable(&ast);
            for function in ast.functions.iter().filter(|f| f.entry && f.defined) {
                if let Some(other) = files_of.insert(function.name.clone(), file) {
                    let message = format!("kernel '{}' is in {other} too", function.name);
                    return Err(fail(function.line, message));
                }
                let inlined = inline::inline(&ast, &functions, function);
                let built = inlined.map_err(|(line, message)| fail(line, message)).and_then(|mut inlined| {
                    promote::promote(&ast, &mut inlined);
                    let kernel = build(file, text, &ast, &inlined, &layout.addresses, &constants)?;
                    Ok(Kernel { launchable: Arc::clone(&launchable), ..kernel })
                });
                match built {
                    Ok(kernel) => kernels.push(Arc::new(kernel)),
                    Err(error) => refused.push(RefusedKernel { kernel: function.name.clone(), error }),
                }
            }
        }
        errors.extend(refused.iter().map(|refused| refused.error.clone()));
        let first_error = errors.into_iter().next();
        Ok(Self { kernels, refused, first_error, globals, constants, constant_names })
    }

    /// Parses as [`Module::parse`] does, from bytes that may not be text.
    ///
    /// # Errors
    /// [`PtxError`] as [`Module::parse`], and, with the line, for bytes that are not UTF-8.
    pub fn parse_bytes(file_name: &str, bytes: &[u8]) -> Result<Self, PtxError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|&&b| b == b'\n').count() as u32 + 1;
            let message = format!("byte {} of the file is not text, so it is not PTX", before.len());
            PtxError { file: file_name.to_owned(), line, message }
        })?;
        Self::parse(file_name, text)
    }

    /// Returns the kernels that can be executed, in file order.
    #[must_use]
    pub fn kernels(&self) -> &[Arc<Kernel>] {
        &self.kernels
    }

    /// Returns the kernel called `name`, if it can be executed.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        self.kernels.iter().find(|kernel| kernel.name == name).cloned()
    }

    /// Returns the kernels that cannot be executed, in file order.
    #[must_use]
    pub fn refused(&self) -> &[RefusedKernel] {
        &self.refused
    }

    /// Returns the kernel called `name`.
    ///
    /// # Errors
    /// [`KernelError`] if the module has no such kernel, or it cannot be executed.
    pub fn find(&self, name: &str) -> Result<Arc<Kernel>, KernelError> {
        let refused = self.refused.iter().find(|refused| refused.kernel == name);
        let why =
            || refused.map_or(KernelError::Unknown(name.into()), |one| KernelError::Refused(one.clone()));
        self.kernel(name).ok_or_else(why)
    }

    /// Returns the constant bank, with initial values unless changed by [`Module::set_constant`].
    #[must_use]
    pub fn constants(&self) -> &[u8] {
        &self.constants
    }

    /// Returns the offset and size in bytes of the `.const` variable `name` in the constant bank.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<(u64, u64)> {
        self.constant_names
            .iter()
            .find(|(known, ..)| known == name)
            .map(|&(_, offset, bytes)| (offset, bytes))
    }

    /// Returns the names of the `.global` and `.const` variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let globals = self.globals.iter().map(|global| global.name.as_str());
        globals.chain(self.constant_names.iter().map(|(name, ..)| name.as_str()))
    }

    /// Returns the device address and size in bytes of the `.global` variable `name`.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.globals.iter().find(|global| global.name == name).map(|global| (global.address, global.bytes))
    }

    /// Returns the first device address after all `.global` variables and their red zones; `None` without variables.
    #[must_use]
    pub fn globals_end(&self) -> Option<u64> {
        self.globals.last().map(|global| global.address + global.bytes + crate::memory::RED_ZONE)
    }

    /// Returns the name of the `.global` variable that starts at `address`.
    #[must_use]
    pub fn global_at(&self, address: u64) -> Option<&str> {
        self.globals.iter().find(|global| global.address == address).map(|global| global.name.as_str())
    }

    /// Changes a constant, as a host's copy to a symbol does. The change affects later results of
    /// [`Module::constants`] and [`Module::kernel`]. Kernels returned earlier keep their constants.
    ///
    /// # Errors
    /// [`ConstantError`] if `name` is unknown or the bytes exceed it.
    pub fn set_constant(&mut self, name: &str, bytes: &[u8]) -> Result<(), ConstantError> {
        let unknown = || ConstantError::Unknown { name: name.into() };
        let (offset, size) = self.constant(name).ok_or_else(unknown)?;
        let too_long = || ConstantError::TooLong { name: name.into(), size, given: bytes.len() };
        if bytes.len() as u64 > size {
            return Err(too_long());
        }
        self.write_constants(offset, bytes).ok_or_else(too_long)
    }

    /// Changes constants from byte `offset` of the constant bank on. Returns `None` if the bytes exceed the bank.
    pub fn write_constants(&mut self, offset: u64, bytes: &[u8]) -> Option<()> {
        let start = usize::try_from(offset).ok()?;
        let mut image = self.constants.to_vec();
        image.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        self.constants = image.into();
        for kernel in &mut self.kernels {
            Arc::make_mut(kernel).constants = Arc::clone(&self.constants);
        }
        Some(())
    }

    /// Sets the registers of a thread of the kernel called `name`, instead of the estimate. Returns `None` if there is no
    /// such kernel.
    pub fn set_registers(&mut self, name: &str, registers: u32) -> Option<()> {
        let kernel = self.kernels.iter_mut().find(|kernel| kernel.name == name)?;
        Arc::make_mut(kernel).registers = registers;
        Some(())
    }

    /// Allocates the module's `.global` variables in `memory`, with their initial values. Call it once per memory. If
    /// several modules share a memory, their variables must not overlap ([`Module::parse_from`]).
    ///
    /// # Errors
    /// [`MemoryError`] if the addresses are taken or the memory is full.
    pub fn load(&self, memory: &mut DeviceMemory) -> Result<(), MemoryError> {
        for global in &self.globals {
            memory.alloc_at(global.address, global.bytes, &global.name)?;
            let initial = &global.initial;
            memory.set(global.address, initial.len() as u64, |out| out.copy_from_slice(initial))?;
        }
        Ok(())
    }
}

/// Addresses of the module's variables in the global and constant spaces.
struct VariableLayout {
    addresses: Addresses,
    /// Next free address in global memory.
    global_end: u64,
    constant_end: u64,
}

fn place(next: &mut u64, alignment: u32, bytes: u64) -> u64 {
    let address = next.next_multiple_of(u64::from(alignment.max(1)));
    *next = address + bytes;
    address
}

impl VariableLayout {
    /// Assigns addresses and constant-bank offsets to the variables of a file, from `start` on.
    fn new(ast: &Ast, start: (u64, u64)) -> Result<Self, (u32, String)> {
        let mut addresses = HashMap::new();
        let (mut global, mut constant) = start;
        for &id in ast.globals.iter().chain(&ast.statics) {
            let variable = &ast.variables[id as usize];
            let address = match variable.space {
                // Each global variable has its own buffer, so that out-of-bounds accesses are detected.
                VariableSpace::Global => {
                    let address = place(&mut global, 256, variable.bytes);
                    global += crate::memory::RED_ZONE;
                    address
                }
                VariableSpace::Const => place(&mut constant, variable.alignment, variable.bytes),
                _ => continue,
            };
            let space = if variable.space == VariableSpace::Const { Space::Const } else { Space::Global };
            addresses.insert(id, (address, space));
            if constant - start.1 > MAX_CONSTANT_BYTES {
                let message = format!("constants take more than {MAX_CONSTANT_BYTES} bytes");
                return Err((variable.line, message));
            }
            if global > crate::memory::HEAP_BASE {
                let most = crate::memory::HEAP_BASE - GLOBALS_BASE;
                return Err((variable.line, format!("global variables take more than {most} bytes")));
            }
        }
        Ok(Self { addresses, global_end: global, constant_end: constant })
    }

    /// Returns the initial bytes of a variable.
    fn initial(&self, ast: &Ast, names: &HashMap<&str, VariableId>, id: VariableId) -> Vec<u8> {
        let variable = &ast.variables[id as usize];
        let element = usize::from(variable.element_bytes);
        let mut out = Vec::with_capacity(variable.initial.len() * element);
        for value in &variable.initial {
            let bits = match value {
                Initial::Bits(bits) => *bits,
                Initial::Address { name, offset, generic } => {
                    self.named_address(ast, names, name, *generic).wrapping_add(*offset as u64)
                }
            };
            out.extend_from_slice(&bits.to_le_bytes()[..element]);
        }
        out
    }

    fn named_address(&self, ast: &Ast, names: &HashMap<&str, VariableId>, name: &str, generic: bool) -> u64 {
        let Some(&id) = names.get(name) else {
            let function = ast.functions.iter().position(|function| function.name == name);
            return function.map_or(0, function_address);
        };
        let address = self.addresses.get(&id).map_or(0, |&(address, _)| address);
        let in_window = generic && ast.variables[id as usize].space == VariableSpace::Const;
        if in_window { address + CONST_WINDOW } else { address }
    }

    /// Appends the global variables, constants and names of the file to the earlier files'.
    fn images(
        &self,
        ast: &Ast,
        globals: &mut Vec<Global>,
        constants: &mut Vec<u8>,
        names: &mut Vec<(String, u64, u64)>,
    ) {
        constants.resize(self.constant_end as usize, 0);
        let by_name = ast.globals.iter().map(|&id| (ast.variables[id as usize].name.as_str(), id)).collect();
        for &id in ast.globals.iter().chain(&ast.statics) {
            let variable = &ast.variables[id as usize];
            let Some(&(address, _)) = self.addresses.get(&id) else { continue };
            let initial = self.initial(ast, &by_name, id);
            if variable.space == VariableSpace::Const {
                constants[address as usize..][..initial.len()].copy_from_slice(&initial);
                names.push((variable.name.clone(), address, variable.bytes));
            } else {
                globals.push(Global { name: variable.name.clone(), address, bytes: variable.bytes, initial });
            }
        }
    }
}

/// Returns the variables that a function's code names, in declaration order.
fn named_variables(function: &Function) -> std::collections::BTreeSet<VariableId> {
    let mut out = std::collections::BTreeSet::new();
    let mut note = |operand: &Operand| {
        if let Operand::Variable(id, _) = operand {
            out.insert(*id);
        }
    };
    let mut visit = |operand: &Operand| match operand {
        Operand::Address(base, _) => note(base),
        // A vector may hold a texture reference and its coordinates.
        Operand::Vector(list) => list.iter().for_each(&mut note),
        other => note(other),
    };
    function.code.iter().flat_map(|raw| &raw.operands).for_each(&mut visit);
    out
}

/// Storage of one kernel in its own state spaces.
struct KernelStorage {
    addresses: Addresses,
    shared: u64,
    dynamic_shared: bool,
    local: u64,
    params: Vec<Param>,
    param_bytes: u64,
}

/// Returns the parameters of a kernel and their offsets. `end` becomes the size of all parameters, in bytes.
fn param_offsets(ast: &Ast, function: &Function, end: &mut u64) -> Vec<(VariableId, u64)> {
    let ids = function.parameters.iter().filter_map(|parameter| match parameter {
        FunctionParameter::Memory(id) => Some(*id),
        FunctionParameter::Register(_) => None,
    });
    ids.map(|id| {
        let variable = &ast.variables[id as usize];
        (id, place(end, variable.alignment, variable.bytes))
    })
    .collect()
}

/// Returns the kernels that kernels of the module can launch.
fn launchable(ast: &Ast) -> Arc<[LaunchableKernel]> {
    let launches = ast.functions.iter().any(|function| function.name == PARAMETER_BUFFER);
    let entries = ast.functions.iter().enumerate().filter(|(_, function)| launches && function.entry);
    entries
        .map(|(index, function)| {
            let mut param_bytes = 0;
            param_offsets(ast, function, &mut param_bytes);
            LaunchableKernel { address: function_address(index), name: function.name.clone(), param_bytes }
        })
        .collect()
}

fn storage(ast: &Ast, function: &Function, module: &Addresses) -> Result<KernelStorage, (u32, String)> {
    let mut out = KernelStorage {
        addresses: HashMap::new(),
        shared: 0,
        dynamic_shared: false,
        local: 0,
        params: Vec::new(),
        param_bytes: 0,
    };
    for (id, offset) in param_offsets(ast, function, &mut out.param_bytes) {
        out.addresses.insert(id, (offset, Space::Param));
        if out.param_bytes > MAX_PARAM_BYTES {
            let line = ast.variables[id as usize].line;
            return Err((line, format!("parameters take more than {MAX_PARAM_BYTES} bytes")));
        }
        out.params.push(param(ast, id, offset));
    }
    let named = named_variables(function);
    let is_param = |id: &VariableId| {
        function.parameters.iter().any(|p| matches!(p, FunctionParameter::Memory(q) if q == id))
    };
    let own: std::collections::HashSet<VariableId> = function.locals.iter().copied().collect();
    let candidates =
        named.iter().filter(|id| !own.contains(id)).chain(&function.locals).chain(&ast.grid_workspace);
    let mut open = Vec::new();
    for &id in candidates.filter(|id| !is_param(id)) {
        let variable = &ast.variables[id as usize];
        if let Some(&address) = module.get(&id) {
            out.addresses.insert(id, address);
            continue;
        }
        let space = match variable.space {
            VariableSpace::Shared if variable.open => {
                open.push(id);
                continue;
            }
            VariableSpace::Shared => Space::Shared,
            // Parameters of an inlined call are local memory of the thread.
            VariableSpace::Local | VariableSpace::Param => Space::Local,
            _ => continue,
        };
        let next = if space == Space::Shared { &mut out.shared } else { &mut out.local };
        let address = place(next, variable.alignment, variable.bytes);
        out.addresses.insert(id, (address, space));
        if out.shared.max(out.local) > WINDOW_BYTES {
            let message =
                format!("variable '{}' takes its state space beyond {WINDOW_BYTES} bytes", variable.name);
            return Err((variable.line, message));
        }
    }
    if !open.is_empty() {
        out.dynamic_shared = true;
        out.shared = out.shared.next_multiple_of(16);
        open.into_iter().for_each(|id| {
            out.addresses.insert(id, (out.shared, Space::Shared));
        });
    }
    Ok(out)
}

fn param(ast: &Ast, id: VariableId, offset: u64) -> Param {
    let variable = &ast.variables[id as usize];
    let single = variable.bytes == u64::from(variable.element_bytes);
    let kind = match (single, variable.element) {
        (false, _) => ParamKind::Bytes,
        (true, Type::Scalar { float: true, .. }) => ParamKind::Float,
        (true, _) => ParamKind::Integer,
    };
    Param { name: variable.name.clone(), offset: offset as u32, bytes: variable.bytes as u32, kind }
}

fn build(
    file: &str,
    source: &str,
    ast: &Ast,
    function: &Function,
    module: &Addresses,
    constants: &Arc<[u8]>,
) -> Result<Kernel, PtxError> {
    let fail = |(line, message)| PtxError { file: file.to_owned(), line, message };
    let storage = storage(ast, function, module).map_err(fail)?;
    let mut body = decode::decode(file, source, ast, function, &storage.addresses)?;
    if ast.architecture >= INDEPENDENT_LANES {
        control_flow::mark_waits(&mut body.code);
    }
    let regions = region::find(&body, function);
    Ok(Kernel {
        name: function.name.clone(),
        file: file.to_owned(),
        params: storage.params,
        param_bytes: storage.param_bytes as u32,
        shared_bytes: storage.shared as u32,
        dynamic_shared: storage.dynamic_shared,
        local_bytes: storage.local.next_multiple_of(16) as u32,
        registers: pressure::of(function, &body),
        register_count: body.weights.len(),
        cta_limit: function.cta_limit,
        cluster: function.cluster,
        has_cluster_barrier: body.code.iter().any(|instr| matches!(instr.op, Op::ClusterBarrier { .. })),
        constants: Arc::clone(constants),
        launchable: Arc::from([]),
        code: body.code,
        regions,
        branch_lists: body.branch_lists,
        operand_lists: body.operand_lists,
        true_predicate: body.true_predicate,
        texts: body.texts,
        literals: body.literals,
        words: body.words,
        doubles: body.doubles,
        predicates: body.predicates,
        specials: body.specials,
    })
}
