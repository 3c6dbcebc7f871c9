//! Corner cases: what a stimulus must reach, seen at a block's ports.

/// A corner case of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// What happens, such as "counter saturates".
    pub name: &'static str,
    /// How often it has been seen.
    pub times: u64,
    /// How often it must come up in the full count of operations, [`HwBlock::OPERATIONS`](crate::HwBlock::OPERATIONS).
    pub demanded: u64,
}

/// Watches a stimulus at the ports: counts operations, and the corner cases that the full count must reach.
pub trait Corners<I, O> {
    /// A clock in reset.
    fn reset(&mut self) {}
    /// A clock out of reset: its inputs and, before the clock edge, its outputs.
    fn clock(&mut self, inputs: &I, outputs: &O);
    /// Operations that have gone through the block: lines, accesses, cycles; the unit is the block's own.
    fn operations(&self) -> u64;
    /// Every corner case, with how often it was seen.
    fn seen(&self) -> Vec<Corner>;
}

/// Whether a clock with these inputs and outputs is counted.
type Counts<I, O> = Box<dyn Fn(&I, &O) -> bool>;

/// Corner cases that single clocks show: each is a name, a demand and a test of the clock's ports.
pub struct PortCorners<I, O> {
    operation: Counts<I, O>,
    operations: u64,
    corners: Vec<(Corner, Counts<I, O>)>,
}

impl<I, O> PortCorners<I, O> {
    /// Clocks that pass `operation` are operations.
    pub fn new(operation: impl Fn(&I, &O) -> bool + 'static) -> Self {
        PortCorners { operation: Box::new(operation), operations: 0, corners: Vec::new() }
    }

    /// Adds a corner case that must be seen `demanded` times.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        demanded: u64,
        seen: impl Fn(&I, &O) -> bool + 'static,
    ) -> Self {
        self.push(Corner { name, times: 0, demanded }, Box::new(seen));
        self
    }

    fn push(&mut self, corner: Corner, seen: Counts<I, O>) {
        self.corners.push((corner, seen));
    }
}

impl<I, O> Corners<I, O> for PortCorners<I, O> {
    fn clock(&mut self, inputs: &I, outputs: &O) {
        self.operations += u64::from((self.operation)(inputs, outputs));
        for (corner, seen) in &mut self.corners {
            corner.times += u64::from(seen(inputs, outputs));
        }
    }
    fn operations(&self) -> u64 {
        self.operations
    }
    fn seen(&self) -> Vec<Corner> {
        self.corners.iter().map(|(corner, _)| *corner).collect()
    }
}
