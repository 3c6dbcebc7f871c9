//! The granularity decision unit of a cache: its interface, and the units that decide the same for every miss.
use super::level::CacheLevel;
use selvedge_gpu::mechanism::MechanismCounters;
use selvedge_hw::StepError;
use selvedge_hw::wave::Trace;
use selvedge_state::State;

/// The sectors that a miss fetches. They always include the requested sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchChoice {
    /// All sectors of the block.
    Coarse,
    /// The requested sectors only.
    Fine,
    /// These sectors of the cache: the requested sectors and some others, but not all.
    Pattern(u32),
}

/// A granularity decision unit. Sectors are a bit mask of the cache's sectors. `now` is in cycles of the cache.
pub trait Gdu: State + Send {
    /// Returns the sectors to fetch for a miss that requests the absent sectors `requested` of a block.
    ///
    /// # Errors
    /// If the engines of the unit's block differ.
    fn choose(&mut self, now: u64, block: u32, requested: u32) -> Result<FetchChoice, Box<StepError>>;

    /// Informs the unit that a block was evicted, and that its sectors `used` had been requested.
    ///
    /// # Errors
    /// If the engines of the unit's block differ.
    fn evicted(&mut self, now: u64, block: u32, used: u32) -> Result<(), Box<StepError>> {
        let _ = (now, block, used);
        Ok(())
    }

    /// Adds the counters that only this unit has.
    fn counters(&self, level: CacheLevel, out: &mut MechanismCounters) {
        let _ = (level, out);
    }

    /// Returns the recorded ports of the unit's block, if it is probed.
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
    /// The requested sectors only.
    Fine,
}

impl Gdu for Fixed {
    fn choose(&mut self, _: u64, _: u32, _: u32) -> Result<FetchChoice, Box<StepError>> {
        Ok(match self {
            Fixed::Coarse => FetchChoice::Coarse,
            Fixed::Fine => FetchChoice::Fine,
        })
    }
}
