//! `selvedge area`: area and timing of blocks, by outside tools.
use crate::area_pages::{PAGE, SYSTEMS_PAGE};
use crate::area_system::systems;
use crate::arguments::{AreaOptions, MemoryPrices, TargetName};
use crate::batch_watch::{BatchWatch, Task};
use crate::error::Failure;
use crate::gen_command::params;
use crate::interrupt::stop_flag;
use crate::output::{Outputs, Plan, width};
use crate::plot::sweep;
use crate::verilog_option::compiler;
use selvedge_area::AreaError;
use selvedge_area::asic::MemoryStyle;
use selvedge_area::batch::{AreaTarget, Job, OwnVerilog, StudyStep, folder_name, study_all};
use selvedge_area::depth::{PARAMETER, depths};
use selvedge_area::fpga::FpgaFamily;
use selvedge_area::liberty::{Liberty, OSU018};
use selvedge_area::operation::{EnergyOptions, EnergySetup, PaperOperation};
use selvedge_area::report::{AreaReport, csv, curves, page, table};
use selvedge_area::sram::Cacti;
use selvedge_area::study::{AsicSetup, BlockReport};
use selvedge_area::system::{self, System};
use selvedge_area::technology::Technologies;
use selvedge_area::tool::YOSYS;
use selvedge_blocks::find;
use selvedge_hw::BlockEntry;
use selvedge_testbenches::own::Own;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Page with the cell count of each block, from which the time of a study is estimated.
const AREAS: &str = include_str!("../docs/reference/area.md");
/// Seconds of a study per standard cell of the block, measured with `bgp`. The times of finished studies correct the
/// estimate.
const SECONDS_PER_CELL: f64 = 1.5e-3;
/// Seconds of a study in addition to those per cell.
const SECONDS: f64 = 0.5;
/// Cells assumed for a block that the page does not list.
const USUAL_CELLS: f64 = 10_000.0;

/// Energies of operations that papers state.
const PAPERS: [PaperOperation; 4] = [
    PaperOperation { block: "bdi_compressor", nj: 0.192, source: "LATTE-CC, section IV.C.1" },
    PaperOperation { block: "bdi_decompressor", nj: 0.056, source: "LATTE-CC, section IV.C.1" },
    PaperOperation { block: "sc_compressor", nj: 0.42, source: "LATTE-CC, section IV.C.2" },
    PaperOperation { block: "sc_decompressor", nj: 0.336, source: "LATTE-CC, section IV.C.2" },
];

