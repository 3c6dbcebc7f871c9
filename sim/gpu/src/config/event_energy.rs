//! Configuration of the energy of SMs, caches, crossbars and blocks: the energy of one event of each kind.
use super::check::Checker;
use documented::DocumentedFields;
use selvedge_state::SharedObject;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Declares the energy table, with a check and a list of all entries.
macro_rules! event_energy {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Energy of one event of each kind, femtojoules (`_fj`), and power, milliwatts (`_mw`). See docs/reference/energy.md for the
        /// events.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, DocumentedFields)]
        #[serde(deny_unknown_fields)]
        pub struct EventEnergy {
            $($(#[$doc])* pub $field: u32,)*
            /// Energy of an operation of a mechanism's block, fJ, by the block's name.
            pub blocks: BTreeMap<String, u32>,
        }

        /// The key is constant, because a run has only one configuration.
        impl SharedObject for EventEnergy {
            fn key(&self) -> u64 {
                0
            }
        }

        impl EventEnergy {
            /// Returns the name and value of every entry except the entries of blocks.
            pub fn entries(&self) -> Vec<(&'static str, u32)> {
                vec![$((stringify!($field), self.$field)),*]
            }
        }
    };
}

event_energy! {
    /// Energy of a warp instruction, fJ: fetch, decode, scheduling, operand collection and result buses.
    instruction_fj,
    /// Energy of reading one register operand of a warp, fJ.
    register_read_fj,
    /// Energy of writing one register operand of a warp, fJ.
    register_write_fj,
    /// Energy of an integer operation of one lane, fJ.
    int_fj,
    /// Energy of an integer multiplication of one lane, fJ.
    int_mul_fj,
    /// Energy of a single-precision operation of one lane, fJ.
    fp32_fj,
    /// Energy of a double-precision operation of one lane, fJ.
    fp64_fj,
    /// Energy of a special function of one lane, fJ.
    sfu_fj,
    /// Energy of one access cycle of all shared-memory banks, fJ.
    shared_cycle_fj,
    /// Energy of a tag lookup in the L1D with one tag per way, fJ; multiplied by `l1d.tags_per_way`.
    l1d_lookup_fj,
    /// Energy of reading 32 bytes of the L1D's data, fJ.
    l1d_read_fj,
    /// Energy of writing 32 bytes of the L1D's data, fJ.
    l1d_write_fj,
    /// Energy of an access to a constant, texture or instruction cache, fJ.
    read_only_access_fj,
    /// Energy of writing 32 bytes to a constant, texture or instruction cache, fJ.
    read_only_fill_fj,
    /// Energy of a tag lookup in an L2 slice, fJ.
    l2_lookup_fj,
    /// Energy of reading 32 bytes of an L2 slice's data, fJ.
    l2_read_fj,
    /// Energy of writing 32 bytes of an L2 slice's data, fJ.
    l2_write_fj,
    /// Energy of moving 32 bytes across a crossbar, fJ.
    flit_fj,
    /// Power of an SM with a resident warp in addition to leakage, mW; independent of the issued instructions.
    sm_active_mw,
    /// Leakage power of an SM, mW.
    sm_leakage_mw,
    /// Leakage power of the chip outside the SMs, mW per partition.
    partition_leakage_mw,
}

impl EventEnergy {
    pub(super) fn check(&self, check: &mut Checker<'_>) {
        // Max energy in femtojoules (1 microjoule) and max power in milliwatts (1 kilowatt).
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
