//! Verilog compiled by Verilator and g++ to a library that is loaded into this process. One call takes a whole cycle.
use crate::emitted::{Emitted, reset_level};
use crate::tool::{AR, GXX, ToolError, VERILATOR, write};
use crate::vectors::side;
use libloading::Library;
use selvedge_gen::ResetStyle;
use selvedge_hw::{CompiledBlock, Direction, Port, PortBits};
use std::ffi::c_void;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The shared object that [`Tools::install`] makes.
pub(crate) const LIBRARY: &str = "libdut.so";
/// Verilator's library, compiled once for all blocks.
const RUNTIME: &str = "libverilated.a";
/// The source that all others are compiled as.
const UNIT: &str = "unit.cpp";

/// How Verilog is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Options of Verilator, besides [`VERILATOR_OPTIONS`].
    verilator: &'static [&'static str],
    /// Level of optimization of g++.
    level: &'static str,
}

/// For tests. Verilator stops at any warning that is on by default.
pub(crate) const TESTS: Profile = Profile { verilator: &[], level: "-O1" };
/// For runs, which step a block more often than a test. Warnings do not end it: the emitted Verilog has tests of its own for them.
pub(crate) const RUNS: Profile = Profile { verilator: &["-Wno-fatal"], level: "-O2" };

/// Options of Verilator. Registers that neither reset nor an initial value reaches begin with random bits, the same in every run.
const VERILATOR_OPTIONS: [&str; 6] = ["--cc", "-O3", "--x-initial", "unique", "--x-assign", "fast"];

/// What the shared object exports. The first argument is always what `New` returned.
type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Step = unsafe extern "C" fn(*mut c_void, *const u64, *mut u64, i32) -> i32;
type Reset = unsafe extern "C" fn(*mut c_void);

/// Verilator and g++, with a folder that keeps what they have made: what has the same content is compiled once. Threads and
/// processes may share the folder.
pub(crate) struct Tools {
    cache: PathBuf,
    version: String,
    profile: Profile,
}

impl Tools {
    /// Returns the tools with the folder `cache`, which is made where it is missing.
    ///
    /// # Errors
    /// When Verilator is missing, or the folder cannot be used.
    pub fn new(cache: &Path, profile: Profile) -> Result<Self, ToolError> {
        std::fs::create_dir_all(cache).map_err(ToolError::at(cache))?;
        let cache = cache.canonicalize().map_err(ToolError::at(cache))?;
        let version = VERILATOR.run(&cache, ["--version"])?;
        Ok(Tools { cache, version, profile })
    }

    /// Returns the folder that keeps what was made.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns the folder in which the library of this content is kept.
    pub fn place(&self, name: &str, content: &[String]) -> PathBuf {
        let mut all = vec![self.version.clone(), VERILATOR_OPTIONS.concat(), self.profile.verilator.concat()];
        all.push(self.profile.level.into());
        all.extend_from_slice(content);
        self.cache.join(format!("{name}-{}", fingerprint(&all.concat())))
    }

    /// Compiles emitted Verilog where the cache does not have it, and returns the library's path. Calls `note` before it does.
    ///
    /// # Errors
    /// When Verilator or g++ is missing or refuses the Verilog, or the folder cannot be used.
    pub fn compiled(&self, emitted: &Emitted, note: impl FnOnce()) -> Result<PathBuf, ToolError> {
        let shim = shim(&emitted.ports, emitted.reset);
        let mut content = vec![shim.clone()];
        content.extend(emitted.sources.iter().map(|source| source.text.clone()));
        let place = self.place(&emitted.name, &content);
        if !place.join(LIBRARY).exists() {
            note();
            self.install(&place, &shim, |folder| {
                let files = emitted.write(folder)?;
                let files = files.iter().map(|file| file.display().to_string());
                self.translate(folder, &emitted.name, files)
            })?;
        }
        Ok(place.join(LIBRARY))
    }

    /// Makes the library in `place`. `translate` is to make Verilator's C++ in the folder that it gets.
    ///
    /// # Errors
    /// When a program is missing or refuses its input, or the folder cannot be used.
    pub fn install(
        &self,
        place: &Path,
        shim: &str,
        translate: impl FnOnce(&Path) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let runtime = runtime(&self.cache, &self.version)?;
        install(&self.cache, place, |folder| {
            translate(folder)?;
            self.link(folder, shim, &runtime)
        })
    }

    /// Verilog to C++ in the folder `obj`.
    ///
    /// # Errors
    /// When Verilator refuses the Verilog.
    pub fn translate(
        &self,
        folder: &Path,
        top: &str,
        files: impl Iterator<Item = String>,
    ) -> Result<(), ToolError> {
        let options = VERILATOR_OPTIONS.iter().chain(self.profile.verilator);
        let names = ["--prefix", "Vdut", "--Mdir", "obj", "--top-module", top];
        let arguments = options.chain(&names).map(|word| word.to_string()).chain(files);
        VERILATOR.run(folder, arguments).map(drop)
    }

