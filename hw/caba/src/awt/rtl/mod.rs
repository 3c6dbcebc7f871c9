//! RTL of the AWT: the entries and the round-robin search.

mod entry_match;
mod first_behind;

use entry_match::EntryMatch;
use first_behind::FirstBehind;

use super::params::{AwtParams, KEY_BITS, ROW};
use crate::widths::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
use selvedge_hw::rtl::prelude::*;

/// The part of an entry that is read only at its deployment: lanes, live-in, live-out, SR.End.
type AwtContext = W<71, 2>;

const _: () = assert!(KEY_BITS == 11 && MASK_BITS + 2 * LIVE_BITS + INST_BITS == 71);

rtl_module! {
    /// Holds the active assist warps and deploys them round-robin, one instruction per cycle.
    ///
    /// CABA, section 4.4. INDEX is the width of an entry's number. KEYS is 11 bits per entry; WORDS is KEYS in 64-bit words.
    /// The entries are searched as ROWS rows of 8.
    #[require(KEYS == KEY_BITS * ENTRIES && ENTRIES <= 1 << INDEX && ENTRIES == ROWS * ROW)]
    pub struct AssistWarpTable<
        const ENTRIES: usize, const ROWS: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize,
    > for AwtParams as p {
        reset "asynchronous reset, active low: no assist warp is active";
        inputs AwtIn {
            /// an assist warp is triggered
            trigger_valid_i: bool as Bit = 1,
            /// parent warp of the assist warp
            trigger_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// the assist warp has high priority
            trigger_high_i: bool as Bit = 1,
            /// SR.ID of the assist warp's routine
            trigger_sr_i: u8 as U<SR_BITS> = SR_BITS,
            /// SR.End: Inst.ID of the routine's last instruction
            trigger_end_i: u8 as U<INST_BITS> = INST_BITS,
            /// lanes of the assist warp
            trigger_mask_i: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            trigger_live_in_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            trigger_live_out_i: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// kill the high-priority assist warps of a warp
            kill_high_i: bool as Bit = 1,
            /// kill the low-priority assist warps of a warp
            kill_low_i: bool as Bit = 1,
            /// warp whose assist warps are killed
            kill_warp_i: u8 as U<WARP_BITS> = WARP_BITS,
            /// warps whose high-priority instruction the buffer can take, one bit each
            high_room_i: u64 as U<WARPS> = WARPS,
            /// the buffer can take a low-priority instruction, and low priority is not throttled
            low_room_i: bool as Bit = 1,
        }
        outputs AwtOut {
            /// a valid trigger is taken in this cycle
            trigger_ready_o: bool as Bit = 1,
            /// no entry is free
            full_o: bool as Bit = 1,
            /// an instruction is deployed in this cycle
            deploy_valid_o: bool as Bit = 1,
            /// warp of the deployed instruction
            deploy_warp_o: u8 as U<WARP_BITS> = WARP_BITS,
            /// the instruction has high priority
            deploy_high_o: bool as Bit = 1,
            /// SR.ID of the instruction's routine
            deploy_sr_o: u8 as U<SR_BITS> = SR_BITS,
            /// Inst.ID of the instruction
            deploy_inst_o: u8 as U<INST_BITS> = INST_BITS,
            /// the instruction is the last of its routine
            deploy_last_o: bool as Bit = 1,
            /// lanes of the instruction
            deploy_mask_o: u32 as U<MASK_BITS> = MASK_BITS,
            /// IDs of the parent's two argument registers
            deploy_live_in_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// IDs of the parent's two result registers
            deploy_live_out_o: u16 as U<LIVE_BITS> = LIVE_BITS,
            /// entries in use, one bit each
            active_o: u64 as U<ENTRIES> = p.entries as usize,
        }
        parts {
            valid: Reg<U<ENTRIES>>,
            high: DataReg<U<ENTRIES>>,
            /// entries whose Inst.ID is in the memory; the others are at their first instruction
            started: DataReg<U<ENTRIES>>,
            /// SR.ID (low) and warp (high) of every entry
            keys: DataReg<W<KEYS, WORDS>>,
            /// row of the entry that was deployed last, one-hot
            last_row: Reg<U<ROWS>> = Reg::new(U::new(1 << (ROWS - 1))),
            /// columns after that entry in its row
            behind_last: Reg<U<ROW>>,
            contexts: Mem<AwtContext, INDEX>,
            insts: Mem<U<INST_BITS>, INDEX>,
            compare: Gate<EntryMatch<ENTRIES, KEYS, WORDS>>,
            free_entry: Gate<FirstBehind<ENTRIES, ROWS, INDEX>>,
            next_entry: Gate<FirstBehind<ENTRIES, ROWS, INDEX>>,
            /// entries that also take low priority
            low_entries: Constant<U<ENTRIES>> = Constant::new(U::new(u64::MAX) << u64::from(p.high_only())),
            free: Signal<Local, U<ENTRIES>>,
            key: Signal<Local, U<KEY_BITS>>,
            ready: Signal<Local, Bit>,
            accept: Signal<Local, Bit>,
            bundle: Signal<Local, AwtContext>,
            killed: Signal<Local, U<ENTRIES>>,
            requests: Signal<Local, U<ENTRIES>>,
            deploy: Signal<Local, Bit>,
            row_key: Signal<Local, U<KEY_BITS>>,
            deploy_key: Signal<Local, U<KEY_BITS>>,
            inst: Signal<Local, U<INST_BITS>>,
            ends: Signal<Local, Bit>,
            next_valid: Signal<Local, U<ENTRIES>>,
            next_high: Signal<Local, U<ENTRIES>>,
            next_started: Signal<Local, U<ENTRIES>>,
            next_keys: Signal<Local, W<KEYS, WORDS>>,
        }
        upset { valid }
    }
}

