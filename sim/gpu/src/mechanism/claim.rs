//! Parts and decisions of a GPU that only one mechanism of a run can control.

/// A part or decision of the GPU that only one mechanism can control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Form of the lines between L2 and DRAM.
    MemoryLines,
    /// Form of the lines in the L1D.
    L1dLines,
    /// Sectors that a miss fetches.
    Granularity,
    /// Choice of the loads that bypass the L1D.
    Bypass,
    /// Assist warps of the SMs.
    AssistWarps,
    /// Number of L1D ways per kernel.
    Ways,
    /// Choice of the warps that may be scheduled.
    WarpLimit,
    /// Order of the kernels' memory instructions.
    Ranks,
    /// Max number of the kernels' memory instructions in flight.
    Limits,
    /// Trial runs of the workload before the measured run.
    Trials,
}

impl Claim {
    /// Returns the conflict of two mechanisms with this claim, as a phrase after "both".
    pub const fn why(self) -> &'static str {
        match self {
            Claim::MemoryLines => "compress or divide the lines between L2 and DRAM",
            Claim::L1dLines => "compress or divide the lines in the L1D",
            Claim::Granularity => "choose the sectors that a miss fetches",
            Claim::Bypass => "choose the loads that bypass the L1D",
            Claim::AssistWarps => "have the SMs' assist warps",
            Claim::Ways => "give the kernels ways of the L1D",
            Claim::WarpLimit => "limit the warps that are scheduled",
            Claim::Ranks => "rank the kernels' memory instructions",
            Claim::Limits => "limit the kernels' memory instructions",
            Claim::Trials => "run the workload several times first",
        }
    }
}
