//! Runs several studies of blocks in parallel, each for a target.
use crate::error::AreaError;
use crate::fpga::FpgaFamily;
use crate::operation::EnergySetup;
use crate::study::{AsicSetup, BlockReport, Subject, asic, fpga};
use crate::tool::Found;
use selvedge_gen::{Cells, EmitOptions, ResetStyle, VerilogModule, emit};
use selvedge_hw::BlockEntry;
use selvedge_testbenches::parallel;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The target technology of a study.
#[derive(Clone, Debug)]
pub enum AreaTarget {
    /// Standard cells, and optionally the energy of an operation.
    Asic(Box<AsicSetup>, Option<Box<EnergySetup>>),
    /// An FPGA.
    Fpga {
        /// Synthesis program.
        yosys: Found,
        /// Family whose cells are used.
        family: FpgaFamily,
        /// Place-and-route program, if requested.
        placer: Option<Found>,
    },
}

impl AreaTarget {
    /// Returns the name: `asic`, or that of the FPGA family.
    pub fn name(&self) -> &'static str {
        match self {
            AreaTarget::Asic(..) => "asic",
            AreaTarget::Fpga { family, .. } => family.name(),
        }
    }
}

/// A block with complete parameters, and its target.
#[derive(Clone)]
pub struct Job<'a> {
    /// The block.
    pub entry: &'a dyn BlockEntry,
    /// Its parameters.
    pub params: Value,
    /// Index of its target in the list of targets.
    pub target: usize,
    /// Reset style of its registers.
    pub reset: ResetStyle,
    /// `true` to gate the clocks of its registers.
    pub clock_gating: bool,
    /// The user's Verilog, which is studied instead of the emitted Verilog.
    pub own: Option<OwnVerilog>,
}

/// Verilog of the user with the ports of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnVerilog {
    /// Its top module.
    pub top: String,
    /// Text of all modules.
    pub text: String,
}

/// The outcome of each study, by index; `None` if it did not start.
pub type StudyOutcomes = Vec<Option<Result<BlockReport, AreaError>>>;

/// Progress of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StudyStep {
    /// The study starts.
    Started,
    /// The study ends, successfully or not.
    Ended,
}

/// Studies `jobs` on `threads` threads until `stop` is set. Calls `report` with the index of a job at each of its steps. The
/// distribution to threads does not change results. If `keep` is given, scripts and netlists of each job stay in a folder
/// there.
pub fn study_all(
    jobs: &[Job<'_>],
    targets: &[AreaTarget],
    threads: usize,
    keep: Option<&Path>,
    stop: &AtomicBool,
    report: impl Fn(usize, StudyStep) + Sync,
) -> StudyOutcomes {
    parallel::map(jobs, threads, |at, job| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let keep = keep.map(|folder| folder.join(folder_name(jobs, at)));
        report(at, StudyStep::Started);
        let outcome = job.study(&targets[job.target], keep.as_deref(), stop);
        report(at, StudyStep::Ended);
        Some(outcome)
    })
}

/// Returns the name of a job's folder: the block's name, with a number if the block is studied several times.
pub fn folder_name(jobs: &[Job<'_>], at: usize) -> String {
    let name = jobs[at].entry.name();
    let same = |jobs: &[Job<'_>]| jobs.iter().filter(|job| job.entry.name() == name).count();
    if same(jobs) == 1 { name.into() } else { format!("{name}_{}", same(&jobs[..at]) + 1) }
}

impl Job<'_> {
    /// Emits the block and studies it, in the folder `keep` or in a temporary one.
    ///
    /// # Errors
    /// [`AreaError`] if the parameters are invalid, the block cannot be emitted, a tool fails, or `stop` is set.
    pub fn study(
        &self,
        target: &AreaTarget,
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
        let options = EmitOptions {
            cells: Cells::Own,
            clock_gating: self.clock_gating,
            ..EmitOptions::of(self.entry, &self.params, self.reset)
        };
        let facts = self.entry.facts(&self.params)?;
        let block = self.entry.elaborate(&self.params)?;
        let mut design = emit(block.as_ref(), self.entry.name(), &options)?;
        if let Some(OwnVerilog { top, text }) = &self.own {
            let ports = design.top().ports.clone();
            let own = VerilogModule {
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
            AreaTarget::Asic(setup, _) => asic(&subject, setup, folder, stop)?,
            AreaTarget::Fpga { yosys, family, placer } => {
                fpga(&subject, yosys, *family, placer.as_ref(), folder, stop)?
            }
        };
        if self.own.is_none() {
            report.claimed_bits = self.entry.claim().map(|claim| claim.bits);
        }
        if let AreaTarget::Asic(setup, Some(energy)) = target {
            energy.study(self.entry, &subject, setup, &mut report, folder, stop)?;
        }
        Ok(report)
    }
}
