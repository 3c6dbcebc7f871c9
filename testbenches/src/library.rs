//! Loads Verilog that Verilator and g++ have compiled to a library into this process. One call runs a complete cycle.
use crate::emitted::{Emitted, reset_level};
use crate::tool::{AR, GXX, ToolError, VERILATOR, write};
use crate::vectors::side;
use libloading::Library;
use selvedge_gen::{ResetStyle, TEST_ENABLE};
use selvedge_hw::{CompiledBlock, Direction, Ended, Port, PortBits};
use std::ffi::{CStr, c_char, c_void};
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// The shared object that [`Tools::install`] makes.
pub(crate) const LIBRARY: &str = "libdut.so";
/// Verilator's library, compiled once for all blocks.
const RUNTIME: &str = "libverilated.a";
/// The source file that includes all others, for one compilation.
const UNIT: &str = "unit.cpp";
/// The file with the library's fingerprint, which reveals a truncated library.
const SEAL: &str = "seal";
/// The header that every source includes first.
const HOOKS: &str = "hooks.h";

/// Prints to standard error, because standard output has the command's tables and reports. `$finish`, `$stop`, `$fatal`,
/// `$error` and fatal errors of Verilator's library call the shim, which must not end the process.
const HOOKS_TEXT: &str = "#pragma once
#include <cstdio>
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_STOP_MAYBE
#define VL_USER_FATAL
#define VL_PRINTF dut_printf
int dut_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
void vl_stop_maybe(const char* filename, int linenum, const char* hier, bool maybe);
#undef stdout
#define stdout stderr
";

/// Options for the compilation of Verilog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Verilator's options in addition to [`VERILATOR_OPTIONS`].
    verilator: &'static [&'static str],
    /// Optimization level of g++.
    level: &'static str,
}

/// For tests. Verilator fails at any warning that is enabled by default.
pub(crate) const TESTS: Profile = Profile { verilator: &[], level: "-O1" };
/// For runs, which step a block more often than a test. Warnings are not errors: separate tests check the emitted Verilog
/// for them.
pub(crate) const RUNS: Profile = Profile { verilator: &["-Wno-fatal"], level: "-O2" };

/// For circuits that run once: compiled fast.
pub(crate) const ONCE: Profile = Profile { verilator: &["-Wno-fatal"], level: "-O0" };

/// Options of Verilator. Registers with neither a reset nor an initial value start with random bits, the same in every run.
const VERILATOR_OPTIONS: [&str; 6] = ["--cc", "-O3", "--x-initial", "unique", "--x-assign", "fast"];
/// Option of Verilator for clock gates. A reset that is low from the start then has an edge. A register with a gated clock has no
/// other event in reset.
const GATED: &str = "--x-initial-edge";

/// Functions of the shared object. The first argument of all except `New` is the result of `New`.
type New = unsafe extern "C" fn(i32) -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type StepFn = unsafe extern "C" fn(*mut c_void, *const u64, *mut u64, i32) -> i32;
type Reset = unsafe extern "C" fn(*mut c_void) -> i32;
type Why = unsafe extern "C" fn(*mut c_void) -> *const c_char;

/// The result of a call if the Verilog has ended.
const ENDED: i32 = -1;

/// Verilator and g++, with a folder that keeps compiled libraries, so that the same content is compiled once. Threads and
/// processes may share the folder.
pub(crate) struct Tools {
    cache: PathBuf,
    version: String,
    profile: Profile,
}

impl Tools {
    /// Returns the tools with the folder `cache`, which is made if it is missing.
    ///
    /// # Errors
    /// [`ToolError`] if Verilator is missing, or if the folder cannot be used.
    pub fn new(cache: &Path, profile: Profile) -> Result<Self, ToolError> {
        make_folder(cache).map_err(ToolError::at(cache))?;
        let cache = cache.canonicalize().map_err(ToolError::at(cache))?;
        check_owner(&cache)?;
        let version = VERILATOR.run(&cache, ["--version"])?;
        Ok(Tools { cache, version, profile })
    }

    /// Returns the folder that keeps compiled libraries.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns the folder for the library of this content.
    pub fn place(&self, name: &str, content: &[String]) -> PathBuf {
        let all = [&[self.identity()], content].concat();
        self.cache.join(format!("{name}-{}", fingerprint(all.concat())))
    }

