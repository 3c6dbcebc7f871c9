//! What only one mechanism of a run can have.

/// Something of the GPU that only one mechanism can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The form of lines between L2 and DRAM.
    MemoryLines,
    /// The form of lines in the L1D.
    L1dLines,
    /// The sectors that a miss fetches.
    Granularity,
    /// Which loads bypass the L1D.
    Bypass,
    /// The assist warps of the SMs.
    AssistWarps,
    /// The ways of the L1D that each kernel has.
    Ways,
    /// Which warps may be scheduled.
    WarpLimit,
    /// The order of the kernels' memory instructions.
    Ranks,
    /// The number of the kernels' memory instructions in flight.
    Limits,
    /// What the workload runs for several times first.
    Trials,
}

impl Claim {
    /// What two mechanisms with this claim both do.
    pub fn why(self) -> &'static str {
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
