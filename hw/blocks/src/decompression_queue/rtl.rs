//! RTL of the decompression queue: a memory of waiting lines, the line in the decompressor, and the answer to an entry.

use super::{DecompressionQueueIn, DecompressionQueueOut, DecompressionQueueParams, ID_BITS, LATENCY_BITS};
use selvedge_hw::block::RtlBlock;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::top::{RtlInstance, RtlTop};

/// Bits of a waiting line: the identifier above the latency.
const LINE_BITS: usize = ID_BITS + LATENCY_BITS;

rtl_block! {
    /// Queues hits on compressed lines for the decompressor and tells each its effective latency.
    ///
    /// LATTE-CC, section III-B. 2^A lines can wait; POSITION is A + 1, LATENCY the width of an effective latency.
    #[derive(LogicBlock)]
    pub struct DecompressionQueueTop<const A: usize, const POSITION: usize, const LATENCY: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: the queue is empty
        pub rst_ni: Signal<In, Bit>,
        /// a compressed line was hit
        pub valid_i: Signal<In, Bit>,
        /// identifier of the hit
        pub id_i: Signal<In, U<ID_BITS>>,
        /// decompression latency of the line's mode
        pub latency_i: Signal<In, U<LATENCY_BITS>>,
        /// the decompressed line would be taken
        pub ready_i: Signal<In, Bit>,
        /// a line would be taken into the queue
        pub ready_o: Signal<Out, Bit>,
        /// a line is decompressed
        pub valid_o: Signal<Out, Bit>,
        /// identifier of the line in the decompressor
        pub id_o: Signal<Out, U<ID_BITS>>,
        /// a line entered in the last cycle
        pub accepted_o: Signal<Out, Bit>,
        /// lines that were ahead of it
        pub position_o: Signal<Out, U<POSITION>>,
        /// its effective hit latency by the paper's formula
        pub hit_latency_o: Signal<Out, U<LATENCY>>,
        /// cycles from its entry until it is decompressed, if no consumer delays the lines ahead
        pub exact_latency_o: Signal<Out, U<LATENCY>>,
        /// lines that wait: identifier and latency
        lines: Mem<U<LINE_BITS>, A>,
        read: Reg<U<A>>,
        write: Reg<U<A>>,
        /// number of lines that wait
        waiting: Reg<U<POSITION>>,
        /// the decompressor holds a line
        busy: Reg<Bit>,
        id: Reg<U<ID_BITS>>,
        /// cycles that the line in the decompressor still takes
        remaining: Reg<U<LATENCY_BITS>>,
        /// cycles that all lines together still take
        work: Reg<U<LATENCY>>,
        accepted: Reg<Bit>,
        position: Reg<U<POSITION>>,
        hit_latency: Reg<U<LATENCY>>,
        exact_latency: Reg<U<LATENCY>>,
        depth: Constant<U<POSITION>>,
        latency: Signal<Local, U<LATENCY_BITS>>,
        next_line: Signal<Local, U<LINE_BITS>>,
        has_room: Signal<Local, Bit>,
        finished: Signal<Local, Bit>,
        /// the line in the decompressor leaves
        leaves: Signal<Local, Bit>,
        /// the decompressor can begin a line
        free: Signal<Local, Bit>,
        enters: Signal<Local, Bit>,
        /// the line that enters goes to the decompressor at once
        passes: Signal<Local, Bit>,
        /// a line that waits goes to the decompressor
        begins: Signal<Local, Bit>,
        ahead: Signal<Local, U<POSITION>>,
        ahead_and_own: Signal<Local, U<POSITION>>,
        work_ahead: Signal<Local, U<LATENCY>>,
    }
}

impl<const A: usize, const POSITION: usize, const LATENCY: usize> Default
    for DecompressionQueueTop<A, POSITION, LATENCY>
{
    fn default() -> Self {
        const { assert!(POSITION == A + 1 && 15 * ((1 << A) + 1) < 1 << LATENCY) };
        DecompressionQueueTop {
            clk_i: Signal::default(),
            rst_ni: Signal::default(),
            valid_i: Signal::default(),
            id_i: Signal::default(),
            latency_i: Signal::default(),
            ready_i: Signal::default(),
            ready_o: Signal::default(),
            valid_o: Signal::default(),
            id_o: Signal::default(),
            accepted_o: Signal::default(),
            position_o: Signal::default(),
            hit_latency_o: Signal::default(),
            exact_latency_o: Signal::default(),
            lines: Mem::default(),
            read: Reg::default(),
            write: Reg::default(),
            waiting: Reg::default(),
            busy: Reg::default(),
            id: Reg::default(),
            remaining: Reg::default(),
            work: Reg::default(),
            accepted: Reg::default(),
            position: Reg::default(),
            hit_latency: Reg::default(),
            exact_latency: Reg::default(),
            depth: Constant::new(U::new(1 << A)),
            latency: Signal::default(),
            next_line: Signal::default(),
            has_room: Signal::default(),
            finished: Signal::default(),
            leaves: Signal::default(),
            free: Signal::default(),
            enters: Signal::default(),
            passes: Signal::default(),
            begins: Signal::default(),
            ahead: Signal::default(),
            ahead_and_own: Signal::default(),
            work_ahead: Signal::default(),
        }
    }
}

