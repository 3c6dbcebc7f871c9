//! Counts of the corner cases that the traffic of a run reaches.
use crate::block::HwBlock;
use crate::corners::{Corner, Corners};
use std::fmt::{self, Debug};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts of the corner cases that the traffic of an instance reaches.
pub(crate) struct TrafficCorners<B: HwBlock> {
    corners: Box<dyn Corners<B::In, B::Out>>,
    /// Cycles out of reset.
    cycles: u64,
    /// `true` if all cycles since the reset were counted.
    is_whole: bool,
}

impl<B: HwBlock> TrafficCorners<B> {
    pub fn new(params: &B::Params) -> Self {
        TrafficCorners { corners: B::corners(params), cycles: 0, is_whole: true }
    }

    pub fn clock(&mut self, inputs: &B::In, outputs: &B::Out) {
        self.corners.clock(inputs, outputs);
        self.cycles += 1;
    }

    pub fn reset(&mut self) {
        self.corners.reset();
    }

    /// Ends the counts, because the instance continues from a state that these counters do not know.
    pub fn end(&mut self) {
        self.is_whole = false;
    }
}

/// The counts of an instance without the types of its block.
trait AnyTraffic: Send {
    fn add_to(&self, sum: &mut BlockTraffic);
    fn block(&self) -> &'static str;
    fn is_whole(&self) -> bool;
}

impl<B: HwBlock> AnyTraffic for TrafficCorners<B> {
    fn add_to(&self, sum: &mut BlockTraffic) {
        sum.instances += 1;
        sum.cycles += self.cycles;
        sum.operations += self.corners.operations();
        let seen = self.corners.seen();
        if sum.corners.is_empty() {
            sum.corners = seen;
            return;
        }
        for corner in seen {
            match sum.corners.iter_mut().find(|other| other.name == corner.name) {
                Some(other) => other.times += corner.times,
                None => sum.corners.push(corner),
            }
        }
    }
    fn block(&self) -> &'static str {
        B::NAME
    }
    fn is_whole(&self) -> bool {
        self.is_whole
    }
}

/// Counts of all instances of a block in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockTraffic {
    /// Name of the block.
    pub block: &'static str,
    /// Number of instances.
    pub instances: u64,
    /// Cycles of all instances out of reset.
    pub cycles: u64,
    /// Operations of all instances.
    pub operations: u64,
    /// Corner cases with the number of times that the instances reached them.
    pub corners: Vec<Corner>,
}

/// The counts of an instance, which adds to them during the run.
type SharedTraffic = Arc<Mutex<dyn AnyTraffic>>;

/// Counts of corner cases in a run. Instances add to it; see [`Instance::count_corners`](crate::Instance::count_corners).
#[derive(Clone, Default)]
pub struct TrafficCoverage(Arc<Mutex<Vec<SharedTraffic>>>);

impl TrafficCoverage {
    /// Adds an instance.
    pub(crate) fn add<B: HwBlock>(&self, traffic: &Arc<Mutex<TrafficCorners<B>>>) {
        let traffic: SharedTraffic = Arc::<Mutex<TrafficCorners<B>>>::clone(traffic);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(traffic);
    }

    /// Returns the sums over the instances of each block, in the order of their first instances. An instance that was loaded
    /// from a checkpoint is not included.
    pub fn blocks(&self) -> Vec<BlockTraffic> {
        let mut blocks: Vec<BlockTraffic> = Vec::new();
        for one in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let one = one.lock().unwrap_or_else(PoisonError::into_inner);
            if !one.is_whole() {
                continue;
            }
            let at = blocks.iter().position(|sum| sum.block == one.block()).unwrap_or_else(|| {
                blocks.push(BlockTraffic { block: one.block(), ..BlockTraffic::default() });
                blocks.len() - 1
            });
            one.add_to(&mut blocks[at]);
        }
        blocks
    }
}

impl Debug for TrafficCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TrafficCoverage").field(&self.blocks()).finish()
    }
}