/// Studies the blocks and shows the results. After a signal or a failure, shows the results of the finished studies.
pub fn run(options: &AreaOptions) -> Result<(), Failure> {
    let systems = systems(options)?;
    let jobs = if systems.is_empty() { jobs(options)? } else { system::jobs(&systems) };
    let jobs: Vec<Job<'_>> = (0..options.targets.len())
        .flat_map(|target| {
            jobs.iter().map(move |job| Job {
                target,
                reset: options.reset,
                clock_gating: options.clock_gating,
                ..job.clone()
            })
        })
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
    let tasks = jobs.iter().map(|job| task(job, &targets[job.target])).collect();
    let watch = BatchWatch::start("studies", tasks, threads);
    let note = |at, step| match step {
        StudyStep::Started => watch.started(at),
        StudyStep::Ended => watch.ended(at),
    };
    let outcomes = study_all(&jobs, &targets, threads, options.keep.as_deref(), &stop, note);
    drop(watch);
    for (job, outcome) in jobs.iter().zip(outcomes) {
        match outcome {
            Some(Ok(report)) => reports.push(report),
            Some(Err(error)) => failure = failure.or(Some(of_study(job, &error))),
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

/// Returns the task of a study, with its expected seconds.
fn task(job: &Job<'_>, target: &AreaTarget) -> Task {
    let (block, target) = (job.entry.name(), target.name());
    Task {
        name: format!("{block} for {target}"),
        subject: block.into(),
        action: target.into(),
        seconds: SECONDS + SECONDS_PER_CELL * cells(block).unwrap_or(USUAL_CELLS),
    }
}

/// Returns the standard cells of a block that is mapped for area, as listed on the page.
fn cells(block: &str) -> Option<f64> {
    let start = format!("| {block} | area |");
    let row = AREAS.lines().find(|line| line.starts_with(&start))?;
    row.split('|').nth(7)?.trim().parse().ok()
}

/// Converts the error of a study to a failure.
fn of_study(job: &Job<'_>, error: &AreaError) -> Failure {
    match error {
        AreaError::Interrupted => Failure::interrupted(format!("{}: interrupted", job.entry.name())),
        error => Failure::usage(error),
    }
}

/// Returns a job for every block and every value of the swept parameter.
fn jobs(options: &AreaOptions) -> Result<Vec<Job<'static>>, Failure> {
    let entries: Vec<&'static dyn BlockEntry> = if options.all {
        selvedge_blocks::all()
    } else {
        options.blocks.iter().map(|name| find(name).map_err(Failure::usage)).collect::<Result<_, _>>()?
    };
    check_own(options, &entries)?;
    let mut jobs = Vec::new();
    for entry in entries {
        for words in parameter_words(options, entry)? {
            let params = params(entry, &words)?;
            let own = own_verilog(options, entry, &params)?;
            jobs.push(Job { entry, params, target: 0, own, reset: options.reset, clock_gating: false });
        }
    }
    Ok(jobs)
}

/// Returns the Verilog that `--verilog` gives for a block, if any.
fn own_verilog(
    options: &AreaOptions,
    entry: &dyn BlockEntry,
    params: &Value,
) -> Result<Option<OwnVerilog>, Failure> {
    let Some(own) = options.verilog.iter().find(|own| own.block == entry.name()) else { return Ok(None) };
    if let Some(file) = own.files.iter().find(|file| file.extension().is_some_and(|end| end == "sv")) {
        let message = format!("{}: must be Verilog, NAME.v, which is what Yosys reads", file.display());
        return Err(Failure::usage(format!("--verilog {}: {message}", own.text)));
    }
    let compiler = compiler("--verilog", std::slice::from_ref(own))?;
    let text = compiler.plain_text(own, entry, params).map_err(Failure::usage)?;
    Ok(Some(OwnVerilog { top: own.top.clone(), text }))
}

/// Refuses Verilog for a block that is not studied.
fn check_own(options: &AreaOptions, entries: &[&dyn BlockEntry]) -> Result<(), Failure> {
    let is_there = |own: &&Own| entries.iter().any(|entry| entry.name() == own.block);
    match options.verilog.iter().find(|own| !is_there(own)) {
        None => Ok(()),
        Some(own) => {
            Err(Failure::usage(format!("--verilog {}: must be of a block that is studied", own.text)))
        }
    }
}

/// Returns the `name=value` words of each study: all words of `--param`, and one of `--sweep` or `--find-depth`.
fn parameter_words(options: &AreaOptions, entry: &dyn BlockEntry) -> Result<Vec<Vec<String>>, Failure> {
    let turn = |name: &str, value: &str| {
        let mut words = options.params.clone();
        words.push(format!("{name}={value}"));
        words
    };
    if options.find_depth {
        let depths = depths(entry).ok_or_else(|| no_depth(entry))?;
        return Ok(depths.iter().map(|depth| turn(PARAMETER, depth)).collect());
    }
    let Some(sweep) = &options.sweep else { return Ok(vec![options.params.clone()]) };
    let bad = || Failure::usage(format!("--sweep {sweep}: must be NAME=VALUE,VALUE..."));
    let (name, values) = sweep.split_once('=').ok_or_else(bad)?;
    if values.split(',').any(|value| value.trim().is_empty()) {
        return Err(bad());
    }
    Ok(values.split(',').map(|value| turn(name, value)).collect())
}

/// Returns the failure for a block without a pipeline depth.
fn no_depth(entry: &dyn BlockEntry) -> Failure {
    let with: Vec<&str> = selvedge_blocks::all()
        .into_iter()
        .filter(|entry| depths(*entry).is_some())
        .map(|entry| entry.name())
        .collect();
    Failure::usage(format!(
        "--find-depth {}: must be a block with a {PARAMETER}: {}",
        entry.name(),
        with.join(", ")
    ))
}

/// Returns the targets of `--target`. Finds the tools and the library before any work begins.
fn targets(options: &AreaOptions) -> Result<Vec<AreaTarget>, Failure> {
    let names = &options.targets;
    if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
        let words: Vec<&str> = names.iter().map(|one| one.name()).collect();
        return Err(Failure::usage(format!("--target {}: {} is there twice", words.join(","), words[twice])));
    }
    if names.len() > 1 {
        let of_one = [
            ("--csv", options.csv.is_some()),
            ("--plot", options.plot.is_some()),
            ("--find-depth", options.find_depth),
            ("--mechanisms", !options.mechanisms.is_empty()),
        ];
        refuse(&of_one, "allowed with one target")?;
    }
    if !names.contains(&TargetName::Asic) {
        check_fpga_options(options)?;
    }
    if options.clock_gating && *names != [TargetName::Asic] {
        return Err(Failure::usage("--clock-gating: allowed with --target asic"));
    }
    if options.place && *names == [TargetName::Asic] {
        return Err(Failure::usage("--place: allowed with --target ecp5 or ice40"));
    }
    names
        .iter()
        .map(|name| match name {
            TargetName::Asic => asic_target(options),
            TargetName::Fpga(family) => fpga_target(options, *family),
        })
        .collect()
}

