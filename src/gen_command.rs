//! `selvedge gen`: writes the Verilog of blocks, and the files that external flows need.
use crate::arguments::GenOptions;
use crate::error::Failure;
use crate::output::{say, write_files};
use selvedge_blocks::find;
use selvedge_gen::files::all_files;
use selvedge_gen::{Cells, EmitError, EmitOptions, Family, Language, Problem, emit};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::vector_file::{self, VectorExtent, VectorFile};
use selvedge_testbenches::{cocotb, properties};
use serde_json::Value;
use std::path::PathBuf;

/// Version that the packages state.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Clock period in the constraint file, nanoseconds. The user replaces it.
const PERIOD_NS: f64 = 10.0;

/// Writes the blocks of the options.
pub fn run(options: &GenOptions) -> Result<(), Failure> {
    let entries = if options.all {
        selvedge_blocks::all()
    } else {
        options.blocks.iter().map(|name| find(name).map_err(Failure::usage)).collect::<Result<_, _>>()?
    };
    let jobs: Vec<_> = entries
        .into_iter()
        .map(|entry| Ok((entry, params(entry, &options.params)?)))
        .collect::<Result<_, Failure>>()?;
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for (entry, params) in jobs {
        let of_block = files_of(entry, &params, options)?;
        // A block that is named twice has the same files twice, and blocks share cells.
        files.extend(of_block.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
    }
    write_files(&files)
}

/// Returns the complete parameters of a block from `name=value` words.
pub fn params(entry: &dyn BlockEntry, words: &[String]) -> Result<Value, Failure> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=').ok_or_else(|| {
            let names: Vec<_> =
                entry.schema().iter().map(|spec| format!("{}={}", spec.name, spec.allowed)).collect();
            Failure::usage(format!("--param {word}: must be NAME=VALUE: {}", names.join("; ")))
        })?;
        Ok((name.trim().to_string(), value.trim().to_string()))
    };
    let pairs = words.iter().map(pair).collect::<Result<Vec<_>, Failure>>()?;
    entry.params(&pairs).map_err(Failure::usage)
}

/// Warns of corner cases that the vectors do not reach.
fn warn_of_unreached(file: &str, vectors: &VectorFile) {
    let unreached = vectors.unreached();
    if !unreached.is_empty() {
        let (operations, all) = (vectors.operations, vectors.corners.len());
        let names = unreached.join("; ");
        say(format!(
            "selvedge: warning: {file}: {operations} operations do not reach {} of {all} corner cases: {names}\n",
            unreached.len()
        ));
    }
}

/// Returns the name of the block's module. It includes parameters that differ from their defaults, so one design can
/// use the block in several sizes.
pub fn module_name(entry: &dyn BlockEntry, params: &Value) -> String {
    let defaults = entry.defaults();
    let other = entry.schema().iter().map(|spec| spec.name).filter(|name| params[name] != defaults[name]);
    other
        .fold(entry.name().to_string(), |name, parameter| format!("{name}_{parameter}_{}", params[parameter]))
}

/// Returns all files of one block.
fn files_of(
    entry: &dyn BlockEntry,
    params: &Value,
    options: &GenOptions,
) -> Result<Vec<(PathBuf, String)>, Failure> {
    let cells = if options.self_contained { Cells::Own } else { Cells::Shared };
    let language = if options.sv { Language::SystemVerilog } else { Language::Verilog };
    let prefix = options.prefix.clone();
    let emit_options =
        EmitOptions { cells, language, prefix, ..EmitOptions::of(entry, params, options.reset) };
    let ports = entry.ports(params).map_err(Failure::usage)?;
    let properties = if options.assertions { properties::of(entry.name(), params) } else { None };
    if options.assertions && properties.is_none() && !options.all {
        let blocks = properties::BLOCKS.join(", ");
        return Err(Failure::usage(format!("--assertions: {}: must be one of {blocks}", entry.name())));
    }
    let name = module_name(entry, params);
    // Properties hold for fixed parameters only.
    let design = if properties.is_some() {
        let block = entry.elaborate(params).map_err(Failure::usage)?;
        emit(block.as_ref(), &name, &emit_options)
    } else {
        let design = Family::of(entry, params).map_err(Failure::usage)?.emit(&name, &emit_options);
        match design {
            // Under these parameters, the other parameters change more than numbers. The module then has none.
            Err(EmitError { problem: Problem::NoFamily { .. }, .. }) if *params != entry.defaults() => {
                let block = entry.elaborate(params).map_err(Failure::usage)?;
                emit(block.as_ref(), &name, &emit_options)
            }
            design => design,
        }
    };
    let mut design = design.map_err(Failure::usage)?;
    if let Some(properties) = &properties {
        properties::attach(&mut design, properties, &ports, options.reset);
    }
    let design = if options.single_file { design.in_one_file() } else { design };
    let mut files = all_files(&design, &emit_options, VERSION, PERIOD_NS);
    let top = &design.top().name;
    if let Some(properties) = &properties {
        files.extend(properties::proof(&design, properties, &ports, options.reset));
    }
    if options.cocotb {
        files.extend(cocotb::files(top));
    }
    if options.cocotb || options.uvm_vectors {
        let GenOptions { operations, seed, reset, .. } = *options;
        let vectors = vector_file::write(entry, params, VectorExtent { operations, seed, reset });
        let (name, vectors) = (vector_file::file_name(top), vectors.map_err(Failure::usage)?);
        warn_of_unreached(&name, &vectors);
        files.push((name, vectors.text));
    }
    Ok(files.into_iter().map(|(name, text)| (options.output.join(name), text)).collect())
}
