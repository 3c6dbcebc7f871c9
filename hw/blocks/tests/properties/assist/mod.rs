//! What the assist-warp blocks promise, under random traffic, in lock-step of model and RTL: instructions are deployed and
//! issued in order, exactly once and in turn, a kill leaves nothing, the throttle holds low priority alone, nothing is lost.
use proptest::prelude::*;
use selvedge_blocks::assist::WARPS;
use selvedge_hw::{Engine, HwBlock, Instance};

mod awb;
mod awc;
mod aws;
mod awt;

/// Model and RTL, compared at every port.
fn lockstep<B: HwBlock>(params: &B::Params) -> Instance<B> {
    Instance::new(B::NAME, params, Engine::Lockstep).unwrap()
}

/// A warp out of few, which meet each other often, or out of all.
fn warp() -> impl Strategy<Value = u8> {
    prop_oneof![0u8..4, 0u8..WARPS as u8]
}

/// Now and then a kill of a warp: of its high-priority assist warps, its low-priority ones, or both.
fn kill() -> impl Strategy<Value = Option<Kill>> {
    let class = prop_oneof![Just((true, false)), Just((false, true)), Just((true, true))];
    let kill = (warp(), class).prop_map(|(warp, (high, low))| Some(Kill { warp, high, low }));
    prop_oneof![12 => Just(None), 1 => kill]
}

/// A kill or a flush.
#[derive(Clone, Copy, Debug)]
struct Kill {
    warp: u8,
    high: bool,
    low: bool,
}

impl Kill {
    /// Returns whether it takes an assist warp of this warp and priority.
    fn takes(self, warp: u8, high: bool) -> bool {
        self.warp == warp && if high { self.high } else { self.low }
    }
}
