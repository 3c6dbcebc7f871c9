//! All counters of the GPU, and what they cost in energy.
use crate::dram::{DramCounters, Energy, EnergyModel};
use crate::energy::{GpuEnergy, GpuEnergyModel};
use crate::events::{BlockOperations, LineBursts};
use crate::partition::{CrossbarStats, L2Counters};
use crate::stats::{CacheCounters, SmCounters};
use selvedge_state::State;

/// The counters of an interval of simulation.
#[derive(Clone, Debug, Default, PartialEq, State)]
pub struct Snapshot {
    /// Core cycles.
    pub cycles: u64,
    /// DRAM data-bus cycles, all channels together.
    pub bus_cycles: u64,
    /// All SMs.
    pub sm: SmCounters,
    /// All L1Ds.
    pub l1d: CacheCounters,
    /// All constant caches.
    pub constant: CacheCounters,
    /// All texture caches.
    pub texture: CacheCounters,
    /// All instruction caches.
    pub instruction: CacheCounters,
    /// All L2 slices.
    pub l2: L2Counters,
    /// All channels.
    pub dram: DramCounters,
    /// Both crossbars.
    pub crossbar: CrossbarStats,
    /// Operations of mechanisms' blocks.
    pub blocks: BlockOperations,
    /// Bursts of lines in a form of a mechanism's own; none without such a mechanism.
    pub line_bursts: Option<LineBursts>,
    /// What turns the channels' counters into energy.
    pub energy_model: EnergyModel,
    /// What turns all counters into energy.
    pub gpu_energy_model: GpuEnergyModel,
}

impl Snapshot {
    /// The DRAM's energy by its parts.
    pub fn dram_energy(&self) -> Energy {
        self.energy_model.energy(&self.dram)
    }

    /// The whole GPU's energy by its components.
    pub fn energy(&self) -> GpuEnergy {
        self.gpu_energy_model.energy(self)
    }

    /// Returns the blocks whose operations are counted and that have no entry in the table.
    pub fn blocks_without_energy(&self) -> Vec<&'static str> {
        self.gpu_energy_model.blocks_without_energy(&self.blocks)
    }

    /// The whole GPU's mean power, milliwatts.
    pub fn power_mw(&self) -> f64 {
        self.gpu_energy_model.mean_power_mw(self)
    }

    /// The whole GPU's energy times the time, nanojoule seconds.
    pub fn delay_product_nj_s(&self) -> f64 {
        self.gpu_energy_model.delay_product_nj_s(self)
    }

    /// The DRAM's mean power, milliwatts.
    pub fn dram_power_mw(&self) -> f64 {
        self.energy_model.mean_power_mw(&self.dram)
    }
}

impl std::ops::Sub for &Snapshot {
    type Output = Snapshot;

    fn sub(self, o: Self) -> Snapshot {
        Snapshot {
            cycles: self.cycles - o.cycles,
            bus_cycles: self.bus_cycles - o.bus_cycles,
            sm: self.sm - o.sm,
            l1d: self.l1d - o.l1d,
            constant: self.constant - o.constant,
            texture: self.texture - o.texture,
            instruction: self.instruction - o.instruction,
            l2: self.l2 - o.l2,
            dram: self.dram - o.dram,
            blocks: &self.blocks - &o.blocks,
            line_bursts: self.line_bursts.map(|bursts| bursts - o.line_bursts.unwrap_or_default()),
            energy_model: self.energy_model,
            gpu_energy_model: self.gpu_energy_model.clone(),
            crossbar: CrossbarStats {
                requests: self.crossbar.requests - o.crossbar.requests,
                replies: self.crossbar.replies - o.crossbar.replies,
            },
        }
    }
}
