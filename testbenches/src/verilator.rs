//! Emitted Verilog compiled by Verilator and stepped in this process.
use crate::emitted::{Emitted, reset_level};
use crate::tool::{AR, GXX, ToolError, VERILATOR, write};
use crate::vectors::{side, zeros};
use libloading::Library;
use selvedge_gen::ResetStyle;
use selvedge_hw::{ClockedBits, Direction, Port, PortBits};
use std::ffi::c_void;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The shared object that [`Verilated::build`] makes.
pub(crate) const LIBRARY: &str = "libdut.so";
/// Verilator's library, compiled once for all blocks.
const RUNTIME: &str = "libverilated.a";

/// The source that all others are compiled as.
pub(crate) const UNIT: &str = "unit.cpp";

/// What the shared object exports. The first argument is always what `New` returned.
type New = unsafe extern "C" fn() -> *mut c_void;
type Delete = unsafe extern "C" fn(*mut c_void);
type Eval = unsafe extern "C" fn(*mut c_void);
type SetLevel = unsafe extern "C" fn(*mut c_void, u8);
type Set = unsafe extern "C" fn(*mut c_void, u32, *const u64);
type Get = unsafe extern "C" fn(*mut c_void, u32, *mut u64);

/// A block's Verilog, compiled and loaded. Steps like a golden model.
///
/// Registers that neither reset nor an initial value reaches begin with random bits, the same in every run.
pub struct Verilated {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    reset: ResetStyle,
    top: NonNull<c_void>,
    new: New,
    delete: Delete,
    eval: Eval,
    set_clock: SetLevel,
    set_reset: SetLevel,
    set: Set,
    get: Get,
    /// Holds the code that the pointers above lead to.
    _library: Library,
}

impl Verilated {
    /// Compiles the Verilog and loads the result. `cache` is a folder that keeps what was compiled: the same Verilog with
    /// the same ports and the same Verilator is compiled once. It may be shared by threads and processes.
    ///
    /// # Errors
    /// When Verilator or g++ is missing or refuses the Verilog, or the folder cannot be used.
    pub fn build(emitted: &Emitted, cache: &Path) -> Result<Self, ToolError> {
        std::fs::create_dir_all(cache).map_err(ToolError::at(cache))?;
        let cache = &cache.canonicalize().map_err(ToolError::at(cache))?;
        let version = VERILATOR.run(cache, ["--version"])?;
        let shim = shim(emitted);
        let inputs: String = [&version, &shim]
            .into_iter()
            .chain(emitted.sources.iter().map(|source| &source.text))
            .cloned()
            .collect();
        let kept = cache.join(format!("{}-{}", emitted.name, fingerprint(&inputs)));
        if !kept.join(LIBRARY).exists() {
            let runtime = runtime(cache, &version)?;
            install(cache, &kept, |folder| compile(emitted, &shim, &runtime, folder))?;
        }
        Self::load(emitted, &kept.join(LIBRARY))
    }

    fn load(emitted: &Emitted, path: &Path) -> Result<Self, ToolError> {
        let refused = |error: libloading::Error| ToolError::Io {
            path: path.to_path_buf(),
            source: std::io::Error::other(error.to_string()),
        };
        // SAFETY: the library was compiled by `build` from a Verilog model and the shim; its initializers only set up
        // the C++ runtime. Each symbol is defined by the shim with exactly the type that it is read as here, and the
        // pointers are dropped together with the library that they lead into.
        unsafe {
            let library = Library::new(path).map_err(refused)?;
            let new: New = *library.get(b"dut_new").map_err(refused)?;
            let top = NonNull::new(new()).expect("C++ `new` never returns null");
            Ok(Verilated {
                inputs: side(&emitted.ports, Direction::Input).cloned().collect(),
                outputs: side(&emitted.ports, Direction::Output).cloned().collect(),
                reset: emitted.reset,
                top,
                new,
                delete: *library.get(b"dut_delete").map_err(refused)?,
                eval: *library.get(b"dut_eval").map_err(refused)?,
                set_clock: *library.get(b"dut_set_clock").map_err(refused)?,
                set_reset: *library.get(b"dut_set_reset").map_err(refused)?,
                set: *library.get(b"dut_set").map_err(refused)?,
                get: *library.get(b"dut_get").map_err(refused)?,
                _library: library,
            })
        }
    }

