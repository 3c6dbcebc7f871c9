//! Special registers: their names, and their values in a warp's lanes.

use super::LaunchDims;

/// All special registers that the decoder supports. `x`, `y` and `z` must be consecutive.
pub(crate) const NAMES: &[&str] = &[
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%is_explicit_cluster",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%gridid",
    "%smid",
    "%nsmid",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%envreg",
    "%pm",
];

/// Numbered registers that a driver or a profiler would set, and their count. All but [`WORKSPACE`] read 0.
const NUMBERED: [(&str, u32); 2] = [("%envreg", 32), ("%pm", 8)];

/// Registers with the high and low word of the address of the barrier of cooperative launches, as cooperative groups read it.
const WORKSPACE: [&str; 2] = ["%envreg1", "%envreg2"];

/// Returns whether a register has a word of the address of the barrier of cooperative launches.
pub(crate) fn is_workspace(name: &str) -> bool {
    WORKSPACE.contains(&name)
}

/// Returns the word of `address` that the register `name` has.
pub(crate) fn workspace_word(name: &str, address: u64) -> Special {
    Special::Given(if name == WORKSPACE[0] { (address >> 32) as u32 } else { address as u32 })
}

/// A special register whose value is constant for a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterId(u8),
    NumberOfClusters(u8),
    ClusterRank,
    ClusterCtas,
    HasClusters,
    LaneId,
    WarpId,
    NumberOfWarps,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    GridId,
    DynamicShared,
    TotalShared,
    /// A value that the module determines.
    Given(u32),
    Zero,
}

/// A special register whose value changes between reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiveSpecial {
    Clock,
    ClockHigh,
    Clock64,
    SmId,
    NumberOfSms,
    GlobalTimer,
    GlobalTimerLow,
    GlobalTimerHigh,
}

/// A special register, by the time at which it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpecialSource {
    Fixed(Special),
    Live(LiveSpecial),
}

pub(crate) fn find(name: &str) -> Option<SpecialSource> {
    let fixed = |special| Some(SpecialSource::Fixed(special));
    if let Some((family, axis)) = name.split_once('.') {
        let axis = ["x", "y", "z"].iter().position(|a| *a == axis)? as u8;
        return match family {
            "%tid" => fixed(Special::Tid(axis)),
            "%ntid" => fixed(Special::Ntid(axis)),
            "%ctaid" => fixed(Special::Ctaid(axis)),
            "%nctaid" => fixed(Special::Nctaid(axis)),
            "%cluster_ctaid" => fixed(Special::ClusterCtaid(axis)),
            "%cluster_nctaid" => fixed(Special::ClusterNctaid(axis)),
            "%clusterid" => fixed(Special::ClusterId(axis)),
            "%nclusterid" => fixed(Special::NumberOfClusters(axis)),
            _ => None,
        };
    }
    let numbered = |(prefix, count): &(&str, u32)| {
        name.strip_prefix(prefix).and_then(|digits| digits.parse().ok()).is_some_and(|n: u32| n < *count)
    };
    if NUMBERED.iter().any(numbered) {
        return fixed(Special::Zero);
    }
    match name {
        "%cluster_ctarank" => fixed(Special::ClusterRank),
        "%cluster_nctarank" => fixed(Special::ClusterCtas),
        "%is_explicit_cluster" => fixed(Special::HasClusters),
        "%laneid" => fixed(Special::LaneId),
        "%warpid" => fixed(Special::WarpId),
        "%nwarpid" => fixed(Special::NumberOfWarps),
        "%lanemask_eq" => fixed(Special::LaneMaskEq),
        "%lanemask_le" => fixed(Special::LaneMaskLe),
        "%lanemask_lt" => fixed(Special::LaneMaskLt),
        "%lanemask_ge" => fixed(Special::LaneMaskGe),
        "%lanemask_gt" => fixed(Special::LaneMaskGt),
        "%gridid" => fixed(Special::GridId),
        "%dynamic_smem_size" => fixed(Special::DynamicShared),
        "%total_smem_size" | "%aggr_smem_size" => fixed(Special::TotalShared),
        "%clock" => Some(SpecialSource::Live(LiveSpecial::Clock)),
        "%clock_hi" => Some(SpecialSource::Live(LiveSpecial::ClockHigh)),
        "%clock64" => Some(SpecialSource::Live(LiveSpecial::Clock64)),
        "%globaltimer" => Some(SpecialSource::Live(LiveSpecial::GlobalTimer)),
        "%globaltimer_lo" => Some(SpecialSource::Live(LiveSpecial::GlobalTimerLow)),
        "%globaltimer_hi" => Some(SpecialSource::Live(LiveSpecial::GlobalTimerHigh)),
        "%smid" => Some(SpecialSource::Live(LiveSpecial::SmId)),
        "%nsmid" => Some(SpecialSource::Live(LiveSpecial::NumberOfSms)),
        _ => None,
    }
}

