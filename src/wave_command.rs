//! `selvedge wave`: a block's stimulus as waveform, GTKWave save file and self-checking testbench.
use crate::arguments::WaveOptions;
use crate::error::Failure;
use crate::gen_command::params;
use crate::output::write_files;
use crate::verilog_option::compiler;
use selvedge_blocks::find;
use selvedge_gen::ResetStyle;
use selvedge_testbenches::{testbench, wave};

/// Runs the stimulus and writes the files.
pub fn run(options: &WaveOptions) -> Result<(), Failure> {
    let entry = find(&options.block).map_err(Failure::usage)?;
    let params = params(entry, &options.params)?;
    if options.cycles == 0 {
        return Err(Failure::usage("--cycles 0: must be 1 or more"));
    }
    let vcd = &options.output;
    let name = vcd
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .ok_or_else(|| Failure::usage(format!("cannot write {}: it is no file name", vcd.display())))?;
    let mut circuit = match &options.verilog {
        None => entry.rtl(&params).map_err(Failure::usage)?,
        Some(own) if own.block != entry.name() => {
            return Err(Failure::usage(format!("--verilog {}: must be {}=FILE", own.text, entry.name())));
        }
        Some(own) => {
            let compiler = compiler("--verilog", std::slice::from_ref(own))?;
            compiler.clocked(entry, &params).map_err(Failure::usage)?
        }
    };
    let waveform = wave::run_on(&mut *circuit, entry, &params, options.cycles, options.seed);
    let waveform = waveform.map_err(Failure::usage)?;
    let bench = testbench::write(entry, &params, options.cycles, options.seed, ResetStyle::AsyncLow)
        .map_err(Failure::usage)?;
    let beside = |file: &str| vcd.with_file_name(file);
    let (verilog, vectors) = (beside(&bench.verilog_file()), beside(&bench.vectors_file()));
    let gtkw = waveform.gtkw(&name).into_bytes();
    write_files(&[
        (vcd.clone(), waveform.vcd),
        (vcd.with_extension("gtkw"), gtkw),
        (verilog, bench.verilog.into_bytes()),
        (vectors, bench.vectors.into_bytes()),
    ])
}
