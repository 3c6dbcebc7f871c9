//! The compiler of the engines that run Verilog inside the GPU: a block's Verilog to a library that is loaded into this process.
//!
//! [`Verilated`](crate::verilator::Verilated) serves tests: a call per port, values in vectors. Here one call takes a whole
//! cycle, and says whether it has changed anything.
use crate::emitted::Emitted;
use crate::own::{Own, differences, latency, ports_of_header};
use crate::tool::{GXX, ToolError, VERILATOR, write};
use crate::vectors::side;
use crate::verilator::{LIBRARY, UNIT, compiler_options, fingerprint, include, install, one_unit, runtime};
use libloading::Library;
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::{
    BlockCompiler, BlockEntry, ClockedBits, CompileError, CompiledBlock, Direction, Pace, Port, PortBits,
};
use serde_json::Value;
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options of Verilator. Registers that neither reset nor an initial value reaches begin with random bits, the same in every
/// run. Warnings do not end it: the emitted Verilog has tests of its own for them.
const VERILATOR_OPTIONS: [&str; 7] =
    ["--cc", "-O3", "-Wno-fatal", "--x-initial", "unique", "--x-assign", "fast"];
/// Replaces the level of optimization of [`compiler_options`]: a run steps a block more often than a test.
const OPTIMIZATION: &str = "-O2";
/// Most complaints of Verilator that a message quotes.
const MOST_COMPLAINTS: usize = 3;

/// What the shared object exports. The first argument is always what `New` returned.
type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Step = unsafe extern "C" fn(*mut c_void, *const u64, *mut u64, i32) -> i32;
type Reset = unsafe extern "C" fn(*mut c_void);

/// Takes a line for the user while something is compiled, which takes seconds.
pub type Note = Box<dyn Fn(&str) + Send + Sync>;

