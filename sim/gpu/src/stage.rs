//! A stage that a mechanism adds to a path. It delays items or changes them.
use selvedge_ptx::memory::DeviceMemory;

/// Error with which a mechanism stops the simulation, such as a difference between a block's engines.
pub type MechanismFault = Box<dyn std::error::Error + Send + Sync>;

/// A stage in the path of `T`. The path offers each item in order, and takes the items that leave the stage.
pub trait Stage<T> {
    /// Offers an item in cycle `now`. A stage without delay may change the item and let it pass.
    fn offer(&mut self, now: u64, item: &mut T, memory: &DeviceMemory) -> Offer;

    /// Removes and returns the next item that leaves the stage, from the items that it accepted.
    fn pop(&mut self) -> Option<T>;

    /// Returns whether the stage holds an item of a line. While it does, loads and atomics of the line wait, because they must
    /// not overtake a store. The stage may release the item early.
    fn holds(&mut self, _line: u64) -> bool {
        false
    }
}

/// Response of a stage to an offered item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The item passes at once.
    Pass,
    /// The stage holds the item and returns it from [`Stage::pop`] later.
    Taken,
    /// The stage is full and busy. The path offers the oldest item again in the next cycle.
    Full,
}
