//! Compiles a block's Verilog into a library that is loaded into this process, for engines that run Verilog in the GPU.
//!
//! Tests use [`Verilated`](crate::verilator::Verilated).
use crate::confined;
use crate::emitted::Emitted;
use crate::library::{Circuit, LIBRARY, LoadedLibrary, ONCE, RUNS, Tools, is_whole, shim};
use crate::own::{Own, differences, latency, ports_of_header};
use crate::tool::{ToolError, VERILATOR, write};
use crate::verilator::Verilated;
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_hw::{
    BlockCompiler, BlockEntry, ClockedBits, ComparisonPace, CompileError, CompiledBlock, Ended, Port,
};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Max number of Verilator's errors that a message quotes.
const MOST_COMPLAINTS: usize = 3;

/// Receives a line for the user when a compilation starts, which takes seconds.
pub type Note = Box<dyn Fn(&str) + Send + Sync>;

/// Compiles blocks with Verilator and g++. A folder keeps the libraries, so that the same Verilog is compiled once.
pub struct VerilogCompiler {
    tools: Tools,
    note: Note,
    /// Verilog of the user that replaces blocks.
    own: Vec<Own>,
    /// The libraries that this process has loaded, by block and parameters.
    known: Mutex<HashMap<(&'static str, String), LibrarySlot>>,
}

/// A library, or `None` until it is loaded. One thread compiles while others wait.
type LibrarySlot = Arc<Mutex<Option<Arc<LoadedLibrary>>>>;

impl fmt::Debug for VerilogCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerilogCompiler").field("cache", &self.tools.cache()).finish_non_exhaustive()
    }
}

fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl VerilogCompiler {
    /// Returns a compiler that keeps its files in the folder `cache`, which threads and processes may share. `own` replaces
    /// blocks. `note` receives a line whenever a compilation starts.
    ///
    /// # Errors
    /// [`ToolError`] if Verilator is missing, or if the folder cannot be used.
    pub fn new(cache: &Path, own: Vec<Own>, note: Note) -> Result<Self, ToolError> {
        Ok(VerilogCompiler { tools: Tools::new(cache, RUNS)?, note, own, known: Mutex::default() })
    }

    /// Returns the library of a block, from the user's Verilog that replaces it, or else from its emitted Verilog.
    fn library(&self, block: &dyn BlockEntry, params: &Value) -> Result<Arc<LoadedLibrary>, CompileError> {
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
            self.tools
                .compiled(&emitted, || (self.note)(&format!("Verilator compiles {}", emitted.name)))
                .map_err(|error| line(&short(error)))?
        };
        let library = Arc::new(LoadedLibrary::open(&path).map_err(|error| line(&error))?);
        if let Some(own) = own {
            check_latency(own, block, params, &library)?;
        }
        *slot = Some(Arc::clone(&library));
        Ok(library)
    }

    /// Returns the user's Verilog that replaces a block.
    fn own_of(&self, block: &str) -> Option<&Own> {
        self.own.iter().find(|own| own.block == block)
    }

    /// Compiles Verilog of the user, unless the cache contains it, and returns the library's path. Its ports must equal the
    /// block's ports.
    fn compiled_own(&self, own: &Own, ports: &[Port]) -> Result<PathBuf, CompileError> {
        let refused = |error| refused(own, error);
        let arguments = arguments(own).map_err(refused)?;
        // The preprocessed text contains included files, so changes of these cause a compilation.
        let text = self.preprocessed(&["-E"], &arguments).map_err(refused)?;
        confined::check(&text).map_err(refused)?;
        let shim = shim(ports, ResetStyle::AsyncLow);
        let kept = self.tools.place(&own.block, &[shim.clone(), own.top.clone(), text]);
        if is_whole(&kept, LIBRARY) {
            return Ok(kept.join(LIBRARY));
        }
        (self.note)(&format!("Verilator compiles {}", own.text));
        let installed = self
            .tools
            .install(&kept, &shim, |folder| translate_own(&self.tools, folder, own, arguments, ports));
        installed.map(|()| kept.join(LIBRARY)).map_err(refused)
    }

    fn preprocessed(&self, options: &[&str], arguments: &[String]) -> Result<String, ToolError> {
        let options = options.iter().map(|option| option.to_string());
        VERILATOR.run(self.tools.cache(), options.chain(arguments.iter().cloned()))
    }

    /// Returns the text of the user's Verilog with all included files, for other tools. Its ports must equal the block's
    /// ports.
    ///
    /// # Errors
    /// [`CompileError`] if Verilator refuses the files, or if the ports differ from the block's.
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
            let cache = self.tools.cache();
            let folder = tempfile::tempdir_in(cache).map_err(ToolError::at(cache))?;
            translate_own(&self.tools, folder.path(), own, arguments, &ports)?;
            Ok(text)
        };
        text().map_err(|error| refused(own, error))
    }
}