/// Compiles blocks with Verilator and g++, each Verilog once: what was compiled is kept in a folder.
pub struct VerilogCompiler {
    cache: PathBuf,
    version: String,
    note: Note,
    /// What stands in place of blocks.
    own: Vec<Own>,
    /// What this process has loaded, by block and parameters.
    known: Mutex<HashMap<(&'static str, String), Slot>>,
}

/// A library, once it is loaded. One thread compiles it while others wait.
type Slot = Arc<Mutex<Option<Arc<Loaded>>>>;

impl fmt::Debug for VerilogCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerilogCompiler").field("cache", &self.cache).finish_non_exhaustive()
    }
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VerilogCompiler {
    /// Returns a compiler that keeps its work in the folder `cache`, which threads and processes may share. `own` stands in the
    /// place of blocks. `note` takes a line whenever something is compiled.
    ///
    /// # Errors
    /// When Verilator is missing, or the folder cannot be used.
    pub fn new(cache: &Path, own: Vec<Own>, note: Note) -> Result<Self, ToolError> {
        std::fs::create_dir_all(cache).map_err(ToolError::at(cache))?;
        let cache = cache.canonicalize().map_err(ToolError::at(cache))?;
        let version = VERILATOR.run(&cache, ["--version"])?;
        Ok(VerilogCompiler { cache, version, note, own, known: Mutex::default() })
    }

    /// Returns the library of a block: of what stands in its place, or else of its emitted Verilog.
    fn library(&self, block: &dyn BlockEntry, params: &Value) -> Result<Arc<Loaded>, CompileError> {
        let line = |error: &dyn fmt::Display| CompileError(error.to_string());
        let slot = Arc::clone(locked(&self.known).entry((block.name(), params.to_string())).or_default());
        let mut slot = locked(&slot);
        if let Some(library) = &*slot {
            return Ok(Arc::clone(library));
        }
        let own = self.own_of(block.name());
        let path = if let Some(own) = own {
            let ports = block.ports(params).map_err(|e| line(&e))?;
            self.compiled_own(own, &ports)?
        } else {
            let options = EmitOptions::of(block, params, ResetStyle::AsyncLow);
            let emitted = Emitted::of(block, params, &options).map_err(|e| line(&e))?;
            self.compiled(&emitted).map_err(|error| line(&short(error)))?
        };
        let library = Arc::new(Loaded::open(&path).map_err(|error| line(&error))?);
        if let Some(own) = own {
            check_latency(own, block, params, &library)?;
        }
        *slot = Some(Arc::clone(&library));
        Ok(library)
    }

    /// Returns what stands in place of a block.
    fn own_of(&self, block: &str) -> Option<&Own> {
        self.own.iter().find(|own| own.block == block)
    }

    /// Returns the folder in which the library of this content is kept.
    fn place(&self, name: &str, content: &[String]) -> PathBuf {
        let mut all = vec![self.version.clone(), VERILATOR_OPTIONS.concat(), OPTIMIZATION.into()];
        all.extend_from_slice(content);
        self.cache.join(format!("{name}-{}", fingerprint(&all.concat())))
    }

    /// Compiles emitted Verilog where the cache does not have it, and returns the library's path.
    fn compiled(&self, emitted: &Emitted) -> Result<PathBuf, ToolError> {
        let shim = shim(&emitted.ports);
        let mut content = vec![shim.clone()];
        content.extend(emitted.sources.iter().map(|source| source.text.clone()));
        let kept = self.place(&emitted.name, &content);
        if !kept.join(LIBRARY).exists() {
            (self.note)(&format!("Verilator compiles {}", emitted.name));
            let runtime = runtime(&self.cache, &self.version)?;
            install(&self.cache, &kept, |folder| {
                let files = emitted.write(folder)?;
                let files = files.iter().map(|file| file.display().to_string());
                translate(folder, &emitted.name, files)?;
                link(folder, &shim, &runtime)
            })?;
        }
        Ok(kept.join(LIBRARY))
    }

    /// Compiles Verilog of the user where the cache does not have it, and returns the library's path. Its ports must be the
    /// block's.
    fn compiled_own(&self, own: &Own, ports: &[Port]) -> Result<PathBuf, CompileError> {
        let refused = |error| refused(own, error);
        let arguments = arguments(own).map_err(refused)?;
        // Included files count, too.
        let text = self.preprocessed(&["-E"], &arguments).map_err(refused)?;
        let shim = shim(ports);
        let kept = self.place(&own.block, &[shim.clone(), own.top.clone(), text]);
        if kept.join(LIBRARY).exists() {
            return Ok(kept.join(LIBRARY));
        }
        (self.note)(&format!("Verilator compiles {}", own.text));
        let runtime = runtime(&self.cache, &self.version).map_err(refused)?;
        let installed = install(&self.cache, &kept, |folder| {
            translate_own(folder, own, arguments, ports)?;
            link(folder, &shim, &runtime)
        });
        installed.map(|()| kept.join(LIBRARY)).map_err(refused)
    }

    fn preprocessed(&self, options: &[&str], arguments: &[String]) -> Result<String, ToolError> {
        let options = options.iter().map(|option| option.to_string());
        VERILATOR.run(&self.cache, options.chain(arguments.iter().cloned()))
    }

    /// Returns the text of Verilog of the user with all that it includes, for other tools. Its ports must be the block's.
    ///
    /// # Errors
    /// Files that Verilator refuses, and other ports than the block's.
    pub fn plain_text(
        &self,
        own: &Own,
        block: &dyn BlockEntry,
        params: &Value,
    ) -> Result<String, CompileError> {
        let ports = block.ports(params).map_err(|error| CompileError(error.to_string()))?;
        let text = || {
            let arguments = arguments(own)?;
            let text = self.preprocessed(&["-E", "-P"], &arguments)?;
            let folder = tempfile::tempdir_in(&self.cache).map_err(ToolError::at(&self.cache))?;
            translate_own(folder.path(), own, arguments, &ports)?;
            Ok(text)
        };
        text().map_err(|error| refused(own, error))
    }
}

