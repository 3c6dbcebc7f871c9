//! `selvedge area`: area and timing of blocks, by outside tools.
use crate::area_depth::{PARAMETER, depths};
use crate::area_energy::{EnergySetup, EnergySubject};
use crate::area_report::{Report, csv, curves, page, table};
use crate::area_system::{Part, System};
use crate::arguments::AreaOptions;
use crate::error::Failure;
use crate::gen_command::{emit_options, params};
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan};
use crate::plot::sweep;
use crate::progress::Tally;
use selvedge_blocks::find;
use selvedge_gen::area::AreaError;
use selvedge_gen::area::asic::MemoryStyle;
use selvedge_gen::area::fpga::Family;
use selvedge_gen::area::liberty::{Liberty, OSU018};
use selvedge_gen::area::sram::Cacti;
use selvedge_gen::area::study::{AsicSetup, BlockReport, Subject, asic, fpga};
use selvedge_gen::area::technology::Technologies;
use selvedge_gen::area::tool::{Found, OPENSTA, YOSYS};
use selvedge_gen::{ResetStyle, emit};
use selvedge_hw::BlockEntry;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A block with its complete parameters, and the place of what it is studied for among the targets.
#[derive(Clone)]
struct Job {
    entry: &'static dyn BlockEntry,
    params: Value,
    target: usize,
}

impl Job {
    fn of(part: &Part) -> Self {
        Job { entry: part.entry, params: part.parameters.clone(), target: 0 }
    }
}

/// What the blocks are studied for.
enum Target {
    Asic(Box<AsicSetup>, Option<Box<EnergySetup>>),
    Fpga { yosys: Found, family: Family, placer: Option<Found> },
}

/// The outcome of each study, by its place; none when it was not reached.
type Outcomes = Vec<Option<Result<BlockReport, Failure>>>;

/// Studies the blocks and shows what came of it; after a signal or a failure, of those that were through.
pub fn run(options: &AreaOptions) -> Result<(), Failure> {
    let systems = System::all(options)?;
    let jobs = if systems.is_empty() { jobs(options)? } else { jobs_of(&systems) };
    let jobs: Vec<Job> = (0..target_names(options).count())
        .flat_map(|target| jobs.iter().map(move |job| Job { target, ..job.clone() }))
        .collect();
    let mut outputs = plan(options, &jobs).check()?;
    let targets = targets(options)?;
    check_recordings(&jobs, &targets)?;
    let stop = stop_flag()?;
    let threads = options
        .jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), |jobs| jobs as usize);
    let (mut failure, mut left) = (None, 0);
    let mut reports = Vec::new();
    for outcome in study_all(&jobs, &targets, threads, options.keep.as_deref(), &stop) {
        match outcome {
            Some(Ok(report)) => reports.push(report),
            Some(Err(error)) => failure = failure.or(Some(error)),
            None => left += 1,
        }
    }
    if left > 0 && failure.is_none() {
        failure = Some(Failure::interrupted(format!("interrupted: {left} studies are left")));
    }
    if stop.load(Ordering::Relaxed) && left > 0 {
        outputs.interrupted();
    }
    if !reports.is_empty() {
        show(options, &targets, reports, &systems, &mut outputs);
    }
    outputs.finish(failure)
}

/// Every part of the mechanisms, those that are the same once.
fn jobs_of(systems: &[System]) -> Vec<Job> {
    let mut parts: Vec<&Part> = Vec::new();
    for part in systems.iter().flat_map(System::parts) {
        if parts.iter().all(|known| !known.is_as(part)) {
            parts.push(part);
        }
    }
    parts.into_iter().map(Job::of).collect()
}

/// Every block under every value of the swept parameter.
fn jobs(options: &AreaOptions) -> Result<Vec<Job>, Failure> {
    let entries = if options.all {
        selvedge_blocks::all()
    } else {
        options.blocks.iter().map(|name| find(name).map_err(Failure::usage)).collect::<Result<_, _>>()?
    };
    let mut jobs = Vec::new();
    for entry in entries {
        for words in parameter_words(options, entry)? {
            jobs.push(Job { entry, params: params(entry, &words)?, target: 0 });
        }
    }
    Ok(jobs)
}