/// Returns Verilator's arguments: the user's files, and their folders for included files.
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

/// Translates Verilog of the user into C++. Returns an error if the ports of its top module are not `ports`.
fn translate_own(
    tools: &Tools,
    folder: &Path,
    own: &Own,
    arguments: Vec<String>,
    ports: &[Port],
) -> Result<(), ToolError> {
    tools.translate(folder, &own.top, arguments.into_iter())?;
    let header = folder.join("obj/Vdut.h");
    let header = std::fs::read_to_string(&header).map_err(ToolError::at(&header))?;
    let differences = differences(&ports_of_header(&header), ports);
    if differences.is_empty() {
        return Ok(());
    }
    let (top, differences) = (own.top.clone(), differences.join("; "));
    Err(ToolError::Ports { top, differences })
}

/// Returns the error with the name of the option.
fn refused(own: &Own, error: ToolError) -> CompileError {
    CompileError(format!("--verilog {}: {}", own.text, short(error)))
}

/// Refuses a stream whose latency differs from the stated one, or, if none is stated, from that of the block's model.
fn check_latency(
    own: &Own,
    block: &dyn BlockEntry,
    params: &Value,
    library: &Arc<LoadedLibrary>,
) -> Result<(), CompileError> {
    if !block.is_stream() {
        // A stated latency of a block that is not a stream is refused when the instance is built.
        return Ok(());
    }
    let line = |error: &dyn fmt::Display| CompileError(error.to_string());
    let mut model = block.model(params).map_err(|error| line(&error))?;
    model.reset();
    let wanted = latency(block, params, |inputs| model.step(inputs)).map_err(|error| line(&error))?;
    let ports = block.ports(params).map_err(|error| line(&error))?;
    let say = |what: String| Err(CompileError(format!("--verilog {}: {what}", own.text)));
    let mut circuit = match Circuit::new(Arc::clone(library), false) {
        Ok(circuit) => Verilated::of(circuit, ports),
        Err(why) => return say(format!("in its reset {why}")),
    };
    let found = latency(block, params, |inputs| circuit.step(inputs));
    if let Some(why) = circuit.ended() {
        return say(format!("with the first line of the block's stimulus {why}"));
    }
    match (found.map_err(|error| line(&error))?, own.latency.or(wanted)) {
        (Some(found), Some(wanted)) if found == wanted => Ok(()),
        (None, _) => say("gives nothing after reset for the first line of the block's stimulus".into()),
        (Some(found), Some(stated)) if own.latency.is_some() => {
            say(format!("the latency of module {} is {found}: must be {stated}, as is stated", own.top))
        }
        (Some(found), wanted) => {
            let wanted = wanted.unwrap_or_default();
            let (top, file) = (&own.top, &own.text);
            say(format!(
                "the latency of module {top} is {found}: must be {wanted}, the block's latency in this run; to simulate the \
                 module's latency, write --verilog {file},latency={found}"
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
        Ok(Box::new(self.circuit(block, params)?))
    }

    fn replaces(&self, block: &str) -> Option<ComparisonPace> {
        let own = self.own_of(block)?;
        Some(if own.latency.is_some() { ComparisonPace::Items } else { ComparisonPace::Cycles })
    }

    fn identity(&self) -> String {
        [vec![self.tools.identity()], self.replacements()].concat().join(" ")
    }

    fn replacements(&self) -> Vec<String> {
        self.own.iter().map(|own| own.text.clone()).collect()
    }
}

impl VerilogCompiler {
    /// Returns a block, or the user's module that replaces it, in its reset state.
    fn circuit(&self, block: &dyn BlockEntry, params: &Value) -> Result<Circuit, CompileError> {
        let named = |why| match self.own_of(block.name()) {
            Some(own) => CompileError(format!("--verilog {}: in its reset {why}", own.text)),
            None => CompileError(format!("{}: in its reset {why}", block.name())),
        };
        Circuit::new(self.library(block, params)?, false).map_err(named)
    }

    /// Returns a block, or the user's module that replaces it, to be stepped by bits.
    ///
    /// # Errors
    /// The same as [`BlockCompiler::compile`].
    pub fn clocked(&self, block: &dyn BlockEntry, params: &Value) -> Result<Verilated, CompileError> {
        let ports = block.ports(params).map_err(|error| CompileError(error.to_string()))?;
        Ok(Verilated::of(self.circuit(block, params)?, ports))
    }
}

/// The Verilog of a block, for circuits with planted faults.
pub struct FaultyCircuits {
    tools: Tools,
    ports: Vec<Port>,
    top: String,
    /// Folders of included files.
    folders: Vec<String>,
    files: Vec<SourceText>,
}

/// A Verilog file with its text.
#[derive(Clone, Debug)]
pub struct SourceText {
    /// Name of the file.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl FaultyCircuits {
    /// Returns the files of `own`, or else the files of the block's emitted Verilog. The folder `cache` keeps Verilator's library.
    ///
    /// # Errors
    /// [`CompileError`] if Verilator is missing or a file cannot be read.
    pub fn new(
        cache: &Path,
        own: Option<&Own>,
        block: &dyn BlockEntry,
        params: &Value,
    ) -> Result<Self, CompileError> {
        let line = |error: &dyn fmt::Display| CompileError(error.to_string());
        let tools = Tools::new(cache, ONCE).map_err(|error| line(&error))?;
        let ports = block.ports(params).map_err(|error| line(&error))?;
        let (mut folders, mut files) = (Vec::new(), Vec::new());
        match own {
            None => {
                let options = EmitOptions::of(block, params, ResetStyle::AsyncLow);
                let emitted = Emitted::of(block, params, &options).map_err(|error| line(&error))?;
                let sources = emitted.sources.iter();
                files.extend(sources.map(|one| SourceText { name: one.file(), text: one.text.clone() }));
            }
            Some(own) => {
                let is_folder = |word: &String| word.starts_with("-I");
                folders = arguments(own).map_err(|error| refused(own, error))?;
                folders.retain(is_folder);
                for file in &own.files {
                    let text = read_text(file, MOST_TEXT_BYTES).map_err(ToolError::at(file));
                    let text = text.map_err(|error| refused(own, error))?;
                    files.push(SourceText { name: file.display().to_string(), text });
                }
            }
        }
        let top = own.map_or_else(|| block.name().to_string(), |own| own.top.clone());
        Ok(FaultyCircuits { tools, ports, top, folders, files })
    }

    /// Returns the files.
    pub fn files(&self) -> &[SourceText] {
        &self.files
    }

    /// Returns the circuit with another text of one file, or `None` if Verilator or g++ refuses the text.
    ///
    /// # Errors
    /// [`CompileError`] if a program is missing or the folder cannot be used.
    pub fn with(&self, changed: usize, text: &str) -> Result<Option<FaultyCircuit>, CompileError> {
        let shim = shim(&self.ports, ResetStyle::AsyncLow);
        let library = self.tools.load_once(&shim, |folder| {
            let mut arguments = self.folders.clone();
            for (at, file) in self.files.iter().enumerate() {
                let ending =
                    Path::new(&file.name).extension().map_or("v".into(), |end| end.to_string_lossy());
                let path = folder.join(format!("source_{at}.{ending}"));
                write(&path, if at == changed { text } else { &file.text })?;
                arguments.push(path.display().to_string());
            }
            self.tools.translate(folder, &self.top, arguments.into_iter())
        });
        match library {
            Ok(library) => Ok(Some(match Circuit::new(Arc::new(library), true) {
                Ok(circuit) => FaultyCircuit::Runs(Verilated::of(circuit, self.ports.clone())),
                Err(why) => FaultyCircuit::Ends(why),
            })),
            Err(ToolError::Failed { .. }) => Ok(None),
            Err(error) => Err(CompileError(error.to_string())),
        }
    }
}

/// A circuit with a planted fault.
pub enum FaultyCircuit {
    /// It can be clocked.
    Runs(Verilated),
    /// It ends in its reset.
    Ends(Ended),
}

/// Shortens a program's message to its first errors.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{cache, verilog};

    #[test]
    fn what_verilator_refuses_is_quoted_in_short() {
        let tools = Tools::new(&cache(), RUNS).unwrap();
        let error = tools.compiled(&verilog(ResetStyle::AsyncLow, "absent_q"), || ()).unwrap_err();
        let error = short(error).to_string();
        assert!(error.starts_with("`verilator` failed: %Error: ") && error.contains("absent_q"), "{error}");
        assert!(!error.contains("Exiting"), "{error}");
    }
}
