//! The granularity decision unit of a cache: what it is asked and told, and the units that always decide alike.
use super::level::CacheLevel;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::Divergence;
use selvedge_hw::wave::Trace;
use selvedge_state::State;

/// What a miss fetches; the sectors that it asked for are always among it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All sectors of the block.
    Coarse,
    /// Those that were asked for.
    Fine,
    /// These of the cache's own sectors, some beside those that were asked for but not all.
    Pattern(u32),
}

/// A granularity decision unit. Sectors are the cache's own, a bit each; `now` is in cycles of the cache.
pub trait Gdu: State + Send {
    /// A miss asks for the sectors `requested` of a block that are not there.
    ///
    /// # Errors
    /// The unit's model and RTL differ.
    fn choose(&mut self, now: u64, block: u32, requested: u32) -> Result<Choice, Box<Divergence>>;

    /// A block has left, of which the sectors `used` had been asked for.
    ///
    /// # Errors
    /// The unit's model and RTL differ.
    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<Divergence>> {
        let _ = (now, block, used);
        Ok(())
    }

    /// Adds what only this unit counts.
    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        let _ = (level, out);
    }

    /// What its block has seen, if it is recorded.
    fn trace(&self) -> Option<Trace> {
        None
    }
}

selvedge_state::boxed_state!(dyn Gdu);

/// A unit that decides the same for every miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Fixed {
    /// All sectors.
    Coarse,
    /// Those that were asked for.
    Fine,
}

impl Gdu for Fixed {
    fn choose(&mut self, _: u64, _: u32, _: u32) -> Result<Choice, Box<Divergence>> {
        Ok(match self {
            Fixed::Coarse => Choice::Coarse,
            Fixed::Fine => Choice::Fine,
        })
    }
}
