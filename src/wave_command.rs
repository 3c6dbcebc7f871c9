//! `selvedge wave`: a block's stimulus as waveform, GTKWave save file and self-checking testbench.
use crate::arguments::WaveOptions;
use crate::error::Failure;
use crate::gen_command::params;
use crate::output::write_files;
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
    let waveform = wave::run(entry, &params, options.cycles, options.seed).map_err(Failure::usage)?;
    let bench = testbench::write(entry, &params, options.cycles, options.seed, ResetStyle::default())
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
