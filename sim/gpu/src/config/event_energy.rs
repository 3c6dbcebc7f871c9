//! What the energy of SMs, caches, crossbars and mechanisms' blocks is computed from: the energy of one event of each kind.
use super::check::Checker;
use documented::DocumentedFields;
use selvedge_state::Shared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Declares the table: every entry is checked and can be listed.
macro_rules! event_energy {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// The energy of one event, femtojoules (`_fj`), and power, milliwatts (`_mw`). See docs/energy.md for the events.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
        #[serde(deny_unknown_fields)]
        pub struct EventEnergy {
            $($(#[$doc])* pub $field: u32,)*
            /// An operation of a mechanism's block, femtojoules, by the name of the block.
            pub blocks: BTreeMap<String, u32>,
        }

        /// A run has one configuration.
        impl Shared for EventEnergy {
            fn key(&self) -> u64 {
                0
            }
        }

        impl EventEnergy {
            /// Returns every entry but those of blocks by its name.
            pub fn entries(&self) -> Vec<(&'static str, u32)> {
                vec![$((stringify!($field), self.$field)),*]
            }
        }
    };
}

event_energy! {
    /// A warp instruction: fetch, decode, scheduling, collection of operands, result buses.
    instruction_fj,
    /// A warp's register operand read.
    register_read_fj,
    /// A warp's register operand written.
    register_write_fj,
    /// An integer operation of a lane.
    int_fj,
    /// An integer multiplication of a lane.
    int_mul_fj,
    /// A single-precision operation of a lane.
    fp32_fj,
    /// A double-precision operation of a lane.
    fp64_fj,
    /// A special function of a lane.
    sfu_fj,
    /// A cycle of all banks of shared memory.
    shared_cycle_fj,
    /// A lookup of the L1D's tags, those of one tag per way.
    l1d_lookup_fj,
    /// 32 bytes read from the L1D's data.
    l1d_read_fj,
    /// 32 bytes written there.
    l1d_write_fj,
    /// An access to a constant, texture or instruction cache.
    read_only_access_fj,
    /// 32 bytes written there.
    read_only_fill_fj,
    /// A lookup of an L2 slice's tags.
    l2_lookup_fj,
    /// 32 bytes read from its data.
    l2_read_fj,
    /// 32 bytes written there.
    l2_write_fj,
    /// 32 bytes across a crossbar.
    flit_fj,
    /// Power of an SM with a warp on it beyond its leakage, whatever it issues.
    sm_active_mw,
    /// Leakage of an SM.
    sm_leakage_mw,
    /// Leakage of everything else on the chip, per partition.
    partition_leakage_mw,
}

impl EventEnergy {
    pub(super) fn check(&self, check: &mut Checker<'_>) {
        // A microjoule, or a kilowatt.
        const MOST: u32 = 1_000_000_000;
        const MOST_MW: u32 = 1_000_000;
        for (name, value) in self.entries() {
            let most = if name.ends_with("_mw") { MOST_MW } else { MOST };
            check.range(&format!("energy.{name}"), value, 0, most);
        }
        for (block, value) in &self.blocks {
            check.range(&format!("energy.blocks.{block}"), *value, 0, MOST);
        }
    }
}
