//! All counters of the GPU, and the energy that follows from them.
use crate::dram::{DramCounters, Energy, EnergyModel};
use crate::energy::{GpuEnergy, GpuEnergyModel};
use crate::events::{BlockOperations, LineBursts};
use crate::partition::{CrossbarStats, L2Counters};
use crate::stats::{CacheCounters, Scale, SmCounters};
use selvedge_state::State;

/// Counters of an interval of simulation.
#[derive(Clone, Debug, Default, PartialEq, State)]
pub struct Snapshot {
    /// Core cycles.
    pub cycles: u64,
    /// DRAM data-bus cycles, summed over all channels.
    pub bus_cycles: u64,
    /// Sum over all SMs.
    pub sm: SmCounters,
    /// Sum over all L1Ds.
    pub l1d: CacheCounters,
    /// Sum over all constant caches.
    pub constant: CacheCounters,
    /// Sum over all texture caches.
    pub texture: CacheCounters,
    /// Sum over all instruction caches.
    pub instruction: CacheCounters,
    /// Sum over all L2 slices.
    pub l2: L2Counters,
    /// Sum over all DRAM channels.
    pub dram: DramCounters,
    /// Request and reply crossbar.
    pub crossbar: CrossbarStats,
    /// Operations of mechanisms' blocks.
    pub blocks: BlockOperations,
    /// DRAM bursts of lines that a mechanism stores in its own form; `None` without such a mechanism.
    pub line_bursts: Option<LineBursts>,
    /// Computes the DRAM energy from the channels' counters.
    pub energy_model: EnergyModel,
    /// Computes the GPU energy from all counters.
    pub gpu_energy_model: GpuEnergyModel,
}

impl Snapshot {
    /// Returns the energy of the DRAM by its parts.
    pub fn dram_energy(&self) -> Energy {
        self.energy_model.energy(&self.dram)
    }

    /// Returns the energy of the GPU by its components.
    pub fn energy(&self) -> GpuEnergy {
        self.gpu_energy_model.energy(self)
    }

    /// Returns the blocks with counted operations that have no entry in the energy table.
    pub fn blocks_without_energy(&self) -> Vec<&'static str> {
        self.gpu_energy_model.blocks_without_energy(&self.blocks)
    }

    /// Returns the mean power of the GPU in milliwatts.
    pub fn power_mw(&self) -> f64 {
        self.gpu_energy_model.mean_power_mw(self)
    }

    /// Returns the energy of the GPU times the time, in nanojoule seconds.
    pub fn delay_product_nj_s(&self) -> f64 {
        self.gpu_energy_model.delay_product_nj_s(self)
    }

    /// Returns the mean power of the DRAM in milliwatts.
    pub fn dram_power_mw(&self) -> f64 {
        self.energy_model.mean_power_mw(&self.dram)
    }
}

impl Snapshot {
    /// Returns the counters times `factor`, rounded.
    pub fn scaled(&self, factor: f64) -> Snapshot {
        Snapshot {
            cycles: self.cycles.scaled(factor),
            bus_cycles: self.bus_cycles.scaled(factor),
            sm: self.sm.scaled(factor),
            l1d: self.l1d.scaled(factor),
            constant: self.constant.scaled(factor),
            texture: self.texture.scaled(factor),
            instruction: self.instruction.scaled(factor),
            l2: self.l2.scaled(factor),
            dram: self.dram.scaled(factor),
            blocks: self.blocks.clone().scaled(factor),
            line_bursts: self.line_bursts.map(|bursts| bursts.scaled(factor)),
            energy_model: self.energy_model,
            gpu_energy_model: self.gpu_energy_model.clone(),
            crossbar: CrossbarStats {
                requests: self.crossbar.requests.scaled(factor),
                replies: self.crossbar.replies.scaled(factor),
            },
        }
    }
}

impl std::ops::AddAssign<&Snapshot> for Snapshot {
    fn add_assign(&mut self, o: &Snapshot) {
        self.cycles += o.cycles;
        self.bus_cycles += o.bus_cycles;
        self.sm += o.sm;
        self.l1d += o.l1d;
        self.constant += o.constant;
        self.texture += o.texture;
        self.instruction += o.instruction;
        self.l2 += o.l2;
        self.dram += o.dram;
        self.crossbar.requests += o.crossbar.requests;
        self.crossbar.replies += o.crossbar.replies;
        self.blocks += &o.blocks;
        if let Some(bursts) = o.line_bursts {
            *self.line_bursts.get_or_insert_default() += bursts;
        }
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
