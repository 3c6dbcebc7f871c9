//! Energy of the whole GPU: event counts times the table in the configuration's section `[energy]`, leakage over time, and DRAM
//! energy by its own formula ([`crate::dram::EnergyModel`]). docs/reference/energy.md has the table with its sources.
//!
//! | component | events |
//! |---|---|
//! | instructions | warp instructions of kernels and assist warps |
//! | registers | operands read and written |
//! | units | operations of lanes |
//! | shared memory | cycles of its banks |
//! | SM active | cycles with a resident warp on the SM |
//! | L1D | lookups; lines read by load hits, assist warps and write-backs; sectors written by fills and by stores that stay |
//! | read-only caches | accesses, sectors filled |
//! | L2 | lookups; bytes read for replies and evictions, written by requests and fills |
//! | crossbars | flits |
//! | blocks | operations of mechanisms' blocks |
//! | leakage | cycles |

pub use crate::events::{BlockOperations, InstructionWork, LineBursts, SmEvents};

use crate::config::{EventEnergy, GpuConfig, WritePolicy};
use crate::snapshot::Snapshot;
use schemars::JsonSchema;
use selvedge_state::{Reader, State};
use serde::Serialize;
use std::sync::Arc;

/// Bytes of the unit in which the energy table counts data.
const UNIT_BYTES: u64 = 32;

/// Energy by components, nanojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct GpuEnergy {
    /// Fetch, decode, scheduling and control of warp instructions, including those by assist warps.
    pub instructions_nj: f64,
    /// The register files.
    pub registers_nj: f64,
    /// Arithmetic of lanes.
    pub units_nj: f64,
    /// Shared memories.
    pub shared_memory_nj: f64,
    /// SMs with resident warps, in addition to leakage; independent of the issued instructions.
    pub sm_active_nj: f64,
    /// L1 data caches.
    pub l1d_nj: f64,
    /// Constant, texture and instruction caches.
    pub read_only_nj: f64,
    /// L2 slices.
    pub l2_nj: f64,
    /// Crossbars.
    pub crossbar_nj: f64,
    /// Mechanisms' blocks, such as compressors and decompressors.
    pub blocks_nj: f64,
    /// Static energy of the GPU chip. The DRAM's static energy is in `dram_nj`.
    pub leakage_nj: f64,
    /// DRAM channels, by LAMAR's formula.
    pub dram_nj: f64,
}

impl GpuEnergy {
    /// Returns the components, in order of the fields.
    pub fn parts(&self) -> [f64; 12] {
        [
            self.instructions_nj,
            self.registers_nj,
            self.units_nj,
            self.shared_memory_nj,
            self.sm_active_nj,
            self.l1d_nj,
            self.read_only_nj,
            self.l2_nj,
            self.crossbar_nj,
            self.blocks_nj,
            self.leakage_nj,
            self.dram_nj,
        ]
    }

    /// Returns the sum of all components in nanojoules.
    pub fn total_nj(&self) -> f64 {
        self.parts().iter().sum()
    }
}

/// The energy table, and the values of the configuration that convert counters into events.
#[derive(Clone, Debug, Default, PartialEq, State)]
pub struct GpuEnergyModel {
    table: Option<Arc<EventEnergy>>,
    core_mhz: f64,
    sms: f64,
    partitions: f64,
    /// L1D line size in units of 32 bytes.
    l1d_units: f64,
    tags_per_way: f64,
    l1d_writes: WritePolicy,
    flit_units: f64,
    burst_units: f64,
}

impl GpuEnergyModel {
    /// Creates the model of a configuration.
    pub fn new(config: &GpuConfig) -> Self {
        let units = |bytes: u32| f64::from(bytes) / UNIT_BYTES as f64;
        Self {
            table: Some(Arc::new(config.energy.clone())),
            core_mhz: f64::from(config.clock.core_mhz),
            sms: f64::from(config.sm.count),
            partitions: f64::from(config.l2.partitions),
            l1d_units: units(config.l1d.line_bytes),
            tags_per_way: f64::from(config.l1d.tags_per_way),
            l1d_writes: config.l1d.write_policy,
            flit_units: units(config.interconnect.flit_bytes),
            burst_units: units(config.dram.burst_bytes),
        }
    }