/// Refuses the first given option, with the reason `why`.
fn refuse(options: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Failure::usage(format!("{option}: {why}"))),
        None => Ok(()),
    }
}

fn asic_target(options: &AreaOptions) -> Result<AreaTarget, Failure> {
    let technologies = Technologies::load(options.technologies.as_deref()).map_err(Failure::usage)?;
    let scale_to = options.scale_to.as_deref().map(|node| technologies.of_node(node).cloned()).transpose();
    let target_ps = options.clock.as_deref().map(period_ps).transpose()?;
    let path = options.liberty.clone().unwrap_or_else(|| PathBuf::from(OSU018));
    let library = Liberty::load(&path).map_err(Failure::usage)?;
    let technology = technologies.of_library(&library.name).cloned();
    let sram = cacti(options, technology.as_ref().map(|known| known.node_nm))?;
    let setup = AsicSetup {
        sram,
        technology,
        scale_to: scale_to.map_err(|unknown| Failure::usage(format!("--scale-to {unknown}")))?,
        target_ps,
        memories: if options.memories_in_flip_flops { MemoryStyle::FlipFlops } else { MemoryStyle::Listed },
        ..AsicSetup::find(library).map_err(Failure::usage)?
    };
    let energy = options.energy.then(|| EnergySetup::find(&setup, energy_options(options))).transpose();
    let energy = energy.map_err(Failure::usage)?;
    Ok(AreaTarget::Asic(Box::new(setup), energy.map(Box::new)))
}

fn energy_options(options: &AreaOptions) -> EnergyOptions {
    EnergyOptions {
        vectors: options.vectors,
        from: options.from,
        waveform: options.vcd.clone(),
        instance: options.instance.clone(),
        papers: PAPERS.to_vec(),
    }
}

