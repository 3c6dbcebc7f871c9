//! `selvedge gen`: writes the Verilog of blocks, and the files that external flows need.
use crate::arguments::GenOptions;
use crate::error::Failure;
use crate::output::{print_table, say, write_files};
use selvedge_area::Table;
use selvedge_blocks::find;
use selvedge_gen::files::all_files;
use selvedge_gen::{Cells, EmitError, EmitOptions, Family, Language, Problem, emit};
use selvedge_gen::{MemoryForm, MemoryInstance, interface_files, macro_name, memories, with_macros};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::vector_file::{self, VectorExtent, VectorFile};
use selvedge_testbenches::{cocotb, properties};
use serde_json::Value;
use std::collections::BTreeSet;
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
    let mut macros = None;
    if let Some(form) = options.memories {
        let lists = jobs.iter().map(|(entry, params)| list(*entry, params, options));
        let lists = lists.collect::<Result<Vec<_>, _>>()?;
        files.extend(lists.iter().flat_map(|list| list.files(form, options)));
        if form == MemoryForm::List {
            print_table(&table(&lists, &options.prefix))?;
            return write_files(&files);
        }
        lists.iter().for_each(MemoryList::warn_of_registers);
        macros = Some((form, lists.iter().flat_map(MemoryList::shapes).collect()));
    }
    for (entry, params) in jobs {
        let of_block = files_of(entry, &params, options, macros.as_ref())?;
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

/// The memories of one block.
struct MemoryList {
    /// Name of the block's module.
    module: String,
    memories: Vec<MemoryInstance>,
}

/// Returns the memories of a block.
fn list(entry: &dyn BlockEntry, params: &Value, options: &GenOptions) -> Result<MemoryList, Failure> {
    let block = entry.elaborate(params).map_err(Failure::usage)?;
    let module = format!("{}{}", options.prefix, module_name(entry, params));
    Ok(MemoryList { module, memories: memories(block.as_ref()) })
}

impl MemoryList {
    /// Returns the sizes of memories that macros replace.
    fn shapes(&self) -> BTreeSet<(usize, usize)> {
        self.memories.iter().filter_map(MemoryInstance::shape).collect()
    }

    /// Returns the cells of a row for each memory.
    fn rows(&self, prefix: &str) -> impl Iterator<Item = [String; 8]> {
        self.memories.iter().map(move |memory| {
            [
                memory.instance.clone(),
                memory.words.to_string(),
                memory.width.to_string(),
                memory.bits().to_string(),
                memory.read_ports.to_string(),
                "1".into(),
                if memory.clocked { "clock edge" } else { "same cycle" }.into(),
                memory.shape().map_or_else(|| "registers".into(), |shape| macro_name(prefix, shape)),
            ]
        })
    }

    /// Returns the files of the list.
    fn files(&self, form: MemoryForm, options: &GenOptions) -> Vec<(PathBuf, String)> {
        let head = MEMORY_COLUMNS.map(|column| column.replace(' ', "_")).join(",");
        let rows = self.rows(&options.prefix).map(|row| row.join(",") + "\n");
        let csv: String = [head + "\n"].into_iter().chain(rows).collect();
        let conf: String = self.shapes().into_iter().map(|shape| conf(&options.prefix, shape)).collect();
        let mut files = vec![(options.output.join(format!("{}_memories.csv", self.module)), csv)];
        // A wrapper is not for a compiler: the macro inside it has other ports.
        if form != MemoryForm::Wrapper && !conf.is_empty() {
            files.push((options.output.join(format!("{}.mems.conf", self.module)), conf));
        }
        files
    }

    /// Warns of memories that no macro replaces.
    fn warn_of_registers(&self) {
        let registers = self.memories.iter().filter(|memory| memory.shape().is_none()).count();
        if registers > 0 {
            let (module, all) = (&self.module, self.memories.len());
            say(format!(
                "selvedge: warning: {module}: {registers} of {all} memories read in the same cycle and stay registers\n"
            ));
        }
    }
}

/// Columns of the list of memories.
const MEMORY_COLUMNS: [&str; 8] =
    ["instance", "words", "width", "bits", "read ports", "write ports", "read", "module"];

/// Returns the table of all memories.
fn table(lists: &[MemoryList], prefix: &str) -> Table {
    let head: Vec<&str> = ["block"].into_iter().chain(MEMORY_COLUMNS).collect();
    let mut table = Table::new(&head);
    for list in lists {
        list.rows(prefix).for_each(|row| table.row([list.module.clone()].into_iter().chain(row).collect()));
    }
    table
}

/// Returns the line of a shape in the format of Chisel's memory configuration.
fn conf(prefix: &str, (words, width): (usize, usize)) -> String {
    format!("name {} depth {words} width {width} ports write,read\n", macro_name(prefix, (words, width)))
}

/// Returns all files of one block. `macros` is the form and the sizes of all macros.
fn files_of(
    entry: &dyn BlockEntry,
    params: &Value,
    options: &GenOptions,
    macros: Option<&(MemoryForm, BTreeSet<(usize, usize)>)>,
) -> Result<Vec<(PathBuf, String)>, Failure> {
    let cells = if options.self_contained { Cells::Own } else { Cells::Shared };
    let language = if options.sv { Language::SystemVerilog } else { Language::Verilog };
    let prefix = options.prefix.clone();
    let emit_options = EmitOptions {
        cells,
        language,
        clock_gating: options.clock_gating,
        prefix,
        ..EmitOptions::of(entry, params, options.reset)
    };
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
    if let Some((form, shapes)) = macros {
        design = with_macros(design, shapes, *form, &emit_options);
    }
    let design = if options.single_file { design.in_one_file() } else { design };
    let mut files = all_files(&design, &emit_options, VERSION, PERIOD_NS);
    let top = &design.top().name;
    if options.interfaces {
        match interface_files(&design, &ports, &emit_options) {
            Some(own) => files.extend(own),
            None if options.all => {}
            None => {
                let problem = format!("--interfaces: {}: must be a block with a ready port", entry.name());
                return Err(Failure::usage(problem));
            }
        }
    }
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
