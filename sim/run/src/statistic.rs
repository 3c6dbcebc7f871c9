//! Statistics under the names of GPGPU-Sim. One table has the keys and their meanings; output is text or CSV.
//!
//! Each key is a formula over two sets of counters: one of the launch, one from the start of the run to the launch's end.
//! `gpu_sim_*` use the former, `gpu_tot_*` and the totals of caches the latter.
use crate::report::{KernelReport, Refused, RunReport, ratio};
use selvedge_gpu::printable::printable;
use selvedge_gpu::snapshot::Snapshot;
use std::fmt::Write;

/// Value of a statistic: a count or a real number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An integer count.
    Count(u64),
    /// A ratio, rate or mean; printed with four decimal places.
    Real(f64),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Count(count) => write!(f, "{count}"),
            Value::Real(number) => write!(f, "{number:.4}"),
        }
    }
}

/// Counters from which a key is computed.
#[derive(Clone, Copy, Debug)]
pub struct CountedRange<'a> {
    /// Counters of one launch.
    pub launch: &'a Snapshot,
    /// Counters from the start of the run to the launch's end.
    pub so_far: &'a Snapshot,
}

/// A statistic: key, meaning and formula.
pub struct Statistic {
    /// Name in the output.
    pub key: &'static str,
    /// Description, with the unit.
    pub meaning: &'static str,
    /// Computes the value.
    pub value: fn(&CountedRange) -> Value,
}

/// Declares statistics: name, meaning, and a formula over `$c`.
macro_rules! statistics {
    ($($key:literal, $meaning:literal, |$c:ident| $value:expr;)*) => {
        [$(Statistic { key: $key, meaning: $meaning, value: |$c| $value }),*]
    };
}

use Value::{Count, Real};