/// Returns what Verilator is to read: the user's files, and where they include from.
fn arguments(own: &Own) -> Result<Vec<String>, ToolError> {
    let mut arguments = Vec::new();
    for file in &own.files {
        let whole = file.canonicalize().map_err(ToolError::at(file))?;
        let folder = whole.parent().map(|folder| format!("-I{}", folder.display()));
        arguments.extend(folder.filter(|folder| !arguments.contains(folder)));
        arguments.push(whole.display().to_string());
    }
    Ok(arguments)
}

/// Verilog of the user to C++; an error where the ports of its top module are not `ports`.
fn translate_own(folder: &Path, own: &Own, arguments: Vec<String>, ports: &[Port]) -> Result<(), ToolError> {
    translate(folder, &own.top, arguments.into_iter())?;
    let header = folder.join("obj/Vdut.h");
    let header = std::fs::read_to_string(&header).map_err(ToolError::at(&header))?;
    let differences = differences(&ports_of_header(&header), ports);
    if differences.is_empty() {
        return Ok(());
    }
    let (top, differences) = (own.top.clone(), differences.join("; "));
    Err(ToolError::Ports { top, differences })
}

/// Names the option in what was wrong.
fn refused(own: &Own, error: ToolError) -> CompileError {
    CompileError(format!("--verilog {}: {}", own.text, short(error)))
}

/// Refuses a stream of another latency than the block's model has, or than is stated.
fn check_latency(
    own: &Own,
    block: &dyn BlockEntry,
    params: &Value,
    library: &Arc<Loaded>,
) -> Result<(), CompileError> {
    if !block.is_stream() {
        // A latency that is stated is refused where the instance is built.
        return Ok(());
    }
    let line = |error: &dyn fmt::Display| CompileError(error.to_string());
    let mut model = block.model(params).map_err(|error| line(&error))?;
    model.reset();
    let wanted = latency(block, params, |inputs| model.step(inputs)).map_err(|error| line(&error))?;
    let ports = block.ports(params).map_err(|error| line(&error))?;
    let mut circuit = Circuit::new(Arc::clone(library));
    let found = latency(block, params, |inputs| circuit.step_ports(inputs, &ports));
    let say = |what: String| Err(CompileError(format!("--verilog {}: {what}", own.text)));
    match (found.map_err(|error| line(&error))?, own.latency.or(wanted)) {
        (Some(found), Some(wanted)) if found == wanted => Ok(()),
        (None, _) => say("gives nothing after reset for the first line of the block's stimulus".into()),
        (Some(found), Some(stated)) if own.latency.is_some() => {
            say(format!("the latency of module {} is {found}: must be {stated}, as is stated", own.top))
        }
        (Some(found), wanted) => {
            let wanted = wanted.unwrap_or_default();
            let top = &own.top;
            say(format!(
                "the latency of module {top} is {found}: must be {wanted}, as the block's is, or be stated by latency={found}"
            ))
        }
    }
}

impl BlockCompiler for VerilogCompiler {
    fn compile(
        &self,
        block: &dyn BlockEntry,
        params: &Value,
    ) -> Result<Box<dyn CompiledBlock>, CompileError> {
        Ok(Box::new(Circuit::new(self.library(block, params)?)))
    }

    fn replaces(&self, block: &str) -> Option<Pace> {
        let own = self.own_of(block)?;
        Some(if own.latency.is_some() { Pace::Items } else { Pace::Cycles })
    }

    fn replacements(&self) -> Vec<String> {
        self.own.iter().map(|own| own.text.clone()).collect()
    }
}

impl VerilogCompiler {
    /// Returns a block, or what stands in its place, to be stepped by bits.
    ///
    /// # Errors
    /// As [`BlockCompiler::compile`].
    pub fn clocked(
        &self,
        block: &dyn BlockEntry,
        params: &Value,
    ) -> Result<Box<dyn ClockedBits>, CompileError> {
        let ports = block.ports(params).map_err(|error| CompileError(error.to_string()))?;
        Ok(Box::new(ByBits { circuit: Circuit::new(self.library(block, params)?), ports }))
    }
}

