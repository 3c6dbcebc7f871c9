//! Properties of the assist-warp blocks under random traffic, in lockstep of model and RTL. Instructions are deployed and issued
//! exactly once, in order and fairly. A kill leaves nothing, the throttle holds only low priority, and nothing is lost.
use crate::widths::WARPS;
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance};

/// Returns model and RTL, compared at every port.
/// Returns one of few warps, for frequent conflicts, or any warp.
/// Sometimes returns a kill of a warp: of its high-priority assist warps, its low-priority ones, or both.
pub(crate) fn lockstep<B: HwBlock>(params: &B::Params) -> Instance<B> {
    Instance::new(B::NAME, params, Engine::Lockstep).unwrap()
}
pub(crate) fn warp() -> impl Strategy<Value = u8> {
    prop_oneof![0u8..4, 0u8..WARPS as u8]
}
pub(crate) fn kill() -> impl Strategy<Value = Option<Kill>> {
    let class = prop_oneof![Just((true, false)), Just((false, true)), Just((true, true))];
    let kill = (warp(), class).prop_map(|(warp, (high, low))| Some(Kill { warp, high, low }));
    prop_oneof![12 => Just(None), 1 => kill]
}

/// A kill or a flush.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kill {
    pub(crate) warp: u8,
    pub(crate) high: bool,
    pub(crate) low: bool,
}

impl Kill {
    /// Returns whether the kill removes an assist warp with this warp and priority.
    pub(crate) fn takes(self, warp: u8, high: bool) -> bool {
        self.warp == warp && if high { self.high } else { self.low }
    }
}
