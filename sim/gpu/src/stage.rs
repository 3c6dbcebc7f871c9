//! A stage that a mechanism puts into a path: it delays what passes, or changes it.
use selvedge_ptx::memory::DeviceMemory;

/// Why a mechanism stops the simulation: a difference between a block's engines, say.
pub type MechanismFault = Box<dyn std::error::Error + Send + Sync>;

/// A stage in the path of `T`. The path offers what comes, in its order, and takes what the stage lets out.
pub trait Stage<T> {
    /// Offers an item in cycle `now`. A stage that takes no time may change it and let it pass.
    fn offer(&mut self, now: u64, item: &mut T, memory: &DeviceMemory) -> Offer;

    /// Returns the next item that leaves the stage, of those that it took.
    fn pop(&mut self) -> Option<T>;
}

/// What a stage makes of what it is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It goes on at once.
    Pass,
    /// It is inside, and comes out by [`Stage::pop`].
    Taken,
    /// There is no room: it is offered again in the next cycle.
    Full,
}
