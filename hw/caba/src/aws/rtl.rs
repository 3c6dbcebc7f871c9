//! RTL of the AWS: a memory, and the address of an instruction.

use super::params::AwsParams;
use crate::widths::{INST_BITS, SR_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_module! {
    /// Stores the instructions of all assist-warp routines and reads one per cycle.
    ///
    /// CABA, section 4.3. The store has 2^ADDRESS words of BITS bits. A routine starts at a multiple of 2^SLOT.
    #[require(ADDRESS == SLOT + SR_BITS && ADDRESS >= INST_BITS)]
    pub struct AssistWarpStore<const BITS: usize, const ADDRESS: usize, const SLOT: usize> for AwsParams as p {
        reset "asynchronous reset, active low; the instructions survive it";
        inputs AwsIn {
            /// write a word
            write_i: bool as Bit = 1,
            /// address of the word to write
            write_address_i: u16 as U<ADDRESS> = p.address_bits() as usize,
            /// the word to write
            write_data_i: u64 as U<BITS> = p.instruction_bits as usize,
            /// fetch an instruction
            fetch_i: bool as Bit = 1,
            /// SR.ID of the instruction's routine
            sr_i: u8 as U<SR_BITS> = SR_BITS,
            /// Inst.ID: number of the instruction in its routine
            inst_i: u8 as U<INST_BITS> = INST_BITS,
        }
        outputs AwsOut {
            /// an instruction was fetched in the last cycle
            valid_o: bool as Bit = 1,
            /// the word at the address of the last cycle, before a write of that cycle
            instruction_o: u64 as U<BITS> = p.instruction_bits as usize,
        }
        parts {
            memory: SyncMem<U<BITS>, ADDRESS>,
            valid: Reg<Bit>,
            start: Signal<Local, U<ADDRESS>>,
        }
        upset { valid }
    }
}

#[hdl_gen]
impl Logic for AssistWarpStore {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid);
        drive!(self.memory; clk_i, write_i, write_address_i, write_data_i);

        comment!("a routine starts at its slot and can continue in the next slots");
        self.start.next = 0.into();
        self.start.next[SLOT..] = self.sr_i.val();
        self.memory.read_address_i.next = self.start.val() + bit_cast::<ADDRESS, 7>(self.inst_i.val());

        drive!(self; valid.d: fetch_i, valid_o: valid.q, instruction_o: memory.read_data_o);
    }
}

elaborate! {
    /// Returns the AWS for valid parameters.
    pub(super) fn aws(params: &AwsParams as PARAMS) -> Box<dyn RtlBlock<AwsIn, AwsOut>> {
        for instructions in [512, 1024] {
            for instruction_bits in [32, 64] {
                AssistWarpStore {
                    BITS = PARAMS.instruction_bits as usize,
                    ADDRESS = PARAMS.address_bits() as usize,
                    SLOT = ADDRESS - SR_BITS,
                }
            }
        }
    }
}
