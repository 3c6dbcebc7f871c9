//! Studies of any blocks, each for a target, several at the same time.
use crate::error::AreaError;
use crate::fpga::Family;
use crate::operation::EnergySetup;
use crate::study::{AsicSetup, BlockReport, Subject, asic, fpga};
use crate::tool::Found;
use selvedge_gen::{Cells, EmitOptions, Module, ResetStyle, emit};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::parallel;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What blocks are studied for.
#[derive(Clone, Debug)]
pub enum Target {
    /// Standard cells, with the energy of an operation where that is asked for.
    Asic(Box<AsicSetup>, Option<Box<EnergySetup>>),
    /// An FPGA.
    Fpga {
        /// Synthesizes.
        yosys: Found,
        /// Whose cells are used.
        family: Family,
        /// Places and routes, where that is asked for.
        placer: Option<Found>,
    },
}

impl Target {
    /// Returns its name: `asic`, or that of the FPGA.
    pub fn name(&self) -> &'static str {
        match self {
            Target::Asic(..) => "asic",
            Target::Fpga { family, .. } => family.name(),
        }
    }
}

/// A block with its complete parameters, and the place of what it is studied for among the targets.
#[derive(Clone)]
pub struct Job<'a> {
    /// The block.
    pub entry: &'a dyn BlockEntry,
    /// Its parameters.
    pub params: Value,
    /// The place of its target.
    pub target: usize,
    /// How its registers are reset.
    pub reset: ResetStyle,
    /// Verilog that is studied in place of what the block emits.
    pub own: Option<OwnVerilog>,
}

/// Verilog of the user with the ports of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnVerilog {
    /// Its top module.
    pub top: String,
    /// All of it.
    pub text: String,
}

/// The outcome of each study, by its place; none when it was not reached.
pub type Outcomes = Vec<Option<Result<BlockReport, AreaError>>>;

/// What becomes of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Started,
    /// It has ended, well or not.
    Ended,
}

/// Studies `jobs` on the given number of threads until `stop` is set, and reports the steps of each by its place; which thread does what changes nothing.
/// Scripts and netlists are left in a folder for each job in `keep`, if that is given.
pub fn study_all(
    jobs: &[Job<'_>],
    targets: &[Target],
    threads: usize,
    keep: Option<&Path>,
    stop: &AtomicBool,
    report: impl Fn(usize, Step) + Sync,
) -> Outcomes {
    parallel::map(jobs, threads, |at, job| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let keep = keep.map(|folder| folder.join(folder_name(jobs, at)));
        report(at, Step::Started);
        let outcome = job.study(&targets[job.target], keep.as_deref(), stop);
        report(at, Step::Ended);
        Some(outcome)
    })
}

/// The name of a job's folder: the block's, with a number where it is studied more than once.
pub fn folder_name(jobs: &[Job<'_>], at: usize) -> String {
    let name = jobs[at].entry.name();
    let same = |jobs: &[Job<'_>]| jobs.iter().filter(|job| job.entry.name() == name).count();
    if same(jobs) == 1 { name.into() } else { format!("{name}_{}", same(&jobs[..at]) + 1) }
}

impl Job<'_> {
    /// Emits the block and studies it, in the folder `keep` or else in one that is gone afterwards.
    ///
    /// # Errors
    /// When the parameters are not valid, the block cannot be emitted, a tool fails, or `stop` is set.
    pub fn study(
        &self,
        target: &Target,
        keep: Option<&Path>,
        stop: &AtomicBool,
    ) -> Result<BlockReport, AreaError> {
        let temporary;
        let folder = match keep {
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .map_err(|source| AreaError::Folder { path: folder.into(), source })?;
                folder
            }
            None => {
                temporary = tempfile::tempdir().map_err(AreaError::NoTemporaryFolder)?;
                temporary.path()
            }
        };
        let options =
            EmitOptions { cells: Cells::Own, ..EmitOptions::of(self.entry, &self.params, self.reset) };
        let facts = self.entry.facts(&self.params)?;
        let block = self.entry.elaborate(&self.params)?;
        let mut design = emit(block.as_ref(), self.entry.name(), &options)?;
        if let Some(OwnVerilog { top, text }) = &self.own {
            let ports = design.top().ports.clone();
            let own = Module {
                name: top.clone(),
                language: options.language,
                text: text.clone(),
                ports,
                cell: false,
            };
            design.modules = vec![own];
        }
        let subject = Subject {
            design: &design,
            options: &options,
            parameters: &self.params,
            latency: facts.latency,
            storage_bits: facts.storage_bits(),
        };
        let mut report = match target {
            Target::Asic(setup, _) => asic(&subject, setup, folder, stop)?,
            Target::Fpga { yosys, family, placer } => {
                fpga(&subject, yosys, *family, placer.as_ref(), folder, stop)?
            }
        };
        if self.own.is_none() {
            report.claimed_bits = self.entry.claim().map(|claim| claim.bits);
        }
        if let Target::Asic(setup, Some(energy)) = target {
            energy.study(self.entry, &subject, setup, &mut report, folder, stop)?;
        }
        Ok(report)
    }
}
