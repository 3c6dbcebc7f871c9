//! Counters of a DRAM channel.
use crate::stats::counters;

counters! {
/// Counters of a channel.
pub struct DramCounters {
    /// Read requests served, metadata included.
    pub reads: u64,
    /// Write requests served, metadata included.
    pub writes: u64,
    /// Bursts moved by both.
    pub bursts: u64,
    /// Bursts among them that were read.
    pub read_bursts: u64,
    /// Bursts among them that were written.
    pub write_bursts: u64,
    /// Rows opened; one that is opened in several sub-ranks at once counts once.
    pub activates: u64,
    /// Rows opened, each sub-rank's part counted.
    pub sub_rank_activates: u64,
    /// Rows closed; one that is closed in several sub-ranks at once counts once.
    pub precharges: u64,
    /// Refreshes of all banks.
    pub refreshes: u64,
    /// Requests for which no row had to be opened.
    pub row_hits: u64,
    /// Cycles in which the data bus carried data; a sub-rank's part of the bus counts as its part of a cycle.
    pub busy_cycles: u64,
    /// Cycles with a row open, each sub-rank's counted.
    pub active_cycles: u64,
    /// Cycles with no row open, each sub-rank's counted.
    pub precharged_cycles: u64,
    /// Command-clock cycles that have passed.
    pub cycles: u64,
    /// Metadata reads among the reads.
    pub metadata_reads: u64,
    /// Metadata writes among the writes.
    pub metadata_writes: u64,
    /// Requests that waited longer than the starvation bound and were then served alone.
    pub starved: u64,
}
}