    /// Returns the tools' version and options.
    pub fn identity(&self) -> String {
        let Profile { verilator, level } = self.profile;
        [self.version.trim(), &VERILATOR_OPTIONS.join(" "), &verilator.join(" "), level].join(" ")
    }

    /// Compiles emitted Verilog, unless the cache contains it, and returns the library's path. Calls `note` before a
    /// compilation.
    ///
    /// # Errors
    /// [`ToolError`] if Verilator or g++ is missing or refuses the Verilog, or if the folder cannot be used.
    pub fn compiled(&self, emitted: &Emitted, note: impl FnOnce()) -> Result<PathBuf, ToolError> {
        let shim = shim(&emitted.ports, emitted.reset);
        let mut content = vec![shim.clone()];
        content.extend(emitted.sources.iter().map(|source| source.text.clone()));
        let place = self.place(&emitted.name, &content);
        if !is_whole(&place, LIBRARY) {
            note();
            self.install(&place, &shim, |folder| {
                let files = emitted.write(folder)?;
                let files = files.iter().map(|file| file.display().to_string());
                let is_gated = emitted.sources.iter().any(|source| source.text.contains(TEST_ENABLE));
                let options = is_gated.then(|| GATED.to_owned());
                self.translate(folder, &emitted.name, options.into_iter().chain(files))
            })?;
        }
        Ok(place.join(LIBRARY))
    }

    /// Makes the library in `place`. `translate` must write Verilator's C++ to the folder that is its argument.
    ///
    /// # Errors
    /// [`ToolError`] if a program is missing or refuses its input, or if the folder cannot be used.
    pub fn install(
        &self,
        place: &Path,
        shim: &str,
        translate: impl FnOnce(&Path) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let runtime = runtime(&self.cache, &self.version)?;
        install(&self.cache, place, |folder| {
            translate(folder)?;
            self.link(folder, shim, &runtime)?;
            seal(folder, LIBRARY)
        })
    }

    /// Compiles and loads a library that is not kept. `translate` must write Verilator's C++ to the folder that is its argument.
    ///
    /// # Errors
    /// The same as [`Self::install`].
    pub fn load_once(
        &self,
        shim: &str,
        translate: impl FnOnce(&Path) -> Result<(), ToolError>,
    ) -> Result<LoadedLibrary, ToolError> {
        let runtime = runtime(&self.cache, &self.version)?;
        let folder = tempfile::Builder::new().prefix("partial-").tempdir_in(&self.cache);
        let folder = folder.map_err(ToolError::at(&self.cache))?;
        translate(folder.path())?;
        self.link(folder.path(), shim, &runtime)?;
        // The loaded library outlives its file.
        LoadedLibrary::open(&folder.path().join(LIBRARY))
    }

    /// Translates Verilog to C++ in the folder `obj`.
    ///
    /// # Errors
    /// [`ToolError`] if Verilator refuses the Verilog.
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

    /// Compiles C++ to the shared object.
    fn link(&self, folder: &Path, shim: &str, runtime: &Path) -> Result<(), ToolError> {
        let model = folder.join("obj");
        write(&model.join("shim.cpp"), shim)?;
        write(&folder.join(HOOKS), HOOKS_TEXT)?;
        write(&model.join(UNIT), &one_unit(&model)?)?;
        let mut arguments = compiler_options(&include(folder)?);
        arguments.extend([self.profile.level, "-Iobj", "-shared", "-o", LIBRARY].map(String::from));
        arguments.extend([format!("obj/{UNIT}"), runtime.display().to_string(), "-pthread".into()]);
        GXX.run(folder, arguments)?;
        // The C++ is many times larger than the library.
        std::fs::remove_dir_all(&model).map_err(ToolError::at(&model))
    }
}

/// Returns a hash of a content: equal contents have equal hashes.
fn fingerprint(text: impl AsRef<[u8]>) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    text.as_ref().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Makes a folder in a temporary one in `cache` and renames it when it is complete, so that an incomplete folder is never
/// visible.
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
        // Another thread or process has made the same folder first.
        Err(_) if place.is_dir() => std::fs::remove_dir_all(&finished).map_err(ToolError::at(&finished)),
        result => result.map_err(ToolError::at(place)),
    }
}

