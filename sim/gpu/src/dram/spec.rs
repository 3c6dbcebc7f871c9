//! The configuration of a channel.
use super::address::BankMap;
use super::queue::{MOST_PLACES, Queue};
use super::timing::Timing;
use crate::config::{DramConfig, DramScheduler};

/// Time of an event that only another event can schedule.
pub(super) const NEVER: u64 = u64::MAX;

/// The configuration of a channel, with values that follow from it.
pub struct ChannelSpec {
    pub scheduler: DramScheduler,
    /// Slots of the queue of each direction.
    pub capacity: usize,
    /// Cycles after which a waiting request is served alone.
    pub starvation: u64,
    /// Max requests in the channel, including replies, if banks choose their requests; else 0.
    pub most_in_flight: usize,
    /// Slots of the write queue if banks choose their requests. With 0 slots, writes share the slots of the reads.
    pub write_places: usize,
    pub most_returns: usize,
    pub write_high: usize,
    pub write_low: usize,
    /// `true` if reads and writes share one queue: without a high watermark, or if banks choose their requests.
    pub one_queue: bool,
    /// Group of each bank; empty without bank groups.
    pub groups: Vec<u32>,
    pub line_shift: u32,
    pub timing: Timing,
    pub map: BankMap,
    pub bank_count: u32,
    pub burst_shift: u32,
    /// Cycles between two refreshes.
    pub refresh_interval: u64,
    /// `true` if the queues have bit sets.
    has_places: bool,
}

impl ChannelSpec {
    /// Returns the configuration of a channel. Requests to the same line of `line_bytes` bytes stay in order.
    pub fn new(config: &DramConfig, line_bytes: u32) -> Self {
        let capacity = config.queue as usize;
        let return_queue = config.return_queue as usize;
        ChannelSpec {
            scheduler: config.scheduler,
            capacity,
            starvation: u64::from(config.starvation_cycles),
            most_in_flight: if return_queue > 0 { capacity + return_queue } else { 0 },
            write_places: config.write_queue as usize,
            most_returns: if return_queue > 0 { return_queue } else { capacity },
            write_high: config.write_high as usize,
            write_low: config.write_low as usize,
            one_queue: config.write_high == 0 || return_queue > 0,
            groups: if config.bank_groups > 1 {
                (0..config.banks).map(|bank| config.bank_group(bank)).collect()
            } else {
                Vec::new()
            },
            line_shift: line_bytes.trailing_zeros(),
            timing: Timing::new(config),
            map: BankMap::new(config),
            bank_count: config.banks,
            burst_shift: config.burst_bytes.trailing_zeros(),
            refresh_interval: if config.trefi == 0 { NEVER } else { u64::from(config.trefi) },
            // The bit sets support only FR-FCFS for the whole channel, one sub-rank and at most `MOST_PLACES` requests.
            has_places: config.sub_ranks == 1
                && return_queue == 0
                && config.scheduler != DramScheduler::Fcfs
                && capacity <= MOST_PLACES,
        }
    }

    /// Returns whether banks choose the requests that they serve.
    #[inline]
    pub fn banks_choose(&self) -> bool {
        self.most_in_flight > 0
    }

    /// Returns an empty queue of one direction.
    pub(super) fn queue(&self) -> Queue {
        let queue = Queue::new(self.capacity);
        if self.has_places { queue.with_places(self.bank_count) } else { queue }
    }
}