/// An instance that is stepped by bits.
struct ByBits {
    circuit: Circuit,
    ports: Vec<Port>,
}

impl ClockedBits for ByBits {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.circuit.step_ports(inputs, &self.ports)
    }

    fn reset(&mut self) {
        self.circuit.reset();
    }
}

/// Verilog to C++ in the folder `obj`.
fn translate(folder: &Path, top: &str, files: impl Iterator<Item = String>) -> Result<(), ToolError> {
    let mut arguments = VERILATOR_OPTIONS.map(String::from).to_vec();
    arguments.extend(["--prefix", "Vdut", "--Mdir", "obj", "--top-module", top].map(String::from));
    arguments.extend(files);
    VERILATOR.run(folder, arguments).map(drop)
}

/// C++ to the shared object.
fn link(folder: &Path, shim: &str, runtime: &Path) -> Result<(), ToolError> {
    let model = folder.join("obj");
    write(&model.join("shim.cpp"), shim)?;
    write(&model.join(UNIT), &one_unit(&model)?)?;
    let mut arguments = compiler_options(&include(folder)?);
    arguments.extend([OPTIMIZATION, "-Iobj", "-shared", "-o", LIBRARY].map(String::from));
    arguments.extend([format!("obj/{UNIT}"), runtime.display().to_string(), "-pthread".into()]);
    GXX.run(folder, arguments)?;
    // The C++ is many times as large as the library.
    std::fs::remove_dir_all(&model).map_err(ToolError::at(&model))
}

/// Leaves only the first errors of what a program wrote.
fn short(error: ToolError) -> ToolError {
    match error {
        ToolError::Failed { program, message } => {
            let is_error = |line: &&str| line.contains("rror") && !line.contains("Exiting due to");
            let lines: Vec<&str> = message.lines().filter(is_error).take(MOST_COMPLAINTS).collect();
            let message = if lines.is_empty() { message } else { lines.join("; ") };
            ToolError::Failed { program, message }
        }
        other => other,
    }
}

/// A library with its functions.
struct Loaded {
    new: New,
    delete: Delete,
    step: Step,
    reset: Reset,
    /// Holds the code that the pointers above lead to.
    _library: Library,
}

impl Loaded {
    fn open(path: &Path) -> Result<Self, ToolError> {
        let refused = |error: libloading::Error| ToolError::Io {
            path: path.to_path_buf(),
            source: std::io::Error::other(error.to_string()),
        };
        // SAFETY: the library was compiled by `link` from a Verilog model and the shim; its initializers only set up the C++
        // runtime. Each symbol is defined by the shim with exactly the type that it is read as here, and the pointers are
        // dropped together with the library that they lead into.
        unsafe {
            let library = Library::new(path).map_err(refused)?;
            Ok(Loaded {
                new: *library.get(b"dut_new").map_err(refused)?,
                delete: *library.get(b"dut_delete").map_err(refused)?,
                step: *library.get(b"dut_step").map_err(refused)?,
                reset: *library.get(b"dut_reset").map_err(refused)?,
                _library: library,
            })
        }
    }
}

/// One instance of a compiled block.
struct Circuit {
    dut: NonNull<c_void>,
    library: Arc<Loaded>,
}

// SAFETY: the C++ object has no thread-local state and shares none with other objects; only one thread has it at a time, since
// every use takes `&mut self`.
unsafe impl Send for Circuit {}

impl Circuit {
    /// Makes an instance and takes it through a cycle of reset.
    fn new(library: Arc<Loaded>) -> Self {
        // SAFETY: `dut_new` takes nothing and returns a new object.
        let dut = NonNull::new(unsafe { (library.new)() }).expect("C++ `new` never returns null");
        let mut circuit = Circuit { dut, library };
        circuit.reset();
        circuit
    }