/// All statistics, in the order of the output.
pub static STATISTICS: [Statistic; 118] = statistics! {
    "gpu_sim_cycle", "core cycles of the launch", |c| Count(c.launch.cycles);
    "gpu_sim_insn", "thread instructions of the launch: active lanes of the warp instructions that issued",
        |c| Count(c.launch.sm.thread_instructions);
    "gpu_ipc", "gpu_sim_insn over gpu_sim_cycle", |c| Real(ratio(c.launch.sm.thread_instructions, c.launch.cycles));
    "gpu_tot_sim_cycle", "core cycles of all launches so far", |c| Count(c.so_far.cycles);
    "gpu_tot_sim_insn", "thread instructions of all launches so far", |c| Count(c.so_far.sm.thread_instructions);
    "gpu_tot_ipc", "gpu_tot_sim_insn over gpu_tot_sim_cycle",
        |c| Real(ratio(c.so_far.sm.thread_instructions, c.so_far.cycles));
    "gpu_tot_issued_cta", "CTAs completed so far", |c| Count(c.so_far.sm.ctas);
    "gpu_tot_warp_insn", "warp instructions issued so far; a name of this project", |c| Count(c.so_far.sm.warp_instructions);
    "gpu_stall_dramfull", "cycles, over all partitions, in which a request waited because its DRAM channel's queue was full",
        |c| Count(c.so_far.l2.dram_full_cycles);
    "gpu_stall_icnt2sh", "L2 cycles, over all partitions, in which replies could not leave for the SMs",
        |c| Count(c.so_far.l2.reply_stalls);
    "gpgpu_n_mem_insn", "memory instructions, over warps, that the load/store units took; a name of this project",
        |c| Count(c.so_far.sm.memory_instructions);
    "gpgpu_n_mem_transactions", "line transactions after coalescing; a name of this project",
        |c| Count(c.so_far.sm.transactions);
    "gpgpu_n_shmem_bkconflict", "cycles that shared-memory accesses took beyond one each",
        |c| Count(c.so_far.sm.bank_conflict_cycles);
    "averagemflatency", "mean core cycles of a load that misses in an L1D, from its coming in front of the L1D to the return of its line",
        |c| Real(ratio(c.so_far.sm.load_latency_cycles, c.so_far.sm.misses_returned));
    "L1D_miss_latency", "mean core cycles from a miss in an L1D to its return; a name of this project",
        |c| Real(ratio(c.so_far.sm.miss_latency_cycles, c.so_far.sm.misses_returned));
    "L1D_total_cache_accesses", "line transactions that the L1Ds decided", |c| Count(c.so_far.l1d.accesses);
    "L1D_total_cache_misses", "those that did not find their line, stores among them", |c| Count(c.so_far.l1d.misses);
    "L1D_total_cache_load_misses", "loads among the misses; a name of this project",
        |c| Count(c.so_far.l1d.misses - c.so_far.l1d.write_misses);
    "L1D_total_cache_store_misses", "stores among the misses; a name of this project", |c| Count(c.so_far.l1d.write_misses);
    "L1D_total_cache_miss_rate", "L1D_total_cache_misses over L1D_total_cache_accesses",
        |c| Real(ratio(c.so_far.l1d.misses, c.so_far.l1d.accesses));
    "L1D_total_cache_sector_misses", "those among the misses that found their line, there or in flight, without a sector; a name of this project",
        |c| Count(c.so_far.l1d.sector_misses);
    "L1D_total_cache_sectors_filled", "sectors of 32 bytes that came to the L1Ds; a name of this project",
        |c| Count(c.so_far.l1d.sectors_filled);
    "L1D_total_cache_pending_hits", "those that found their line in flight", |c| Count(c.so_far.l1d.pending_hits);
    "L1D_total_cache_reservation_fails", "cycles in which an access could not be decided",
        |c| Count(c.so_far.l1d.reservation_fails.total());
    "L1D_total_cache_stores_kept", "stores that stayed in an L1D that writes back; a name of this project",
        |c| Count(c.so_far.sm.stores_kept);
    "L1D_total_cache_writebacks", "writes to the L2 of lines that left an L1D with what it had kept of stores; a name of this project",
        |c| Count(c.so_far.sm.l1d_writebacks);
    "L1D_total_cache_bypasses", "loads that bypassed the L1Ds; a name of this project", |c| Count(c.so_far.l1d.bypasses);
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT]", "loads of global memory that hit an L1D",
        |c| Count(c.so_far.l1d.global_reads().hits);
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED]", "loads of global memory whose line was in flight",
        |c| Count(c.so_far.l1d.global_reads().pending_hits);
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_R][MISS]", "loads of global memory that missed in an L1D",
        |c| Count(c.so_far.l1d.global_reads().line_misses());
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS]", "loads of global memory that found their line in an L1D without a sector",
        |c| Count(c.so_far.l1d.global_reads().sector_misses);
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_W][HIT]", "stores to global memory that hit an L1D",
        |c| Count(c.so_far.l1d.global_writes().hits);
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_W][MISS]", "stores to global memory that missed in an L1D",
        |c| Count(c.so_far.l1d.global_writes().line_misses());
    "Total_core_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS]", "stores to global memory that found their line in an L1D without a sector",
        |c| Count(c.so_far.l1d.global_writes().sector_misses);
    "Total_core_cache_stats_breakdown[LOCAL_ACC_R][HIT]", "loads of local memory that hit an L1D",
        |c| Count(c.so_far.l1d.local_reads.hits);
    "Total_core_cache_stats_breakdown[LOCAL_ACC_R][HIT_RESERVED]", "loads of local memory whose line was in flight",
        |c| Count(c.so_far.l1d.local_reads.pending_hits);
    "Total_core_cache_stats_breakdown[LOCAL_ACC_R][MISS]", "loads of local memory that missed in an L1D",
        |c| Count(c.so_far.l1d.local_reads.line_misses());
    "Total_core_cache_stats_breakdown[LOCAL_ACC_R][SECTOR_MISS]", "loads of local memory that found their line in an L1D without a sector",
        |c| Count(c.so_far.l1d.local_reads.sector_misses);
    "Total_core_cache_stats_breakdown[LOCAL_ACC_W][HIT]", "stores to local memory that hit an L1D",
        |c| Count(c.so_far.l1d.local_writes.hits);
    "Total_core_cache_stats_breakdown[LOCAL_ACC_W][MISS]", "stores to local memory that missed in an L1D",
        |c| Count(c.so_far.l1d.local_writes.line_misses());
    "Total_core_cache_stats_breakdown[LOCAL_ACC_W][SECTOR_MISS]", "stores to local memory that found their line in an L1D without a sector",
        |c| Count(c.so_far.l1d.local_writes.sector_misses);
    "L1C_total_cache_accesses", "accesses of the constant caches; 0 where there are none", |c| Count(c.so_far.constant.accesses);
    "L1C_total_cache_misses", "those that did not find their line", |c| Count(c.so_far.constant.misses);
    "L1C_total_cache_pending_hits", "those that found their line in flight", |c| Count(c.so_far.constant.pending_hits);
    "L1C_total_cache_reservation_fails", "cycles in which an access could not be decided",
        |c| Count(c.so_far.constant.reservation_fails.total());
    "L1T_total_cache_accesses", "accesses of the texture caches; 0 where there are none", |c| Count(c.so_far.texture.accesses);
    "L1T_total_cache_misses", "those that did not find their line", |c| Count(c.so_far.texture.misses);
    "L1T_total_cache_pending_hits", "those that found their line in flight", |c| Count(c.so_far.texture.pending_hits);
    "L1T_total_cache_reservation_fails", "cycles in which an access could not be decided",
        |c| Count(c.so_far.texture.reservation_fails.total());
    "L1I_total_cache_accesses", "accesses of the instruction caches; 0 where there are none", |c| Count(c.so_far.instruction.accesses);
    "L1I_total_cache_misses", "those that did not find their line", |c| Count(c.so_far.instruction.misses);
    "L1I_total_cache_pending_hits", "those that found their line in flight", |c| Count(c.so_far.instruction.pending_hits);
    "L1I_total_cache_reservation_fails", "cycles in which an access could not be decided",
        |c| Count(c.so_far.instruction.reservation_fails.total());
    "L2_total_cache_accesses", "requests that the L2 slices decided", |c| Count(c.so_far.l2.cache.accesses);
    "L2_total_cache_misses", "those that did not find their line", |c| Count(c.so_far.l2.cache.misses);
    "L2_total_cache_load_misses", "reads among the misses; a name of this project",
        |c| Count(c.so_far.l2.cache.misses - c.so_far.l2.cache.write_misses);
    "L2_total_cache_store_misses", "writes and atomics among the misses; a name of this project", |c| Count(c.so_far.l2.cache.write_misses);
    "L2_total_cache_miss_rate", "L2_total_cache_misses over L2_total_cache_accesses",
        |c| Real(ratio(c.so_far.l2.cache.misses, c.so_far.l2.cache.accesses));
    "L2_total_cache_sector_misses", "those among the misses that found their line, there or in flight, without a sector; a name of this project",
        |c| Count(c.so_far.l2.cache.sector_misses);
    "L2_total_cache_sectors_filled", "sectors of 32 bytes that came to the L2 from DRAM; a name of this project",
        |c| Count(c.so_far.l2.cache.sectors_filled);
    "L2_total_cache_pending_hits", "those that found their line in flight", |c| Count(c.so_far.l2.cache.pending_hits);
    "L2_total_cache_reservation_fails", "cycles in which a request could not be decided",
        |c| Count(c.so_far.l2.cache.reservation_fails.total());
    "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT]", "reads of global memory that hit the L2",
        |c| Count(c.so_far.l2.cache.global_reads().hits);
    "L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED]", "reads of global memory whose line was in flight",
        |c| Count(c.so_far.l2.cache.global_reads().pending_hits);
    "L2_cache_stats_breakdown[GLOBAL_ACC_R][MISS]", "reads of global memory that missed in the L2",
        |c| Count(c.so_far.l2.cache.global_reads().line_misses());
    "L2_cache_stats_breakdown[GLOBAL_ACC_R][SECTOR_MISS]", "reads of global memory that found their line in the L2 without a sector",
        |c| Count(c.so_far.l2.cache.global_reads().sector_misses);
    "L2_cache_stats_breakdown[GLOBAL_ACC_W][HIT]", "writes to global memory and atomics that hit the L2",
        |c| Count(c.so_far.l2.cache.global_writes().hits);
    "L2_cache_stats_breakdown[GLOBAL_ACC_W][MISS]", "writes to global memory and atomics that missed in the L2",
        |c| Count(c.so_far.l2.cache.global_writes().line_misses());
    "L2_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS]", "writes to global memory and atomics that found their line in the L2 without a sector",
        |c| Count(c.so_far.l2.cache.global_writes().sector_misses);
    "L2_cache_stats_breakdown[CONST_ACC_R][HIT]", "reads of constants and parameters that hit the L2", |c| Count(c.so_far.l2.cache.constant_reads.hits);
    "L2_cache_stats_breakdown[CONST_ACC_R][HIT_RESERVED]", "reads of constants and parameters whose line was in flight",
        |c| Count(c.so_far.l2.cache.constant_reads.pending_hits);
    "L2_cache_stats_breakdown[CONST_ACC_R][MISS]", "reads of constants and parameters that missed in the L2",
        |c| Count(c.so_far.l2.cache.constant_reads.line_misses());
    "L2_cache_stats_breakdown[CONST_ACC_R][SECTOR_MISS]", "reads of constants and parameters that found their line in the L2 without a sector",
        |c| Count(c.so_far.l2.cache.constant_reads.sector_misses);
    "L2_cache_stats_breakdown[INST_ACC_R][HIT]", "reads of instructions that hit the L2", |c| Count(c.so_far.l2.cache.instruction_reads.hits);
    "L2_cache_stats_breakdown[INST_ACC_R][HIT_RESERVED]", "reads of instructions whose line was in flight",
        |c| Count(c.so_far.l2.cache.instruction_reads.pending_hits);
    "L2_cache_stats_breakdown[INST_ACC_R][MISS]", "reads of instructions that missed in the L2",
        |c| Count(c.so_far.l2.cache.instruction_reads.line_misses());
    "L2_cache_stats_breakdown[INST_ACC_R][SECTOR_MISS]", "reads of instructions that found their line in the L2 without a sector",
        |c| Count(c.so_far.l2.cache.instruction_reads.sector_misses);
    "L2_fills", "lines that came from DRAM; a name of this project", |c| Count(c.so_far.l2.fills);
    "L2_writebacks", "dirty lines that left for DRAM; a name of this project", |c| Count(c.so_far.l2.writebacks);
    "n_act", "rows opened, all channels", |c| Count(c.so_far.dram.activates);
    "n_pre", "rows closed, all channels", |c| Count(c.so_far.dram.precharges);
    "n_rd", "bursts read from DRAM but for those of n_rd_L2_A: column commands, all channels",
        |c| Count(c.so_far.dram.read_bursts.saturating_sub(c.so_far.l2.allocation_bursts));
    "n_rd_L2_A", "bursts read for stores that miss in the L2", |c| Count(c.so_far.l2.allocation_bursts);
    "n_write", "bursts of stores that the L2 passed on to DRAM: column commands, all channels", |c| Count(c.so_far.l2.forwarded_bursts);
    "n_wr_bk", "bursts written to DRAM but for those of n_write: dirty lines, and mechanisms' metadata",
        |c| Count(c.so_far.dram.write_bursts.saturating_sub(c.so_far.l2.forwarded_bursts));
    "n_req", "read and write requests to DRAM, all channels", |c| Count(c.so_far.dram.reads + c.so_far.dram.writes);
    "row_hit_rate", "requests that found their row open, over n_req; a name of this project",
        |c| Real(ratio(c.so_far.dram.row_hits, c.so_far.dram.reads + c.so_far.dram.writes));
    "bw_util", "cycles of the DRAM data buses in use over all of them", |c| Real(ratio(c.so_far.dram.busy_cycles, c.so_far.bus_cycles));
    "n_ref", "refreshes of all banks, all channels", |c| Count(c.so_far.dram.refreshes);
    "n_act_sub_rank", "rows opened, each sub-rank's part counted; a name of this project",
        |c| Count(c.so_far.dram.sub_rank_activates);
    "dram_energy_precharge_standby_nJ", "energy of DRAM chips with no row open (LAMAR's P_PRE_STBY), so far; a name of this project",
        |c| Real(c.so_far.dram_energy().precharge_standby_nj);
    "dram_energy_active_standby_nJ", "energy of DRAM chips with a row open, what commands add left out (P_ACT_STBY)",
        |c| Real(c.so_far.dram_energy().active_standby_nj);
    "dram_energy_refresh_nJ", "energy that refreshes add (P_REF)", |c| Real(c.so_far.dram_energy().refresh_nj);
    "dram_energy_activate_precharge_nJ", "energy that opening and closing rows adds (P_ACT_PRE)",
        |c| Real(c.so_far.dram_energy().activate_precharge_nj);
    "dram_energy_read_bank_nJ", "energy that reads add in the banks (P_RD_BANK)", |c| Real(c.so_far.dram_energy().read_bank_nj);
    "dram_energy_read_io_nJ", "energy of reads on the pins (P_RD_IO)", |c| Real(c.so_far.dram_energy().read_io_nj);
    "dram_energy_write_bank_nJ", "energy that writes add in the banks (P_WR_BANK)",
        |c| Real(c.so_far.dram_energy().write_bank_nj);
    "dram_energy_write_io_nJ", "energy of writes on the pins (P_WR_IO)", |c| Real(c.so_far.dram_energy().write_io_nj);
    "dram_energy_total_nJ", "all the DRAM's energy so far: the sum of its eight parts", |c| Real(c.so_far.dram_energy().total_nj());
    "dram_power_mW", "dram_energy_total_nJ over the time so far", |c| Real(c.so_far.dram_power_mw());
    "dram_power_background_mW", "both standby parts of dram_power_mW",
        |c| Real(share(c.so_far.dram_energy().background_nj(), c.so_far.dram_energy().total_nj()) * c.so_far.dram_power_mw());
    "energy_instructions_nJ", "energy of warp instructions so far, assist warps' among them: fetch, decode, scheduling (docs/reference/energy.md); a name of this project, as all of energy_*",
        |c| Real(c.so_far.energy().instructions_nj);
    "energy_registers_nJ", "energy of register operands read and written, assist warps' included", |c| Real(c.so_far.energy().registers_nj);
    "energy_units_nJ", "energy of the lanes' arithmetic, assist warps' included", |c| Real(c.so_far.energy().units_nj);
    "energy_shared_memory_nJ", "energy of the shared memories' banks, assist warps' accesses included", |c| Real(c.so_far.energy().shared_memory_nj);
    "energy_sm_active_nJ", "what SMs with warps draw whatever they issue", |c| Real(c.so_far.energy().sm_active_nj);
    "energy_L1D_nJ", "energy of the L1Ds: lookups, lines read, sectors written", |c| Real(c.so_far.energy().l1d_nj);
    "energy_read_only_nJ", "energy of constant, texture and instruction caches", |c| Real(c.so_far.energy().read_only_nj);
    "energy_L2_nJ", "energy of the L2 slices: lookups, data read and written", |c| Real(c.so_far.energy().l2_nj);
    "energy_icnt_nJ", "energy of flits on both crossbars", |c| Real(c.so_far.energy().crossbar_nj);
    "energy_blocks_nJ", "energy of mechanisms' blocks: operations times the entries of [energy.blocks]", |c| Real(c.so_far.energy().blocks_nj);
    "energy_leakage_nJ", "static energy of the GPU chip: leakage power times the time so far", |c| Real(c.so_far.energy().leakage_nj);
    "energy_dram_nJ", "dram_energy_total_nJ", |c| Real(c.so_far.energy().dram_nj);
    "energy_total_nJ", "all the GPU's energy so far, DRAM included: the sum of its twelve components",
        |c| Real(c.so_far.energy().total_nj());
    "energy_power_mW", "energy_total_nJ over the time so far", |c| Real(c.so_far.power_mw());
    "energy_delay_product_nJs", "energy_total_nJ times the time so far in seconds", |c| Real(c.so_far.delay_product_nj_s());
    "icnt_total_pkts_simt_to_mem", "packets from the SMs to the L2 slices", |c| Count(c.so_far.crossbar.requests.packets);
    "icnt_total_pkts_mem_to_simt", "packets from the L2 slices to the SMs", |c| Count(c.so_far.crossbar.replies.packets);
};

