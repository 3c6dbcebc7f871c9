//! The path between an L2 slice and its DRAM channel.
use super::part::DramPlan;
use super::spec::SliceSpec;
use crate::cache::LinePart;
use crate::config::L2;
use crate::dram::{Access, Bursts, Request};
use selvedge_state::State;
use std::collections::VecDeque;

/// Max requests to DRAM that a read miss makes at once: data or metadata, and a metadata write-back.
pub const READ_REQUESTS: usize = 2;
/// Max requests to DRAM of an eviction: data, metadata, and a metadata write-back.
pub const WRITE_REQUESTS: usize = 3;
/// Max lines between the mechanism's fill stage and the tags.
const FILLED_LINES: usize = 2;

/// A read that waits for its metadata burst.
#[derive(Clone, Copy, State)]
pub struct Parked {
    pub metadata: u64,
    pub arrived: bool,
    pub request: Request,
}

/// Lines between a slice's tags and its DRAM channel, in both directions.
#[derive(State)]
pub struct DramPath {
    pub evictions: VecDeque<LinePart>,
    /// Lines that have left the tags but not reached `requests`. They must not be read from DRAM yet.
    pub leaving: Vec<u64>,
    /// Lines of forwarded stores, to be fetched after the stores have left.
    pub fetches_behind_stores: VecDeque<LinePart>,
    /// Lines that have left the mechanism's fill stage.
    pub filled: VecDeque<LinePart>,
    pub requests: VecDeque<Request>,
    /// Addresses of metadata bursts in flight.
    metadata_reads: Vec<u64>,
    pub parked: VecDeque<Parked>,
}

impl DramPath {
    /// Returns an empty path.
    pub fn new(l2: &L2) -> Self {
        DramPath {
            evictions: VecDeque::with_capacity(l2.eviction_queue as usize),
            leaving: Vec::with_capacity(2 * l2.eviction_queue as usize),
            fetches_behind_stores: VecDeque::new(),
            filled: VecDeque::with_capacity(FILLED_LINES),
            requests: VecDeque::with_capacity(l2.dram_queue as usize),
            metadata_reads: Vec::with_capacity(l2.mshr_entries as usize),
            parked: VecDeque::with_capacity(l2.mshr_entries as usize),
        }
    }

    /// Returns whether the next L2 cycle moves nothing here.
    pub fn is_at_rest(&self) -> bool {
        self.evictions.is_empty()
            && self.fetches_behind_stores.is_empty()
            && self.filled.is_empty()
            && self.parked.is_empty()
    }

    /// Returns whether one more line may leave the mechanism's fill stage.
    pub fn may_fill(&self) -> bool {
        self.filled.len() < FILLED_LINES
    }

    /// Returns whether the queue to the channel has room for `requests` requests.
    #[inline]
    pub fn has_room(&self, spec: &SliceSpec, requests: usize) -> bool {
        self.requests.len() + requests <= spec.dram_capacity
    }

    /// Returns whether an evicted line waits for room in the queue to the channel. Evictions have priority over fetches.
    pub fn has_waiting_eviction(&self, spec: &SliceSpec) -> bool {
        !self.leaving.is_empty() && !self.has_room(spec, WRITE_REQUESTS)
    }

    /// Queues sectors for DRAM.
    pub fn leave(&mut self, part: LinePart) {
        self.evictions.push_back(part);
        self.leaving.push(part.line);
    }

    /// Handles the arrival of the metadata burst at `address`.
    pub fn metadata_arrived(&mut self, address: u64) {
        self.metadata_reads.retain(|a| *a != address);
        for parked in self.parked.iter_mut().filter(|p| p.metadata == address) {
            parked.arrived = true;
        }
    }

    /// Sends the oldest parked read whose metadata has arrived.
    #[inline(always)]
    pub fn send_parked(&mut self, spec: &SliceSpec) {
        if self.has_room(spec, 1)
            && let Some(at) = self.parked.iter().position(|p| p.arrived)
            && let Some(parked) = self.parked.remove(at)
        {
            self.requests.push_back(parked.request);
        }
    }

    /// Sends a line's dirty sectors to DRAM, with the accesses to their metadata.
    pub fn write(&mut self, spec: &SliceSpec, part: LinePart, plan: DramPlan) {
        self.requests.push_back(data_request(spec, Access::Write, part, plan.bursts));
        if let Some(address) = plan.metadata {
            self.read_metadata(spec, address);
        }
        self.write_metadata(spec, plan.metadata_writeback);
        if let Some(at) = self.leaving.iter().position(|l| *l == part.line) {
            self.leaving.remove(at);
        }
    }

    /// Requests sectors of a line from DRAM, after their metadata if they have any.
    pub fn read(&mut self, spec: &SliceSpec, part: LinePart, plan: DramPlan) {
        let request = data_request(spec, Access::Read, part, plan.bursts);
        match plan.metadata {
            None => self.requests.push_back(request),
            Some(metadata) => {
                self.read_metadata(spec, metadata);
                self.parked.push_back(Parked { metadata, arrived: false, request });
            }
        }
        self.write_metadata(spec, plan.metadata_writeback);
    }

    /// Reads a metadata burst unless it is already in flight.
    fn read_metadata(&mut self, spec: &SliceSpec, address: u64) {
        if !self.metadata_reads.contains(&address) {
            self.metadata_reads.push(address);
            self.requests.push_back(metadata_request(spec, Access::Read, address));
        }
    }

    fn write_metadata(&mut self, spec: &SliceSpec, address: Option<u64>) {
        if let Some(address) = address {
            self.requests.push_back(metadata_request(spec, Access::Write, address));
        }
    }
}

fn data_request(spec: &SliceSpec, access: Access, part: LinePart, bursts: u32) -> Request {
    let address = spec.map.local(part.first_byte());
    // Uncompressed sectors keep their positions; a compressed line is one run of bursts.
    let places = Bursts::of_mask(spec.bursts.to_own(spec.bursts.whole(part.sectors)));
    let bursts = if places.count() == bursts { places } else { Bursts::run(bursts) };
    Request { access, address, bursts, metadata: false, slice: spec.number, token: part.token() }
}

/// Returns the request for one burst of metadata.
fn metadata_request(spec: &SliceSpec, access: Access, address: u64) -> Request {
    Request { access, address, bursts: Bursts::run(1), metadata: true, slice: spec.number, token: address }
}
