//! Configuration of the L1 data caches.
use super::check::Checker;
use super::index;
use crate::cache::SECTOR_BYTES;
use crate::cache::sectors::MOST_LINE_BYTES;
use documented::DocumentedFields;
use selvedge_hw::index_function::IndexFunction;
use selvedge_state::State;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Max sizes of shared memory in `shared_choices`.
pub const SHARED_CHOICES: usize = 10;

/// Max banks of an L1D.
pub const MOST_L1D_BANKS: u32 = u32::BITS;

/// Max ways of a cache.
pub(super) const MOST_WAYS: u32 = 512;

/// Time at which a miss allocates its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocate {
    /// When the miss is sent; the line is reserved until the data arrives.
    OnMiss,
    /// When the data arrives.
    OnFill,
}

/// Sectors that a miss fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fetch {
    /// The requested sectors (LAMAR's fine granularity).
    Requested,
    /// All absent sectors of the line (LAMAR's coarse granularity).
    Line,
}

/// Store policy of the L1D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, State)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Evicts the sectors that a store hits, and the line with its last sector. Every store goes to the L2. A miss does not
    /// allocate.
    #[default]
    WriteEvict,
    /// Keeps the sectors that a store hits. Every store goes to the L2. A miss does not allocate.
    WriteThrough,
    /// Keeps a store if all its sectors hit, and writes these sectors back on eviction. Other stores go to the L2 as with
    /// write-through. A fence does not write back.
    WriteBack,
    /// Write-back for local memory and write-evict for global memory, as in Fermi.
    LocalWriteBack,
}

impl WritePolicy {
    /// Returns the name in a TOML configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WritePolicy::WriteEvict => "write-evict",
            WritePolicy::WriteThrough => "write-through",
            WritePolicy::WriteBack => "write-back",
            WritePolicy::LocalWriteBack => "local-write-back",
        }
    }

    /// Returns whether the L1D may hold sectors that are newer than in the L2.
    #[must_use]
    pub fn writes_back(self) -> bool {
        matches!(self, WritePolicy::WriteBack | WritePolicy::LocalWriteBack)
    }
}

/// Loads that bypass the L1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BypassedLoads {
    /// Volatile and cache-global loads, and loads that a mechanism chooses.
    Marked,
    /// All loads.
    All,
}

/// Serializes the sizes of shared memory without the repetitions of the last one.
fn write_choices<S: Serializer>(choices: &[u32; SHARED_CHOICES], to: S) -> Result<S::Ok, S::Error> {
    let last = choices[SHARED_CHOICES - 1];
    let count = choices.iter().position(|choice| *choice == last).map_or(SHARED_CHOICES, |at| at + 1);
    choices[..count].serialize(to)
}

/// Deserializes the sizes of shared memory. Unused entries repeat the last size.
fn read_choices<'de, D: Deserializer<'de>>(from: D) -> Result<[u32; SHARED_CHOICES], D::Error> {
    let sizes = Vec::<u32>::deserialize(from)?;
    let Some(last) = sizes.last().filter(|_| sizes.len() <= SHARED_CHOICES) else {
        let message = format!("{} sizes of shared memory: must be 1 to {SHARED_CHOICES}", sizes.len());
        return Err(serde::de::Error::custom(message));
    };
    Ok(std::array::from_fn(|at| *sizes.get(at).unwrap_or(last)))
}

