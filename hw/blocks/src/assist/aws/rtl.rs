//! RTL of the AWS: a memory, and the address of an instruction.

use super::{AwsIn, AwsOut, AwsParams};
use crate::assist::{INST_BITS, SR_BITS};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

rtl_block! {
    /// Stores the instructions of all assist-warp routines and gives one per cycle.
    ///
    /// CABA, section 4.3. The store has 2^ADDRESS words of BITS bits; a routine starts at a multiple of 2^SLOT.
    #[derive(LogicBlock)]
    pub struct AssistWarpStore<const BITS: usize, const ADDRESS: usize, const SLOT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; the instructions survive it
        pub rst_ni: Signal<In, Bit>,
        /// write a word
        pub write_i: Signal<In, Bit>,
        /// where to write
        pub write_address_i: Signal<In, U<ADDRESS>>,
        /// the word
        pub write_data_i: Signal<In, U<BITS>>,
        /// fetch an instruction
        pub fetch_i: Signal<In, Bit>,
        /// SR.ID of its routine
        pub sr_i: Signal<In, U<SR_BITS>>,
        /// Inst.ID within the routine
        pub inst_i: Signal<In, U<INST_BITS>>,
        /// an instruction was asked for in the last cycle
        pub valid_o: Signal<Out, Bit>,
        /// the word at the address of the last cycle, as it was then
        pub instruction_o: Signal<Out, U<BITS>>,
        memory: SyncMem<U<BITS>, ADDRESS>,
        valid: Reg<Bit>,
        start: Signal<Local, U<ADDRESS>>,
    }
}

impl<const BITS: usize, const ADDRESS: usize, const SLOT: usize> Default
    for AssistWarpStore<BITS, ADDRESS, SLOT>
{
    /// All words are zero.
    fn default() -> Self {
        const { assert!(ADDRESS == SLOT + SR_BITS && ADDRESS >= INST_BITS) };
        AssistWarpStore {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            write_i: Signal::default(),
            write_address_i: Signal::default(),
            write_data_i: Signal::default(),
            fetch_i: Signal::default(),
            sr_i: Signal::default(),
            inst_i: Signal::default(),
            valid_o: Signal::default(),
            instruction_o: Signal::default(),
            memory: SyncMem::default(),
            valid: Reg::default(),
            start: Signal::default(),
        }
    }
}

impl<const BITS: usize, const ADDRESS: usize, const SLOT: usize> Logic
    for AssistWarpStore<BITS, ADDRESS, SLOT>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid);
        self.memory.clk_i.next = self.clk_i.val();
        self.memory.write_i.next = self.write_i.val();
        self.memory.write_address_i.next = self.write_address_i.val();
        self.memory.write_data_i.next = self.write_data_i.val();

        comment!("a routine starts at its slot and may go on through those that follow");
        self.start.next = 0.into();
        self.start.next = self.start.val().replace_bit(SLOT, self.sr_i.val());
        self.memory.read_address_i.next = self.start.val() + bit_cast::<ADDRESS, 7>(self.inst_i.val());

        self.valid.d.next = self.fetch_i.val();
        self.valid_o.next = self.valid.q.val();
        self.instruction_o.next = self.memory.read_data_o.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const BITS: usize, const ADDRESS: usize, const SLOT: usize> RtlTop
    for AssistWarpStore<BITS, ADDRESS, SLOT>
{
    type In = AwsIn;
    type Out = AwsOut;

    fn drive(&mut self, inputs: &AwsIn) {
        self.write_i.next = inputs.write_i;
        self.write_address_i.next = U::new(u64::from(inputs.write_address_i));
        self.write_data_i.next = U::new(inputs.write_data_i);
        self.fetch_i.next = inputs.fetch_i;
        self.sr_i.next = U::new(u64::from(inputs.sr_i));
        self.inst_i.next = U::new(u64::from(inputs.inst_i));
    }

    fn sample(&self) -> AwsOut {
        AwsOut { valid_o: self.valid_o.val(), instruction_o: self.instruction_o.val().to_u64() }
    }

    /// The flag alone: the memory's output register is inside the memory.
    fn upset(&mut self, _bit: usize) {
        self.valid.q.next = !self.valid.q.val();
    }
}

/// The AWS for valid parameters.
pub(super) fn aws(params: &AwsParams) -> Box<dyn RtlBlock<AwsIn, AwsOut>> {
    match (params.instructions, params.instruction_bits) {
        (512, 32) => RtlInstance::boxed(AssistWarpStore::<32, 9, 4>::default()),
        (512, _) => RtlInstance::boxed(AssistWarpStore::<64, 9, 4>::default()),
        (_, 32) => RtlInstance::boxed(AssistWarpStore::<32, 10, 5>::default()),
        (_, _) => RtlInstance::boxed(AssistWarpStore::<64, 10, 5>::default()),
    }
}