/// Makes a folder that only its owner may enter, if it is missing.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Refuses a folder that another user owns or that anyone may write to, because another user could have put a library there.
#[cfg(unix)]
fn check_owner(folder: &Path) -> Result<(), ToolError> {
    use std::os::unix::fs::MetadataExt;
    let facts = folder.metadata().map_err(ToolError::at(folder))?;
    let refuse = |problem| Err(ToolError::Shared { path: folder.to_path_buf(), problem });
    if facts.mode() & 0o002 != 0 {
        return refuse("anyone may write to this folder: must be writable for its owner alone");
    }
    // A new file belongs to the current user.
    let mine = tempfile::tempfile_in(folder).and_then(|file| file.metadata());
    if mine.map_err(ToolError::at(folder))?.uid() != facts.uid() {
        return refuse("another user owns this folder: must be owned by you");
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> Result<(), ToolError> {
    Ok(())
}

/// Writes the fingerprint of `file` into its folder.
fn seal(folder: &Path, file: &str) -> Result<(), ToolError> {
    let path = folder.join(file);
    let bytes = std::fs::read(&path).map_err(ToolError::at(&path))?;
    write(&folder.join(SEAL), fingerprint(&bytes))
}

/// Returns whether a folder has the complete `file` that was made in it. A truncated or changed file is deleted with its
/// folder, so that it is made again.
pub(crate) fn is_whole(place: &Path, file: &str) -> bool {
    let Ok(bytes) = std::fs::read(place.join(file)) else { return false };
    let is_whole = std::fs::read_to_string(place.join(SEAL)).is_ok_and(|seal| seal == fingerprint(&bytes));
    if !is_whole {
        // If this fails, the new folder cannot be renamed to it, and that error is reported.
        let _ = std::fs::remove_dir_all(place);
    }
    is_whole
}

/// Returns the folder of Verilator's headers and library sources.
fn include(folder: &Path) -> Result<String, ToolError> {
    let root = VERILATOR.run(folder, ["--getenv", "VERILATOR_ROOT"])?;
    Ok(format!("{}/include", root.trim()))
}

/// Returns the options for every compilation. They disable unique and exported symbols, so that C++ statics of two loaded
/// models stay separate.
fn compiler_options(include: &str) -> Vec<String> {
    let mut options =
        ["-O1", "-std=c++17", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden"].map(String::from).to_vec();
    options.extend([format!("-I{include}"), format!("-I{include}/vltstd"), "-include".into(), HOOKS.into()]);
    options
}

/// Compiles Verilator's library, unless the cache contains it, and returns its path.
fn runtime(cache: &Path, version: &str) -> Result<PathBuf, ToolError> {
    // One thread compiles while the others wait, because all of them need the same library.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let place = cache.join(format!("runtime-{}", fingerprint([version, HOOKS_TEXT].concat())));
    if !is_whole(&place, RUNTIME) {
        install(cache, &place, |folder| {
            write(&folder.join(HOOKS), HOOKS_TEXT)?;
            let include = include(folder)?;
            let mut arguments = compiler_options(&include);
            arguments.push("-c".into());
            arguments.extend(["verilated", "verilated_threads"].map(|part| format!("{include}/{part}.cpp")));
            GXX.run(folder, arguments)?;
            AR.run(folder, ["rcs", RUNTIME, "verilated.o", "verilated_threads.o"])?;
            seal(folder, RUNTIME)
        })?;
    }
    Ok(place.join(RUNTIME))
}

/// Returns a source that includes all other sources of the folder. Separate compilations would read the C++ library's
/// headers several times, which takes three times the time of the remaining work.
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

/// A loaded library with its functions.
pub(crate) struct LoadedLibrary {
    new: New,
    delete: Delete,
    step: StepFn,
    reset: Reset,
    why: Why,
    /// Owns the code that the function pointers refer to.
    _library: Library,
}

impl LoadedLibrary {
    /// Loads a library that [`Tools`] has made.
    ///
    /// # Errors
    /// [`ToolError::Io`] if it is not such a library.
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
            Ok(LoadedLibrary {
                new: *library.get(b"dut_new").map_err(refused)?,
                delete: *library.get(b"dut_delete").map_err(refused)?,
                step: *library.get(b"dut_step").map_err(refused)?,
                reset: *library.get(b"dut_reset").map_err(refused)?,
                why: *library.get(b"dut_why").map_err(refused)?,
                _library: library,
            })
        }
    }
}

/// An instance of a compiled block.
pub(crate) struct Circuit {
    dut: NonNull<c_void>,
    library: Arc<LoadedLibrary>,
}

// SAFETY: the C++ object has no thread-local state and shares none with other objects; only one thread has it at a time, since
// every use takes `&mut self`.
unsafe impl Send for Circuit {}

impl Circuit {
    /// Makes an instance and runs a cycle of reset. A silent one prints nothing.
    ///
    /// # Errors
    /// [`Ended`] if the Verilog ends during reset.
    pub fn new(library: Arc<LoadedLibrary>, is_silent: bool) -> Result<Self, Ended> {
        // SAFETY: `dut_new` takes a number and returns a new object.
        let dut = NonNull::new(unsafe { (library.new)(i32::from(is_silent)) });
        let mut circuit = Circuit { dut: dut.expect("C++ `new` never returns null"), library };
        circuit.reset()?;
        Ok(circuit)
    }

    /// Returns the reason why the Verilog has ended.
    fn ended(&self) -> Ended {
        // SAFETY: `dut` is the live object that `dut_new` made; the text ends with a zero, and the object owns it.
        let why = unsafe { CStr::from_ptr((self.library.why)(self.dut.as_ptr())) };
        Ended(why.to_string_lossy().into_owned())
    }

    /// Runs one clock with values of ports. `ports` must be those for which the library was compiled.
    ///
    /// # Errors
    /// [`Ended`] if the Verilog has ended.
    ///
    /// # Panics
    /// If `inputs` does not have one value with the correct number of words for each input.
    pub fn step_ports(&mut self, inputs: &[Vec<u64>], ports: &[Port]) -> Result<PortBits, Ended> {
        let wanted = side(ports, Direction::Input).map(Port::words);
        assert!(inputs.iter().map(Vec::len).eq(wanted), "one value for each input, in whole words");
        let words: Vec<usize> = side(ports, Direction::Output).map(Port::words).collect();
        let mut outputs = vec![0; words.iter().sum()];
        self.step(&inputs.concat(), &mut outputs, false)?;
        let mut rest = outputs.as_slice();
        let mut take = |words| {
            let (value, others) = rest.split_at(words);
            rest = others;
            value.to_vec()
        };
        Ok(words.into_iter().map(&mut take).collect())
    }
}

impl CompiledBlock for Circuit {
    fn step(&mut self, inputs: &[u64], outputs: &mut [u64], compare: bool) -> Result<bool, Ended> {
        // SAFETY: `dut` is the live object that `dut_new` made. The shim accesses the number of words that the ports'
        // widths require. The caller made the slices from the same widths of the block's ports.
        let result = unsafe {
            let (inputs, outputs) = (inputs.as_ptr(), outputs.as_mut_ptr());
            (self.library.step)(self.dut.as_ptr(), inputs, outputs, i32::from(compare))
        };
        if result == ENDED { Err(self.ended()) } else { Ok(result != 0) }
    }

    fn reset(&mut self) -> Result<(), Ended> {
        // SAFETY: `dut` is the live object that `dut_new` made, and this is the only reference to it.
        let result = unsafe { (self.library.reset)(self.dut.as_ptr()) };
        if result == ENDED { Err(self.ended()) } else { Ok(()) }
    }

    fn silent_twin(&self) -> Result<Box<dyn CompiledBlock>, Ended> {
        Ok(Box::new(Circuit::new(Arc::clone(&self.library), true)?))
    }
}

impl Drop for Circuit {
    fn drop(&mut self) {
        // SAFETY: `dut` is live, it is not used after this, and the library is still loaded.
        unsafe { (self.library.delete)(self.dut.as_ptr()) }
    }
}

/// Returns the C++ between this module and the Verilator model. The object of class `Vdut__Syms` holds all state of a model.
/// If a cycle with the same inputs leaves its bytes unchanged, the cycle has changed nothing. A reset of Verilog without a
/// reset pin repeats the power-up.
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
        writeln!(sets, "        {set}").expect("writing to a string cannot fail");
        writeln!(zeros, "        {zero}").expect("writing to a string cannot fail");
        at += port.words();
    }
    at = 0;
    for port in side(ports, Direction::Output) {
        let (name, bytes) = (port.name, 4 * port.bits.div_ceil(32));
        let get = if port.bits <= 64 {
            format!("out[{at}] = top->{name};")
        } else {
            // With an odd number of 32-bit words, half of the last 64-bit word stays unwritten.
            format!(
                "out[{}] = 0; std::memcpy(out + {at}, top->{name}.data(), {bytes});",
                at + port.words() - 1
            )
        };
        writeln!(gets, "        {get}").expect("writing to a string cannot fail");
        at += port.words();
    }
    let (reset, released) = match reset.port() {
        Some(pin) => (
            format!(
                "        Vdut* const top = whole->top.get();
        top->{pin} = {};
{zeros}        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
",
                u8::from(reset_level(reset, true))
            ),
            format!("        top->{pin} = {};\n", u8::from(reset_level(reset, false))),
        ),
        None => ("        whole->power_up();\n".to_string(), String::new()),
    };
    format!(
        "#include \"Vdut.h\"
#include \"Vdut___024root.h\"
#include \"Vdut__Syms.h\"
#include \"verilated.h\"
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

// The time stamp that Verilator's library asks for; a model without delays does not use it.
double sc_time_stamp() {{ return 0; }}

namespace {{
// Thrown where the Verilog goes no further.
struct Ended {{ std::string why; }};

[[noreturn]] void end(const std::string& what, const char* file, int line) {{
    const std::string place = file && *file ? \" in \" + std::string(file) + \":\" + std::to_string(line) : std::string();
    throw Ended{{what + place}};
}}

struct Dut {{
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vdut> top;
    std::unique_ptr<unsigned char[]> before{{new unsigned char[sizeof(Vdut__Syms)]}};
    const void* state;
    // Why it goes no further; empty while it does.
    std::string why;
    bool silent;
    explicit Dut(bool is_silent) : silent{{is_silent}} {{}}
    void power_up() {{
        power_down();
        context.reset(new VerilatedContext);
        context->randReset(2);
        context->randSeed(1);
        top.reset(new Vdut{{context.get(), \"dut\"}});
        state = top->rootp->vlSymsp;
    }}
    void power_down() {{
        if (top && why.empty()) top->final();
        top.reset();
    }}
}};

// The model that this thread evaluates.
thread_local Dut* running = nullptr;

template <class F> int32_t guarded(Dut* dut, F run) {{
    if (!dut->why.empty()) return -1;
    int32_t result = -1;
    running = dut;
    try {{ result = run(); }} catch (const Ended& ended) {{ dut->why = ended.why; }}
    running = nullptr;
    return result;
}}
}}

int dut_printf(const char* format, ...) {{
    if (running && running->silent) return 0;
    va_list arguments;
    va_start(arguments, format);
    const int written = std::vfprintf(stderr, format, arguments);
    va_end(arguments);
    return written;
}}

void vl_finish(const char* file, int line, const char*) {{ end(\"the Verilog calls $finish\", file, line); }}
void vl_stop(const char* file, int line, const char*) {{ end(\"the Verilog calls $stop, $fatal or $error\", file, line); }}
// Verilator 5.006 calls this for $stop, $fatal, $error and a false assertion alike.
void vl_stop_maybe(const char* file, int line, const char* hier, bool) {{ vl_stop(file, line, hier); }}
void vl_fatal(const char* file, int line, const char*, const char* message) {{
    end(\"the Verilog cannot be evaluated: \" + std::string(message), file, line);
}}

#define EXPORT extern \"C\" __attribute__((visibility(\"default\")))

EXPORT void* dut_new(int32_t silent) {{
    Dut* const dut = new Dut(silent != 0);
    guarded(dut, [dut] {{ dut->power_up(); return 0; }});
    return dut;
}}
EXPORT void dut_delete(void* dut) {{
    Dut* const whole = static_cast<Dut*>(dut);
    guarded(whole, [whole] {{ whole->power_down(); return 0; }});
    delete whole;
}}
EXPORT const char* dut_why(void* dut) {{ return static_cast<Dut*>(dut)->why.c_str(); }}
EXPORT int32_t dut_reset(void* dut) {{
    Dut* const whole = static_cast<Dut*>(dut);
    return guarded(whole, [&] {{
{reset}        return 0;
    }});
}}
EXPORT int32_t dut_step(void* dut, const uint64_t* in, uint64_t* out, int32_t compare) {{
    Dut* const whole = static_cast<Dut*>(dut);
    return guarded(whole, [&] {{
        Vdut* const top = whole->top.get();
        if (compare) std::memcpy(whole->before.get(), whole->state, sizeof(Vdut__Syms));
{released}{sets}        top->clk_i = 0;
        top->eval();
{gets}        top->clk_i = 1;
        top->eval();
        return int32_t(compare && std::memcmp(whole->before.get(), whole->state, sizeof(Vdut__Syms)) == 0);
    }});
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{cache, verilog};

    /// Compiles the accumulator. Its ports are `enable_i`, `addend_i` of 100 bits, `sum_o` of 100 bits and `parity_o`.
    fn library(next: &str) -> Result<Arc<LoadedLibrary>, ToolError> {
        let emitted = verilog(ResetStyle::AsyncLow, next);
        let path = Tools::new(&cache(), TESTS)?.compiled(&emitted, || ())?;
        Ok(Arc::new(LoadedLibrary::open(&path)?))
    }

    fn circuit() -> Circuit {
        Circuit::new(library("sum_q + addend_i").unwrap(), false).unwrap()
    }

    #[test]
    fn a_whole_cycle_is_one_call() {
        let mut circuit = circuit();
        let mut outputs = [9; 3];
        circuit.step(&[1, u64::MAX, 0x3_0000_0001], &mut outputs, false).unwrap();
        assert_eq!(outputs, [0, 0, 1], "the sum before the edge; the parity of what is added now");
        circuit.step(&[0, 0, 0], &mut outputs, false).unwrap();
        assert_eq!(outputs, [u64::MAX, 0x3_0000_0001, 0]);
        circuit.reset().unwrap();
        circuit.step(&[0, 0, 0], &mut outputs, false).unwrap();
        assert_eq!(outputs, [0; 3]);
    }

    #[test]
    fn a_cycle_that_changes_nothing_is_known() {
        let mut circuit = circuit();
        let mut outputs = [0; 3];
        for (inputs, steady) in [([0, 5, 0], true), ([1, 5, 0], false), ([1, 0, 0], true)] {
            circuit.step(&inputs, &mut outputs, false).unwrap();
            assert_eq!(circuit.step(&inputs, &mut outputs, true), Ok(steady), "{inputs:?}");
        }
    }

    #[test]
    fn two_instances_have_nothing_in_common() {
        let library = library("sum_q + addend_i").unwrap();
        let [mut first, mut second] = [0, 1].map(|_| Circuit::new(Arc::clone(&library), false).unwrap());
        let mut outputs = [0; 3];
        first.step(&[1, 7, 0], &mut outputs, false).unwrap();
        second.step(&[0, 0, 0], &mut outputs, false).unwrap();
        assert_eq!(outputs[0], 0);
        first.step(&[0, 0, 0], &mut outputs, false).unwrap();
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

    #[cfg(unix)]
    #[test]
    fn a_folder_of_another_user_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_owner(folder.path()).is_ok());
        if std::os::unix::fs::chown(folder.path(), Some(1), None).is_err() {
            return crate::skipped::skip(
                "a_folder_of_another_user_is_refused",
                "only root may give a folder to another user",
            );
        }
        let error = check_owner(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another user owns this folder: must be owned by you"), "{error}");
    }

    #[test]
    fn verilog_that_verilator_refuses_is_an_error_with_its_message() {
        let error = library("absent_q").err().unwrap().to_string();
        assert!(error.starts_with("`verilator` failed: ") && error.contains("absent_q"), "{error}");
    }
}