/// The `name=value` words of each turn: those of `--param`, and one of `--sweep` or of `--find-depth`.
fn parameter_words(options: &AreaOptions, entry: &dyn BlockEntry) -> Result<Vec<Vec<String>>, Failure> {
    let turn = |name: &str, value: &str| {
        let mut words = options.params.clone();
        words.push(format!("{name}={value}"));
        words
    };
    if options.find_depth {
        return Ok(depths(entry)?.iter().map(|depth| turn(PARAMETER, depth)).collect());
    }
    let Some(sweep) = &options.sweep else { return Ok(vec![options.params.clone()]) };
    let bad = || Failure::usage(format!("--sweep {sweep}: allowed is NAME=VALUE,VALUE..."));
    let (name, values) = sweep.split_once('=').ok_or_else(bad)?;
    if values.split(',').any(|value| value.trim().is_empty()) {
        return Err(bad());
    }
    Ok(values.split(',').map(|value| turn(name, value)).collect())
}

/// Returns the words of `--target`.
fn target_names(options: &AreaOptions) -> impl Iterator<Item = &str> {
    options.target.split(',').map(str::trim)
}

/// What `--target` names, the tools and the library found before any work is done.
fn targets(options: &AreaOptions) -> Result<Vec<Target>, Failure> {
    let names: Vec<&str> = target_names(options).collect();
    if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        return Err(Failure::usage(format!("--target {}: {} is there twice", options.target, names[twice])));
    }
    if names.len() > 1 {
        let of_one = [
            ("--csv", options.csv.is_some()),
            ("--plot", options.plot.is_some()),
            ("--find-depth", options.find_depth),
            ("--mechanism", !options.mechanisms.is_empty()),
        ];
        refuse(&of_one, "allowed with one target")?;
    }
    if !names.contains(&"asic") {
        check_fpga_options(options)?;
    }
    if options.place && names == ["asic"] {
        return Err(Failure::usage("--place: allowed with --target ecp5 or ice40"));
    }
    names
        .iter()
        .map(|name| if *name == "asic" { asic_target(options) } else { fpga_target(options, name) })
        .collect()
}

/// Refuses the first of the options that was given.
fn refuse(options: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::usage(format!("{option}: {why}"))),
        None => Ok(()),
    }
}

fn asic_target(options: &AreaOptions) -> Result<Target, Failure> {
    let technologies = Technologies::load(options.technologies.as_deref()).map_err(Failure::usage)?;
    let scale_to = options.scale_to.as_deref().map(|node| technologies.of_node(node).cloned()).transpose();
    let target_ps = options.clock.as_deref().map(period_ps).transpose()?;
    let path = options.liberty.clone().unwrap_or_else(|| PathBuf::from(OSU018));
    let library = Liberty::load(&path).map_err(Failure::usage)?;
    let technology = technologies.of_library(&library.name).cloned();
    let setup = AsicSetup {
        sram: cacti(options, technology.as_ref().map(|known| known.node_nm))?,
        yosys: YOSYS.find().map_err(Failure::usage)?,
        sta: OPENSTA.find().map_err(Failure::usage)?,
        technology,
        library,
        scale_to: scale_to.map_err(Failure::usage)?,
        target_ps,
        memories: if options.memories_in_flip_flops { MemoryStyle::FlipFlops } else { MemoryStyle::Listed },
    };
    let energy = options.energy.then(|| EnergySetup::find(&setup, options)).transpose()?;
    Ok(Target::Asic(Box::new(setup), energy.map(Box::new)))
}

/// Who prices memories, if somebody is asked to; `library_nm` is the node of the library.
fn cacti(options: &AreaOptions, library_nm: Option<u32>) -> Result<Option<Cacti>, Failure> {
    match options.sram.as_deref() {
        None => return Ok(None),
        Some("cacti") => {}
        Some(other) => return Err(Failure::usage(format!("--sram {other}: allowed is cacti"))),
    }
    let node_nm = match &options.sram_node {
        Some(text) => {
            let number = text.trim_end_matches("nm").trim().parse::<u32>().ok();
            number.filter(|nm| (1..=1000).contains(nm)).ok_or_else(|| {
                Failure::usage(format!("--sram-node {text}: allowed is a node such as 45nm"))
            })?
        }
        None => library_nm.ok_or_else(|| {
            Failure::usage("--sram cacti: the library's node is not known; name one by --sram-node")
        })?,
    };
    Cacti::find(options.cacti.as_deref(), node_nm).map(Some).map_err(Failure::usage)
}

