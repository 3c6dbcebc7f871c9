//! Average requests per instruction in an interval, by constant thresholds.

use crate::qbmi::params::{COUNT_BITS, MOST_REQUESTS, REQUESTS_BITS};
use selvedge_hw::rtl::prelude::*;

/// Number of possible averages above 1.
const STEPS: usize = MOST_REQUESTS as usize - 1;

/// Returns the maximum instructions per 1024 requests with which the rounded average is at least `average`.
/// The quotient 1024 / instructions must be at least average - 1/2.
fn most_instructions(average: u64) -> u64 {
    (2 << COUNT_BITS) / (2 * average - 1)
}

rtl_block! {
    /// Requests per memory instruction over 1024 requests: rounded to the nearest integer, at most 32.
    pub struct RequestsPerInstruction {
        /// memory instructions that made the requests
        pub instructions_i: Signal<In, U<COUNT_BITS>>,
        /// requests per instruction
        pub requests_o: Signal<Out, U<REQUESTS_BITS>>,
        /// maximum instructions with which the average is at least 2, at least 3 and so on
        most: [Constant<U<COUNT_BITS>>; STEPS] = std::array::from_fn(|i| Constant::new(U::new(most_instructions(i as u64 + 2)))),
        requests: Signal<Local, U<REQUESTS_BITS>>,
    }
}

#[hdl_gen]
impl Logic for RequestsPerInstruction {
    fn update(&mut self) {
        self.requests.next = 1.into();
        for i in 0..31 {
            if self.instructions_i.val() <= self.most[i].val() {
                self.requests.next = (i + 2).to_bits();
            }
        }
        self.requests_o.next = self.requests.val();
    }
}
