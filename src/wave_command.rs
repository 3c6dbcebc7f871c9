//! `selvedge wave`: writes a block's stimulus as a waveform, with files for viewers and a self-checking testbench.
use crate::arguments::WaveOptions;
use crate::error::Failure;
use crate::gen_command::{module_name, params};
use crate::output::write_files;
use crate::verilog_option::compiler;
use selvedge_blocks::find;
use selvedge_gen::ResetStyle;
use selvedge_hw::Clock;
use selvedge_testbenches::{testbench, wave};

/// Runs the stimulus and writes the files.
pub fn run(options: &WaveOptions) -> Result<(), Failure> {
    let entry = find(&options.block).map_err(Failure::usage)?;
    let params = params(entry, &options.params)?;
    if options.cycles == 0 {
        return Err(Failure::usage("--cycles 0: must be 1 or more"));
    }
    let path = &options.output;
    wave::WaveFormat::of(path).map_err(Failure::usage)?;
    let recording = wave::RecordingOptions {
        cycles: options.cycles,
        seed: options.seed,
        clock: Clock { domain: "", mhz: options.mhz },
        inside: options.inside,
    };
    let waveform = match &options.verilog {
        None => wave::run(entry, &params, recording).map_err(Failure::usage)?,
        Some(own) if own.block != entry.name() => {
            return Err(Failure::usage(format!("--verilog {}: must be {}=FILE", own.text, entry.name())));
        }
        Some(own) => {
            let compiler = compiler("--verilog", std::slice::from_ref(own))?;
            let mut circuit = compiler.clocked(entry, &params).map_err(Failure::usage)?;
            let waveform = wave::run_on(&mut circuit, entry, &params, recording).map_err(Failure::usage)?;
            if let Some(why) = circuit.ended() {
                return Err(Failure::usage(format!("--verilog {}: {why}", own.text)));
            }
            waveform
        }
    };
    // The testbench instantiates the module that `gen` writes for these parameters.
    let name = module_name(entry, &params);
    let bench =
        testbench::write_named(&name, entry, &params, options.cycles, options.seed, ResetStyle::default())
            .map_err(Failure::usage)?;
    let mut files = vec![(path.clone(), waveform.bytes(path).map_err(Failure::usage)?)];
    files.extend(waveform.beside(path).map_err(Failure::usage)?);
    let (verilog, vectors) = (bench.verilog_file(), bench.vectors_file());
    files.push((path.with_file_name(verilog), bench.verilog.into_bytes()));
    files.push((path.with_file_name(vectors), bench.vectors.into_bytes()));
    write_files(&files)
}