/// Refuses what only standard cells have.
fn check_fpga_options(options: &AreaOptions) -> Result<(), Failure> {
    let asic_only = [
        ("--liberty", options.liberty.is_some()),
        ("--technologies", options.technologies.is_some()),
        ("--scale-to", options.scale_to.is_some()),
        ("--clock", options.clock.is_some()),
        ("--plot", options.plot.is_some()),
        ("--energy", options.energy),
        ("--find-depth", options.find_depth),
        ("--memories-in-flip-flops", options.memories_in_flip_flops),
        ("--sram", options.sram.is_some()),
        ("--mechanism", !options.mechanisms.is_empty()),
    ];
    refuse(&asic_only, "allowed with --target asic")
}

fn fpga_target(options: &AreaOptions, name: &str) -> Result<Target, Failure> {
    let family: Family = name.parse().map_err(Failure::usage)?;
    let placer = match (options.place, family.placer()) {
        (false, _) => None,
        (true, Some(tool)) => Some(tool.find().map_err(Failure::usage)?),
        (true, None) => {
            return Err(Failure::usage(format!(
                "--place with --target {}: allowed with ecp5 and ice40",
                family.name()
            )));
        }
    };
    Ok(Target::Fpga { yosys: YOSYS.find().map_err(Failure::usage)?, family, placer })
}

/// A unit, and the picoseconds of a number in it.
type ClockUnit = (&'static str, fn(f64) -> f64);

/// Picoseconds of a clock such as 700MHz, 1.4GHz or 2ns.
fn period_ps(text: &str) -> Result<u32, Failure> {
    let units: [ClockUnit; 3] = [("GHz", |f| 1e3 / f), ("MHz", |f| 1e6 / f), ("ns", |ns| ns * 1e3)];
    let period = units.iter().find_map(|(unit, period)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        Some(period(number)).filter(|ps| (1.0..1e9).contains(ps))
    });
    let bad = || {
        Failure::usage(format!("--clock {text}: allowed is a clock or period such as 700MHz, 1.4GHz, 2ns"))
    };
    period.map(|ps| ps.round() as u32).ok_or_else(bad)
}

/// Reads what energies are to come from before blocks are mapped, which takes long.
fn check_recordings(jobs: &[Job], targets: &[Target]) -> Result<(), Failure> {
    for job in jobs {
        if let Target::Asic(_, Some(energy)) = &targets[job.target] {
            energy.check(job.entry, &job.params).map_err(Failure::usage)?;
        }
    }
    Ok(())
}

/// The files that it reads and writes, and the folders that `--keep` fills.
fn plan(options: &AreaOptions, jobs: &[Job]) -> Plan {
    let mut plan = Plan::default();
    plan.read_config(&options.config);
    for path in [&options.liberty, &options.technologies, &options.vcd, &options.cacti].into_iter().flatten()
    {
        plan.read(path);
    }
    for (option, path) in
        [("--csv", &options.csv), ("--markdown", &options.markdown), ("--plot", &options.plot)]
    {
        path.iter().for_each(|path| plan.write(option, path));
    }
    options.json.iter().for_each(|target| plan.write_or_print("--json", target));
    if let Some(keep) = &options.keep {
        (0..jobs.len()).for_each(|at| plan.write_folder("--keep", &keep.join(folder_name(jobs, at))));
    }
    plan
}

/// Studies `jobs` on so many threads; which thread does what changes nothing. The first failure that would be every
/// block's ends it, as does Ctrl-C.
fn study_all(
    jobs: &[Job],
    targets: &[Target],
    threads: usize,
    keep: Option<&Path>,
    stop: &AtomicBool,
) -> Outcomes {
    let next = AtomicUsize::new(0);
    let outcomes: Mutex<Outcomes> = Mutex::new(jobs.iter().map(|_| None).collect());
    let tally = Tally::start(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= jobs.len() || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let keep = keep.map(|folder| folder.join(folder_name(jobs, at)));
                    let outcome = study(&jobs[at], &targets[jobs[at].target], keep.as_deref(), stop);
                    tally.one_done();
                    outcomes.lock().expect("no thread has panicked")[at] = Some(outcome);
                }
            });
        }
    });
    drop(tally);
    outcomes.into_inner().expect("no thread has panicked")
}

