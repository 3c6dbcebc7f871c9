//! Users' own kernels: a `.toml` launch file that names PTX, kernels, geometry, arguments and expected results.
//!
//! A file with one launch may have the launch at its top level:
//!
//! ```toml
//! ptx = "saxpy.ptx"          # this and every other path starts from this file's folder
//! kernel = "saxpy"
//! grid = [64]                # one to three numbers
//! block = [256]
//!
//! [[arg]]
//! type = "f32"
//! value = 2.5
//!
//! [[arg]]                    # a separate buffer; the argument is its address
//! type = "f32"
//! count = 16384
//! init = "random"
//! seed = 7
//! ```
//!
//! Several launches share named buffers. `docs/reference/launch-file.md` lists all keys:
//!
//! ```toml
//! ptx = "jacobi.ptx"
//!
//! [[buffer]]
//! name = "a"
//! type = "f32"
//! file = "a.txt"
//!
//! [[buffer]]
//! name = "b"
//! type = "f32"
//! count = 1024
//! expect = { file = "b.txt", relative = 1e-5 }
//! save = { file = "b.bin", format = "raw" }
//!
//! [[loop]]
//! name = "sweep"
//! turns = 20
//! swap = [["a", "b"]]        # between turns
//!
//! [[launch]]
//! kernel = "jacobi"
//! grid = [4, 4]
//! block = [8, 8]
//! loop = "sweep"
//! arg = [{ buffer = "a" }, { buffer = "b" }, { type = "s32", value = 32 }]
//! ```
mod action;
mod buffer;
mod element;
mod error;
mod expectation;
mod expression;
mod fill;
mod format;
mod host;
mod kernel_name;
mod plan;
mod room;
#[cfg(test)]
mod sequence_tests;
mod structure;
mod template;
#[cfg(test)]
mod tests;
mod trial;
mod values;
mod view;

pub use error::LaunchFileError;

use crate::workload::{Arg, HostProgram};
use buffer::{Buffer, BufferHome};
use format::{RawFile, Text};
use plan::{CheckedArgument, HostPlan, PlannedLaunch};
use room::Room;
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::reach::FileReach;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_hw::file::real_path;
use selvedge_ptx::ptx::{ArgError, Kernel, Module, PtxError, RefusedKernel};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;
use view::TextureView;

/// Max size of a PTX file. Larger files are rejected unread.
const MAX_PTX_BYTES: u64 = 64 << 20;
/// Max size of a launch file. Larger files are rejected.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// A launch file, read and checked, with its PTX.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// Path of the launch file, as given.
    pub name: String,
    /// Path and text of each PTX file.
    pub ptx: Vec<(String, String)>,
    parts: Arc<LaunchFileParts>,
}

/// Data of a launch file that a run needs.
#[derive(Debug)]
struct LaunchFileParts {
    text: Text,
    inputs: Vec<PathBuf>,
    buffers: Vec<Buffer>,
    textures: Vec<TextureView>,
    plan: HostPlan,
}

impl LaunchFile {
    /// Reads the launch file, its PTX, and the files that its buffers name, within `limits`.
    ///
    /// # Errors
    /// [`LaunchFileError`] for an unreadable file or an invalid value.
    pub fn load(path: &Path, limits: &Limits) -> Result<Self, LaunchFileError> {
        let name = path.display().to_string();
        let text = read_text(path, MAX_FILE_BYTES, "a launch file is UTF-8")?;
        let text = Text { name: name.clone(), folder: path.parent().unwrap_or(Path::new("")).into(), text };
        let raw = text.parse()?;
        check_reach(&text, &raw, limits.reach)?;
        let inputs = raw.reads().map(|read| text.path(read.get_ref()));
        let inputs = std::iter::once(path.to_path_buf()).chain(inputs).collect();
        let mut room = Room::new(limits.memory);
        let mut buffers = Vec::new();
        for (item, symbol) in
            raw.symbol.iter().map(|s| (s, true)).chain(raw.buffer.iter().map(|b| (b, false)))
        {
            let buffer = Buffer::check(&text, item, symbol, &mut room, &buffers)?;
            if buffers.iter().any(|other: &Buffer| other.name == buffer.name) {
                return Err(text.bad(buffer.at, format!("there is another buffer `{}`", buffer.name)));
            }
            buffers.push(buffer);
        }
        let mut textures = Vec::new();
        for table in &raw.texture {
            let texture = TextureView::check(&text, table, &buffers)?;
            if textures.iter().any(|other: &TextureView| other.name == texture.name) {
                return Err(text.bad(texture.at, format!("there is another texture `{}`", texture.name)));
            }
            textures.push(texture);
        }
        for item in raw.symbol.iter().chain(&raw.buffer) {
            let Some(named) = &item.get_ref().addresses else { continue };
            let name = item.get_ref().name.as_ref().map(Spanned::get_ref);
            let Some(index) = buffers.iter().position(|buffer| Some(&buffer.name) == name) else { continue };
            let Some(bytes) = buffers[index].bytes() else {
                let message = "addresses are for a symbol with a `count`";
                return Err(text.bad(named.span().start, message));
            };
            buffers[index].patches = structure::patches(&text, item.get_ref(), bytes, &buffers)?;
        }
        let plan = plan::plan(&text, &raw, &mut buffers, &textures, &mut room)?;
        one_file_each(&text, &buffers)?;
        let mut ptx = Vec::new();
        for name in raw.ptx_files() {
            let path = text.path(name.get_ref());
            let read = read_text(&path, MAX_PTX_BYTES, "PTX is ASCII").map_err(|error| match error {
                LaunchFileError::Unreadable { .. } => text.bad(name.span().start, error.to_string()),
                other => other,
            })?;
            ptx.push((path.display().to_string(), read));
        }
        if ptx.is_empty() {
            return Err(text.bad(raw.ptx.span().start, "ptx = []: must be one PTX file or more"));
        }
        let parts = Arc::new(LaunchFileParts { text, inputs, buffers, textures, plan });
        Ok(LaunchFile { name, ptx, parts })
    }