/// Returns the tool that prices memories if `--sram` names one. `library_nm` is the library's node in nanometers.
fn cacti(options: &AreaOptions, library_nm: Option<u32>) -> Result<Option<Cacti>, Failure> {
    let Some(MemoryPrices::Cacti) = options.sram else { return Ok(None) };
    let node_nm = match &options.sram_node {
        Some(text) => {
            let number = text.trim_end_matches("nm").trim().parse::<u32>().ok();
            number
                .filter(|nm| (1..=1000).contains(nm))
                .ok_or_else(|| Failure::usage(format!("--sram-node {text}: must be a node such as 45nm")))?
        }
        None => library_nm.ok_or_else(|| {
            Failure::usage("--sram cacti: the library's node is not known; name one by --sram-node")
        })?,
    };
    Cacti::find(options.cacti.as_deref(), node_nm).map(Some).map_err(Failure::usage)
}

/// Refuses options that apply only to standard cells.
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
        ("--mechanisms", !options.mechanisms.is_empty()),
    ];
    refuse(&asic_only, "allowed with --target asic")
}

fn fpga_target(options: &AreaOptions, family: FpgaFamily) -> Result<AreaTarget, Failure> {
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
    Ok(AreaTarget::Fpga { yosys: YOSYS.find().map_err(Failure::usage)?, family, placer })
}

/// A unit, and the function that converts a number in it to picoseconds.
type ClockUnit = (&'static str, fn(f64) -> f64);

/// Returns the period in picoseconds of a clock such as 700MHz, 1.4GHz or 2ns.
fn period_ps(text: &str) -> Result<u32, Failure> {
    let units: [ClockUnit; 3] = [("GHz", |f| 1e3 / f), ("MHz", |f| 1e6 / f), ("ns", |ns| ns * 1e3)];
    let period = units.iter().find_map(|(unit, period)| {
        let number = text.strip_suffix(unit)?.trim().parse::<f64>().ok()?;
        Some(period(number)).filter(|ps| (1.0..1e9).contains(ps))
    });
    let bad =
        || Failure::usage(format!("--clock {text}: must be a clock or period such as 700MHz, 1.4GHz, 2ns"));
    period.map(|ps| ps.round() as u32).ok_or_else(bad)
}

/// Checks the recordings for energies before the blocks are mapped, because mapping takes long.
fn check_recordings(jobs: &[Job<'_>], targets: &[AreaTarget]) -> Result<(), Failure> {
    for job in jobs {
        if let AreaTarget::Asic(_, Some(energy)) = &targets[job.target] {
            energy.check(job.entry, &job.params).map_err(Failure::usage)?;
        }
    }
    Ok(())
}

/// Returns the files that the command reads and writes, and the folders that `--keep` fills.
fn plan(options: &AreaOptions, jobs: &[Job<'_>]) -> Plan {
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

fn show(
    options: &AreaOptions,
    targets: &[AreaTarget],
    blocks: Vec<BlockReport>,
    systems: &[System],
    outputs: &mut Outputs,
) {
    let report = targets.iter().fold(AreaReport::new(blocks), AreaReport::with_target);
    let mut report = report.with_systems(systems);
    if let (Some(AreaTarget::Asic(setup, _)), true) = (targets.first(), options.find_depth) {
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
        let about = if options.mechanisms.is_empty() { PAGE } else { SYSTEMS_PAGE };
        let text = page(&report, about, &format!("selvedge {}", words.join(" ")));
        outputs.write(path, text);
    }
    if let Some(target) = &options.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    outputs.show(&table(&report, width()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_every_block_is_known() {
        for block in selvedge_blocks::built_in() {
            assert!(cells(block.name()).is_some_and(|cells| cells > 1.0), "{}", block.name());
        }
        assert_eq!(cells("nothing"), None);
    }

    #[test]
    fn only_blocks_with_a_pipeline_are_asked_for() {
        let of_fpc = depths(find("fpc_compressor").expect("a block"));
        assert_eq!(of_fpc.expect("it has"), ["1", "2", "5"]);
        let error = format!("{:?}", no_depth(find("milg").expect("a block")));
        assert!(
            error.contains("must be a block") && error.contains("bdi_compressor, bdi_decompressor, fpc_"),
            "{error}"
        );
    }

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
