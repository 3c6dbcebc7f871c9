//! `selvedge wave`: a block's stimulus as waveform, GTKWave save file and self-checking testbench.
use crate::cli::WaveOptions;
use crate::error::Failure;
use crate::gen_command::params;
use crate::interrupt::hold_off;
use crate::output::{write_or_print, write_whole};
use selvedge_gen::ResetStyle;
use selvedge_hw::find;
use selvedge_testbenches::{testbench, wave};

/// Runs the stimulus and writes the files.
pub fn run(options: &WaveOptions) -> Result<(), Failure> {
    let entry = find(&options.block).map_err(Failure::usage)?;
    let params = params(entry, &options.params)?;
    if options.cycles == 0 {
        return Err(Failure::usage("--cycles 0: allowed are 1 or more"));
    }
    let vcd = &options.output;
    let name = vcd
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .ok_or_else(|| Failure::usage(format!("cannot write {}: it is no file name", vcd.display())))?;
    let waveform = wave::run(entry, &params, options.cycles, options.seed).map_err(Failure::usage)?;
    let bench = testbench::write(entry, &params, options.cycles, options.seed, ResetStyle::AsyncLow)
        .map_err(Failure::usage)?;
    let beside = |file: &str| vcd.with_file_name(file);
    let gtkw = vcd.with_extension("gtkw");
    let all = hold_off();
    write_whole(vcd, &waveform.vcd)?;
    write_whole(&gtkw, waveform.gtkw(&name).as_bytes())?;
    let (verilog, vectors) = (beside(&bench.verilog_file()), beside(&bench.vectors_file()));
    write_whole(&verilog, bench.verilog.as_bytes())?;
    write_whole(&vectors, bench.vectors.as_bytes())?;
    drop(all);
    let names: String = [vcd, &gtkw, &verilog, &vectors].map(|p| format!("{}\n", p.display())).concat();
    write_or_print("-", &names)
}
