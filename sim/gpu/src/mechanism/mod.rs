//! Definition of a mechanism: its name, its options, and the parts that it adds to SMs and L2 slices.
//!
//! A part is a policy whose decisions come from blocks, which run under the selected engine. The GPU calls the parts at named
//! points and does not depend on the mechanism.
mod claim;
mod counter;
pub mod difference;
mod error;
mod option;
mod overhead;
pub mod probe;
mod search;
mod setup;
pub(crate) mod shared;
mod site;
pub mod stepped;

pub use claim::Claim;
pub use counter::Counter;
pub use error::MechanismError;
pub use option::{AUTO, MechanismOptions, NoOptions, OptionInfo, OptionNames, OptionValue, Values};
pub use overhead::Overhead;
pub use search::{Search, SearchResult, Stopped, Trial, Trials};
pub use setup::{Selected, Setup};
pub use shared::Shared;
pub use site::Site;

/// Names that a source file of a mechanism needs.
pub mod prelude {
    pub use super::difference::FirstDifference;
    pub use super::stepped::Stepped;
    pub use super::{
        Claim, Counter, DataNeeds, Mechanism, MechanismCounters, MechanismError, MechanismOptions, NoOptions,
        Overhead, Setup, Site, Values, count,
    };
    pub use crate::cache::{Fetched, LinePart};
    pub use crate::config::GpuConfig;
    pub use crate::events::{BlockOperations, LineBursts};
    pub use crate::packet::Packet;
    pub use crate::partition::part::{
        DramPlan, DramPlans, Eviction, L2Event, L2Observer, Replies, SlicePart,
    };
    pub use crate::sm::part::{
        AssistIssue, Bypass, FailureBypass, Hit, L1dEvent, L1dFetchSectors, L1dFill, L1dObserver,
        L1dPlacement, LineSpace, Load, MemoryEvent, MemoryGate, MemoryObserver, MemoryRank, Prefetch,
        Prefetched, Prefetcher, RegionMemo, RequestQueues, ScheduleObserver, SmPart, WarpHold, WarpObserver,
        Ways,
    };
    pub use crate::stage::{MechanismFault, Offer, Stage};
    pub use crate::stats::{AccessResult, FailCause};
    pub use crate::{has, mechanism_options, option_names};
    pub use selvedge_hw::wave::Trace;
    pub use selvedge_ptx::memory::{DeviceMemory, program_of};
}

use crate::config::GpuConfig;
pub use crate::stats::{MechanismCounters, count};

/// Data that a mechanism needs from the program. Each variant includes the previous ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataNeeds {
    /// Addresses, which every trace contains.
    Nothing,
    /// Values in memory, which a trace of addresses does not contain.
    Values,
    /// Values in registers, which no trace contains.
    Execution,
}

impl DataNeeds {
    /// Returns the need in a few words; `None` if every source meets it.
    pub fn words(self) -> Option<&'static str> {
        match self {
            DataNeeds::Nothing => None,
            DataNeeds::Values => Some("values in memory"),
            DataNeeds::Execution => Some("values in registers (no trace)"),
        }
    }
}

/// A mechanism: its facts, its options and its parts. Built-in mechanisms and mechanisms of other crates implement it.
pub trait Mechanism {
    /// Name on the command line.
    const NAME: &'static str;
    /// Summary in one line.
    const SUMMARY: &'static str;
    /// Paper and section.
    const SOURCE: &'static str;
    /// Names of the blocks that the mechanism instantiates.
    const BLOCKS: &'static [&'static str] = &[];
    /// Data that the mechanism needs from the program.
    const NEEDS: DataNeeds = DataNeeds::Nothing;
    /// Requirements on the configuration, for lists; empty if the mechanism supports every configuration.
    const CONFIGURATION: &'static str = "";
    /// Storage or area of the whole mechanism according to its paper; empty if unpublished.
    const PUBLISHED: &'static str = "";
    /// Parts and decisions that the mechanism controls exclusively.
    const CLAIMS: &'static [Claim] = &[];
    /// Counters that the mechanism adds to reports, in groups.
    const COUNTERS: &'static [&'static [Counter]] = &[];
    /// Options of the mechanism: a struct of [`mechanism_options!`](crate::mechanism_options), or [`NoOptions`].
    type Options: MechanismOptions;
    /// Declarations of the options: all of [`Mechanism::Options`], or the first ones. The others keep their defaults.
    const OPTIONS: &'static [OptionInfo] = Self::Options::OPTIONS;

    /// Adds the mechanism's tags, sectors and limits to the configuration.
    ///
    /// # Errors
    /// Returns [`Setup::unsuited`] if the mechanism does not support the configuration.
    fn configure(setup: &Setup<Self::Options>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        let _ = (setup, config);
        Ok(())
    }

    /// Adds the mechanism's parts to SMs and L2 slices. `site.probes` creates the block instances.
    fn attach(setup: &Setup<Self::Options>, site: &mut Site<'_>);

    /// Returns the overhead of the mechanism in addition to its blocks, for `selvedge area --mechanism`.
    fn overhead(setup: &Setup<Self::Options>) -> Overhead {
        let _ = setup;
        Overhead::default()
    }

    /// Returns the search for the best choice of the mechanism, until it has made its choice.
    fn search(setup: &Setup<Self::Options>, config: &GpuConfig) -> Option<Box<dyn Search>> {
        let _ = (setup, config);
        None
    }
}

/// The registry entry of a mechanism: a [`Mechanism`] without its type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MechanismInfo {
    /// [`Mechanism::NAME`].
    pub name: &'static str,
    /// [`Mechanism::SUMMARY`].
    pub summary: &'static str,
    /// [`Mechanism::SOURCE`].
    pub source: &'static str,
    /// [`Mechanism::BLOCKS`].
    pub blocks: &'static [&'static str],
    /// [`Mechanism::OPTIONS`].
    pub options: &'static [OptionInfo],
    /// [`Mechanism::NEEDS`].
    pub needs: DataNeeds,
    /// [`Mechanism::PUBLISHED`].
    pub published: &'static str,
    /// [`Mechanism::CONFIGURATION`].
    pub configuration_needs: &'static str,
    /// [`Mechanism::CLAIMS`].
    pub claims: &'static [Claim],
    /// [`Mechanism::COUNTERS`].
    pub counters: &'static [&'static [Counter]],
    /// [`Mechanism::configure`].
    pub configure: fn(&Selected, &mut GpuConfig) -> Result<(), MechanismError>,
    /// [`Mechanism::attach`].
    pub attach: fn(&Selected, &mut Site<'_>),
    /// [`Mechanism::overhead`].
    pub overhead: fn(&Selected) -> Overhead,
    /// [`Mechanism::search`].
    pub search: fn(&Selected, &GpuConfig) -> Option<Box<dyn Search>>,
}

impl MechanismInfo {
    /// Returns the registry entry of `M`.
    pub const fn of<M: Mechanism>() -> Self {
        MechanismInfo {
            name: M::NAME,
            summary: M::SUMMARY,
            source: M::SOURCE,
            blocks: M::BLOCKS,
            options: M::OPTIONS,
            needs: M::NEEDS,
            published: M::PUBLISHED,
            configuration_needs: M::CONFIGURATION,
            claims: M::CLAIMS,
            counters: M::COUNTERS,
            configure: |selected, config| M::configure(&selected.setup(), config),
            attach: |selected, site| M::attach(&selected.setup(), site),
            overhead: |selected| M::overhead(&selected.setup()),
            search: |selected, config| M::search(&selected.setup(), config),
        }
    }
}