    /// Shares the table with models that are loaded from a checkpoint.
    pub(crate) fn share(&self, from: &mut Reader) {
        self.table.iter().for_each(|table| from.share(table));
    }

    /// Returns the energy of the counted events; 0 in a model without a configuration.
    pub fn energy(&self, s: &Snapshot) -> GpuEnergy {
        let Some(t) = &self.table else { return GpuEnergy::default() };
        let events = &s.sm.events;
        let instructions = s.sm.warp_instructions + events.assist_instructions;
        let leakage_mw =
            self.sms * f64::from(t.sm_leakage_mw) + self.partitions * f64::from(t.partition_leakage_mw);
        GpuEnergy {
            instructions_nj: nj(instructions, t.instruction_fj),
            registers_nj: nj(events.all_register_reads(), t.register_read_fj)
                + nj(events.all_register_writes(), t.register_write_fj),
            units_nj: nj(events.all_int_ops(), t.int_fj)
                + nj(events.int_mul_ops, t.int_mul_fj)
                + nj(events.fp32_ops, t.fp32_fj)
                + nj(events.fp64_ops, t.fp64_fj)
                + nj(events.sfu_ops, t.sfu_fj),
            shared_memory_nj: nj(events.all_shared_cycles(), t.shared_cycle_fj),
            sm_active_nj: self.over_cycles(s.sm.resident_cycles, f64::from(t.sm_active_mw)),
            l1d_nj: self.l1d(s, t),
            read_only_nj: read_only(s, t),
            l2_nj: self.l2(s, t),
            crossbar_nj: self.flit_units
                * nj(s.crossbar.requests.flits + s.crossbar.replies.flits, t.flit_fj),
            blocks_nj: blocks(&s.blocks, t),
            leakage_nj: self.over_cycles(s.cycles, leakage_mw),
            dram_nj: s.dram_energy().total_nj(),
        }
    }

    /// Returns the blocks of `operations` without an entry in the table; empty in a model without a configuration.
    pub fn blocks_without_energy(&self, operations: &BlockOperations) -> Vec<&'static str> {
        let Some(table) = &self.table else { return Vec::new() };
        let names = operations.iter().map(|(block, _)| block);
        names.filter(|block| !table.blocks.contains_key(*block)).collect()
    }

    /// Returns the mean power over the counted interval in milliwatts; 0 if no cycle was counted.
    pub fn mean_power_mw(&self, s: &Snapshot) -> f64 {
        let microseconds = self.microseconds(s);
        if microseconds > 0.0 { self.energy(s).total_nj() / microseconds } else { 0.0 }
    }

    /// Returns energy times delay in nanojoule seconds.
    pub fn delay_product_nj_s(&self, s: &Snapshot) -> f64 {
        self.energy(s).total_nj() * self.microseconds(s) * 1e-6
    }

    fn microseconds(&self, s: &Snapshot) -> f64 {
        if self.core_mhz > 0.0 { s.cycles as f64 / self.core_mhz } else { 0.0 }
    }

    /// Returns the energy of a power in milliwatts over core cycles, in nanojoules.
    fn over_cycles(&self, cycles: u64, milliwatts: f64) -> f64 {
        cycles as f64 * milliwatts / self.core_mhz
    }

    fn l1d(&self, s: &Snapshot, t: &EventEnergy) -> f64 {
        let load_hits = s.l1d.hits - s.l1d.write_hits;
        let stored = match self.l1d_writes {
            WritePolicy::WriteEvict => 0,
            WritePolicy::WriteThrough => s.l1d.write_hits,
            WritePolicy::WriteBack | WritePolicy::LocalWriteBack => s.sm.stores_kept,
        };
        self.tags_per_way * nj(s.l1d.accesses, t.l1d_lookup_fj)
            + self.l1d_units
                * nj(load_hits + s.sm.events.assist_accesses + s.sm.l1d_writebacks, t.l1d_read_fj)
            + nj(s.l1d.sectors_filled, t.l1d_write_fj)
            + self.l1d_units * nj(stored, t.l1d_write_fj)
    }

    fn l2(&self, s: &Snapshot, t: &EventEnergy) -> f64 {
        let units = |bytes: u64| bytes as f64 / UNIT_BYTES as f64;
        let evicted = self.burst_units * (s.dram.write_bursts as f64 - s.dram.metadata_writes as f64);
        let read = units(s.crossbar.replies.data_bytes) + evicted;
        let written = units(s.crossbar.requests.data_bytes) + s.l2.cache.sectors_filled as f64;
        nj(s.l2.cache.accesses, t.l2_lookup_fj) + read * nj(1, t.l2_read_fj) + written * nj(1, t.l2_write_fj)
    }
}

