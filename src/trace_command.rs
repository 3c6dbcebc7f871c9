//! `selvedge trace`: records the execution of a workload, and exports and prints the content of traces.
use crate::arguments::{RecordOptions, TraceAction, TraceOptions};
use crate::error::Failure;
use crate::interrupt::{end_on_signal, stop_flag};
use crate::output::{Plan, print, width};
use crate::progress::Progress;
use crate::run_command::{classify, mismatch, show_printed};
use crate::verilog_option::VerilogOptions;
use selvedge_area::Table;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::limits::Limits;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::printable::printable;
use selvedge_sim::run::{RunSpec, Source, record as simulate};
use selvedge_sim::trace::{LaunchSummary, TraceContents, TraceFile};
use std::path::Path;
use std::sync::Arc;

/// Executes the action of the options.
pub fn run(options: &TraceOptions) -> Result<(), Failure> {
    match &options.action {
        TraceAction::Record(options) => record(options),
        TraceAction::Export { file, output, limits } => {
            end_on_signal()?;
            export(file, output, &limits.limits())
        }
        TraceAction::Info { file, limits } => {
            end_on_signal()?;
            info(file, &limits.limits())
        }
    }
}

fn record(options: &RecordOptions) -> Result<(), Failure> {
    let output = &options.output;
    if output.extension().is_none_or(|end| end != "strace") {
        return Err(Failure::usage(format!("{}: must be a name that ends in .strace", output.display())));
    }
    let limits = options.limits.limits();
    let spec = RunSpec {
        workload: Source::find_within(&options.workload, &limits).map_err(Failure::usage)?,
        size: options.size,
        input: options.input.clone(),
        config: Arc::new(GpuConfig::load(&options.config).map_err(Failure::usage)?),
        mechanism: options.mechanism.parse().map_err(Failure::usage)?,
        engine: options.engine,
        probes: ProbeSpec {
            compiler: VerilogOptions::default().compiler(options.engine)?,
            ..ProbeSpec::default()
        },
        check_dram: false,
        sample_cycles: None,
        max_memory: limits.memory,
        bounds: options.bounds.bounds(),
        launches: None,
    };
    let mut plan = Plan::default();
    plan.read_config(&options.config);
    plan.read_source(&spec.workload, options.input.as_deref());
    plan.write("--output", output);
    let mut outputs = plan.check()?;
    let stop = stop_flag()?;
    let title = format!("{} {} {}", spec.workload.name(), spec.size, spec.mechanism.text);
    let progress = Progress::start(title, &stop, options.bounds.timeout);
    let recorded = simulate(&spec, progress.control());
    drop(progress);
    let (outcome, bytes) = recorded.map_err(|e| classify(&e))?;
    show_printed(&outcome.printed);
    if let Some(fault) = &outcome.fault {
        return Err(classify(fault));
    }
    // A run with wrong results leaves no trace.
    mismatch(&outcome.report).map_or(Ok(()), Err)?;
    let bytes = bytes.unwrap_or_default();
    outputs.write(output, &bytes);
    let (launches, totals) = (outcome.report.kernels.len(), &outcome.report.totals);
    outputs.show(&format!(
        "{}: {launches} launches, {} warp instructions, {} bytes\n",
        output.display(),
        totals.warp_instructions,
        bytes.len()
    ));
    outputs.finish(None)
}

fn export(path: &Path, folder: &Path, limits: &Limits) -> Result<(), Failure> {
    if path.extension().is_none_or(|end| end != "strace") {
        return Err(Failure::usage(format!("{}: must be a name that ends in .strace", path.display())));
    }
    let file = TraceFile::load(path, limits).map_err(Failure::usage)?;
    let names: Vec<String> = (1..=file.launches()).map(|number| format!("kernel-{number}.traceg")).collect();
    let list = folder.join("kernelslist.g");
    let mut plan = Plan::default();
    plan.read(path);
    names.iter().for_each(|name| plan.write("--output", &folder.join(name)));
    plan.write("--output", &list);
    let mut outputs = plan.check()?;
    let mut bytes = 0;
    for (index, name) in names.iter().enumerate() {
        let text = file.kernel_text(index).map_err(Failure::usage)?.unwrap_or_default();
        bytes += text.len();
        outputs.write(&folder.join(name), text);
    }
    // A reader finds the list only when all kernels are complete.
    outputs.write(&list, names.join("\n") + "\n");
    outputs.show(&format!("{}: {} launches, {bytes} bytes\n", list.display(), names.len()));
    outputs.finish(None)
}

fn info(path: &Path, limits: &Limits) -> Result<(), Failure> {
    let name = path.to_string_lossy();
    if !TraceFile::is_one(&name) {
        let allowed = "must be NAME.strace, NAME.traceg, NAME.traceg.xz, NAME.tracez or kernelslist.g";
        return Err(Failure::usage(format!("{name}: no name of a trace: {allowed}")));
    }
    let file = TraceFile::load(path, limits).map_err(Failure::usage)?;
    let launches = file.summaries().map_err(Failure::usage)?;
    let origin = match &file.trace {
        TraceContents::Recorded(trace) => {
            let of = &trace.recorded;
            format!(
                "{} {} on {} with {}: addresses and values",
                of.workload, of.size, of.config, of.mechanism
            )
        }
        TraceContents::Accel(_) => "Accel-Sim: addresses only".to_owned(),
    };
    print(&format!("{}\n\n{}", printable(&origin), table(&launches).render_within(width())))
}

fn table(launches: &[LaunchSummary]) -> Table {
    let mut table = Table::new(&[
        "launch",
        "kernel",
        "grid",
        "block",
        "warp instructions",
        "thread instructions",
        "loads",
        "stores",
        "atomics",
        "value bytes",
    ]);
    let sides = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    for (index, launch) in launches.iter().enumerate() {
        table.row(vec![
            (index + 1).to_string(),
            launch.name.clone(),
            sides(launch.grid),
            sides(launch.block),
            launch.warp_instructions.to_string(),
            launch.thread_instructions.to_string(),
            launch.loads.to_string(),
            launch.stores.to_string(),
            launch.atomics.to_string(),
            launch.value_bytes.to_string(),
        ]);
    }
    table
}