    fn drive(&mut self, inputs: &[Vec<u64>], reset: bool) {
        assert_eq!(inputs.len(), self.inputs.len(), "one value per input port");
        // SAFETY: `top` is the live object that `dut_new` made. The shim reads, for port `index`, the words that the
        // port's width needs, and the assertion makes sure that they are there.
        unsafe {
            (self.set_reset)(self.top.as_ptr(), u8::from(reset_level(self.reset, reset)));
            for (index, (port, words)) in self.inputs.iter().zip(inputs).enumerate() {
                assert_eq!(words.len(), port.words(), "{}: words of the value", port.name);
                (self.set)(self.top.as_ptr(), index as u32, words.as_ptr());
            }
        }
        self.clock(false);
    }

    fn clock(&mut self, level: bool) {
        // SAFETY: `top` is the live object that `dut_new` made, and this is the only reference to it.
        unsafe {
            (self.set_clock)(self.top.as_ptr(), u8::from(level));
            (self.eval)(self.top.as_ptr());
        }
    }

    fn sample(&self) -> PortBits {
        let value = |(index, port): (usize, &Port)| {
            let mut words = vec![0; port.words()];
            // SAFETY: `top` is live, and the shim writes no more words than the port's width needs.
            unsafe { (self.get)(self.top.as_ptr(), index as u32, words.as_mut_ptr()) };
            words
        };
        self.outputs.iter().enumerate().map(value).collect()
    }
}

impl ClockedBits for Verilated {
    fn step(&mut self, inputs: &[Vec<u64>]) -> PortBits {
        self.drive(inputs, false);
        let outputs = self.sample();
        self.clock(true);
        outputs
    }

    /// Without a reset port: the block is powered up anew.
    fn reset(&mut self) {
        if self.reset == ResetStyle::None {
            // SAFETY: `top` is live and not used after `dut_delete`; `dut_new` gives a new object.
            unsafe {
                (self.delete)(self.top.as_ptr());
                self.top = NonNull::new((self.new)()).expect("C++ `new` never returns null");
            }
            return;
        }
        self.drive(&zeros(&self.inputs), true);
        self.clock(true);
    }
}

impl Drop for Verilated {
    fn drop(&mut self) {
        // SAFETY: `top` is live, nobody uses it after this, and the library is still loaded.
        unsafe { (self.delete)(self.top.as_ptr()) }
    }
}

