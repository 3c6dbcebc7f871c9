//! The code lengths: counts the symbols at each depth of the tree, and repairs the code if symbols lie too deep.

use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Stores the number of symbols among the items of each node, and derives the position in the order at which each length
    /// begins.
    ///
    /// The last node is the root, and the nodes before it are ordered by depth. The number of items of a depth that are
    /// nodes is the number of nodes to examine next. Symbols that lie too deep get the maximum length. Then the code is
    /// over-full by one unit for each node that lies too deep. The repair first lengthens codes, the longest first, until
    /// the code is no longer over-full. If the code then has free units, the repair shortens codes. COUNT is the width of
    /// the number of entries in bits, and INDEX is one less.
    #[new(max_length: u64)]
    #[require(COUNT == INDEX + 1 && COUNT <= 12)]
    pub struct Lengths<const INDEX: usize, const COUNT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// a node is made
        pub node_valid_i: Signal<In, Bit>,
        /// number of the node
        pub node_i: Signal<In, U<INDEX>>,
        /// number of symbols among the two items of the node
        pub symbols_i: Signal<In, U<2>>,
        /// starts the search for the lengths, after the last node
        pub start_i: Signal<In, Bit>,
        /// number of entries, which is the number of nodes and one less than the number of symbols
        pub size_i: Signal<In, U<COUNT>>,
        /// the lengths are valid from the next cycle on
        pub done_o: Signal<Out, Bit>,
        /// a code length, modulo 16
        pub length_i: Signal<In, U<4>>,
        /// position in the order from which on codes are longer than `length_i`
        pub longer_from_o: Signal<Out, U<COUNT>>,
        /// number of symbols among the items of each node
        nodes: SyncMem<U<2>, INDEX>,
        longer_from: Mem<U<COUNT>, 4>,
        scanning: Reg<Bit>,
        checking: Reg<Bit>,
        lengthening: Reg<Bit>,
        shortening: Reg<Bit>,
        /// the length under examination, and the position at which longer codes begin
        length: DataReg<U<4>>,
        place: DataReg<U<COUNT>>,
        /// number of nodes examined, and number of nodes of this depth that are left
        seen: DataReg<U<COUNT>>,
        left: DataReg<U<COUNT>>,
        /// units by which the code is over-full; below zero, the number of free units. A unit is the share of a code of
        /// maximum length.
        excess: DataReg<U<16>>,
        /// units that a code of this length frees when it becomes one bit longer
        unit: DataReg<U<16>>,
        last_length: Constant<U<4>> = Constant::new(U::new(max_length - 1)),
        first_unit: Constant<U<16>> = Constant::new(U::new(1 << (max_length - 2))),
        any_left: Signal<Local, Bit>,
        depth_ends: Signal<Local, Bit>,
        is_last: Signal<Local, Bit>,
        seen_next: Signal<Local, U<COUNT>>,
        place_next: Signal<Local, U<COUNT>>,
        too_deep: Signal<Local, U<COUNT>>,
        change: Signal<Local, U<16>>,
        excess_next: Signal<Local, U<16>>,
        neighbor: Signal<Local, U<4>>,
        neighbor_place: Signal<Local, U<COUNT>>,
        changes: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for Lengths {
    fn update(&mut self) {
        dff_setup!(self, clk_i, scanning, checking, lengthening, shortening, length, place, seen, left);
        dff_setup!(self, clk_i, excess, unit);
        drive!(self; nodes.clk_i: clk_i, longer_from.clk_i: clk_i);
        drive!(self.nodes; write_i: node_valid_i, write_address_i: node_i, write_data_i: symbols_i);

        self.checking.d.next = false;
        comment!("visit nodes by depth from the root, one per cycle; an empty depth takes a cycle");
        self.any_left.next = self.left.q.val().any();
        self.depth_ends.next = !self.left.q.val().any() | (self.left.q.val() == 1);
        self.is_last.next = self.length.q.val() == self.last_length.val();
        drive!(self; seen_next: seen.q, place_next: place.q);
        if self.scanning.q.val() & self.any_left.val() {
            self.seen_next.next = self.seen.q.val() + 1;
            self.place_next.next = self.place.q.val() + bit_cast::<COUNT, 2>(self.nodes.read_data_o.val());
        }
        self.longer_from.write_i.next = self.scanning.q.val() & self.depth_ends.val();
        if self.scanning.q.val() {
            self.left.d.next = self.left.q.val() - 1;
            if self.depth_ends.val() {
                self.left.d.next = self.seen_next.val() + 1 - self.place_next.val();
                self.length.d.next = self.length.q.val() + 1;
                if self.is_last.val() {
                    drive!(self; length.d: length.q, scanning.d: false, checking.d: true);
                }
            }
        }

        comment!("nodes that were not visited are too deep");
        self.done_o.next = false;
        self.too_deep.next = self.size_i.val() - self.seen.q.val() - self.left.q.val();
        if self.checking.q.val() {
            self.excess.d.next = bit_cast::<16, COUNT>(self.too_deep.val());
            self.unit.d.next = 1.into();
            self.lengthening.d.next = self.too_deep.val().any();
            self.done_o.next = !self.too_deep.val().any();
        }

        comment!("shorten the first code of the next length, or lengthen the last code of this length");
        self.change.next = !self.unit.q.val() + 1;
        self.neighbor.next = self.length.q.val() - 1;
        if self.shortening.q.val() {
            self.change.next = self.unit.q.val();
            self.neighbor.next = self.length.q.val() + 1;
            if self.is_last.val() {
                self.neighbor.next = 1.into();
            }
        }
        self.excess_next.next = self.excess.q.val() + self.change.val();
        self.neighbor_place.next = self.longer_from.read_data_o.val();
        if self.shortening.q.val() & self.is_last.val() {
            self.neighbor_place.next = self.size_i.val() + 1;
        }
        self.changes.next = self.place.q.val() != self.neighbor_place.val();
        if self.shortening.q.val() {
            self.changes.next =
                self.changes.val() & (self.excess_next.val().get_bit(15) | !self.excess_next.val().any());
        }
        if self.lengthening.q.val() | self.shortening.q.val() {
            if self.changes.val() {
                self.place_next.next = self.place.q.val() - 1;
                if self.shortening.q.val() {
                    self.place_next.next = self.place.q.val() + 1;
                }
                drive!(self; longer_from.write_i: true, excess.d: excess_next);
                self.done_o.next = !self.excess_next.val().any();
                self.lengthening.d.next = self.lengthening.q.val()
                    & self.excess_next.val().any()
                    & !self.excess_next.val().get_bit(15);
                self.shortening.d.next = self.excess_next.val().get_bit(15);
            } else {
                drive!(self; place_next: longer_from.read_data_o, length.d: neighbor);
                self.unit.d.next = self.unit.q.val() << 1;
                if self.shortening.q.val() {
                    self.unit.d.next = self.unit.q.val() >> 1;
                    if self.is_last.val() {
                        self.unit.d.next = self.first_unit.val();
                    }
                }
            }
        }
        self.place.d.next = self.place_next.val();
        drive!(self.longer_from; write_address_i: length.q, write_data_i: place_next);

        comment!("no code is shorter than one bit");
        if self.start_i.val() {
            drive!(self; scanning.d: true, length.d: 1, place.d: 0, seen_next: 0, left.d: 1);
            drive!(self.longer_from; write_i: true, write_address_i: 0, write_data_i: 0);
        }
        self.seen.d.next = self.seen_next.val();
        self.nodes.read_address_i.next =
            self.size_i.val().get_bits::<INDEX>(0) + !self.seen_next.val().get_bits::<INDEX>(0);

        self.longer_from.read_address_i.next = self.length_i.val();
        if self.lengthening.q.val() | self.shortening.q.val() {
            self.longer_from.read_address_i.next = self.neighbor.val();
        }
        self.longer_from_o.next = self.longer_from.read_data_o.val();
    }
}