    /// C++ to the shared object.
    fn link(&self, folder: &Path, shim: &str, runtime: &Path) -> Result<(), ToolError> {
        let model = folder.join("obj");
        write(&model.join("shim.cpp"), shim)?;
        write(&model.join(UNIT), &one_unit(&model)?)?;
        let mut arguments = compiler_options(&include(folder)?);
        arguments.extend([self.profile.level, "-Iobj", "-shared", "-o", LIBRARY].map(String::from));
        arguments.extend([format!("obj/{UNIT}"), runtime.display().to_string(), "-pthread".into()]);
        GXX.run(folder, arguments)?;
        // The C++ is many times as large as the library.
        std::fs::remove_dir_all(&model).map_err(ToolError::at(&model))
    }
}

/// A name for a text: equal for equal texts.
fn fingerprint(text: &str) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Makes a folder in another one of `cache` and moves it to its place when it is complete, so that nobody sees half of it.
fn install(
    cache: &Path,
    place: &Path,
    make: impl FnOnce(&Path) -> Result<(), ToolError>,
) -> Result<(), ToolError> {
    let workshop =
        tempfile::Builder::new().prefix("partial-").tempdir_in(cache).map_err(ToolError::at(cache))?;
    make(workshop.path())?;
    let finished = workshop.keep();
    match std::fs::rename(&finished, place) {
        // Somebody else was faster and made the same.
        Err(_) if place.is_dir() => std::fs::remove_dir_all(&finished).map_err(ToolError::at(&finished)),
        result => result.map_err(ToolError::at(place)),
    }
}

/// The folder of Verilator's headers and library sources.
fn include(folder: &Path) -> Result<String, ToolError> {
    let root = VERILATOR.run(folder, ["--getenv", "VERILATOR_ROOT"])?;
    Ok(format!("{}/include", root.trim()))
}