/// The block's name, with a number where it is studied more than once.
fn folder_name(jobs: &[Job], at: usize) -> String {
    let name = jobs[at].entry.name();
    let same = |jobs: &[Job]| jobs.iter().filter(|job| job.entry.name() == name).count();
    if same(jobs) == 1 { name.into() } else { format!("{name}_{}", same(&jobs[..at]) + 1) }
}

fn study(job: &Job, target: &Target, keep: Option<&Path>, stop: &AtomicBool) -> Result<BlockReport, Failure> {
    let temporary;
    let folder = match keep {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|e| Failure::usage(format!("cannot write {}: {e}", folder.display())))?;
            folder
        }
        None => {
            temporary = tempfile::tempdir()
                .map_err(|e| Failure::usage(format!("cannot make a temporary folder: {e}")))?;
            temporary.path()
        }
    };
    let options = emit_options(job.entry, &job.params, ResetStyle::AsyncLow);
    let facts = job.entry.facts(&job.params).map_err(Failure::usage)?;
    let block = job.entry.elaborate(&job.params).map_err(Failure::usage)?;
    let design = emit(block.as_ref(), job.entry.name(), &options).map_err(Failure::usage)?;
    let subject = Subject {
        design: &design,
        options: &options,
        parameters: &job.params,
        latency: facts.latency,
        storage_bits: facts.storage_bits(),
    };
    let done = match target {
        Target::Asic(setup, energy) => asic(&subject, setup, folder, stop).and_then(|mut report| {
            if let Some(energy) = energy {
                let has_reset =
                    design.top().ports.iter().any(|port| Some(port.name.as_str()) == options.reset.port());
                let subject =
                    EnergySubject { entry: job.entry, params: &job.params, options: &options, has_reset };
                energy.study(&subject, setup, &mut report, folder, stop)?;
            }
            Ok(report)
        }),
        Target::Fpga { yosys, family, placer } => {
            fpga(&subject, yosys, *family, placer.as_ref(), folder, stop)
        }
    };
    done.map_err(|error| match error {
        AreaError::Interrupted => Failure::interrupted(format!("{}: interrupted", job.entry.name())),
        error => Failure::usage(error),
    })
}

fn show(
    options: &AreaOptions,
    targets: &[Target],
    blocks: Vec<BlockReport>,
    systems: &[System],
    outputs: &mut Outputs,
) {
    let mut report = Report::new(blocks);
    for target in targets {
        report = match target {
            Target::Asic(setup, energy) => {
                report.with_cells(setup, energy.as_deref().map(EnergySetup::simulator))
            }
            Target::Fpga { yosys, placer, .. } => report.with_tools([yosys].into_iter().chain(placer)),
        };
    }
    report = report.with_systems(systems);
    if let (Some(Target::Asic(setup, _)), true) = (targets.first(), options.find_depth) {
        report = report.with_depths(setup.target_ps.unwrap_or(u32::MAX));
    }
    if let Some(path) = &options.csv {
        outputs.write(path, csv(&report));
    }
    if let (Some(path), Some(text)) = (&options.plot, &options.sweep) {
        let name = text.split('=').next().unwrap_or_default().trim().replace('-', "_");
        let (areas, delays) = curves(&report, &name);
        if let Some(chart) = outputs.note(sweep(&name, &areas, &delays)) {
            outputs.write(path, chart);
        }
    }
    if let Some(path) = &options.markdown {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let text = page(&report, &format!("selvedge {}", words.join(" ")), !options.mechanisms.is_empty());
        outputs.write(path, text);
    }
    if let Some(target) = &options.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    outputs.show(&table(&report));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_as_periods() {
        for (text, ps) in [("700MHz", 1429), ("1.4GHz", 714), ("2ns", 2000)] {
            assert_eq!(period_ps(text).expect("valid"), ps);
        }
        for text in ["0MHz", "-1ns", "fast", "100", "1e-9ns", "nanns"] {
            assert!(period_ps(text).is_err(), "{text}");
        }
    }
}
