//! RTL of the decompression queue: a memory of waiting lines, the line in the decompressor, and the reply to an entry.

use super::params::{DecompressionQueueParams, ID_BITS, LATENCY_BITS};
use selvedge_hw::rtl::prelude::*;

/// Bits of a waiting line: the identifier above the latency.
const LINE_BITS: usize = ID_BITS + LATENCY_BITS;

rtl_module! {
    /// Queues hits on compressed lines for the decompressor and returns the effective latency of each.
    ///
    /// LATTE-CC, section III-B. 2^A lines can wait. POSITION is A + 1, and LATENCY is the width of an effective latency.
    #[require(POSITION == A + 1 && 15 * ((1 << A) + 1) < 1 << LATENCY)]
    pub struct DecompressionQueueTop<
        const A: usize, const POSITION: usize, const LATENCY: usize,
    > for DecompressionQueueParams as p {
        reset "asynchronous reset, active low: the queue is empty";
        inputs DecompressionQueueIn {
            /// a hit on a compressed line is offered
            valid_i: bool as Bit = 1,
            /// identifier of the hit
            id_i: u8 as U<ID_BITS> = ID_BITS,
            /// decompression latency of the line's mode, in cycles
            latency_i: u8 as U<LATENCY_BITS> = LATENCY_BITS,
            /// the consumer takes the decompressed line in this cycle
            ready_i: bool as Bit = 1,
        }
        outputs DecompressionQueueOut {
            /// the queue can take a line in this cycle
            ready_o: bool as Bit = 1,
            /// a decompressed line is offered
            valid_o: bool as Bit = 1,
            /// identifier of the line in the decompressor
            id_o: u8 as U<ID_BITS> = ID_BITS,
            /// a line entered in the last cycle
            accepted_o: bool as Bit = 1,
            /// lines that were ahead of that line
            position_o: u8 as U<POSITION> = p.position_bits(),
            /// effective hit latency of that line by the paper's formula, in cycles
            hit_latency_o: u8 as U<LATENCY> = p.hit_latency_bits(),
            /// cycles from that line's entry until it is decompressed, if the consumer does not stall
            exact_latency_o: u8 as U<LATENCY> = p.hit_latency_bits(),
        }
        parts {
            /// waiting lines: identifier and latency
            lines: Mem<U<LINE_BITS>, A>,
            read: Reg<U<A>>,
            write: Reg<U<A>>,
            /// number of waiting lines
            waiting: Reg<U<POSITION>>,
            /// the decompressor holds a line
            busy: Reg<Bit>,
            id: Reg<U<ID_BITS>>,
            /// remaining cycles of the line in the decompressor
            remaining: Reg<U<LATENCY_BITS>>,
            /// remaining cycles of all lines together
            work: Reg<U<LATENCY>>,
            accepted: Reg<Bit>,
            position: Reg<U<POSITION>>,
            hit_latency: Reg<U<LATENCY>>,
            exact_latency: Reg<U<LATENCY>>,
            depth: Constant<U<POSITION>> = Constant::new(U::new(1 << A)),
            latency: Signal<Local, U<LATENCY_BITS>>,
            next_line: Signal<Local, U<LINE_BITS>>,
            has_room: Signal<Local, Bit>,
            finished: Signal<Local, Bit>,
            /// the line in the decompressor leaves
            leaves: Signal<Local, Bit>,
            /// the decompressor can begin a line
            free: Signal<Local, Bit>,
            enters: Signal<Local, Bit>,
            /// the entering line goes to the decompressor at once
            passes: Signal<Local, Bit>,
            /// a waiting line goes to the decompressor
            begins: Signal<Local, Bit>,
            ahead: Signal<Local, U<POSITION>>,
            ahead_and_own: Signal<Local, U<POSITION>>,
            work_ahead: Signal<Local, U<LATENCY>>,
        }
        upset { id, accepted, position, hit_latency, exact_latency }
    }
}

