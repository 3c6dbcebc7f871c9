//! A stage between two valid/ready partners. Both outputs come from registers, the throughput is one item per cycle, and
//! `valid_o` never drops before the partner was ready.
//!
//! ```text
//! clk_i    __/--\__/--\__/--\__/--\__/--\__
//! valid_i  __/-----------\_________________
//! data_i   ==< A  >< B  >=================
//! ready_o  --------------\___________/-----     low while both entries are taken
//! valid_o  ________/-----------------------
//! data_o   ========< A              >< B >=
//! ready_i  __________________________/-----
//! ```

use crate::rtl::prelude::*;

rtl_block! {
    /// A two-entry buffer that cuts every path between its two sides (a skid buffer).
    ///
    /// An item is accepted when `valid_i` and `ready_o` are high, and given when `valid_o` and `ready_i` are high.
    pub struct ValidReady<T: Synth> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low; empties the buffer
        pub rst_ni: Signal<In, Bit>,
        /// an item is offered
        pub valid_i: Signal<In, Bit>,
        /// offered item
        pub data_i: Signal<In, T>,
        /// an item can be accepted in this cycle
        pub ready_o: Signal<Out, Bit>,
        /// an item is available
        pub valid_o: Signal<Out, Bit>,
        /// available item; it stays until it is accepted, and is undefined while valid_o is low
        pub data_o: Signal<Out, T>,
        /// the partner accepts an item in this cycle
        pub ready_i: Signal<In, Bit>,
        front_valid: Reg<Bit>,
        front: DataReg<T>,
        back_valid: Reg<Bit>,
        back: DataReg<T>,
    }
}

#[hdl_gen]
impl Logic for ValidReady {
    fn update(&mut self) {
        dff_setup!(self, clk_i, front_valid, front, back_valid, back);
        if self.ready_i.val() | !self.front_valid.q.val() {
            comment!("the front is free: refill it from the back first, to keep the order");
            if self.back_valid.q.val() {
                drive!(self; front_valid.d: true, front.d: back.q, back_valid.d: false);
            } else {
                self.front_valid.d.next = self.valid_i.val();
                if self.valid_i.val() {
                    self.front.d.next = self.data_i.val();
                }
            }
        } else if self.valid_i.val() & !self.back_valid.q.val() {
            drive!(self; back_valid.d: true, back.d: data_i);
        }
        self.ready_o.next = !self.back_valid.q.val();
        drive!(self; valid_o: front_valid.q, data_o: front.q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn items_keep_their_order_and_valid_waits_for_ready(
            traffic in prop::collection::vec(any::<(bool, bool)>(), 1..200),
        ) {
            let mut stage = Stepper::new(ValidReady::<U<16>>::default()).unwrap();
            let mut held = VecDeque::new();
            let mut waiting = None;
            for (number, (offer, take)) in traffic.into_iter().enumerate() {
                let (accepted, given) = stage.step(
                    |s| {
                        s.valid_i.next = offer;
                        s.data_i.next = U::new(number as u64);
                        s.ready_i.next = take;
                    },
                    |s| (offer && s.ready_o.val(), s.valid_o.val().then(|| s.data_o.val().to_u64())),
                ).unwrap();
                prop_assert_eq!(given, held.front().copied(), "what is held is offered, oldest first");
                prop_assert!(waiting.is_none() || given == waiting, "valid dropped or data changed before ready");
                waiting = given.filter(|_| !take);
                if take {
                    held.pop_front();
                }
                prop_assert!(accepted || !offer || !held.is_empty(), "an empty stage must be ready");
                if accepted {
                    held.push_back(number as u64);
                }
                prop_assert!(held.len() <= 2);
            }
        }
    }

    #[test]
    fn one_item_passes_per_cycle() {
        let mut stage = Stepper::new(ValidReady::<U<16>>::default()).unwrap();
        let given: Vec<Option<u64>> = (0..6)
            .map(|cycle| {
                stage
                    .step(
                        |s| {
                            s.valid_i.next = true;
                            s.data_i.next = U::new(cycle);
                            s.ready_i.next = true;
                        },
                        |s| s.valid_o.val().then(|| s.data_o.val().to_u64()),
                    )
                    .unwrap()
            })
            .collect();
        assert_eq!(given, [None, Some(0), Some(1), Some(2), Some(3), Some(4)]);
    }
}