/// Options for every compilation. Without unique and exported symbols the C++ statics of two loaded models stay apart.
fn compiler_options(include: &str) -> Vec<String> {
    let mut options =
        ["-O1", "-std=c++17", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden"].map(String::from).to_vec();
    options.extend([format!("-I{include}"), format!("-I{include}/vltstd")]);
    options
}

/// Compiles Verilator's library where the cache does not have it, and returns its path.
fn runtime(cache: &Path, version: &str) -> Result<PathBuf, ToolError> {
    // One thread compiles while the others wait: what they would compile is the same.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = cache.join(format!("runtime-{}", fingerprint(version)));
    if !place.join(RUNTIME).exists() {
        install(cache, &place, |folder| {
            let include = include(folder)?;
            let mut arguments = compiler_options(&include);
            arguments.push("-c".into());
            arguments.extend(["verilated", "verilated_threads"].map(|part| format!("{include}/{part}.cpp")));
            GXX.run(folder, arguments)?;
            AR.run(folder, ["rcs", RUNTIME, "verilated.o", "verilated_threads.o"]).map(drop)
        })?;
    }
    Ok(place.join(RUNTIME))
}

/// A source that includes every other one of the folder. Compiled one by one, each would read the C++ library's headers
/// again, which takes three times as long as all the rest.
fn one_unit(model: &Path) -> Result<String, ToolError> {
    let mut parts = Vec::new();
    for file in std::fs::read_dir(model).map_err(ToolError::at(model))? {
        let name = file.map_err(ToolError::at(model))?.file_name().display().to_string();
        if name.ends_with(".cpp") {
            parts.push(format!("#include \"{name}\"\n"));
        }
    }
    parts.sort();
    Ok(parts.concat())
}

/// A library with its functions.
pub(crate) struct Loaded {
    new: New,
    delete: Delete,
    step: Step,
    reset: Reset,
    /// Holds the code that the pointers above lead to.
    _library: Library,
}

impl Loaded {
    /// Loads what [`Tools`] has made.
    ///
    /// # Errors
    /// When it is no such library.
    pub fn open(path: &Path) -> Result<Self, ToolError> {
        let refused = |error: libloading::Error| ToolError::Io {
            path: path.to_path_buf(),
            source: std::io::Error::other(error.to_string()),
        };
        // SAFETY: the library was compiled by `Tools` from a Verilog model and the shim; its initializers only set up the C++
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
pub(crate) struct Circuit {
    dut: NonNull<c_void>,
    library: Arc<Loaded>,
}

// SAFETY: the C++ object has no thread-local state and shares none with other objects; only one thread has it at a time, since
// every use takes `&mut self`.
unsafe impl Send for Circuit {}

impl Circuit {
    /// Makes an instance and takes it through a cycle of reset.
    pub fn new(library: Arc<Loaded>) -> Self {
        // SAFETY: `dut_new` takes nothing and returns a new object.
        let dut = NonNull::new(unsafe { (library.new)() }).expect("C++ `new` never returns null");
        let mut circuit = Circuit { dut, library };
        circuit.reset();
        circuit
    }

    /// One clock by the values of ports, which are those that the library was compiled for.
    ///
    /// # Panics
    /// When `inputs` does not have one value of the right number of words for each input.
    pub fn step_ports(&mut self, inputs: &[Vec<u64>], ports: &[Port]) -> PortBits {
        let wanted = side(ports, Direction::Input).map(Port::words);
        assert!(inputs.iter().map(Vec::len).eq(wanted), "one value for each input, in whole words");
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
/// cycle that leaves its bytes as they were, with the same inputs, has changed nothing. Verilog without a reset pin is powered up
/// anew by a reset.
pub(crate) fn shim(ports: &[Port], reset: ResetStyle) -> String {
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
    let (reset, released) = match reset.port() {
        Some(pin) => (
            format!(
                "    Vdut* const top = static_cast<Dut*>(dut)->top.get();
    top->{pin} = {};
{zeros}    top->clk_i = 0;
    top->eval();
    top->clk_i = 1;
    top->eval();
",
                u8::from(reset_level(reset, true))
            ),
            format!("    top->{pin} = {};\n", u8::from(reset_level(reset, false))),
        ),
        None => ("    static_cast<Dut*>(dut)->power_up();\n".to_string(), String::new()),
    };
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
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vdut> top;
    std::unique_ptr<unsigned char[]> before{{new unsigned char[sizeof(Vdut__Syms)]}};
    const void* state;
    Dut() {{ power_up(); }}
    ~Dut() {{ power_down(); }}
    void power_up() {{
        power_down();
        context.reset(new VerilatedContext);
        context->randReset(2);
        context->randSeed(1);
        top.reset(new Vdut{{context.get(), \"dut\"}});
        state = top->rootp->vlSymsp;
    }}
    void power_down() {{
        if (top) top->final();
        top.reset();
    }}
}};
}}

#define EXPORT extern \"C\" __attribute__((visibility(\"default\")))

EXPORT void* dut_new() {{ return new Dut; }}
EXPORT void dut_delete(void* dut) {{ delete static_cast<Dut*>(dut); }}
EXPORT void dut_reset(void* dut) {{
{reset}}}
EXPORT int32_t dut_step(void* dut, const uint64_t* in, uint64_t* out, int32_t compare) {{
    Dut* const whole = static_cast<Dut*>(dut);
    Vdut* const top = whole->top.get();
    if (compare) std::memcpy(whole->before.get(), whole->state, sizeof(Vdut__Syms));
{released}{sets}    top->clk_i = 0;
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
    use crate::accumulator::{cache, verilog};

    /// The accumulator, whose ports are `enable_i` and `addend_i` of 100 bits, `sum_o` of 100 bits and `parity_o`.
    fn library(next: &str) -> Result<Arc<Loaded>, ToolError> {
        let emitted = verilog(ResetStyle::AsyncLow, next);
        let path = Tools::new(&cache(), TESTS)?.compiled(&emitted, || ())?;
        Ok(Arc::new(Loaded::open(&path)?))
    }

    fn circuit() -> Circuit {
        Circuit::new(library("sum_q + addend_i").unwrap())
    }

    #[test]
    fn a_whole_cycle_is_one_call() {
        let mut circuit = circuit();
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
        let mut circuit = circuit();
        let mut outputs = [0; 3];
        for (inputs, steady) in [([0, 5, 0], true), ([1, 5, 0], false), ([1, 0, 0], true)] {
            circuit.step(&inputs, &mut outputs, false);
            assert_eq!(circuit.step(&inputs, &mut outputs, true), steady, "{inputs:?}");
        }
    }

    #[test]
    fn two_instances_have_nothing_in_common() {
        let library = library("sum_q + addend_i").unwrap();
        let [mut first, mut second] = [0, 1].map(|_| Circuit::new(Arc::clone(&library)));
        let mut outputs = [0; 3];
        first.step(&[1, 7, 0], &mut outputs, false);
        second.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs[0], 0);
        first.step(&[0, 0, 0], &mut outputs, false);
        assert_eq!(outputs[0], 7);
    }

    #[test]
    fn the_same_verilog_is_compiled_once() {
        let tools = Tools::new(&cache(), TESTS).unwrap();
        let emitted = verilog(ResetStyle::AsyncLow, "sum_q + addend_i");
        let path = tools.compiled(&emitted, || ()).unwrap();
        let again = tools.compiled(&emitted, || panic!("it was compiled")).unwrap();
        assert_eq!(path, again);
        let runs = Tools::new(&cache(), RUNS).unwrap();
        assert_ne!(runs.place(&emitted.name, &[]), tools.place(&emitted.name, &[]), "each has its own");
    }

    #[test]
    fn who_comes_second_uses_what_the_first_has_made() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("place");
        for text in ["first", "second"] {
            install(folder.path(), &place, |workshop| write(&workshop.join("file"), text)).unwrap();
        }
        assert_eq!(std::fs::read_to_string(place.join("file")).unwrap(), "first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half-made is left");
    }

    #[test]
    fn verilog_that_verilator_refuses_is_an_error_with_its_message() {
        let error = library("absent_q").err().unwrap().to_string();
        assert!(error.starts_with("`verilator` failed: ") && error.contains("absent_q"), "{error}");
    }
}