    /// One clock by the values of ports.
    fn step_ports(&mut self, inputs: &[Vec<u64>], ports: &[Port]) -> PortBits {
        let words: Vec<usize> = side(ports, Direction::Output).map(Port::words).collect();
        let mut outputs = vec![0; words.iter().sum()];
        self.step(&inputs.concat(), &mut outputs, false);
        let mut rest = outputs.as_slice();
        let mut take = |words| {
            let (value, others) = rest.split_at(words);
            rest = others;
            value.to_vec()
        };
        words.into_iter().map(&mut take).collect()
    }
}

impl CompiledBlock for Circuit {
    fn step(&mut self, inputs: &[u64], outputs: &mut [u64], compare: bool) -> bool {
        // SAFETY: `dut` is the live object that `dut_new` made. The shim reads and writes as many words as the ports' widths
        // need, which is how the caller made the slices: both sides take the widths from the block's ports.
        unsafe {
            let (inputs, outputs) = (inputs.as_ptr(), outputs.as_mut_ptr());
            (self.library.step)(self.dut.as_ptr(), inputs, outputs, i32::from(compare)) != 0
        }
    }

    fn reset(&mut self) {
        // SAFETY: `dut` is the live object that `dut_new` made, and this is the only reference to it.
        unsafe { (self.library.reset)(self.dut.as_ptr()) }
    }
}

impl Drop for Circuit {
    fn drop(&mut self) {
        // SAFETY: `dut` is live, nobody uses it after this, and the library is still loaded.
        unsafe { (self.library.delete)(self.dut.as_ptr()) }
    }
}

