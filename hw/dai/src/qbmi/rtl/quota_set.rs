//! The computation of a set of quotas, one addition per cycle.

use crate::qbmi::params::{REQUESTS_BITS, REST_BITS};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Computes a set of quotas: the least common multiple of all kernels' requests per instruction, divided by each.
    ///
    /// The multiple is not stored, only its quotient and remainder for each kernel. It starts as 1. The kernels are processed in
    /// order: the multiple at the start of a kernel's turn is added repeatedly until the kernel's remainder is zero. K is the
    /// number of kernels. N is the width of a kernel's number, SET that of a quota.
    #[require(K >= 2 && K <= 1 << N)]
    pub struct QuotaSet<const K: usize, const N: usize, const SET: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low: all quotas are 1
        pub rst_ni: Signal<In, Bit>,
        /// requests per instruction of a kernel have changed: start or restart
        pub start_i: Signal<In, Bit>,
        /// requests per memory instruction of each kernel; stable until the next start
        pub requests_i: [Signal<In, U<REQUESTS_BITS>>; K] = array(),
        /// the quotas that were last computed
        pub quota_o: [Signal<Out, U<SET>>; K] = array(),
        /// the quotas were computed at the last clock edge
        pub update_o: Signal<Out, Bit>,
        busy: Reg<Bit>,
        pub(super) updated: Reg<Bit>,
        /// number of the kernel in turn
        turn: Reg<U<N>>,
        /// quotients of the common multiple by each kernel's requests
        quotient: [Reg<U<SET>>; K] = array(),
        /// remainders of the common multiple by each kernel's requests
        rest: [Reg<U<REST_BITS>>; K] = array(),
        /// quotients and remainders of the multiple at the start of the turn; each step adds them
        step_quotient: [Reg<U<SET>>; K] = array(),
        step_rest: [Reg<U<REST_BITS>>; K] = array(),
        quota: [Reg<U<SET>>; K] = std::array::from_fn(|_| Reg::new(1.into())),
        last: Constant<U<N>> = Constant::new(U::new(K as u64 - 1)),
        divides: Signal<Local, Bit>,
        addend: Signal<Local, U<REST_BITS>>,
        sum: Signal<Local, U<REQUESTS_BITS>>,
        carry: Signal<Local, Bit>,
        reduced: Signal<Local, U<REQUESTS_BITS>>,
        kernel: Signal<Local, U<N>>,
    }
}

#[hdl_gen]
impl Logic for QuotaSet {
    fn update(&mut self) {
        dff_setup!(self, clk_i, busy, updated, turn);
        for i in 0..K {
            dff_setup!(self, clk_i, quotient[i], rest[i], step_quotient[i], step_rest[i], quota[i]);
        }

        self.divides.next = false;
        for i in 0..K {
            self.kernel.next = i.to_bits();
            if self.turn.q.val() == self.kernel.val() {
                self.divides.next = !self.rest[i].q.val().any();
            }
        }

        self.updated.d.next = false;
        if self.start_i.val() {
            drive!(self; busy.d: true, turn.d: 0);
        } else if self.busy.q.val() & self.divides.val() {
            comment!(
                "the multiple is divisible by this kernel's requests: continue with the next kernel, or finish"
            );
            self.turn.d.next = self.turn.q.val() + 1;
            if self.turn.q.val() == self.last.val() {
                drive!(self; busy.d: false, updated.d: true);
            }
        }

        for i in 0..K {
            self.addend.next = self.rest[i].q.val();
            self.sum.next = bit_cast::<REQUESTS_BITS, REST_BITS>(self.addend.val());
            self.addend.next = self.step_rest[i].q.val();
            self.sum.next = self.sum.val() + bit_cast::<REQUESTS_BITS, REST_BITS>(self.addend.val());
            self.carry.next = self.sum.val() >= self.requests_i[i].val();
            self.reduced.next = self.sum.val();
            if self.carry.val() {
                self.reduced.next = self.sum.val() - self.requests_i[i].val();
            }
            if self.start_i.val() {
                comment!("1 divided by the kernel's requests: 1 if that is 1, else 0 and a remainder of 1");
                drive!(self; quotient[i].d: 0, step_quotient[i].d: 0, rest[i].d: 1, step_rest[i].d: 1);
                if self.requests_i[i].val() == 1 {
                    drive!(self; quotient[i].d: 1, step_quotient[i].d: 1, rest[i].d: 0, step_rest[i].d: 0);
                }
            } else if self.busy.q.val() {
                if self.divides.val() {
                    drive!(self; step_quotient[i].d: quotient[i].q, step_rest[i].d: rest[i].q);
                    if self.turn.q.val() == self.last.val() {
                        self.quota[i].d.next = self.quotient[i].q.val();
                    }
                } else {
                    comment!("one more step; the quotient takes a carry when the remainder is reduced");
                    self.quotient[i].d.next =
                        self.quotient[i].q.val() + self.step_quotient[i].q.val() + self.carry.val();
                    self.rest[i].d.next = bit_cast::<REST_BITS, REQUESTS_BITS>(self.reduced.val());
                }
            }
            self.quota_o[i].next = self.quota[i].q.val();
        }
        self.update_o.next = self.updated.q.val();
    }
}
