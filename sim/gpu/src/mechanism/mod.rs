//! What a mechanism is: its name, its options, and the policies that it puts into the SMs and L2 partitions.
//!
//! A mechanism is a pair of policies, one per SM and one per L2 partition, whose decisions are taken by blocks under the
//! chosen engine. The GPU calls the policies at named points and does not know which mechanism is there.
mod claim;
pub mod difference;
mod error;
mod option;
mod overhead;
mod part;
pub mod probe;
mod search;
mod shared;
mod site;
pub mod stepped;

pub use claim::Claim;
pub use error::MechanismError;
pub use option::{AUTO, OptionInfo};
pub use overhead::Overhead;
pub use part::Part;
pub use search::{Found, Search, Stopped, Trial, Trials};
pub use shared::Shared;
pub use site::Site;

/// Everything that a file with a mechanism needs.
pub mod prelude {
    pub use super::difference::Difference;
    pub use super::stepped::Stepped;
    pub use super::{
        Claim, Mechanism, MechanismCounters, MechanismError, Needs, OptionInfo, Overhead, Part, Site, count,
    };
    pub use crate::cache::{Fetched, LinePart};
    pub use crate::config::GpuConfig;
    pub use crate::events::{BlockOperations, LineBursts};
    pub use crate::has;
    pub use crate::packet::Packet;
    pub use crate::partition::part::{
        DramPlan, DramPlans, Eviction, L2Event, L2Observer, PartitionPart, Replies,
    };
    pub use crate::sm::part::{
        AssistIssue, Bypass, FailureBypass, FetchSectors, Fill, Hit, L1dEvent, L1dObserver, Load,
        MemoryEvent, MemoryGate, MemoryObserver, MemoryRank, Placement, Prefetch, Prefetched, Prefetcher,
        RegionMemo, RequestQueues, ScheduleObserver, SmPart, Space, WarpHold, WarpObserver, Ways,
    };
    pub use crate::stage::{MechanismFault, Offer, Stage};
    pub use crate::stats::{Decision, FailCause};
    pub use selvedge_hw::wave::Trace;
    pub use selvedge_ptx::memory::{DeviceMemory, program_of};
}

use crate::config::GpuConfig;
pub use crate::stats::{MechanismCounters, count};

/// What a mechanism looks at, each with what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Addresses: any trace has them.
    Nothing,
    /// The values in memory, which a trace of addresses does not have.
    Values,
    /// The values in registers, which no trace has.
    Execution,
}

impl Needs {
    /// In a few words; none for what every source has.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Needs::Nothing => None,
            Needs::Values => Some("values in memory"),
            Needs::Execution => Some("values in registers (no trace)"),
        }
    }
}

/// What the registry knows of a mechanism.
#[derive(Clone, Copy, Debug)]
pub struct MechanismInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// Blocks of `selvedge-hw` that it instantiates.
    pub blocks: &'static [&'static str],
    /// Options.
    pub options: &'static [OptionInfo],
    /// What a trace may lack.
    pub needs: Needs,
    /// What its paper states of the whole mechanism's storage or area; empty if nothing.
    pub published: &'static str,
    /// What it asks of the configuration; empty when it suits every one.
    pub machine_needs: &'static str,
    /// What it has for itself.
    pub claims: &'static [Claim],
    /// Adds to the configuration what the mechanism brings along (tags, sectors, limits) and refuses a configuration that does not
    /// suit it.
    pub machine: fn(&Part, &mut GpuConfig) -> Result<(), MechanismError>,
    /// Puts its parts into SMs and L2 partitions.
    pub attach: fn(&Part, &mut Site<'_>),
    /// What it adds to a GPU beside its blocks.
    pub overhead: fn(&Part) -> Overhead,
    /// Its search, while it has made no choice.
    pub search: fn(&Part, &GpuConfig) -> Option<Box<dyn Search>>,
}

/// A mechanism, written as a type. [`add`] makes it known to `--mechanism`, `compare` and `list`.
pub trait Mechanism {
    /// Name on the command line.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// Paper and section.
    const SOURCE: &'static str;
    /// Names of the blocks that it instantiates.
    const BLOCKS: &'static [&'static str] = &[];
    /// Options.
    const OPTIONS: &'static [OptionInfo] = &[];
    /// What a trace may lack.
    const NEEDS: Needs = Needs::Nothing;
    /// What it requires of the configuration, for lists; empty when it suits every one.
    const CONFIGURATION: &'static str = "";
    /// What its paper states of the whole mechanism's storage or area; empty if nothing.
    const PUBLISHED: &'static str = "";
    /// What only one mechanism can have.
    const CLAIMS: &'static [Claim] = &[];

    /// Adds to the configuration what the mechanism brings along (tags, sectors, limits) and refuses one that does not suit.
    ///
    /// # Errors
    /// [`Part::unsuited`].
    fn configure(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
        let _ = (part, config);
        Ok(())
    }

    /// Puts its parts into SMs and L2 partitions; `site.probes` makes the block instances.
    fn attach(part: &Part, site: &mut Site<'_>);

    /// Returns what it adds to a GPU beside its blocks, for the sums of `selvedge area --mechanism`.
    fn overhead(part: &Part) -> Overhead {
        let _ = part;
        Overhead::default()
    }

    /// Returns the search for the best of the mechanism's choices, while it has made none.
    fn search(part: &Part, config: &GpuConfig) -> Option<Box<dyn Search>> {
        let _ = (part, config);
        None
    }
}

impl MechanismInfo {
    /// A mechanism that does nothing, the rest of an entry that states only what it has.
    pub const NOTHING: MechanismInfo = MechanismInfo {
        name: "",
        summary: "",
        source: "",
        blocks: &[],
        options: &[],
        needs: Needs::Nothing,
        published: "",
        machine_needs: "",
        claims: &[],
        machine: any_machine,
        attach: no_parts,
        overhead: no_overhead,
        search: no_search,
    };

    /// Returns what the registry knows of `M`.
    pub const fn of<M: Mechanism>() -> Self {
        MechanismInfo {
            name: M::NAME,
            summary: M::SUMMARY,
            source: M::SOURCE,
            blocks: M::BLOCKS,
            options: M::OPTIONS,
            needs: M::NEEDS,
            published: M::PUBLISHED,
            machine_needs: M::CONFIGURATION,
            claims: M::CLAIMS,
            machine: M::configure,
            attach: M::attach,
            overhead: M::overhead,
            search: M::search,
        }
    }
}

/// Any configuration suits, as it is.
pub fn any_machine(_: &Part, _: &mut GpuConfig) -> Result<(), MechanismError> {
    Ok(())
}

/// A mechanism that is a matter of the configuration alone.
pub fn no_parts(_: &Part, _: &mut Site<'_>) {}

/// Nothing beside the blocks.
pub fn no_overhead(_: &Part) -> Overhead {
    Overhead::default()
}

/// A mechanism without choices.
pub fn no_search(_: &Part, _: &GpuConfig) -> Option<Box<dyn Search>> {
    None
}