/// Returns the energy of `count` events of `femtojoules` each, in nanojoules.
fn nj(count: u64, femtojoules: u32) -> f64 {
    count as f64 * f64::from(femtojoules) * 1e-6
}

fn read_only(s: &Snapshot, t: &EventEnergy) -> f64 {
    let caches = [&s.constant, &s.texture, &s.instruction];
    let accesses = caches.iter().map(|cache| cache.accesses).sum();
    let filled = caches.iter().map(|cache| cache.sectors_filled).sum();
    nj(accesses, t.read_only_access_fj) + nj(filled, t.read_only_fill_fj)
}

fn blocks(operations: &BlockOperations, t: &EventEnergy) -> f64 {
    operations.iter().map(|(block, count)| nj(count, t.blocks.get(block).copied().unwrap_or(0))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value}, expected {expected}");
    }

    fn model() -> (GpuEnergyModel, EventEnergy) {
        let config = GpuConfig::load("gtx480").expect("built in");
        (GpuEnergyModel::new(&config), config.energy)
    }

    fn snapshot() -> Snapshot {
        let mut s = Snapshot { gpu_energy_model: model().0, ..Snapshot::default() };
        s.cycles = 1400;
        s
    }

    #[test]
    fn a_component_is_the_sum_of_its_events() {
        let t = model().1;
        let mut s = snapshot();
        s.sm.warp_instructions = 3;
        s.sm.events =
            SmEvents { assist_instructions: 2, assist_accesses: 1, fp32_ops: 64, ..SmEvents::default() };
        s.l1d.accesses = 10;
        (s.l1d.hits, s.l1d.write_hits, s.l1d.sectors_filled) = (5, 1, 8);
        s.crossbar.replies.data_bytes = 320;
        s.crossbar.requests.flits = 7;
        s.blocks.add("sc_decompressor", 1000);
        let e = s.energy();
        let fj = |count: f64, one: u32| count * f64::from(one) / 1e6;
        near(e.instructions_nj, fj(5.0, t.instruction_fj));
        near(e.units_nj, fj(64.0, t.fp32_fj));
        // Four load hits and one access of an assist warp read a line of 128 bytes each. Stores evict.
        near(e.l1d_nj, fj(10.0, t.l1d_lookup_fj) + fj(20.0, t.l1d_read_fj) + fj(8.0, t.l1d_write_fj));
        near(e.l2_nj, fj(10.0, t.l2_read_fj));
        near(e.crossbar_nj, fj(7.0, t.flit_fj));
        near(e.blocks_nj, 336.0);
        near(e.total_nj(), e.parts().iter().sum());
    }

    /// Returns a configuration with a different value in every entry of the energy table.
    fn all_different(keys: &str) -> GpuConfig {
        let entries = model().1.entries();
        let lines = entries.iter().zip(1001..).map(|((name, _), value)| format!("{name} = {value}\n"));
        let table: String = lines.collect();
        let text = format!("base = \"gtx480\"\n[energy]\n{table}{keys}");
        GpuConfig::parse("different.toml", &text).expect("valid")
    }

    /// Counts a thousand events.
    type Count = fn(&mut Snapshot);
    /// Returns the component to which the events belong.
    type Component = fn(&GpuEnergy) -> f64;

    /// Checks that a thousand events cost a thousand times the price, in a single component.
    fn check_price(config: &GpuConfig, price: u32, count: Count, component: Component) {
        let mut s = Snapshot { gpu_energy_model: GpuEnergyModel::new(config), ..Snapshot::default() };
        count(&mut s);
        let e = s.energy();
        near(component(&e), f64::from(price) * 1e-3);
        near(e.total_nj(), component(&e));
    }

    #[test]
    fn each_event_costs_its_own_entry_of_the_table() {
        let config = all_different("");
        let t = &config.energy;
        // 250 lines of 128 bytes are 1000 units of 32 bytes.
        let events: &[(u32, Count, Component)] = &[
            (t.instruction_fj, |s| s.sm.warp_instructions = 1000, |e| e.instructions_nj),
            (t.instruction_fj, |s| s.sm.events.assist_instructions = 1000, |e| e.instructions_nj),
            (t.register_read_fj, |s| s.sm.events.register_reads = 1000, |e| e.registers_nj),
            (t.register_write_fj, |s| s.sm.events.register_writes = 1000, |e| e.registers_nj),
            (t.int_fj, |s| s.sm.events.int_ops = 1000, |e| e.units_nj),
            (t.int_mul_fj, |s| s.sm.events.int_mul_ops = 1000, |e| e.units_nj),
            (t.fp32_fj, |s| s.sm.events.fp32_ops = 1000, |e| e.units_nj),
            (t.fp64_fj, |s| s.sm.events.fp64_ops = 1000, |e| e.units_nj),
            (t.sfu_fj, |s| s.sm.events.sfu_ops = 1000, |e| e.units_nj),
            (t.shared_cycle_fj, |s| s.sm.events.shared_cycles = 1000, |e| e.shared_memory_nj),
            (t.l1d_lookup_fj, |s| s.l1d.accesses = 1000, |e| e.l1d_nj),
            (t.l1d_read_fj, |s| s.l1d.hits = 250, |e| e.l1d_nj),
            (t.l1d_read_fj, |s| s.sm.events.assist_accesses = 250, |e| e.l1d_nj),
            (t.l1d_read_fj, |s| s.sm.l1d_writebacks = 250, |e| e.l1d_nj),
            (t.l1d_write_fj, |s| s.l1d.sectors_filled = 1000, |e| e.l1d_nj),
            (t.read_only_access_fj, |s| s.constant.accesses = 1000, |e| e.read_only_nj),
            (t.read_only_access_fj, |s| s.texture.accesses = 1000, |e| e.read_only_nj),
            (t.read_only_access_fj, |s| s.instruction.accesses = 1000, |e| e.read_only_nj),
            (t.read_only_fill_fj, |s| s.constant.sectors_filled = 1000, |e| e.read_only_nj),
            (t.read_only_fill_fj, |s| s.texture.sectors_filled = 1000, |e| e.read_only_nj),
            (t.read_only_fill_fj, |s| s.instruction.sectors_filled = 1000, |e| e.read_only_nj),
            (t.l2_lookup_fj, |s| s.l2.cache.accesses = 1000, |e| e.l2_nj),
            (t.l2_read_fj, |s| s.crossbar.replies.data_bytes = 32_000, |e| e.l2_nj),
            (t.l2_read_fj, |s| s.dram.write_bursts = 1000, |e| e.l2_nj),
            (t.l2_write_fj, |s| s.crossbar.requests.data_bytes = 32_000, |e| e.l2_nj),
            (t.l2_write_fj, |s| s.l2.cache.sectors_filled = 1000, |e| e.l2_nj),
            (t.flit_fj, |s| s.crossbar.requests.flits = 1000, |e| e.crossbar_nj),
            (t.flit_fj, |s| s.crossbar.replies.flits = 1000, |e| e.crossbar_nj),
        ];
        for (price, count, component) in events {
            check_price(&config, *price, *count, *component);
        }
        for (name, price) in t.entries().iter().filter(|(name, _)| name.ends_with("_fj")) {
            assert!(events.iter().any(|(checked, ..)| checked == price), "{name}");
        }
    }

    #[test]
    fn an_operation_of_a_block_costs_the_blocks_own_entry_and_nothing_without_one() {
        let config = all_different("[energy.blocks]\nbdi_compressor = 2001\nmine = 2002\n");
        check_price(&config, 2001, |s| s.blocks.add("bdi_compressor", 1000), |e| e.blocks_nj);
        check_price(&config, 2002, |s| s.blocks.add("mine", 1000), |e| e.blocks_nj);
        check_price(&config, 0, |s| s.blocks.add("another", 1000), |e| e.blocks_nj);
    }

    #[test]
    fn stores_cost_a_write_where_they_stay_in_the_l1d() {
        let hits: Count = |s| (s.l1d.hits, s.l1d.write_hits) = (250, 250);
        let kept: Count = |s| s.sm.stores_kept = 250;
        for (policy, count) in [("write-through", hits), ("write-back", kept), ("local-write-back", kept)] {
            let config = all_different(&format!("[l1d]\nwrite_policy = \"{policy}\"\n"));
            check_price(&config, config.energy.l1d_write_fj, count, |e| e.l1d_nj);
        }
        check_price(&all_different(""), 0, hits, |e| e.l1d_nj);
    }

    #[test]
    fn bursts_of_metadata_do_not_come_from_the_l2() {
        let config = all_different("");
        let count: Count = |s| (s.dram.write_bursts, s.dram.metadata_writes) = (1700, 700);
        check_price(&config, config.energy.l2_read_fj, count, |e| e.l2_nj);
    }

    #[test]
    fn an_sm_is_active_in_the_cycles_with_a_warp_alone() {
        let config = all_different("");
        let mut s = Snapshot { gpu_energy_model: GpuEnergyModel::new(&config), ..Snapshot::default() };
        // One of 15 SMs holds a warp for one of four microseconds.
        (s.cycles, s.sm.resident_cycles) = (5600, 1400);
        let t = &config.energy;
        near(s.energy().sm_active_nj, f64::from(t.sm_active_mw));
        near(s.energy().leakage_nj, 4.0 * f64::from(15 * t.sm_leakage_mw + 6 * t.partition_leakage_mw));
    }

    #[test]
    fn an_idle_gpu_leaks() {
        // The interval is one microsecond, so milliwatts equal nanojoules.
        let s = snapshot();
        let t = model().1;
        near(s.energy().leakage_nj, f64::from(15 * t.sm_leakage_mw + 6 * t.partition_leakage_mw));
        near(s.power_mw(), s.energy().total_nj());
        near(s.delay_product_nj_s(), s.energy().total_nj() * 1e-6);
        assert_eq!(Snapshot::default().energy().total_nj(), 0.0, "no machine, no energy");
    }

    /// The table's energy of instructions is derived from LAMAR's power of an SM at its peak, which the model must reproduce.
    #[test]
    fn an_sm_of_fused_multiply_adds_at_its_peak_draws_9_5_watts() {
        let mut s = snapshot();
        s.sm.warp_instructions = s.cycles;
        s.sm.resident_cycles = s.cycles;
        s.sm.events.fp32_ops = 32 * s.cycles;
        (s.sm.events.register_reads, s.sm.events.register_writes) = (3 * s.cycles, s.cycles);
        let e = s.energy();
        let sm = e.instructions_nj + e.registers_nj + e.units_nj + e.sm_active_nj;
        assert!((sm / 9500.0 - 1.0).abs() < 1e-3, "{sm} mW");
    }
}
