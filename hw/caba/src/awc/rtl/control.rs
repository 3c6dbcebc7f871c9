//! RTL of the AWC's own logic: the map of events, the throttle, and the table between them.

use super::super::params::{AwcParams, EVENT_BITS, ROUTE_BITS, UNITS};
use super::throttle::Throttle;
use crate::awt::AssistWarpTable;
use crate::widths::{INST_BITS, LIVE_BITS, MASK_BITS, SR_BITS, WARP_BITS, WARPS};
use selvedge_hw::rtl::prelude::*;

const _: () = assert!(ROUTE_BITS == 13 && EVENT_BITS == 5);

rtl_block! {
    /// Starts an assist warp for each event in its map, deploys assist warps round-robin, and throttles low priority.
    ///
    /// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; ROWS, INDEX, KEYS and WORDS are parameters of the table.
    #[new(params: &AwcParams)]
    pub struct Control<
        const ENTRIES: usize, const ROWS: usize, const INDEX: usize, const KEYS: usize, const WORDS: usize,
    > {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: no event is known, no assist warp is active
        pub rst_ni: Signal<In, Bit>,
        /// write an event's word in the map
        pub map_write_i: Signal<In, Bit>,
        /// the event to write
        pub map_event_i: Signal<In, U<EVENT_BITS>>,
        /// the event starts a routine; otherwise it is removed from the map
        pub map_enable_i: Signal<In, Bit>,
        /// the assist warp has high priority
        pub map_high_i: Signal<In, Bit>,
        /// SR.ID of the routine
        pub map_sr_i: Signal<In, U<SR_BITS>>,
        /// SR.End: Inst.ID of the routine's last instruction
        pub map_end_i: Signal<In, U<INST_BITS>>,
        /// an event triggers an assist warp
        pub trigger_valid_i: Signal<In, Bit>,
        /// the triggering event
        pub trigger_event_i: Signal<In, U<EVENT_BITS>>,
        /// parent warp of the assist warp
        pub trigger_warp_i: Signal<In, U<WARP_BITS>>,
        /// lanes of the assist warp
        pub trigger_mask_i: Signal<In, U<MASK_BITS>>,
        /// IDs of the parent's two argument registers
        pub trigger_live_in_i: Signal<In, U<LIVE_BITS>>,
        /// IDs of the parent's two result registers
        pub trigger_live_out_i: Signal<In, U<LIVE_BITS>>,
        /// kill the high-priority assist warps of a warp
        pub kill_high_i: Signal<In, Bit>,
        /// kill the low-priority assist warps of a warp
        pub kill_low_i: Signal<In, Bit>,
        /// warp whose assist warps are killed
        pub kill_warp_i: Signal<In, U<WARP_BITS>>,
        /// classes of functional units that are busy, one bit each
        pub busy_i: Signal<In, U<UNITS>>,
        /// no scheduler issues for a regular warp or at high priority
        pub idle_i: Signal<In, Bit>,
        /// warps that can take a high-priority instruction in the next cycle, one bit each
        pub high_room_i: Signal<In, U<WARPS>>,
        /// the buffer can take a low-priority instruction in the next cycle
        pub low_room_i: Signal<In, Bit>,
        /// the event is in the map
        pub trigger_known_o: Signal<Out, Bit>,
        /// the event starts a routine of high priority
        pub trigger_high_o: Signal<Out, Bit>,
        /// a valid trigger is taken in this cycle
        pub trigger_ready_o: Signal<Out, Bit>,
        /// the table has no free entry
        pub full_o: Signal<Out, Bit>,
        /// fetch an instruction from the store
        pub fetch_o: Signal<Out, Bit>,
        /// SR.ID of the fetched instruction's routine
        pub fetch_sr_o: Signal<Out, U<SR_BITS>>,
        /// Inst.ID of the fetched instruction
        pub fetch_inst_o: Signal<Out, U<INST_BITS>>,
        /// the instruction that was fetched in the last cycle goes to the buffer
        pub stage_valid_o: Signal<Out, Bit>,
        /// warp of that instruction
        pub stage_warp_o: Signal<Out, U<WARP_BITS>>,
        /// the instruction has high priority
        pub stage_high_o: Signal<Out, Bit>,
        /// the instruction is the last of its assist warp
        pub stage_last_o: Signal<Out, Bit>,
        /// lanes of the instruction
        pub stage_mask_o: Signal<Out, U<MASK_BITS>>,
        /// IDs of the parent's two argument registers
        pub stage_live_in_o: Signal<Out, U<LIVE_BITS>>,
        /// IDs of the parent's two result registers
        pub stage_live_out_o: Signal<Out, U<LIVE_BITS>>,
        /// low priority is throttled in this window
        pub throttled_o: Signal<Out, Bit>,
        /// entries of the table that are in use, one bit each
        pub active_o: Signal<Out, U<ENTRIES>>,
        /// priority, SR.ID and SR.End of each event
        routes: Mem<U<ROUTE_BITS>, EVENT_BITS>,
        /// the events in the map
        known: Reg<U<32>>,
        assist_warps: AssistWarpTable<ENTRIES, ROWS, INDEX, KEYS, WORDS> = AssistWarpTable::new(&params.table()),
        pub(super) throttle: Throttle = Throttle::new(params),
        stage_valid: Reg<Bit>,
        stage_warp: Reg<U<WARP_BITS>>,
        stage_high: Reg<Bit>,
        stage_last: Reg<Bit>,
        stage_mask: Reg<U<MASK_BITS>>,
        stage_live_in: Reg<U<LIVE_BITS>>,
        stage_live_out: Reg<U<LIVE_BITS>>,
        new_route: Signal<Local, U<ROUTE_BITS>>,
        route: Signal<Local, U<ROUTE_BITS>>,
        event_known: Signal<Local, Bit>,
    }
}