/// Returns `a / b`, or 0 if `b` is 0.
fn share(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

fn counted(kernel: &KernelReport) -> CountedRange<'_> {
    CountedRange { launch: &kernel.share, so_far: &kernel.so_far }
}

/// Returns a block of `key = value` lines for each launch, and one for the refused work of a CUDA program.
pub fn text(report: &RunReport) -> String {
    let mut out = String::new();
    for (uid, kernel) in (1..).zip(&report.kernels) {
        let counted = counted(kernel);
        let name = printable(&kernel.name);
        write!(out, "kernel_name = {name}\nkernel_launch_uid = {uid}\n").expect("a string takes it");
        for statistic in &STATISTICS {
            writeln!(out, "{} = {}", statistic.key, (statistic.value)(&counted)).expect("a string takes it");
        }
        out.push('\n');
    }
    if let Some(Refused { modules, launches, calls, .. }) = &report.refused {
        for (what, count) in [("modules", modules), ("launches", launches), ("calls", calls)] {
            writeln!(out, "refused_{what} = {count}").expect("a string takes it");
        }
    }
    out
}

/// Returns rows as CSV, with control characters escaped.
fn rows(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut out = csv::Writer::from_writer(Vec::new());
    for row in rows {
        out.write_record(row.iter().map(|field| printable(field).into_owned()))
            .expect("all rows are as long");
    }
    String::from_utf8(out.into_inner().expect("memory takes it")).expect("text makes text")
}