/// Returns the x, y and z index in the CTA of the thread in lane `lane` of warp `warp`.
pub(crate) fn thread_index(launch: &LaunchDims, warp: u32, lane: u32) -> [u32; 3] {
    let linear = warp * 32 + lane;
    let [x, y, _] = launch.block;
    [linear % x, linear / x % y, linear / (x * y)]
}

/// Returns the values of `special` in the 32 lanes of a warp. `shared` has the CTA's static and dynamic shared memory
/// in bytes.
pub(crate) fn values(
    special: Special,
    launch: &LaunchDims,
    cta: [u32; 3],
    warp: u32,
    shared: [u32; 2],
) -> [u32; 32] {
    let each = |of: fn(u32) -> u32| std::array::from_fn(|lane| of(lane as u32));
    match special {
        Special::Tid(axis) => thread_indices(launch, warp, usize::from(axis)),
        Special::Ntid(axis) => [launch.block[usize::from(axis)]; 32],
        Special::Ctaid(axis) => [cta[usize::from(axis)]; 32],
        Special::Nctaid(axis) => [launch.grid[usize::from(axis)]; 32],
        Special::ClusterCtaid(axis) => [cta[usize::from(axis)] % launch.cluster[usize::from(axis)]; 32],
        Special::ClusterNctaid(axis) => [launch.cluster[usize::from(axis)]; 32],
        Special::ClusterId(axis) => [cta[usize::from(axis)] / launch.cluster[usize::from(axis)]; 32],
        Special::NumberOfClusters(axis) => {
            [launch.grid[usize::from(axis)] / launch.cluster[usize::from(axis)]; 32]
        }
        Special::ClusterRank => [launch.rank(cta); 32],
        Special::ClusterCtas => [launch.cluster_ctas(); 32],
        Special::HasClusters => [u32::from(launch.cluster_ctas() > 1); 32],
        Special::LaneId => each(|lane| lane),
        Special::WarpId => [warp; 32],
        Special::NumberOfWarps => [launch.warps_per_cta(); 32],
        Special::LaneMaskEq => each(|lane| 1 << lane),
        Special::LaneMaskLe => each(|lane| u32::MAX >> (31 - lane)),
        Special::LaneMaskLt => each(|lane| (1 << lane) - 1),
        Special::LaneMaskGe => each(|lane| u32::MAX << lane),
        Special::LaneMaskGt => each(|lane| !(u32::MAX >> (31 - lane))),
        Special::Given(value) => [value; 32],
        Special::GridId | Special::Zero => [0; 32],
        Special::DynamicShared => [shared[1]; 32],
        Special::TotalShared => [shared[0] + shared[1]; 32],
    }
}

/// Returns one coordinate of each thread of a warp. Counts up from the first lane, to avoid a division per lane.
fn thread_indices(launch: &LaunchDims, warp: u32, axis: usize) -> [u32; 32] {
    let mut at = thread_index(launch, warp, 0);
    std::array::from_fn(|_| {
        let here = at[axis];
        at[0] += 1;
        if at[0] == launch.block[0] {
            at[0] = 0;
            at[1] += 1;
        }
        if at[1] == launch.block[1] {
            at[1] = 0;
            at[2] += 1;
        }
        here
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_has_its_own_coordinates() {
        for block in [[32, 1, 1], [7, 3, 5], [1, 64, 2], [1, 1, 64], [256, 1, 1]] {
            let launch = LaunchDims::new([1; 3], block);
            for warp in 0..launch.warps_per_cta() {
                for axis in 0..3u8 {
                    let found = values(Special::Tid(axis), &launch, [0; 3], warp, [0; 2]);
                    let expected = |lane| thread_index(&launch, warp, lane as u32)[usize::from(axis)];
                    assert_eq!(found, std::array::from_fn(expected), "warp {warp} of {block:?}");
                }
            }
        }
    }
}