/// The C++ between this module and the Verilator model. All state of a model is in the object of its class `Vdut__Syms`, so a
/// cycle that leaves its bytes as they were, with the same inputs, has changed nothing.
fn shim(ports: &[Port]) -> String {
    let (mut sets, mut zeros, mut gets) = (String::new(), String::new(), String::new());
    let mut at = 0;
    for port in side(ports, Direction::Input) {
        let (name, bytes) = (port.name, 4 * port.bits.div_ceil(32));
        let (set, zero) = if port.bits <= 64 {
            (format!("top->{name} = in[{at}];"), format!("top->{name} = 0;"))
        } else {
            let data = format!("top->{name}.data()");
            (format!("std::memcpy({data}, in + {at}, {bytes});"), format!("std::memset({data}, 0, {bytes});"))
        };
        writeln!(sets, "    {set}").expect("writing to a string cannot fail");
        writeln!(zeros, "    {zero}").expect("writing to a string cannot fail");
        at += port.words();
    }
    at = 0;
    for port in side(ports, Direction::Output) {
        let (name, bytes) = (port.name, 4 * port.bits.div_ceil(32));
        let get = if port.bits <= 64 {
            format!("out[{at}] = top->{name};")
        } else {
            // An odd number of 32-bit words leaves half of the last word.
            format!(
                "out[{}] = 0; std::memcpy(out + {at}, top->{name}.data(), {bytes});",
                at + port.words() - 1
            )
        };
        writeln!(gets, "    {get}").expect("writing to a string cannot fail");
        at += port.words();
    }
    format!(
        "#include \"Vdut.h\"
#include \"Vdut___024root.h\"
#include \"Vdut__Syms.h\"
#include \"verilated.h\"
#include <cstdint>
#include <cstring>
#include <memory>

// The time stamp that Verilator's library asks for; a model without delays does not use it.
double sc_time_stamp() {{ return 0; }}

namespace {{
struct Dut {{
    std::unique_ptr<VerilatedContext> context{{new VerilatedContext}};
    std::unique_ptr<Vdut> top;
    std::unique_ptr<unsigned char[]> before{{new unsigned char[sizeof(Vdut__Syms)]}};
    const void* state;
    Dut() {{
        context->randReset(2);
        context->randSeed(1);
        top.reset(new Vdut{{context.get(), \"dut\"}});
        state = top->rootp->vlSymsp;
    }}
    ~Dut() {{ top->final(); }}
}};
}}

#define EXPORT extern \"C\" __attribute__((visibility(\"default\")))

EXPORT void* dut_new() {{ return new Dut; }}
EXPORT void dut_delete(void* dut) {{ delete static_cast<Dut*>(dut); }}
EXPORT void dut_reset(void* dut) {{
    Vdut* const top = static_cast<Dut*>(dut)->top.get();
    top->rst_ni = 0;
{zeros}    top->clk_i = 0;
    top->eval();
    top->clk_i = 1;
    top->eval();
    top->rst_ni = 1;
}}
EXPORT int32_t dut_step(void* dut, const uint64_t* in, uint64_t* out, int32_t compare) {{
    Dut* const whole = static_cast<Dut*>(dut);
    Vdut* const top = whole->top.get();
    if (compare) std::memcpy(whole->before.get(), whole->state, sizeof(Vdut__Syms));
{sets}    top->clk_i = 0;
    top->eval();
{gets}    top->clk_i = 1;
    top->eval();
    return compare && std::memcmp(whole->before.get(), whole->state, sizeof(Vdut__Syms)) == 0;
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{Accumulator, cache, verilog};

    /// The accumulator, whose ports are `enable_i` and `addend_i` of 100 bits, `sum_o` of 100 bits and `parity_o`.
    fn circuit(next: &str) -> Result<Circuit, ToolError> {
        let compiler = VerilogCompiler::new(&cache(), Vec::new(), Box::new(|_| ())).unwrap();
        let path = compiler.compiled(&verilog(ResetStyle::AsyncLow, next))?;
        Ok(Circuit::new(Arc::new(Loaded::open(&path)?)))
    }

    #[test]
    fn a_whole_cycle_is_one_call() {
        let mut circuit = circuit("sum_q + addend_i").unwrap();
        let mut outputs = [9; 3];
        circuit.step(&[1, u64::MAX, 0x3_0000_0001], &mut outputs, false);
        assert_eq!(outputs, [0, 0, 1], "the sum before the edge; the parity of what is added now");
        circuit.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs, [u64::MAX, 0x3_0000_0001, 0]);
        circuit.reset();
        circuit.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs, [0; 3]);
    }

    #[test]
    fn a_cycle_that_changes_nothing_is_known() {
        let mut circuit = circuit("sum_q + addend_i").unwrap();
        let mut outputs = [0; 3];
        for (inputs, steady) in [([0, 5, 0], true), ([1, 5, 0], false), ([1, 0, 0], true)] {
            circuit.step(&inputs, &mut outputs, false);
            assert_eq!(circuit.step(&inputs, &mut outputs, true), steady, "{inputs:?}");
        }
    }

    #[test]
    fn two_instances_have_nothing_in_common() {
        let compiler = VerilogCompiler::new(&cache(), Vec::new(), Box::new(|_| ())).unwrap();
        let path = compiler.compiled(&verilog(ResetStyle::AsyncLow, "sum_q + addend_i")).unwrap();
        let library = Arc::new(Loaded::open(&path).unwrap());
        let [mut first, mut second] = [0, 1].map(|_| Circuit::new(Arc::clone(&library)));
        let mut outputs = [0; 3];
        first.step(&[1, 7, 0], &mut outputs, false);
        second.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs[0], 0);
        first.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs[0], 7);
    }

    #[test]
    fn what_verilator_refuses_is_quoted_in_short() {
        let error = short(circuit("absent_q").err().unwrap()).to_string();
        assert!(error.starts_with("`verilator` failed: %Error: ") && error.contains("absent_q"), "{error}");
        assert!(!error.contains("Exiting"), "{error}");
        assert_eq!(Accumulator.name(), "accumulator");
    }
}