/// L1 data cache of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, DocumentedFields)]
#[serde(deny_unknown_fields)]
pub struct L1dConfig {
    /// Number of sets, a power of two.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Sector size, bytes. In a cache without sectors, the line size.
    pub sector_bytes: u32,
    /// Sectors that a miss fetches; without sectors, always the line.
    pub fetch: Fetch,
    /// Set index function.
    #[serde(with = "index")]
    pub index: IndexFunction,
    /// Number of banks, interleaved by sectors of 32 bytes. A bank takes one transaction per cycle. Transactions of an
    /// instruction that use different banks enter together, unless a mechanism observes the L1D. 1: one transaction per cycle.
    pub banks: u32,
    /// Latency of the pipeline in front of the tags, core cycles. Loads and stores pass through it in order, whether they
    /// hit or miss. A blocked access at its end stalls all accesses behind it. Atomics bypass it. 0: no pipeline.
    pub front_latency: u32,
    /// Latency of a hit from tags to data, core cycles.
    pub hit_latency: u32,
    /// Tags per way. With more than one, a set allocates its data in blocks of 32 bytes, so that mechanisms can keep
    /// compressed lines.
    pub tags_per_way: u32,
    /// Number of MSHRs: misses in flight.
    pub mshr_entries: u32,
    /// Max requests per MSHR, including the first.
    pub mshr_merges: u32,
    /// Entries of the miss queue: requests that wait for the crossbar.
    pub miss_queue: u32,
    /// Store policy.
    pub write_policy: WritePolicy,
    /// Line allocation policy.
    pub allocate: Allocate,
    /// Loads that bypass the L1D.
    pub bypass: BypassedLoads,
    /// Max number of bypassing loads in flight. 0: no limit.
    pub bypass_slots: u32,
    /// Size of the memory that the L1D and shared memory share, bytes. The L1D gets the part that the running kernel's
    /// shared memory leaves, in whole ways. 0: the L1D always has `ways` ways.
    pub unified_bytes: u32,
    /// Sizes that shared memory can have in `unified_bytes`, bytes, ascending.
    #[serde(serialize_with = "write_choices", deserialize_with = "read_choices")]
    pub shared_choices: [u32; SHARED_CHOICES],
    /// Segment size of loads that bypass the cache, bytes, at most a line. A load transfers the segments that it touches.
    pub bypass_bytes: u32,
}

impl L1dConfig {
    /// Returns the ways of the L1D next to `shared_bytes` of shared memory. The smallest sufficient choice is reserved; the
    /// rest is rounded to whole ways.
    pub fn ways_beside(&self, shared_bytes: u32) -> u32 {
        let choice = self.shared_choices.into_iter().find(|choice| shared_bytes <= *choice);
        let left = choice.map_or(0, |choice| self.unified_bytes.saturating_sub(choice));
        let way = self.sets * self.line_bytes;
        ((left + way / 2) / way).clamp(1, MOST_WAYS)
    }

    pub(super) fn check(&self, check: &mut Checker<'_>) {
        check.power("l1d.sets", self.sets, 1, 4096);
        index::check(check, "l1d.index", self.index, self.sets, "sets");
        check.range("l1d.ways", self.ways, 1, MOST_WAYS);
        check.power("l1d.line_bytes", self.line_bytes, SECTOR_BYTES, MOST_LINE_BYTES);
        check.power("l1d.sector_bytes", self.sector_bytes, SECTOR_BYTES, self.line_bytes);
        self.check_unified(check);
        check.power("l1d.banks", self.banks, 1, MOST_L1D_BANKS);
        let sectors = self.line_bytes / SECTOR_BYTES;
        if self.banks > 1 && self.banks < sectors {
            let must = format!("must be 1, or at least the {sectors} sectors of a line");
            check.fail("l1d.banks", self.banks, must);
        }
        check.range("l1d.front_latency", self.front_latency, 0, 1000);
        check.range("l1d.hit_latency", self.hit_latency, 1, 1000);
        check.range("l1d.mshr_entries", self.mshr_entries, 1, 1024);
        check.range("l1d.mshr_merges", self.mshr_merges, 1, 1024);
        check.range("l1d.miss_queue", self.miss_queue, 1, 1024);
        check.range("l1d.bypass_slots", self.bypass_slots, 0, 1 << 16);
        check.power("l1d.bypass_bytes", self.bypass_bytes, SECTOR_BYTES, self.line_bytes);
        check.range("l1d.tags_per_way", self.tags_per_way, 1, 8);
        if self.tags_per_way > 1 && self.sector_bytes != self.line_bytes {
            let allowed = "allowed with sectors is 1: compressed lines are whole";
            check.fail("l1d.tags_per_way", self.tags_per_way, allowed.into());
        }
        if self.tags_per_way > 1 && self.write_policy.writes_back() {
            let allowed = "allowed with a policy that writes back is 1: a compressed line does not change";
            check.fail("l1d.tags_per_way", self.tags_per_way, allowed.into());
        }
    }

    fn check_unified(&self, check: &mut Checker<'_>) {
        if self.unified_bytes == 0 {
            return;
        }
        check.range(
            "l1d.unified_bytes",
            self.unified_bytes,
            self.sets.saturating_mul(self.line_bytes),
            1 << 24,
        );
        let last = self.shared_choices[SHARED_CHOICES - 1];
        if !self.shared_choices.is_sorted() || last > self.unified_bytes {
            let must = "must be ascending sizes up to l1d.unified_bytes".into();
            check.fail("l1d.shared_choices", format!("{:?}", self.shared_choices), must);
        }
    }
}