impl<const A: usize, const POSITION: usize, const LATENCY: usize> Logic
    for DecompressionQueueTop<A, POSITION, LATENCY>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, read, write, waiting, busy, id, remaining, work);
        dff_setup!(self, clk_i, accepted, position, hit_latency, exact_latency);
        self.lines.clk_i.next = self.clk_i.val();

        comment!("a line in its last cycle is finished; it leaves when it is taken, and the next one begins");
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

        comment!("lines that wait go round in the memory");
        self.lines.write_i.next = self.enters.val() & !self.passes.val();
        self.lines.write_address_i.next = self.write.q.val();
        self.lines.write_data_i.next = (bit_cast::<LINE_BITS, ID_BITS>(self.id_i.val()) << 4)
            | bit_cast::<LINE_BITS, LATENCY_BITS>(self.latency.val());
        self.lines.read_address_i.next = self.read.q.val();
        self.next_line.next = self.lines.read_data_o.val();
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
            self.id.d.next = self.id_i.val();
            self.remaining.d.next = self.latency.val();
        } else if self.busy.q.val() & !self.finished.val() {
            self.remaining.d.next = self.remaining.q.val() - 1;
        }

        comment!("the answer: what was ahead, after this cycle's work, of the line that enters");
        self.ahead.next = self.waiting.q.val();
        if !self.free.val() {
            self.ahead.next = self.waiting.q.val() + 1;
        }
        self.ahead_and_own.next = self.ahead.val() + 1;
        self.work_ahead.next = self.work.q.val();
        if self.busy.q.val() & (!self.finished.val() | self.ready_i.val()) {
            self.work_ahead.next = self.work.q.val() - 1;
        }
        self.work.d.next = self.work_ahead.val();
        self.accepted.d.next = self.enters.val();
        if self.enters.val() {
            self.work.d.next = self.work_ahead.val() + bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val());
            self.position.d.next = self.ahead.val();
            self.hit_latency.d.next = bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val())
                * bit_cast::<LATENCY, POSITION>(self.ahead_and_own.val());
            self.exact_latency.d.next =
                self.work_ahead.val() + bit_cast::<LATENCY, LATENCY_BITS>(self.latency.val());
        }

        self.ready_o.next = self.has_room.val();
        self.valid_o.next = self.finished.val();
        self.id_o.next = self.id.q.val();
        self.accepted_o.next = self.accepted.q.val();
        self.position_o.next = self.position.q.val();
        self.hit_latency_o.next = self.hit_latency.q.val();
        self.exact_latency_o.next = self.exact_latency.q.val();
    }

    fn timing(&self) -> Vec<TimingInfo> {
        self.describe()
    }
}

/// Inverts a bit of a register.
fn flip<const N: usize>(register: &mut Reg<U<N>>, bit: usize) {
    let value = register.q.val();
    register.q.next = value.replace_bit(bit, !value.get_bit(bit));
}

impl<const A: usize, const POSITION: usize, const LATENCY: usize> RtlTop
    for DecompressionQueueTop<A, POSITION, LATENCY>
{
    type In = DecompressionQueueIn;
    type Out = DecompressionQueueOut;

    fn drive(&mut self, inputs: &DecompressionQueueIn) {
        self.valid_i.next = inputs.valid_i;
        self.id_i.next = U::new(u64::from(inputs.id_i));
        self.latency_i.next = U::new(u64::from(inputs.latency_i));
        self.ready_i.next = inputs.ready_i;
    }

    fn sample(&self) -> DecompressionQueueOut {
        DecompressionQueueOut {
            ready_o: self.ready_o.val(),
            valid_o: self.valid_o.val(),
            id_o: self.id_o.val().to_u64() as u8,
            accepted_o: self.accepted_o.val(),
            position_o: self.position_o.val().to_u64() as u8,
            hit_latency_o: self.hit_latency_o.val().to_u64() as u8,
            exact_latency_o: self.exact_latency_o.val().to_u64() as u8,
        }
    }

    fn upset(&mut self, bit: usize) {
        let mut bit = bit % (ID_BITS + 1 + POSITION + 2 * LATENCY);
        if bit < ID_BITS {
            return flip(&mut self.id, bit);
        }
        bit -= ID_BITS;
        if bit == 0 {
            self.accepted.q.next = !self.accepted.q.val();
            return;
        }
        bit -= 1;
        if bit < POSITION {
            return flip(&mut self.position, bit);
        }
        bit -= POSITION;
        if bit < LATENCY {
            return flip(&mut self.hit_latency, bit);
        }
        flip(&mut self.exact_latency, bit - LATENCY);
    }
}

/// The queue for valid parameters. Widths that follow from others are spelled out, and checked by the block.
pub(super) fn decompression_queue(
    params: &DecompressionQueueParams,
) -> Box<dyn RtlBlock<DecompressionQueueIn, DecompressionQueueOut>> {
    match params.depth {
        4 => RtlInstance::boxed(DecompressionQueueTop::<2, 3, 7>::default()),
        8 => RtlInstance::boxed(DecompressionQueueTop::<3, 4, 8>::default()),
        _ => RtlInstance::boxed(DecompressionQueueTop::<4, 5, 8>::default()),
    }
}
