//! RTL of the MILG: the counters, the comparison that gates issue, and a divider for small divisors.

use super::params::MilgParams;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Divides two unsigned numbers without a clock: shifts, compares and subtracts once per bit.
    ///
    /// REM is one bit more than DIV: it holds the remainder before the subtraction. A divisor of zero gives all ones.
    pub struct SmallDivider<const NUM: usize, const DIV: usize, const REM: usize> {
        /// dividend
        pub number_i: Signal<In, U<NUM>>,
        /// divisor
        pub divisor_i: Signal<In, U<DIV>>,
        /// the quotient, rounded down
        pub quotient_o: Signal<Out, U<NUM>>,
        rest: Signal<Local, U<NUM>>,
        remainder: Signal<Local, U<REM>>,
        quotient: Signal<Local, U<NUM>>,
    }
}

#[hdl_gen]
impl Logic for SmallDivider {
    fn update(&mut self) {
        drive!(self; rest: number_i, remainder: 0, quotient: 0);
        for _turn in 0..NUM {
            comment!("long division: shift in the next bit, subtract the divisor if it fits");
            self.remainder.next = (self.remainder.val() << 1) + self.rest.val().get_bit(NUM - 1);
            self.rest.next = self.rest.val() << 1;
            self.quotient.next = self.quotient.val() << 1;
            if self.remainder.val() >= bit_cast::<REM, DIV>(self.divisor_i.val()) {
                self.remainder.next = self.remainder.val() - bit_cast::<REM, DIV>(self.divisor_i.val());
                self.quotient.next = self.quotient.val() + 1;
            }
        }
        self.quotient_o.next = self.quotient.val();
    }
}

rtl_module! {
    /// Limits a kernel's memory instructions in flight by its reservation failures per request.
    ///
    /// Dai, section 4.3.3.2. INFLIGHT, RSFAIL and REQUEST are the widths of the three counters, PER_REQUEST that of the failures
    /// per request (RSFAIL - REQUEST). SUM is wide enough for the in-flight count plus the issues of one cycle.
    #[require(PER_REQUEST == RSFAIL - REQUEST && REM == PER_REQUEST + 1 && SUM == INFLIGHT + 1)]
    pub struct MilgTop<
        const INFLIGHT: usize, const RSFAIL: usize, const REQUEST: usize,
        const PER_REQUEST: usize, const REM: usize, const SUM: usize,
    > for MilgParams as p {
        reset "asynchronous reset, active low: nothing in flight, no limit";
        inputs MilgIn {
            /// number of memory instructions issued in this cycle
            issued_i: u8 as U<2> = 2,
            /// number of memory instructions completed in this cycle
            completed_i: u8 as U<2> = 2,
            /// the kernel makes a memory request
            request_i: bool as Bit = 1,
            /// a request fails to reserve a line, an MSHR or a miss-queue entry
            rsfail_i: bool as Bit = 1,
        }
        outputs MilgOut {
            /// fewer instructions are in flight than the limit
            may_issue_o: bool as Bit = 1,
            /// memory instructions in flight
            inflight_o: u16 as U<INFLIGHT> = p.inflight_bits as usize,
            /// maximum memory instructions in flight
            limit_o: u16 as U<INFLIGHT> = p.inflight_bits as usize,
            /// the limit was computed again at the last clock edge
            update_o: bool as Bit = 1,
        }
        parts {
            inflight: Reg<U<INFLIGHT>>,
            /// maximum instructions in flight in this interval
            max_inflight: Reg<U<INFLIGHT>>,
            rsfails: Reg<U<RSFAIL>>,
            requests: Reg<U<REQUEST>>,
            limit: Reg<U<INFLIGHT>> = Reg::new(U::new(U::<INFLIGHT>::MAX)),
            updated: Reg<Bit>,
            divider: Gate<SmallDivider<INFLIGHT, PER_REQUEST, REM>>,
            no_limit: Constant<U<INFLIGHT>> = Constant::new(U::new(U::<INFLIGHT>::MAX)),
            sum: Signal<Local, U<SUM>>,
            next_inflight: Signal<Local, U<INFLIGHT>>,
            rsfails_per_request: Signal<Local, U<PER_REQUEST>>,
        }
        upset { inflight, limit, updated }
    }
}

#[hdl_gen]
impl Logic for MilgTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, inflight, max_inflight, rsfails, requests, limit, updated);

        comment!(
            "instructions in flight: add the issued ones, subtract the completed ones; saturates at both ends"
        );
        self.sum.next =
            bit_cast::<SUM, INFLIGHT>(self.inflight.q.val()) + bit_cast::<SUM, 2>(self.issued_i.val());
        if self.sum.val() < bit_cast::<SUM, 2>(self.completed_i.val()) {
            self.sum.next = 0.into();
        } else {
            self.sum.next = self.sum.val() - bit_cast::<SUM, 2>(self.completed_i.val());
        }
        self.next_inflight.next = bit_cast::<INFLIGHT, SUM>(self.sum.val());
        if self.sum.val() > bit_cast::<SUM, INFLIGHT>(self.no_limit.val()) {
            self.next_inflight.next = self.no_limit.val();
        }
        self.inflight.d.next = self.next_inflight.val();

        comment!("the shift right by REQUEST: reservation failures per request");
        self.rsfails_per_request.next = self.rsfails.q.val().get_bits::<PER_REQUEST>(REQUEST);
        comment!("instructions in flight above the limit were issued before the limit was set: ignore them");
        self.divider.number_i.next = self.max_inflight.q.val();
        if self.max_inflight.q.val() > self.limit.q.val() {
            self.divider.number_i.next = self.limit.q.val();
        }
        self.divider.divisor_i.next = self.rsfails_per_request.val();

        self.updated.d.next = false;
        if self.request_i.val() & self.requests.q.val().all() {
            comment!(
                "the interval ends: set a new limit; the counters restart with the events of this cycle"
            );
            drive!(self; updated.d: true, requests.d: 0);
            self.rsfails.d.next = bit_cast_to::<U<RSFAIL>>(self.rsfail_i.val());
            self.max_inflight.d.next = self.next_inflight.val();
            if self.rsfails_per_request.val().any() {
                if self.divider.quotient_o.val().any() {
                    self.limit.d.next = self.divider.quotient_o.val();
                } else {
                    self.limit.d.next = 1.into();
                }
            }
        } else {
            self.requests.d.next = self.requests.q.val() + self.request_i.val();
            if self.rsfail_i.val() & !self.rsfails.q.val().all() {
                self.rsfails.d.next = self.rsfails.q.val() + 1;
            }
            if self.next_inflight.val() > self.max_inflight.q.val() {
                self.max_inflight.d.next = self.next_inflight.val();
            }
        }

        self.may_issue_o.next = self.inflight.q.val() < self.limit.q.val();
        drive!(self; inflight_o: inflight.q, limit_o: limit.q, update_o: updated.q);
    }
}

elaborate! {
    /// Returns the MILG for valid parameters.
    pub(super) fn milg(params: &MilgParams as PARAMS) -> Box<dyn RtlBlock<MilgIn, MilgOut>> {
        for inflight_bits in [6, 7, 8] {
            for rsfail_bits in [12, 14] {
                for request_bits in [8, 10] {
                    MilgTop {
                        INFLIGHT = PARAMS.inflight_bits as usize,
                        RSFAIL = PARAMS.rsfail_bits as usize,
                        REQUEST = PARAMS.request_bits as usize,
                        PER_REQUEST = RSFAIL - REQUEST,
                        REM = PER_REQUEST + 1,
                        SUM = INFLIGHT + 1,
                    }
                }
            }
        }
    }
}