#[hdl_gen(layouts! { next_line: { remaining: LATENCY_BITS, id: ID_BITS } })]
impl Logic for DecompressionQueueTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, read, write, waiting, busy, id, remaining, work);
        dff_setup!(self, clk_i, accepted, position, hit_latency, exact_latency);
        self.lines.clk_i.next = self.clk_i.val();

        comment!("a line is finished in its last cycle; when it leaves, the next one begins");
        self.finished.next = self.busy.q.val() & (self.remaining.q.val() == 1);
        self.leaves.next = self.finished.val() & self.ready_i.val();
        self.free.next = !self.busy.q.val() | self.leaves.val();
        self.has_room.next = self.waiting.q.val() != self.depth.val();
        self.enters.next = self.valid_i.val() & self.has_room.val();
        self.begins.next = self.free.val() & self.waiting.q.val().any();
        self.passes.next = self.free.val() & !self.waiting.q.val().any() & self.enters.val();

        self.latency.next = self.latency_i.val();
        if !self.latency_i.val().any() {
            self.latency.next = 1.into();
        }

        comment!("the memory of waiting lines is a ring buffer");
        self.lines.write_i.next = self.enters.val() & !self.passes.val();
        self.lines.write_address_i.next = self.write.q.val();
        self.lines.write_data_i.next = (bit_cast::<LINE_BITS, ID_BITS>(self.id_i.val()) << 4)
            | bit_cast::<LINE_BITS, LATENCY_BITS>(self.latency.val());
        drive!(self; lines.read_address_i: read.q, next_line: lines.read_data_o);
        if self.enters.val() & !self.passes.val() {
            self.write.d.next = self.write.q.val() + 1;
        }
        if self.begins.val() {
            self.read.d.next = self.read.q.val() + 1;
        }
        if self.enters.val() & !self.passes.val() & !self.begins.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        } else if self.begins.val() & !self.enters.val() {
            self.waiting.d.next = self.waiting.q.val() - 1;
        }

        comment!("the decompressor");
        self.busy.d.next = !self.free.val() | self.begins.val() | self.passes.val();
        if self.begins.val() {
            self.id.d.next = self.next_line.val().get_bits::<ID_BITS>(4);
            self.remaining.d.next = self.next_line.val().get_bits::<LATENCY_BITS>(0);
        } else if self.passes.val() {
            drive!(self; id.d: id_i, remaining.d: latency);
        } else if self.busy.q.val() & !self.finished.val() {
            self.remaining.d.next = self.remaining.q.val() - 1;
        }

        comment!("reply: lines and cycles ahead of the entering line");
        self.ahead.next = self.waiting.q.val();
        if !self.free.val() {
            self.ahead.next = self.waiting.q.val() + 1;
        }
        self.ahead_and_own.next = self.ahead.val() + 1;
        self.work_ahead.next = self.work.q.val();
        if self.busy.q.val() & (!self.finished.val() | self.ready_i.val()) {
            self.work_ahead.next = self.work.q.val() - 1;
        }
        drive!(self; work.d: work_ahead, accepted.d: enters);
        if self.enters.val() {
            self.work.d.next = self.work_ahead.val() + bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val());
            self.position.d.next = self.ahead.val();
            self.hit_latency.d.next = bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val())
                * bit_cast::<LATENCY, POSITION>(self.ahead_and_own.val());
            self.exact_latency.d.next =
                self.work_ahead.val() + bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val());
        }

        drive!(self; ready_o: has_room, valid_o: finished, id_o: id.q, accepted_o: accepted.q,
            position_o: position.q, hit_latency_o: hit_latency.q, exact_latency_o: exact_latency.q);
    }
}

elaborate! {
    /// Returns the queue for valid parameters.
    pub(super) fn decompression_queue(
        params: &DecompressionQueueParams as PARAMS
    ) -> Box<dyn RtlBlock<DecompressionQueueIn, DecompressionQueueOut>> {
        for depth in [4, 8, 16] {
            DecompressionQueueTop {
                A = PARAMS.depth.ilog2() as usize,
                POSITION = PARAMS.position_bits(),
                LATENCY = PARAMS.hit_latency_bits(),
            }
        }
    }
}
