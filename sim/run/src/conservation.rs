//! Conservation laws of the counters.
use selvedge_gpu::snapshot::Snapshot;
use selvedge_gpu::stats::CacheCounters;

/// Checks the conservation laws of a whole run's counters. `schedulers` is the number of schedulers of the GPU.
///
/// # Errors
/// The first violated law, with both sides.
pub(crate) fn check_conservation(run: &Snapshot, schedulers: u64) -> Result<(), BrokenLaw> {
    let accounted = run.sm.scheduler_cycles.total();
    equal("every scheduler's cycle went on something", accounted, run.cycles * schedulers)?;
    let sides = [(&run.constant, "L1C"), (&run.texture, "L1T"), (&run.instruction, "L1I")];
    for (cache, of) in [(&run.l1d, "L1D"), (&run.l2.cache, "L2")].into_iter().chain(sides) {
        let found = |c: &CacheCounters| c.hits + c.misses + c.pending_hits;
        equal(&format!("{of} accesses are hits, misses and pending hits"), cache.accesses, found(cache))?;
        let (fetched, filled) = (cache.sectors_fetched, cache.sectors_filled);
        equal(&format!("every sector that the {of} fetches comes"), fetched, filled)?;
    }
    let dram = &run.dram;
    let standby = dram.active_cycles + dram.precharged_cycles;
    equal(
        "each sub-rank's cycle has a row open or none",
        standby,
        dram.cycles * run.energy_model.sub_ranks(),
    )?;
    equal("every burst is read or written", dram.read_bursts + dram.write_bursts, dram.bursts)?;
    let sent = run.crossbar.requests;
    let parts = sent.packets + run.l2.split_parts;
    equal("the L2 decides every packet that the SMs sent", parts, run.l2.cache.accesses)?;
    equal("every packet is answered once", parts, run.crossbar.replies.packets)?;
    let load_misses = run.l1d.misses - run.l1d.write_misses;
    equal("every load miss of an L1D returns once", load_misses, run.sm.misses_returned)?;
    let prefetches = run.sm.prefetches_sent;
    equal("every prefetch of an L1D returns once", prefetches, run.sm.prefetches_returned)?;
    let writes = run.l1d.write_hits + run.l1d.write_misses - run.sm.stores_kept + run.sm.l1d_writebacks;
    let side_misses: u64 = sides.iter().map(|(cache, _)| cache.misses).sum();
    let told = load_misses + prefetches + writes + run.sm.atomics_sent + run.l1d.bypasses + side_misses;
    equal("the SMs send misses, prefetches, writes, atomics and bypasses", sent.packets, told)
}

/// Checks that DRAM moved exactly the bursts that a compressing mechanism counted for lines and metadata. No request may be in
/// flight.
///
/// # Errors
/// The violated law, with both sides.
pub fn check_bursts(run: &Snapshot) -> Result<(), BrokenLaw> {
    let Some(lines) = run.line_bursts else { return Ok(()) };
    let told = lines.data + lines.metadata;
    equal(
        "DRAM moves the bursts of the lines as they are compressed, and their metadata",
        run.dram.bursts,
        told,
    )
}

fn equal(law: &str, left: u64, right: u64) -> Result<(), BrokenLaw> {
    if left == right { Ok(()) } else { Err(BrokenLaw::new(law, left, right)) }
}

/// A conservation law that the counters violate, which is an error of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{law}: {left} against {right}")]
pub struct BrokenLaw {
    /// Law in words.
    pub law: String,
    /// Value of the left side.
    pub left: String,
    /// Value of the right side.
    pub right: String,
}

impl BrokenLaw {
    pub(crate) fn new(law: &str, left: impl ToString, right: impl ToString) -> Self {
        BrokenLaw { law: law.into(), left: left.to_string(), right: right.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::energy::LineBursts;

    #[test]
    fn a_lost_access_breaks_a_law() {
        let mut run = Snapshot::default();
        assert_eq!(check_conservation(&run, 2), Ok(()));
        run.l2.cache.accesses = 1;
        let law = check_conservation(&run, 2).expect_err("it is lost").to_string();
        assert_eq!(law, "L2 accesses are hits, misses and pending hits: 1 against 0");
    }

    #[test]
    fn a_burst_that_no_line_has_breaks_a_law() {
        let mut run = Snapshot::default();
        run.dram.bursts = 8;
        assert_eq!(check_bursts(&run), Ok(()), "nothing is compressed");
        let mut bursts = LineBursts { data: 6, uncompressed: 9, metadata: 2 };
        run.line_bursts = Some(bursts);
        assert_eq!(check_bursts(&run), Ok(()));
        bursts.data = 7;
        run.line_bursts = Some(bursts);
        let law = check_bursts(&run).expect_err("one is missing").to_string();
        assert!(law.ends_with("8 against 9"), "{law}");
    }
}