    /// Reads the PTX files as one module.
    ///
    /// # Errors
    /// [`PtxError`] if a file is not PTX, or if two kernels have the same name.
    pub fn module(&self) -> Result<Module, PtxError> {
        Module::parse_all(&self.ptx)
    }

    /// Returns a hash of all input: the launch file, its PTX and the files that it names.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Hashed(DefaultHasher::new());
        // Writing to a hash cannot fail.
        let _ = write!(hash, "{self:?}");
        hash.0.finish()
    }

    /// Returns the paths of the files that were read: the launch file and all files that it names.
    pub fn inputs(&self) -> &[PathBuf] {
        &self.parts.inputs
    }

    /// Returns the paths of the files that a run writes.
    pub fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.parts.buffers.iter().filter_map(|buffer| buffer.save.as_ref().map(|save| &save.path))
    }

    /// Returns the host program. Checks the file against the configuration and `module`, which must be the file's
    /// PTX. Stores the file's constants in `module`.
    ///
    /// # Errors
    /// [`LaunchFileError`] if the file does not fit the PTX or the configuration.
    pub fn start(
        &self,
        module: &mut Module,
        config: &GpuConfig,
    ) -> Result<Box<dyn HostProgram>, LaunchFileError> {
        let LaunchFileParts { text, buffers, textures, plan, .. } = self.parts.as_ref();
        let mut bound: Vec<(BufferHome, u64)> = Vec::with_capacity(buffers.len());
        for buffer in buffers {
            bound.push(buffer.bind(text, module, &bound)?);
        }
        let references = textures
            .iter()
            .map(|texture| texture.bind(text, buffers, &bound, module))
            .collect::<Result<Vec<_>, _>>()?;
        for action in plan.actions() {
            action.fits(text, buffers, &bound)?;
        }
        let mut kernels = Vec::new();
        for step in plan.steps() {
            kernels.push(check_step(&self.parts, &bound, step, module, config)?);
        }
        for flag in plan.loops.iter().filter_map(|turns| turns.until.as_ref()) {
            let (place, count) = bound[flag.buffer];
            if place == BufferHome::Constant || flag.index >= count {
                let name = &buffers[flag.buffer].name;
                let message =
                    format!("{name}[{}] is no element that a kernel can write: it has {count}", flag.index);
                return Err(text.bad(flag.at, message));
            }
        }
        Ok(Box::new(host::LaunchFileRun::new(Arc::clone(&self.parts), bound, references, kernels)))
    }
}

/// A writer that hashes text.
struct Hashed(DefaultHasher);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// A generated launch file.
#[derive(Clone, Debug)]
pub struct Template {
    /// Text of the launch file.
    pub text: String,
    /// Kernels of the PTX that cannot be executed. The text names them only in a comment.
    pub refused: Vec<RefusedKernel>,
}

