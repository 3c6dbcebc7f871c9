//! `--checkpoint`, `--checkpoint-every` and `--resume`: save the state of a run in a file and continue from it.
use crate::arguments::RunOptions;
use crate::error::Failure;
use crate::output::Plan;
use clap::Args;
use selvedge_sim::checkpoint::Checkpoints;
use std::path::PathBuf;

/// The checkpoints, as clap reads them.
#[derive(Args, Clone, Debug)]
pub struct CheckpointOptions {
    /// Write the state of the run to FILE at each interval (see --checkpoint-every), and when a signal or a limit ends the
    /// run
    #[arg(help_heading = "Checkpoints", long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Core cycles between checkpoints
    #[arg(help_heading = "Checkpoints", long, value_name = "N", requires = "checkpoint", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: u64,
    /// Continue the run that --checkpoint saved in FILE; all options except limits and outputs must be the same
    #[arg(help_heading = "Checkpoints", long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

impl Default for CheckpointOptions {
    fn default() -> Self {
        CheckpointOptions { checkpoint: None, checkpoint_every: 10_000_000, resume: None }
    }
}

impl CheckpointOptions {
    /// Returns the checkpoint settings of the run.
    pub fn checkpoints(&self) -> Checkpoints {
        Checkpoints {
            file: self.checkpoint.clone(),
            every: self.checkpoint_every,
            resume: self.resume.clone(),
        }
    }

    /// Adds the files to the plan. A run may write checkpoints to the file that it resumes from.
    pub fn plan(&self, plan: &mut Plan) {
        self.checkpoint.iter().for_each(|file| plan.write("--checkpoint", file));
        self.resume
            .iter()
            .filter(|file| self.checkpoint.as_ref() != Some(file))
            .for_each(|file| plan.read(file));
    }
}

/// Refuses options that a run with checkpoints does not support.
///
/// # Errors
/// Fails if such an option is given together with `--checkpoint` or `--resume`.
pub fn check(options: &RunOptions) -> Result<(), Failure> {
    let given = match &options.checkpoints {
        CheckpointOptions { checkpoint: Some(_), .. } => "--checkpoint",
        CheckpointOptions { resume: Some(_), .. } => "--resume",
        _ => return Ok(()),
    };
    let refused = [
        (options.workload.is_none(), "must be given with a workload, since it is of one run"),
        (options.gpu.vcd.is_some(), "must be given without --vcd: a checkpoint does not hold waveforms"),
        (options.functional, "must be given without --functional, which has no cycles"),
        (
            options.gpu.intervals.is_some(),
            "must be given without --intervals: a checkpoint does not hold estimates",
        ),
        (
            options.gpu.launch.is_some(),
            "must be given without --launch: a checkpoint does not hold the launches before",
        ),
        (
            !options.inject.is_empty(),
            "must be given without --inject: a checkpoint does not hold planted faults",
        ),
    ];
    match refused.into_iter().find(|(refused, _)| *refused) {
        None => Ok(()),
        Some((_, why)) => Err(Failure::usage(format!("{given}: {why}"))),
    }
}