/// Returns a CSV header, and a row for each launch of each run.
pub fn csv(reports: &[RunReport]) -> String {
    let fixed = ["workload", "size", "config", "mechanism", "engine", "kernel_launch_uid", "kernel_name"];
    let header = fixed.into_iter().chain(STATISTICS.iter().map(|statistic| statistic.key));
    let launches = reports.iter().flat_map(|report| {
        (1..).zip(&report.kernels).map(move |(uid, kernel): (u64, _)| {
            let counted = counted(kernel);
            let RunReport { workload, size, config, mechanism, engine, .. } = report;
            let names = [workload, size, config, mechanism, engine].map(String::clone).into_iter();
            let values = STATISTICS.iter().map(|statistic| (statistic.value)(&counted).to_string());
            names.chain([uid.to_string(), kernel.name.clone()]).chain(values).collect()
        })
    });
    rows([header.map(String::from).collect()].into_iter().chain(launches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_are_unique_and_one_word() {
        let keys: HashSet<_> = STATISTICS.iter().map(|statistic| statistic.key).collect();
        assert_eq!(keys.len(), STATISTICS.len());
        for key in keys {
            assert!(!key.contains(' '), "`stats explain {key}` needs no quotes");
        }
    }

    #[test]
    fn a_launch_and_the_run_so_far_are_told_apart() {
        let snapshot = |cycles, thread_instructions| {
            let mut snapshot = Snapshot { cycles, ..Snapshot::default() };
            snapshot.sm.thread_instructions = thread_instructions;
            snapshot
        };
        let counted = CountedRange { launch: &snapshot(10, 25), so_far: &snapshot(40, 60) };
        let value = |key| {
            let found = STATISTICS.iter().find(|statistic| statistic.key == key).expect("a key");
            (found.value)(&counted).to_string()
        };
        assert_eq!(value("gpu_sim_cycle"), "10");
        assert_eq!(value("gpu_ipc"), "2.5000");
        assert_eq!(value("gpu_tot_sim_cycle"), "40");
        assert_eq!(value("gpu_tot_ipc"), "1.5000");
        assert_eq!(value("bw_util"), "0.0000", "nothing to divide by");
    }

    #[test]
    fn a_field_with_a_comma_or_a_quote_is_quoted() {
        let row = ["plain", "hw-bdi,md_kb=1", "a\"b", "a\nb\u{1b}"].map(String::from).to_vec();
        assert_eq!(rows([row]), "plain,\"hw-bdi,md_kb=1\",\"a\"\"b\",a\\nb\\u{1b}\n");
    }
}