/// Returns a launch file for `kernel`, or for every kernel of the PTX file `ptx`. `named` is the path of the PTX file
/// for the text.
///
/// # Errors
/// [`LaunchFileError`] if `ptx` cannot be read or is not PTX, or if it lacks an executable kernel of that name.
pub fn template_of(ptx: &Path, named: &Path, kernel: Option<&str>) -> Result<Template, LaunchFileError> {
    let text = read_text(ptx, MAX_PTX_BYTES, "PTX is ASCII")?;
    let file = ptx.display().to_string();
    let module = Module::parse_all(&[(file.clone(), text)]).map_err(|error| LaunchFileError::Bad {
        file: error.file,
        line: error.line as usize,
        message: error.message,
    })?;
    let text = template::template(&file, &named.display().to_string(), &module, kernel)?;
    Ok(Template { text, refused: module.refused().to_vec() })
}

/// Returns an error for a file that `reach` does not permit.
fn check_reach(text: &Text, raw: &RawFile, reach: FileReach) -> Result<(), LaunchFileError> {
    let path = |written: &Spanned<String>| text.path(written.get_ref());
    for read in raw.reads() {
        let checked = reach.check_read(&text.folder, &path(&read));
        checked.map_err(|why| text.bad(read.span().start, why.to_string()))?;
    }
    for write in raw.saves() {
        let checked = reach.check_write(&text.folder, &path(write));
        checked.map_err(|why| text.bad(write.span().start, why.to_string()))?;
    }
    Ok(())
}

/// Returns an error if two buffers are saved to the same file.
fn one_file_each(text: &Text, buffers: &[Buffer]) -> Result<(), LaunchFileError> {
    let path = |buffer: &Buffer| {
        buffer.save.as_ref().map(|save| real_path(&save.path).unwrap_or_else(|_| save.path.clone()))
    };
    for (index, buffer) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.save.is_some()) {
        if let Some(other) = buffers[..index].iter().find(|other| path(other) == path(buffer)) {
            let message = format!("`{}` and `{}` are saved to the same file", other.name, buffer.name);
            return Err(text.bad(buffer.at, message));
        }
    }
    Ok(())
}

/// Checks a launch. Returns the PTX name of its kernel.
fn check_step(
    parts: &LaunchFileParts,
    bound: &[(BufferHome, u64)],
    step: &PlannedLaunch,
    module: &Module,
    config: &GpuConfig,
) -> Result<String, LaunchFileError> {
    let LaunchFileParts { text, buffers, textures, .. } = parts;
    let kernel = kernel_name::find(module, &step.kernel).map_err(|why| text.bad(step.at, why.to_string()))?;
    for (at, arg) in &step.args {
        let CheckedArgument::Address { buffer, offset } = arg else { continue };
        let ((place, count), buffer) = (bound[*buffer], &buffers[*buffer]);
        if place == BufferHome::Constant {
            let message = format!("symbol `{}` is constant: it has no address to pass", buffer.name);
            return Err(text.bad(*at, message));
        }
        if *offset >= count * buffer.element.bytes() as u64 {
            return Err(text.bad(*at, format!("offset: must be 0 to {}", count - 1)));
        }
    }
    // The run determines addresses and handles. For the check of types, zeros are sufficient.
    let zeros = vec![0; buffers.len().max(textures.len())];
    let turns = vec![0; step.loops.len()];
    let args: Vec<Arg> = step.args.iter().map(|(_, arg)| arg.arg(&turns, &zeros, &zeros)).collect();
    let params = kernel.pack(&args).map_err(|error| {
        let at = match &error {
            ArgError::Type { index, .. } => step.args[*index].0,
            _ => step.at,
        };
        text.bad(at, format!("{error}; its parameters are {}", describe_params(&kernel)))
    })?;
    let (name, dims) = (kernel.name.clone(), step.dims(text, &turns)?);
    LaunchedKernel::new(kernel, dims, params, 0, config)
        .map(|_| name)
        .map_err(|error| text.bad(step.at, error.to_string()))
}

/// Describes a kernel's parameters.
fn describe_params(kernel: &Kernel) -> String {
    let each = kernel.params.iter().map(|param| format!("{} ({})", param.name, template::describe(param)));
    let all = each.collect::<Vec<_>>().join(", ");
    if all.is_empty() { "none".into() } else { all }
}

/// Reads a text file of at most `most` bytes. `wanted` is part of the error for a file that is not text.
fn read_text(path: &Path, most: u64, wanted: &str) -> Result<String, LaunchFileError> {
    let bytes = values::read(path, most)?;
    String::from_utf8(bytes).map_err(|error| {
        let message = format!("not text: {wanted}");
        LaunchFileError::at(
            &path.display().to_string(),
            error.as_bytes(),
            error.utf8_error().valid_up_to(),
            message,
        )
    })
}
