//! `selvedge cuda`: runs an unmodified CUDA program and simulates its kernels.
use crate::arguments::{AUTO_CONFIG, CudaOptions, RunOptions};
use crate::error::{Failure, one_line};
use crate::functional_command;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, say};
use crate::progress::Progress;
use crate::run_command::{
    classify, is_interrupted, machine, mismatch, plan, show, show_printed, simulate, spec, write_divergence,
    write_timeline, write_traces,
};
use selvedge_sim::best;
use selvedge_sim::config::{BUILT_IN, GpuConfig, oldest_for};
use selvedge_sim::functional::{FunctionalSpec, run as execute};
use selvedge_sim::report::Outcome;
use selvedge_sim::run::{RunError, RunSpec, Source, run as run_whole};
use selvedge_sim::sm::SimFault;
use selvedge_sim::source::fatbin;
use selvedge_sim::source::{RECORDED, SessionSettings, StartedProgram};
use selvedge_sim::workload::Size;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the program and shows one report of all its launches.
pub fn run(options: &CudaOptions) -> Result<(), Failure> {
    let mut as_run = options.of_run();
    let mut choice = None;
    if as_run.gpu.config == AUTO_CONFIG {
        let (name, reason) = configuration_for(&find(&options.program[0])?);
        as_run.gpu.config = name.to_owned();
        choice = reason.map(|reason| format!("selvedge: --config {name}: {reason}\n"));
    }
    let as_run = as_run;
    let (config, sources) = machine(&as_run)?;
    let mechanism = options.gpu.mechanism.as_deref().unwrap_or("base");
    check(options, &config, mechanism)?;
    let mut files = plan(&as_run, std::iter::empty())?;
    files.read(&find(&options.program[0])?);
    options.record.iter().for_each(|file| files.write("--record", file));
    let mut outputs = files.check()?;
    let stop = stop_flag()?;
    choice.into_iter().for_each(say);
    let live = start_of(options, &stop)?;
    let workload = Source::Live(Arc::clone(&live));
    let failure = if options.functional {
        run_untimed(&as_run, workload, &config, &stop, &mut outputs)?
    } else {
        let compiler = as_run.gpu.verilog.compiler(as_run.gpu.engine())?;
        let spec = spec(&as_run, &config, &workload, mechanism, Size::Tiny, compiler.as_ref())?;
        as_run.gpu.verilog.check_blocks(std::iter::once(&spec.mechanism), &config, 1)?;
        let title = format!("{} {}", live.name(), spec.mechanism.text);
        let progress = Progress::without_bar(title, &stop, options.gpu.bounds.timeout);
        let mut outcome = simulate(&as_run, &spec, progress.control()).map_err(|error| classify(&error))?;
        show_printed(&outcome.printed);
        if is_interrupted(outcome.fault.as_ref()) {
            outputs.interrupted();
        }
        write_timeline(&as_run, outcome.timeline.as_ref(), &outcome.traces, &config, &mut outputs);
        write_traces(&as_run, std::mem::take(&mut outcome.traces), &mut outputs);
        if let Some(RunError::Fault(SimFault::Mechanism(fault))) = &outcome.fault {
            write_divergence(fault.as_ref(), &mut outputs);
        }
        let failure = outcome.fault.as_ref().map(classify).or_else(|| mismatch(&outcome.report));
        // After a fault, the fault is the only reliable result.
        if outcome.fault.as_ref().is_none_or(RunError::is_stop) {
            show(&as_run, &[outcome.report], &sources, &mut outputs);
        }
        failure
    };
    let failure = write_record(options, &live, failure, &mut outputs);
    outputs.finish(failure)
}

/// Runs a program and its arguments on the configuration, and shows no report.
pub fn run_silently(config: &str, program: &[OsString]) -> Result<(), Failure> {
    let path = find(&program[0])?;
    let config = if config == AUTO_CONFIG { configuration_for(&path).0 } else { config };
    let config = Arc::new(GpuConfig::load(config).map_err(Failure::usage)?);
    let stop = stop_flag()?;
    let settings = SessionSettings {
        record: false,
        verify: false,
        quiet: true,
        stop: Arc::clone(&stop),
        timeout: None,
        say: Arc::new(tell),
    };
    let live = start(&path, &program[1..], settings)?;
    let base = "base".parse().map_err(Failure::usage)?;
    let spec = RunSpec::new(Source::Live(Arc::clone(&live)), config, base);
    let progress = Progress::without_bar(live.name().to_owned(), &stop, None);
    let outcome = run_whole(&spec, progress.control()).map_err(|error| classify(&error))?;
    show_printed(&outcome.printed);
    let failure = outcome.fault.as_ref().map(classify).or_else(|| mismatch(&outcome.report));
    let calls = live.take_ended().unwrap_or_default().calls;
    without_calls(&live, calls, failure).map_or(Ok(()), Err)
}