#[hdl_gen(layouts! { bundle, contexts.read_data_o: { mask: 32, live_in: 16, live_out: 16, last_id: 7 }, key, deploy_key: { sr: 5, warp: 6 } })]
impl Logic for AssistWarpTable {
    fn update(&mut self) {
        dff_setup!(self, clk_i, valid, high, started, keys, last_row, behind_last);
        drive!(self; contexts.clk_i: clk_i, insts.clk_i: clk_i, active_o: valid.q);
        self.full_o.next = self.valid.q.val().all();

        comment!("compare all entries in parallel");
        self.key.next = bit_cast::<11, 5>(self.trigger_sr_i.val());
        self.key.next[5..] = self.trigger_warp_i.val();
        drive!(self.compare; keys_i: keys.q, trigger_key_i: key, kill_warp_i, room_i: high_room_i);

        comment!("accept a trigger if an entry is free and its warp does not run the routine yet");
        self.free.next = !self.valid.q.val();
        if !self.trigger_high_i.val() {
            self.free.next = self.free.val() & self.low_entries.val();
        }
        drive!(self.free_entry; bits_i: free, row_i: 0, behind_i: 0);
        self.ready.next =
            self.free_entry.any_o.val() & !(self.valid.q.val() & self.compare.same_o.val()).any();
        self.trigger_ready_o.next = self.ready.val();
        self.accept.next = self.ready.val() & self.trigger_valid_i.val();
        self.bundle.next = 0.into();
        self.bundle.next[0..] = self.trigger_mask_i.val();
        self.bundle.next[32..] = self.trigger_live_in_i.val();
        self.bundle.next[48..] = self.trigger_live_out_i.val();
        self.bundle.next[64..] = self.trigger_end_i.val();
        drive!(self.contexts; write_i: accept, write_address_i: free_entry.index_o, write_data_i: bundle);

        comment!("a kill removes the warp's entries of the given priority");
        self.killed.next = 0.into();
        if self.kill_high_i.val() {
            self.killed.next = self.high.q.val();
        }
        if self.kill_low_i.val() {
            self.killed.next = self.killed.val() | !self.high.q.val();
        }
        self.killed.next = self.killed.val() & self.compare.killed_o.val();

        comment!(
            "round robin: the first ready entry after the last deployed one, else the first ready entry"
        );
        self.requests.next = self.high.q.val() & self.compare.room_o.val();
        if self.low_room_i.val() {
            self.requests.next = self.requests.val() | !self.high.q.val();
        }
        self.requests.next = self.requests.val() & self.valid.q.val() & !self.killed.val();
        drive!(self.next_entry; bits_i: requests, row_i: last_row.q, behind_i: behind_last.q);
        self.deploy.next = self.next_entry.any_o.val();

        comment!("key of that entry: select the candidate of each row first, then the row");
        self.deploy_key.next = 0.into();
        for r in 0..ROWS {
            self.row_key.next = 0.into();
            for c in 0..8 {
                if self.next_entry.candidates_o.val().get_bit(r * 8 + c) {
                    self.row_key.next =
                        self.row_key.val() | self.keys.q.val().get_bits::<11>(r * 88 + c * 11);
                }
            }
            if self.next_entry.row_o.val().get_bit(r) {
                self.deploy_key.next = self.deploy_key.val() | self.row_key.val();
            }
        }
        drive!(self; contexts.read_address_i: next_entry.index_o, insts.read_address_i: next_entry.index_o,
            inst: 0);
        if (self.started.q.val() & self.next_entry.first_o.val()).any() {
            self.inst.next = self.insts.read_data_o.val();
        }
        self.ends.next =
            self.deploy.val() & (self.inst.val() == self.contexts.read_data_o.val().get_bits::<7>(64));
        self.deploy_valid_o.next = self.deploy.val();
        self.deploy_warp_o.next = self.deploy_key.val().get_bits::<6>(5);
        self.deploy_high_o.next = (self.high.q.val() & self.next_entry.first_o.val()).any();
        self.deploy_sr_o.next = self.deploy_key.val().get_bits::<5>(0);
        drive!(self; deploy_inst_o: inst, deploy_last_o: ends);
        self.deploy_mask_o.next = self.contexts.read_data_o.val().get_bits::<32>(0);
        self.deploy_live_in_o.next = self.contexts.read_data_o.val().get_bits::<16>(32);
        self.deploy_live_out_o.next = self.contexts.read_data_o.val().get_bits::<16>(48);

        comment!("the deployed entry moves on, or is free after its last instruction");
        drive!(self.insts; write_i: deploy, write_address_i: next_entry.index_o);
        self.insts.write_data_i.next = self.inst.val() + 1;
        if self.deploy.val() {
            drive!(self; last_row.d: next_entry.row_o, behind_last.d: next_entry.behind_o);
        }
        self.next_started.next = self.started.q.val() | self.next_entry.first_o.val();
        self.next_valid.next = self.valid.q.val() & !self.killed.val();
        if self.ends.val() {
            self.next_valid.next = self.next_valid.val() & !self.next_entry.first_o.val();
        }
        drive!(self; next_high: high.q, next_keys: keys.q);
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
                    self.next_keys.next[e * 11..] = self.key.val();
                }
            }
        }
        drive!(self; valid.d: next_valid, high.d: next_high, started.d: next_started, keys.d: next_keys);
    }
}

elaborate! {
    /// Returns the AWT for valid parameters.
    pub(super) fn awt(params: &AwtParams as PARAMS) -> Box<dyn RtlBlock<AwtIn, AwtOut>> {
        for entries in [8, 48] {
            AssistWarpTable {
                ENTRIES = PARAMS.entries as usize,
                ROWS = PARAMS.rows(),
                INDEX = PARAMS.index_bits() as usize,
                KEYS = KEY_BITS * ENTRIES,
                WORDS = word_count(KEYS),
            }
        }
    }
}
