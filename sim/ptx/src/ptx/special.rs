//! Special registers: their names and the values a warp's lanes read.

use super::LaunchDims;

/// Every special register that the decoder knows. `x`, `y` and `z` follow one another.
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
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%envreg",
    "%pm",
];

/// Numbered registers that a driver or a profiler would set, and how many there are; they read 0.
const NUMBERED: [(&str, u32); 2] = [("%envreg", 32), ("%pm", 8)];

/// A special register whose value a warp knows when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
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
    Zero,
}

/// A special register that must be read anew each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Live {
    Clock,
    ClockHigh,
    Clock64,
    SmId,
    NumberOfSms,
}

/// What a special register's name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Fixed(Special),
    Live(Live),
}

pub(crate) fn find(name: &str) -> Option<Source> {
    let fixed = |special| Some(Source::Fixed(special));
    if let Some((family, axis)) = name.split_once('.') {
        let axis = ["x", "y", "z"].iter().position(|a| *a == axis)? as u8;
        return match family {
            "%tid" => fixed(Special::Tid(axis)),
            "%ntid" => fixed(Special::Ntid(axis)),
            "%ctaid" => fixed(Special::Ctaid(axis)),
            "%nctaid" => fixed(Special::Nctaid(axis)),
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
        "%clock" => Some(Source::Live(Live::Clock)),
        "%clock_hi" => Some(Source::Live(Live::ClockHigh)),
        "%clock64" => Some(Source::Live(Live::Clock64)),
        "%smid" => Some(Source::Live(Live::SmId)),
        "%nsmid" => Some(Source::Live(Live::NumberOfSms)),
        _ => None,
    }
}

/// The thread of lane `lane` of warp `warp`, as x, y and z in its CTA.
pub(crate) fn thread_index(launch: &LaunchDims, warp: u32, lane: u32) -> [u32; 3] {
    let linear = warp * 32 + lane;
    let [x, y, _] = launch.block;
    [linear % x, linear / x % y, linear / (x * y)]
}

/// The values of `special` in the 32 lanes of a warp. `shared` is the CTA's static and dynamic shared memory in bytes.
pub(crate) fn values(
    special: Special,
    launch: &LaunchDims,
    cta: [u32; 3],
    warp: u32,
    shared: [u32; 2],
) -> [u32; 32] {
    std::array::from_fn(|lane| {
        let lane = lane as u32;
        match special {
            Special::Tid(axis) => thread_index(launch, warp, lane)[usize::from(axis)],
            Special::Ntid(axis) => launch.block[usize::from(axis)],
            Special::Ctaid(axis) => cta[usize::from(axis)],
            Special::Nctaid(axis) => launch.grid[usize::from(axis)],
            Special::LaneId => lane,
            Special::WarpId => warp,
            Special::NumberOfWarps => launch.warps_per_cta(),
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLe => u32::MAX >> (31 - lane),
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskGe => u32::MAX << lane,
            Special::LaneMaskGt => !(u32::MAX >> (31 - lane)),
            Special::GridId | Special::Zero => 0,
            Special::DynamicShared => shared[1],
            Special::TotalShared => shared[0] + shared[1],
        }
    })
}