/// A name for a text: equal for equal texts.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Makes a folder in another one of `cache` and moves it to its place when it is complete, so that nobody sees half of it.
pub(crate) fn install(
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
pub(crate) fn include(folder: &Path) -> Result<String, ToolError> {
    let root = VERILATOR.run(folder, ["--getenv", "VERILATOR_ROOT"])?;
    Ok(format!("{}/include", root.trim()))
}

/// Options for every compilation. Without unique and exported symbols the C++ statics of two loaded models stay apart.
pub(crate) fn compiler_options(include: &str) -> Vec<String> {
    let mut options =
        ["-O1", "-std=c++17", "-fPIC", "-fno-gnu-unique", "-fvisibility=hidden"].map(String::from).to_vec();
    options.extend([format!("-I{include}"), format!("-I{include}/vltstd")]);
    options
}

/// Compiles Verilator's library where the cache does not have it, and returns its path.
pub(crate) fn runtime(cache: &Path, version: &str) -> Result<PathBuf, ToolError> {
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

/// Verilog to C++ to shared object. Verilator stops at any warning that is on by default.
fn compile(emitted: &Emitted, shim: &str, runtime: &Path, folder: &Path) -> Result<(), ToolError> {
    let files = emitted.write(folder)?;
    let mut arguments: Vec<String> =
        ["--cc", "-O3", "--x-initial", "unique", "--prefix", "Vdut", "--Mdir", "obj", "--top-module"]
            .map(String::from)
            .to_vec();
    arguments.push(emitted.name.clone());
    arguments.extend(files.iter().map(|file| file.display().to_string()));
    VERILATOR.run(folder, arguments)?;

    let model = folder.join("obj");
    write(&model.join("shim.cpp"), shim)?;
    let mut arguments = compiler_options(&include(folder)?);
    arguments.extend(["-Iobj", "-shared", "-o", LIBRARY].map(String::from));
    write(&model.join(UNIT), &one_unit(&model)?)?;
    arguments.push(format!("obj/{UNIT}"));
    arguments.extend([runtime.display().to_string(), "-pthread".into()]);
    GXX.run(folder, arguments).map(drop)
}

/// A source that includes every other one of the folder. Compiled one by one, each would read the C++ library's headers
/// again, which takes three times as long as all the rest.
pub(crate) fn one_unit(model: &Path) -> Result<String, ToolError> {
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

/// The C++ between this module and the Verilator model: one function per thing to do, ports by number.
fn shim(emitted: &Emitted) -> String {
    let mut sets = String::new();
    for (index, port) in side(&emitted.ports, Direction::Input).enumerate() {
        let assignment = if port.bits <= 64 {
            format!("top->{} = words[0]", port.name)
        } else {
            format!("std::memcpy(top->{}.data(), words, {})", port.name, 4 * port.bits.div_ceil(32))
        };
        writeln!(sets, "    case {index}: {assignment}; break;").expect("writing to a string cannot fail");
    }
    let mut gets = String::new();
    for (index, port) in side(&emitted.ports, Direction::Output).enumerate() {
        let assignment = if port.bits <= 64 {
            format!("words[0] = top->{}", port.name)
        } else {
            format!("std::memcpy(words, top->{}.data(), {})", port.name, 4 * port.bits.div_ceil(32))
        };
        writeln!(gets, "    case {index}: {assignment}; break;").expect("writing to a string cannot fail");
    }
    let set_reset = match emitted.reset.port() {
        Some(port) => format!("void* dut, uint8_t level) {{ static_cast<Dut*>(dut)->top->{port} = level; }}"),
        None => "void*, uint8_t) {}".to_string(),
    };
    format!(
        "#include \"Vdut.h\"
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
    Dut() {{
        context->randReset(2);
        context->randSeed(1);
        top.reset(new Vdut{{context.get(), \"dut\"}});
    }}
    ~Dut() {{ top->final(); }}
}};
}}

#define EXPORT extern \"C\" __attribute__((visibility(\"default\")))

EXPORT void* dut_new() {{ return new Dut; }}
EXPORT void dut_delete(void* dut) {{ delete static_cast<Dut*>(dut); }}
EXPORT void dut_eval(void* dut) {{ static_cast<Dut*>(dut)->top->eval(); }}
EXPORT void dut_set_clock(void* dut, uint8_t level) {{ static_cast<Dut*>(dut)->top->clk_i = level; }}
EXPORT void dut_set_reset({set_reset}
EXPORT void dut_set(void* dut, uint32_t port, const uint64_t* words) {{
    Vdut* top = static_cast<Dut*>(dut)->top.get();
    switch (port) {{
{sets}    }}
}}
EXPORT void dut_get(void* dut, uint32_t port, uint64_t* words) {{
    Vdut* top = static_cast<Dut*>(dut)->top.get();
    switch (port) {{
{gets}    }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator;

    fn build(reset: ResetStyle) -> Verilated {
        Verilated::build(&accumulator::verilog(reset, "sum_q + addend_i"), &accumulator::cache()).unwrap()
    }

    #[test]
    fn values_wider_than_a_word_go_in_and_out() {
        let mut dut = build(ResetStyle::AsyncLow);
        dut.reset();
        let addend = vec![u64::MAX, 0x3_0000_0001];
        assert_eq!(dut.step(&[vec![1], addend.clone()]), vec![vec![0, 0], vec![1]]);
        assert_eq!(dut.step(&[vec![1], vec![1, 0]])[0], addend);
        assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![0, 0x3_0000_0002]);
    }

    #[test]
    fn each_reset_style_leads_back_to_the_reset_state() {
        for reset in [ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None] {
            let mut dut = build(reset);
            dut.reset();
            dut.step(&[vec![1], vec![7, 0]]);
            assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![7, 0], "{reset:?}");
            dut.reset();
            assert_eq!(dut.step(&[vec![0], vec![0, 0]])[0], vec![0, 0], "{reset:?}");
        }
    }

    #[test]
    fn the_same_verilog_is_compiled_once() {
        let built = || {
            let emitted = accumulator::verilog(ResetStyle::AsyncLow, "sum_q + addend_i");
            drop(Verilated::build(&emitted, &accumulator::cache()).unwrap());
            let modified = |entry: std::fs::DirEntry| {
                Some((
                    entry.file_name(),
                    std::fs::metadata(entry.path().join(LIBRARY)).ok()?.modified().ok()?,
                ))
            };
            let inputs =
                format!("{}{}", VERILATOR.run(Path::new("."), ["--version"]).unwrap(), shim(&emitted));
            let name = format!("accumulator-{}", fingerprint(&(inputs + &emitted.sources[0].text)));
            let entries = std::fs::read_dir(accumulator::cache()).unwrap().map(Result::unwrap);
            entries.filter_map(modified).find(|(entry, _)| entry.to_str() == Some(&name)).expect("it is kept")
        };
        assert_eq!(built(), built());
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
        let emitted = accumulator::verilog(ResetStyle::None, "absent_q");
        let error = Verilated::build(&emitted, &accumulator::cache()).err().unwrap().to_string();
        assert!(error.starts_with("`verilator` failed: ") && error.contains("absent_q"), "{error}");
    }
}
