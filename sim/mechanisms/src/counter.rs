//! The counters of the mechanisms: their names in reports, and their meanings.

/// A counter of mechanisms, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The name. `{n}` represents a number, as in `most_in_flight_k{n}`.
    pub name: &'static str,
    /// The events that the counter counts, summed over all SMs or partitions unless the meaning says otherwise.
    pub meaning: &'static str,
}

impl Counter {
    /// Returns whether the counter of a report with this `name` is this counter, or one of this family.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        let Some((before, after)) = self.name.split_once("{n}") else { return self.name == name };
        let number = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Returns the counter with this `name`, or nothing if it is unknown.
#[must_use]
pub fn find(name: &str) -> Option<&'static Counter> {
    COUNTERS.iter().find(|counter| counter.is(name))
}

macro_rules! counters {
    ($($name:literal: $meaning:literal,)*) => {
        /// The counters of all mechanisms of this crate, by name.
        pub const COUNTERS: &[Counter] = &[$(Counter { name: $name, meaning: $meaning }),*];
    };
}

counters! {
    "assist_cycles": "cycles in which the assist warp controller was clocked",
    "assist_cycles_throttled": "cycles in which the controller held low-priority assist warps back",
    "assist_instructions_high": "instructions issued by high-priority assist warps: decompressions, look-ups",
    "assist_instructions_low": "instructions issued by low-priority assist warps: compressions, prefetches",
    "assist_warps_finished": "assist warps that ran to their end",
    "assist_warps_high": "high-priority assist warps triggered",
    "assist_warps_killed": "assist warps ended before their last instruction",
    "assist_warps_low": "low-priority assist warps triggered",
    "bypassed_loads": "line transactions of loads that bypassed the L1D",
    "chosen_limit": "warp limit under which the workload was fastest",
    "compressed_replies": "read replies that crossed the crossbar compressed",
    "data_bursts": "data bursts that DRAM moved, without metadata",
    "decisions_high_capacity": "intervals for which the controller chose the high-capacity codec",
    "decisions_low_latency": "intervals for which the controller chose the low-latency codec",
    "decisions_none": "intervals for which the controller chose no compression",
    "decompression_cycles": "cycles that hits on compressed lines spent in the queue and the decompressor",
    "decompression_late_cycles": "cycles in which the queue's latency was over and the decompressor not done",
    "distance_updates": "protecting distances chosen",
    "highest_distance": "the largest protecting distance chosen",
    "instructions_served_early": "memory instructions served before an earlier one",
    "l1d_coarse": "misses of the L1Ds that fetched the whole block",
    "l1d_demand": "sectors fetched by the L1Ds because the access that missed requested them",
    "l1d_evicted_sectors_used": "sectors of evicted L1D lines that an access had requested",
    "l1d_evictions": "lines evicted from the L1Ds",
    "l1d_fine": "misses of the L1Ds that fetched the requested sectors alone",
    "l1d_fine_defaults": "L1D predictors whose default is fine-grained at the end",
    "l1d_flips": "changes of the default of the L1Ds' predictors",
    "l1d_hits_decompressed": "hits on L1D lines that an assist warp decompressed",
    "l1d_hits_high_capacity": "hits on L1D lines of the high-capacity codec",
    "l1d_hits_low_latency": "hits on L1D lines of the low-latency codec",
    "l1d_insertions": "blocks evicted from L1Ds that the predictor's filter recorded",
    "l1d_known": "misses of the L1Ds for which the pattern history table had a pattern",
    "l1d_lines_compressed": "lines filled into the L1Ds compressed",
    "l1d_lines_high_capacity": "lines filled into the L1Ds in the high-capacity mode",
    "l1d_lines_kept_whole": "lines filled into the L1Ds uncompressed: no codec made them smaller, or they had no mode or no codes",
    "l1d_lines_low_latency": "lines filled into the L1Ds in the low-latency mode",
    "l1d_lines_none": "lines filled into the L1Ds without a mode",
    "l1d_npred_ref": "requested sectors of lines that were present without them: an earlier fetch left them out",
    "l1d_patterns": "misses of the L1Ds that fetched the requested sectors and some others",
    "l1d_pred_nref": "sectors that the L1Ds fetched beside the requested ones, and no access requested",
    "l1d_pred_ref": "sectors that the L1Ds fetched beside the requested ones, and an access requested later",
    "l1d_queries": "misses of the L1Ds for which a granularity was chosen",
    "l1d_stale_lines": "L1D lines invalidated because their codes were replaced",
    "l1d_sub_blocks": "sub-blocks of 32 bytes that lines filled into the L1Ds took",
    "l2_coarse": "misses of the L2 that fetched the whole block",
    "l2_demand": "sectors fetched by the L2 because the access that missed requested them",
    "l2_evicted_sectors_used": "sectors of evicted L2 lines that an access had requested",
    "l2_evictions": "lines evicted from the L2",
    "l2_fine": "misses of the L2 that fetched the requested sectors alone",
    "l2_fine_defaults": "L2 predictors whose default is fine-grained at the end",
    "l2_flips": "changes of the default of the L2's predictors",
    "l2_insertions": "blocks evicted from the L2 that the predictor's filter recorded",
    "l2_known": "misses of the L2 for which the pattern history table had a pattern",
    "l2_lines_left_raw": "L2 lines left uncompressed after a partial store, for lack of room",
    "l2_lines_placed": "lines given room in the compressed L2 by a fill or a write",
    "l2_lines_recompressed": "L2 lines compressed again after a partial store",
    "l2_npred_ref": "requested sectors of L2 lines that were present without them: an earlier fetch left them out",
    "l2_patterns": "misses of the L2 that fetched the requested sectors and some others",
    "l2_pred_nref": "sectors that the L2 fetched beside the requested ones, and no access requested",
    "l2_pred_ref": "sectors that the L2 fetched beside the requested ones, and an access requested later",
    "l2_queries": "misses of the L2 for which a granularity was chosen",
    "l2_sub_blocks": "sub-blocks that lines took in the compressed L2",
    "l_max_updates": "limits of warps in the L1D that MDB chose",
    "l_max_{n}": "times that MDB chose this limit of warps in the L1D; 8 is no bypassing",
    "latency_tolerance_cycles": "sum of the latency tolerances of all decisions, cycles",
    "launches_high_capacity": "launches run in the high-capacity mode",
    "launches_low_latency": "launches run in the low-latency mode",
    "launches_none": "launches run without compression",
    "limit_updates": "limits of memory instructions in flight that were computed",
    "limit_updates_below_maximum": "computed limits below the largest that the block can state",
    "loads_ended": "loads whose warp ended before their assist warp began",
    "loads_not_followed": "loads without an assist warp: 16 were waiting, or one of the same load and warp",
    "lowest_limit": "the lowest limit of memory instructions in flight",
    "metadata_accesses": "look-ups in the partitions' metadata caches",
    "metadata_bursts": "DRAM bursts of metadata",
    "metadata_hits": "look-ups that found their line in a metadata cache",
    "metadata_replaced": "metadata of a load replaced by that of another",
    "most_in_flight_k{n}": "the most memory instructions that this kernel had in flight in an SM",
    "most_resident_warps": "the most warps that a scheduler had at once; a limit of as many limits nothing",
    "partition_lines_compressed": "lines compressed in the memory partitions",
    "partition_lines_decompressed": "lines decompressed in the memory partitions",
    "prefetched_lines_late": "prefetched lines that a load requested while they were in flight",
    "prefetched_lines_left": "prefetched lines that no load had requested at the end",
    "prefetched_lines_useful": "prefetched lines that a load found in the L1D",
    "prefetched_lines_useless": "prefetched lines evicted before a load requested them",
    "prefetches": "lines that assist warps requested: those sent and those dropped",
    "prefetches_dropped_beyond": "prefetches dropped because no buffer of the program is there",
    "prefetches_dropped_ended": "prefetches dropped because their warp had ended",
    "prefetches_dropped_no_mshr": "prefetches dropped because no MSHR was free",
    "prefetches_dropped_no_queue": "prefetches dropped because the miss queue was full",
    "prefetches_dropped_no_way": "prefetches dropped because no way of the set was free",
    "prefetches_dropped_present": "prefetches dropped because the line is in the L1D",
    "prefetches_dropped_under_way": "prefetches dropped because the line was in flight",
    "prefetches_sent": "prefetches sent as misses: useful, late, useless and left ones",
    "quota_sets_added": "sets of quotas added because a kernel had none left",
    "quota_updates": "times that quotas were computed anew",
    "raw_replies": "read replies that crossed the crossbar uncompressed",
    "region_instructions_skipped": "instructions that warps skipped because their region's results were found",
    "region_results_stored": "regions executed whose results were stored",
    "regions_asked": "warps that looked up a region's results",
    "regions_found": "warps that found a region's results and skipped it",
    "regions_given_up": "times that an SM stopped looking up a region for 16,384 cycles, since too little was found",
    "sc_build_cycles": "cycles from the end of counting to the use of new codes",
    "sc_builds": "sets of codes that came into use",
    "sc_builds_skipped": "sets of codes not built because another was being built",
    "sc_codes_kept": "sets of codes that stayed in use because too few words were counted for new ones",
    "sc_lines_not_counted": "lines that the value table did not count because it was busy",
    "sc_trainings_skipped": "times that counting did not begin because codes were being built",
    "sc_words_counted": "words that the value tables counted",
    "sm_lines_compressed": "lines compressed in the SMs",
    "sm_lines_decompressed": "lines decompressed in the SMs",
    "sm_lines_incompressible": "lines that assist warps tried to compress without success",
    "stores_not_tried": "stores that left uncompressed because lines before them were incompressible",
    "stores_released_awaited": "stores that left uncompressed because their warp waited for them",
    "stores_released_late": "stores that left uncompressed because their time in the buffer was over",
    "stores_released_overflow": "stores that left uncompressed because the buffer was full",
    "stores_released_overtaken": "stores that left uncompressed because another store to their line came",
    "table_entries": "the most entries that the result tables had, all SMs together",
    "tables_cleared": "times that a result table was emptied",
    "trial_cycles_high_capacity": "cycles of all launches in the high-capacity mode, from trials",
    "trial_cycles_low_latency": "cycles of all launches in the low-latency mode, from trials",
    "trial_cycles_none": "cycles of all launches without compression, from trials",
    "tried_limits": "runs made to find the best limit",
    "uncompressed_bursts": "data bursts that DRAM would have moved without compression",
    "unlimited_cycles": "cycles of the run without a limit",
    "watched_loads": "loads that MDB's blocks observed",
    "watched_reservation_failures": "reservation failures that MDB's blocks observed",
    "way_updates": "times that L1D ways were distributed among the kernels",
    "ways_given_k{n}": "sum of the ways that this kernel received in all distributions",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_found_by_each_of_its_numbers_and_nothing_else() {
        assert_eq!(find("l_max_3").map(|counter| counter.name), Some("l_max_{n}"));
        assert_eq!(find("l_max_updates").map(|counter| counter.name), Some("l_max_updates"));
        assert_eq!((find("l_max_"), find("l_max_x"), find("most_in_flight_k")), (None, None, None));
    }

    #[test]
    fn the_glossary_is_sorted_and_names_each_once() {
        assert!(COUNTERS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
