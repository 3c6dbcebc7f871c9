//! RTL of the AWT: the entries and the turn.

mod entry_match;
mod first_set;

use entry_match::EntryMatch;
use first_set::FirstSet;

use super::{AwtIn, AwtOut, AwtParams};
use crate::assist::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

/// SR.ID and warp of an entry, which name an assist warp.
const KEY_BITS: usize = SR_BITS + WARP_BITS;

/// The part of an entry that is only read when it is deployed: lanes, live-in, live-out, SR.End.
type Context = W<71, 2>;

const _: () = assert!(KEY_BITS == 11 && MASK_BITS + 2 * LIVE_BITS + INST_BITS == 71);

rtl_block! {
    /// Holds the assist warps under way and deploys them in turn, one instruction per cycle.
    ///
    /// CABA, section 4.4. INDEX is the width of an entry's number; KEYS is 11 bits per entry, WORDS those in 64-bit words.
    #[derive(LogicBlock)]
    pub struct AssistWarpTable<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no assist warp is under way
        pub rst_ni: Signal<In, Bit>,
        /// an assist warp is triggered
        pub trigger_valid_i: Signal<In, Bit>,
        /// its parent warp
        pub trigger_warp_i: Signal<In, U<WARP_BITS>>,
        /// it has high priority
        pub trigger_high_i: Signal<In, Bit>,
        /// SR.ID of its routine
        pub trigger_sr_i: Signal<In, U<SR_BITS>>,
        /// SR.End: Inst.ID of the routine's last instruction
        pub trigger_end_i: Signal<In, U<INST_BITS>>,
        /// its lanes
        pub trigger_mask_i: Signal<In, U<MASK_BITS>>,
        /// registers of the parent with its arguments
        pub trigger_live_in_i: Signal<In, U<LIVE_BITS>>,
        /// registers of the parent for its results
        pub trigger_live_out_i: Signal<In, U<LIVE_BITS>>,
        /// kill the high-priority assist warps of a warp
        pub kill_high_i: Signal<In, Bit>,
        /// kill the low-priority assist warps of a warp
        pub kill_low_i: Signal<In, Bit>,
        /// the warp whose assist warps are killed
        pub kill_warp_i: Signal<In, U<WARP_BITS>>,
        /// the buffer takes a high-priority instruction of the warp
        pub high_room_i: Signal<In, U<WARPS>>,
        /// the buffer takes a low-priority instruction, and they are not held back
        pub low_room_i: Signal<In, Bit>,
        /// the trigger would be taken
        pub trigger_ready_o: Signal<Out, Bit>,
        /// no entry is free
        pub full_o: Signal<Out, Bit>,
        /// an instruction is deployed in this cycle
        pub deploy_valid_o: Signal<Out, Bit>,
        /// its warp
        pub deploy_warp_o: Signal<Out, U<WARP_BITS>>,
        /// it has high priority
        pub deploy_high_o: Signal<Out, Bit>,
        /// SR.ID of its routine
        pub deploy_sr_o: Signal<Out, U<SR_BITS>>,
        /// its Inst.ID
        pub deploy_inst_o: Signal<Out, U<INST_BITS>>,
        /// it is the routine's last
        pub deploy_last_o: Signal<Out, Bit>,
        /// its lanes
        pub deploy_mask_o: Signal<Out, U<MASK_BITS>>,
        /// registers of the parent with arguments
        pub deploy_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// registers of the parent for results
        pub deploy_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// the entries in use
        pub active_o: Signal<Out, U<ENTRIES>>,
        valid: Reg<U<ENTRIES>>,
        high: Reg<U<ENTRIES>>,
        /// entries with an Inst.ID of their own; the others are at their first instruction
        started: Reg<U<ENTRIES>>,
        /// SR.ID (low) and warp (high) of every entry
        keys: Reg<W<KEYS, WORDS>>,
        /// the entry that was deployed last
        last: Reg<U<INDEX>>,
        contexts: Mem<Context, INDEX>,
        insts: Mem<U<INST_BITS>, INDEX>,
        compare: Gate<EntryMatch<ENTRIES, KEYS, WORDS>>,
        free_entry: Gate<FirstSet<ENTRIES, INDEX>>,
        next_entry: Gate<FirstSet<ENTRIES, INDEX>>,
        all: Constant<U<ENTRIES>>,
        /// all entries but those that take high priority only
        low_entries: Constant<U<ENTRIES>>,
        free: Signal<Local, U<ENTRIES>>,
        key: Signal<Local, U<KEY_BITS>>,
        ready: Signal<Local, Bit>,
        accept: Signal<Local, Bit>,
        bundle: Signal<Local, Context>,
        killed: Signal<Local, U<ENTRIES>>,
        requests: Signal<Local, U<ENTRIES>>,
        behind: Signal<Local, U<ENTRIES>>,
        deploy: Signal<Local, Bit>,
        deploy_key: Signal<Local, U<KEY_BITS>>,
        inst: Signal<Local, U<INST_BITS>>,
        ends: Signal<Local, Bit>,
        next_valid: Signal<Local, U<ENTRIES>>,
        next_high: Signal<Local, U<ENTRIES>>,
        next_started: Signal<Local, U<ENTRIES>>,
        next_keys: Signal<Local, W<KEYS, WORDS>>,
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> Default
    for AssistWarpTable<ENTRIES, INDEX, KEYS, WORDS>
{
    fn default() -> Self {
        const { assert!(KEYS == KEY_BITS * ENTRIES && ENTRIES <= 1 << INDEX) };
        let params = AwtParams { entries: ENTRIES as u32 };
        let all = U::<ENTRIES>::new(u64::MAX);
        AssistWarpTable {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            trigger_valid_i: Signal::default(),
            trigger_warp_i: Signal::default(),
            trigger_high_i: Signal::default(),
            trigger_sr_i: Signal::default(),
            trigger_end_i: Signal::default(),
            trigger_mask_i: Signal::default(),
            trigger_live_in_i: Signal::default(),
            trigger_live_out_i: Signal::default(),
            kill_high_i: Signal::default(),
            kill_low_i: Signal::default(),
            kill_warp_i: Signal::default(),
            high_room_i: Signal::default(),
            low_room_i: Signal::default(),
            trigger_ready_o: Signal::default(),
            full_o: Signal::default(),
            deploy_valid_o: Signal::default(),
            deploy_warp_o: Signal::default(),
            deploy_high_o: Signal::default(),
            deploy_sr_o: Signal::default(),
            deploy_inst_o: Signal::default(),
            deploy_last_o: Signal::default(),
            deploy_mask_o: Signal::default(),
            deploy_live_in_o: Signal::default(),
            deploy_live_out_o: Signal::default(),
            active_o: Signal::default(),
            valid: Reg::default(),
            high: Reg::default(),
            started: Reg::default(),
            keys: Reg::default(),
            last: Reg::new(U::new(ENTRIES as u64 - 1)),
            contexts: Mem::default(),
            insts: Mem::default(),
            compare: Gate::default(),
            free_entry: Gate::default(),
            next_entry: Gate::default(),
            all: Constant::new(all),
            low_entries: Constant::new(all << u64::from(params.high_only())),
            free: Signal::default(),
            key: Signal::default(),
            ready: Signal::default(),
            accept: Signal::default(),
            bundle: Signal::default(),
            killed: Signal::default(),
            requests: Signal::default(),
            behind: Signal::default(),
            deploy: Signal::default(),
            deploy_key: Signal::default(),
            inst: Signal::default(),
            ends: Signal::default(),
            next_valid: Signal::default(),
            next_high: Signal::default(),
            next_started: Signal::default(),
            next_keys: Signal::default(),
        }
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> Logic
    for AssistWarpTable<ENTRIES, INDEX, KEYS, WORDS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, high, started, keys, last);
        self.contexts.clk_i.next = self.clk_i.val();
        self.insts.clk_i.next = self.clk_i.val();
        self.active_o.next = self.valid.q.val();
        self.full_o.next = self.valid.q.val().all();

        comment!("all entries are compared at once");
        self.key.next = bit_cast::<11, 5>(self.trigger_sr_i.val());
        self.key.next = self.key.val().replace_bit(5, self.trigger_warp_i.val());
        self.compare.keys_i.next = self.keys.q.val();
        self.compare.trigger_key_i.next = self.key.val();
        self.compare.kill_warp_i.next = self.kill_warp_i.val();
        self.compare.room_i.next = self.high_room_i.val();

        comment!("a trigger needs a free entry, and that its warp does not run the routine already");
        self.free.next = !self.valid.q.val();
        if !self.trigger_high_i.val() {
            self.free.next = self.free.val() & self.low_entries.val();
        }
        self.free_entry.bits_i.next = self.free.val();
        self.ready.next = self.free.val().any() & !(self.valid.q.val() & self.compare.same_o.val()).any();
        self.trigger_ready_o.next = self.ready.val();
        self.accept.next = self.ready.val() & self.trigger_valid_i.val();
        self.bundle.next = 0.into();
        self.bundle.next = self.bundle.val().replace_bit(0, self.trigger_mask_i.val());
        self.bundle.next = self.bundle.val().replace_bit(32, self.trigger_live_in_i.val());
        self.bundle.next = self.bundle.val().replace_bit(48, self.trigger_live_out_i.val());
        self.bundle.next = self.bundle.val().replace_bit(64, self.trigger_end_i.val());
        self.contexts.write_i.next = self.accept.val();
        self.contexts.write_address_i.next = self.free_entry.index_o.val();
        self.contexts.write_data_i.next = self.bundle.val();

        comment!("a kill takes the entries of its warp that have its priority");
        self.killed.next = 0.into();
        if self.kill_high_i.val() {
            self.killed.next = self.high.q.val();
        }
        if self.kill_low_i.val() {
            self.killed.next = self.killed.val() | !self.high.q.val();
        }
        self.killed.next = self.killed.val() & self.compare.killed_o.val();

        comment!(
            "the first entry that is ready behind the one that was deployed last, or else the first of all"
        );
        self.requests.next = self.high.q.val() & self.compare.room_o.val();
        if self.low_room_i.val() {
            self.requests.next = self.requests.val() | !self.high.q.val();
        }
        self.requests.next = self.requests.val() & self.valid.q.val() & !self.killed.val();
        self.behind.next = self.requests.val() & ((self.all.val() << self.last.q.val()) << 1);
        if self.behind.val().any() {
            self.next_entry.bits_i.next = self.behind.val();
        } else {
            self.next_entry.bits_i.next = self.requests.val();
        }
        self.deploy.next = self.requests.val().any();

        comment!("what that entry says");
        self.deploy_key.next = 0.into();
        for e in 0..ENTRIES {
            if self.next_entry.first_o.val().get_bit(e) {
                self.deploy_key.next = self.deploy_key.val() | self.keys.q.val().get_bits::<11>(e * 11);
            }
        }
        self.contexts.read_address_i.next = self.next_entry.index_o.val();
        self.insts.read_address_i.next = self.next_entry.index_o.val();
        self.inst.next = 0.into();
        if (self.started.q.val() & self.next_entry.first_o.val()).any() {
            self.inst.next = self.insts.read_data_o.val();
        }
        self.ends.next =
            self.deploy.val() & (self.inst.val() == self.contexts.read_data_o.val().get_bits::<7>(64));
        self.deploy_valid_o.next = self.deploy.val();
        self.deploy_warp_o.next = self.deploy_key.val().get_bits::<6>(5);
        self.deploy_high_o.next = (self.high.q.val() & self.next_entry.first_o.val()).any();
        self.deploy_sr_o.next = self.deploy_key.val().get_bits::<5>(0);
        self.deploy_inst_o.next = self.inst.val();
        self.deploy_last_o.next = self.ends.val();
        self.deploy_mask_o.next = self.contexts.read_data_o.val().get_bits::<32>(0);
        self.deploy_live_in_o.next = self.contexts.read_data_o.val().get_bits::<16>(32);
        self.deploy_live_out_o.next = self.contexts.read_data_o.val().get_bits::<16>(48);

        comment!("the deployed entry moves on, or is free after its last instruction");
        self.insts.write_i.next = self.deploy.val();
        self.insts.write_address_i.next = self.next_entry.index_o.val();
        self.insts.write_data_i.next = self.inst.val() + 1;
        if self.deploy.val() {
            self.last.d.next = self.next_entry.index_o.val();
        }
        self.next_started.next = self.started.q.val() | self.next_entry.first_o.val();
        self.next_valid.next = self.valid.q.val() & !self.killed.val();
        if self.ends.val() {
            self.next_valid.next = self.next_valid.val() & !self.next_entry.first_o.val();
        }
        self.next_high.next = self.high.q.val();
        self.next_keys.next = self.keys.q.val();
        if self.accept.val() {
            self.next_valid.next = self.next_valid.val() | self.free_entry.first_o.val();
            self.next_started.next = self.next_started.val() & !self.free_entry.first_o.val();
            if self.trigger_high_i.val() {
                self.next_high.next = self.next_high.val() | self.free_entry.first_o.val();
            } else {
                self.next_high.next = self.next_high.val() & !self.free_entry.first_o.val();
            }
            for e in 0..ENTRIES {
                if self.free_entry.first_o.val().get_bit(e) {
                    self.next_keys.next = self.next_keys.val().replace_bit(e * 11, self.key.val());
                }
            }
        }
        self.valid.d.next = self.next_valid.val();
        self.high.d.next = self.next_high.val();
        self.started.d.next = self.next_started.val();
        self.keys.d.next = self.next_keys.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

impl<const ENTRIES: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize> RtlTop
    for AssistWarpTable<ENTRIES, INDEX, KEYS, WORDS>
{
    type In = AwtIn;
    type Out = AwtOut;

    fn drive(&mut self, inputs: &AwtIn) {
        self.trigger_valid_i.next = inputs.trigger_valid_i;
        self.trigger_warp_i.next = U::new(u64::from(inputs.trigger_warp_i));
        self.trigger_high_i.next = inputs.trigger_high_i;
        self.trigger_sr_i.next = U::new(u64::from(inputs.trigger_sr_i));
        self.trigger_end_i.next = U::new(u64::from(inputs.trigger_end_i));
        self.trigger_mask_i.next = U::new(u64::from(inputs.trigger_mask_i));
        self.trigger_live_in_i.next = U::new(u64::from(inputs.trigger_live_in_i));
        self.trigger_live_out_i.next = U::new(u64::from(inputs.trigger_live_out_i));
        self.kill_high_i.next = inputs.kill_high_i;
        self.kill_low_i.next = inputs.kill_low_i;
        self.kill_warp_i.next = U::new(u64::from(inputs.kill_warp_i));
        self.high_room_i.next = U::new(inputs.high_room_i);
        self.low_room_i.next = inputs.low_room_i;
    }

    fn sample(&self) -> AwtOut {
        AwtOut {
            trigger_ready_o: self.trigger_ready_o.val(),
            full_o: self.full_o.val(),
            deploy_valid_o: self.deploy_valid_o.val(),
            deploy_warp_o: self.deploy_warp_o.val().to_u64() as u8,
            deploy_high_o: self.deploy_high_o.val(),
            deploy_sr_o: self.deploy_sr_o.val().to_u64() as u8,
            deploy_inst_o: self.deploy_inst_o.val().to_u64() as u8,
            deploy_last_o: self.deploy_last_o.val(),
            deploy_mask_o: self.deploy_mask_o.val().to_u64() as u32,
            deploy_live_in_o: self.deploy_live_in_o.val().to_u64() as u16,
            deploy_live_out_o: self.deploy_live_out_o.val().to_u64() as u16,
            active_o: self.active_o.val().to_u64(),
        }
    }

    fn upset(&mut self, bit: usize) {
        let valid = self.valid.q.val();
        let bit = bit % ENTRIES;
        self.valid.q.next = valid.replace_bit(bit, !valid.get_bit(bit));
    }
}

/// The AWT for valid parameters. Widths that follow from others are spelled out, and checked by the block.
pub(super) fn awt(params: &AwtParams) -> Box<dyn RtlBlock<AwtIn, AwtOut>> {
    match params.entries {
        8 => RtlInstance::boxed(AssistWarpTable::<8, 3, 88, 2>::default()),
        _ => RtlInstance::boxed(AssistWarpTable::<48, 6, 528, 9>::default()),
    }
}