/// Runs the program's kernels without timing.
fn run_untimed(
    options: &RunOptions,
    workload: Source,
    config: &GpuConfig,
    stop: &Arc<AtomicBool>,
    outputs: &mut Outputs,
) -> Result<Option<Failure>, Failure> {
    let title = format!("{} functional", workload.name());
    let max_memory = options.limits().memory;
    let check = options.gpu.check;
    let spec =
        FunctionalSpec { workload, size: Size::Tiny, input: None, config: config.clone(), max_memory, check };
    let progress = Progress::without_bar(title, stop, options.gpu.bounds.timeout);
    let outcome = execute(&spec, &progress.control()).map_err(|error| classify(&error))?;
    show_printed(&outcome.printed);
    if outcome.report.result == Outcome::Interrupted {
        outputs.interrupted();
    }
    let failure = functional_command::ended(&outcome.report, outcome.fault.as_ref());
    functional_command::show(options, &[outcome.report], outputs);
    Ok(failure)
}

/// Checks the options before the program starts.
fn check(options: &CudaOptions, config: &GpuConfig, mechanism: &str) -> Result<(), Failure> {
    if let Some(file) = &options.record
        && !file.as_os_str().to_string_lossy().ends_with(RECORDED)
    {
        return Err(Failure::usage(format!(
            "--record {}: must be a name that ends in {RECORDED}",
            file.display()
        )));
    }
    if options.functional {
        return Ok(());
    }
    let spec = crate::latency_from::mechanism(mechanism, options.gpu.latency_from.as_deref())?;
    if best::searches(&spec, config) {
        return Err(Failure::usage(format!(
            "--mechanism {mechanism}: it runs its workload several times: must be given to `selvedge run FILE{RECORDED}`, where \
             `selvedge cuda --record FILE{RECORDED}` has recorded the program"
        )));
    }
    Ok(())
}

/// Returns the name of the oldest built-in GPU that executes the program's PTX, and the reason of the choice. A program without
/// PTX, such as a script, runs on the default GPU.
fn configuration_for(program: &Path) -> (&'static str, Option<String>) {
    let architecture = std::fs::read(program).ok().and_then(|bytes| fatbin::architecture(&bytes));
    let Some(target) = architecture else { return (BUILT_IN[0].name, None) };
    let chosen = oldest_for(target);
    let reason = match chosen.capability >= Some(target) {
        true => format!("the oldest GPU for sm_{target}"),
        false => format!("the newest GPU; none has sm_{target}"),
    };
    (chosen.name, Some(reason))
}

/// Returns the path of the program. A name without folders is searched for in `PATH`.
fn find(name: &OsStr) -> Result<PathBuf, Failure> {
    let name = Path::new(name);
    let found = if name.components().count() > 1 {
        Some(name.to_path_buf())
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
    };
    let found = found.filter(|path| path.is_file());
    found.ok_or_else(|| Failure::usage(format!("{}: there is no such program", name.display())))
}

fn start_of(options: &CudaOptions, stop: &Arc<AtomicBool>) -> Result<Arc<StartedProgram>, Failure> {
    let printed =
        [&options.gpu.json, &options.gpu.stats, &options.gpu.launches, &options.gpu.csv, &options.gpu.series];
    let settings = SessionSettings {
        // With --error, the record repeats the program.
        record: options.record.is_some() || options.gpu.error.is_some(),
        verify: options.verify_functional,
        quiet: printed.into_iter().flatten().any(|target| target == "-"),
        stop: Arc::clone(stop),
        timeout: options.gpu.bounds.timeout,
        say: Arc::new(tell),
    };
    start(&find(&options.program[0])?, &options.program[1..], settings)
}

/// Prints a line about a failed call of the program.
fn tell(line: &str) {
    say(one_line(&format!("selvedge: {line}")) + "\n");
}

fn start(
    program: &Path,
    arguments: &[OsString],
    settings: SessionSettings,
) -> Result<Arc<StartedProgram>, Failure> {
    let live = StartedProgram::start(program, arguments, settings);
    live.map(Arc::new).map_err(|error| Failure::usage(format!("cannot start {}: {error}", program.display())))
}

/// Writes the record, if requested.
fn write_record(
    options: &CudaOptions,
    live: &StartedProgram,
    failure: Option<Failure>,
    outputs: &mut Outputs,
) -> Option<Failure> {
    let ended = live.take_ended().unwrap_or_default();
    if let (Some(file), Some(record)) = (&options.record, &ended.record) {
        let bytes = record
            .to_bytes()
            .map_err(|error| Failure::usage(format!("the record cannot be packed: {error}")));
        if let Some(bytes) = outputs.note(bytes) {
            outputs.write(file, bytes);
        }
    }
    without_calls(live, ended.calls, failure)
}

/// Returns the failure of a run, or that of a program that made no call.
fn without_calls(live: &StartedProgram, calls: u64, failure: Option<Failure>) -> Option<Failure> {
    // A program whose own runtime library finds no device may end with an error.
    if calls > 0 || failure.as_ref().is_some_and(|failure| !failure.is_mismatch()) {
        return failure;
    }
    Some(Failure::usage(format!(
        "{}: it has made no call of the CUDA runtime library: must be linked with the shared one (nvcc -cudart shared, clang++ -lcudart)",
        live.name()
    )))
}