#[hdl_gen(layouts! { route, new_route: { last_id: 7, sr: 5, high: 1 } })]
impl Logic for Control {
    fn update(&mut self) {
        dff_setup!(self, clk_i, known, stage_valid, stage_warp, stage_high, stage_last);
        dff_setup!(self, clk_i, stage_mask, stage_live_in, stage_live_out);
        self.routes.clk_i.next = self.clk_i.val();
        drive!(self.assist_warps; clk_i, rst_ni);
        drive!(self.throttle; clk_i, rst_ni);

        comment!("map word of an event: SR.End (lowest bits), SR.ID, priority");
        self.new_route.next = bit_cast::<13, 7>(self.map_end_i.val());
        self.new_route.next[7..] = self.map_sr_i.val();
        self.new_route.next[12] = self.map_high_i.val();
        drive!(self.routes; write_i: map_write_i, write_address_i: map_event_i, write_data_i: new_route);
        if self.map_write_i.val() {
            self.known.d.next =
                self.known.q.val().replace_bit(self.map_event_i.val().index(), self.map_enable_i.val());
        }

        comment!("a trigger's event gives the routine");
        drive!(self; routes.read_address_i: trigger_event_i, route: routes.read_data_o);
        self.event_known.next = self.known.q.val().get_bit(self.trigger_event_i.val().index());
        self.assist_warps.trigger_valid_i.next = self.trigger_valid_i.val() & self.event_known.val();
        self.assist_warps.trigger_warp_i.next = self.trigger_warp_i.val();
        self.assist_warps.trigger_high_i.next = self.route.val().get_bit(12);
        self.assist_warps.trigger_sr_i.next = self.route.val().get_bits::<5>(7);
        self.assist_warps.trigger_end_i.next = self.route.val().get_bits::<7>(0);
        drive!(self.assist_warps; trigger_mask_i, trigger_live_in_i, trigger_live_out_i);
        self.trigger_known_o.next = self.event_known.val();
        self.trigger_high_o.next = self.route.val().get_bit(12);
        self.trigger_ready_o.next = self.event_known.val() & self.assist_warps.trigger_ready_o.val();
        drive!(self; assist_warps.full_o, assist_warps.active_o);

        drive!(self.assist_warps; kill_high_i, kill_low_i, kill_warp_i);

        comment!("the throttle holds back low priority alone");
        drive!(self.throttle; busy_i, idle_i);
        drive!(self; throttle.throttled_o, assist_warps.high_room_i: high_room_i);
        self.assist_warps.low_room_i.next = self.low_room_i.val() & !self.throttle.throttled_o.val();

        comment!("the store replies in the next cycle; delay the rest of the instruction to match");
        drive!(self; fetch_o: assist_warps.deploy_valid_o, fetch_sr_o: assist_warps.deploy_sr_o,
            fetch_inst_o: assist_warps.deploy_inst_o, stage_valid.d: assist_warps.deploy_valid_o);
        if self.assist_warps.deploy_valid_o.val() {
            drive!(self; stage_warp.d: assist_warps.deploy_warp_o, stage_high.d: assist_warps.deploy_high_o,
                stage_last.d: assist_warps.deploy_last_o, stage_mask.d: assist_warps.deploy_mask_o,
                stage_live_in.d: assist_warps.deploy_live_in_o,
                stage_live_out.d: assist_warps.deploy_live_out_o);
        }
        drive!(self; stage_valid_o: stage_valid.q, stage_warp_o: stage_warp.q, stage_high_o: stage_high.q,
            stage_last_o: stage_last.q, stage_mask_o: stage_mask.q, stage_live_in_o: stage_live_in.q,
            stage_live_out_o: stage_live_out.q);
    }
}
