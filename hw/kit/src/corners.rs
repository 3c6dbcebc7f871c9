//! Corner cases that a stimulus must reach, observed at a block's ports.

/// A corner case of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// The event, such as "counter saturates".
    pub name: &'static str,
    /// Number of times that it was seen.
    pub times: u64,
    /// Number of times that it must occur in [`HwBlock::OPERATIONS`](crate::HwBlock::OPERATIONS) operations.
    pub demanded: u64,
}

/// Observes a stimulus at the ports. Counts operations, and the corner cases that the stimulus must reach.
pub trait Corners<I, O>: Send {
    /// Records a clock in reset.
    fn reset(&mut self) {}
    /// Records a clock out of reset, with its inputs and its outputs before the clock edge.
    fn clock(&mut self, inputs: &I, outputs: &O);
    /// Returns the number of operations, in the block's unit: lines, accesses or cycles.
    fn operations(&self) -> u64;
    /// Returns every corner case, with the number of times that it was seen.
    fn seen(&self) -> Vec<Corner>;
}

/// Returns whether a clock with these inputs and outputs counts.
type CountsClock<I, O> = Box<dyn Fn(&I, &O) -> bool + Send>;

/// Corner cases that a single clock shows. Each has a name, a min number, and a test of the clock's ports.
pub struct PortCorners<I, O> {
    operation: CountsClock<I, O>,
    operations: u64,
    corners: Vec<(Corner, CountsClock<I, O>)>,
}

impl<I, O> PortCorners<I, O> {
    /// Returns counters without corner cases. Clocks that pass `operation` count as operations.
    pub fn new(operation: impl Fn(&I, &O) -> bool + Send + 'static) -> Self {
        PortCorners { operation: Box::new(operation), operations: 0, corners: Vec::new() }
    }

    /// Adds a corner case that must occur `demanded` times.
    #[must_use]
    pub fn with(
        mut self,
        name: &'static str,
        demanded: u64,
        seen: impl Fn(&I, &O) -> bool + Send + 'static,
    ) -> Self {
        self.push(Corner { name, times: 0, demanded }, Box::new(seen));
        self
    }

    fn push(&mut self, corner: Corner, seen: CountsClock<I, O>) {
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
