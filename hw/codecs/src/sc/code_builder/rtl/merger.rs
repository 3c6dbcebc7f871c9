//! The merger: Huffman's algorithm with two queues, one of sorted symbols and one of the nodes that it makes.

use super::super::params::ESCAPE_BITS;
use crate::sc::vft::COUNT_BITS;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Joins the two lightest items (symbols or nodes) to a node, until one item is left.
    ///
    /// The merger takes one item per cycle. It makes nodes in the order of their weight, so that nodes need no sorting. At
    /// equal weight, a symbol is taken before a node, which minimizes the longest code. The escape is taken before an entry
    /// of equal weight. INDEX is the width of an index in bits, and COUNT is one more. QUEUE is one less, because the
    /// number of waiting nodes is at most half the number of symbols. WEIGHT is the width of the heaviest node's weight.
    #[require(COUNT == INDEX + 1 && INDEX == QUEUE + 1 && WEIGHT >= ESCAPE_BITS)]
    pub struct Merger<const INDEX: usize, const COUNT: usize, const QUEUE: usize, const WEIGHT: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// starts the merge; at least one entry must exist
        pub start_i: Signal<In, Bit>,
        /// number of entries, one less than the number of symbols
        pub size_i: Signal<In, U<COUNT>>,
        /// weight of the escape symbol
        pub escape_weight_i: Signal<In, U<ESCAPE_BITS>>,
        /// count of the lightest entry that is left
        pub count_i: Signal<In, U<COUNT_BITS>>,
        /// takes that entry
        pub take_entry_o: Signal<Out, Bit>,
        /// a node is made
        pub node_valid_o: Signal<Out, Bit>,
        /// number of the node
        pub node_o: Signal<Out, U<INDEX>>,
        /// number of symbols among the two items of the node
        pub symbols_o: Signal<Out, U<2>>,
        /// the last node is made in this cycle
        pub done_o: Signal<Out, Bit>,
        /// weights of the waiting nodes
        nodes: SyncMem<U<WEIGHT>, QUEUE>,
        busy: Reg<Bit>,
        entries_left: DataReg<U<COUNT>>,
        escape_left: DataReg<Bit>,
        /// number of nodes made so far, and number of nodes taken so far
        made: DataReg<U<COUNT>>,
        taken: DataReg<U<COUNT>>,
        /// the first item of the next node is taken
        half: DataReg<Bit>,
        /// that item is a symbol
        half_symbol: DataReg<Bit>,
        /// weight of that item, or weight of the last node
        weight: DataReg<U<WEIGHT>>,
        /// the only waiting node was written in the previous cycle: bypass the memory
        bypass: DataReg<Bit>,
        any_entry: Signal<Local, Bit>,
        take_escape: Signal<Local, Bit>,
        symbol_weight: Signal<Local, U<WEIGHT>>,
        node_weight: Signal<Local, U<WEIGHT>>,
        take_symbol: Signal<Local, Bit>,
        item_weight: Signal<Local, U<WEIGHT>>,
        sum: Signal<Local, U<WEIGHT>>,
        taken_next: Signal<Local, U<COUNT>>,
        make: Signal<Local, Bit>,
        done: Signal<Local, Bit>,
    }
}

#[hdl_gen]
impl Logic for Merger {
    fn update(&mut self) {
        dff_setup!(
            self,
            clk_i,
            busy,
            entries_left,
            escape_left,
            made,
            taken,
            half,
            half_symbol,
            weight,
            bypass
        );
        self.nodes.clk_i.next = self.clk_i.val();

        comment!("the lightest remaining symbol: the escape or an entry");
        self.any_entry.next = self.entries_left.q.val().any();
        self.take_escape.next = self.escape_left.q.val()
            & (!self.any_entry.val()
                | (self.escape_weight_i.val() <= bit_cast::<ESCAPE_BITS, COUNT_BITS>(self.count_i.val())));
        if self.take_escape.val() {
            self.symbol_weight.next = bit_cast::<WEIGHT, ESCAPE_BITS>(self.escape_weight_i.val());
        } else {
            self.symbol_weight.next = bit_cast::<WEIGHT, COUNT_BITS>(self.count_i.val());
        }

        comment!("the lighter of that symbol and the oldest waiting node");
        self.node_weight.next = self.nodes.read_data_o.val();
        if self.bypass.q.val() {
            self.node_weight.next = self.weight.q.val();
        }
        self.take_symbol.next = (self.any_entry.val() | self.escape_left.q.val())
            & ((self.taken.q.val() == self.made.q.val())
                | (self.symbol_weight.val() <= self.node_weight.val()));
        if self.take_symbol.val() {
            self.item_weight.next = self.symbol_weight.val();
        } else {
            self.item_weight.next = self.node_weight.val();
        }
        self.take_entry_o.next = self.busy.q.val() & self.take_symbol.val() & !self.take_escape.val();
        self.taken_next.next = self.taken.q.val() + (self.busy.q.val() & !self.take_symbol.val());
        self.nodes.read_address_i.next = self.taken_next.val().get_bits::<QUEUE>(0);

        comment!("every second item forms a node with the previous item");
        self.sum.next = self.weight.q.val() + self.item_weight.val();
        self.make.next = self.busy.q.val() & self.half.q.val();
        self.nodes.write_i.next = self.make.val();
        self.nodes.write_address_i.next = self.made.q.val().get_bits::<QUEUE>(0);
        drive!(self; nodes.write_data_i: sum, node_valid_o: make);
        self.node_o.next = self.made.q.val().get_bits::<INDEX>(0);
        self.symbols_o.next = 1.into();
        if self.half_symbol.q.val() == self.take_symbol.val() {
            self.symbols_o.next = 0.into();
            if self.take_symbol.val() {
                self.symbols_o.next = 2.into();
            }
        }
        self.done.next = self.make.val() & (self.made.q.val() + 1 == self.size_i.val());
        self.done_o.next = self.done.val();
        self.bypass.d.next = self.make.val() & (self.taken_next.val() == self.made.q.val());
        if self.busy.q.val() {
            self.half.d.next = !self.half.q.val();
            drive!(self; half_symbol.d: take_symbol, weight.d: item_weight, taken.d: taken_next);
            self.busy.d.next = !self.done.val();
        }
        if self.make.val() {
            self.weight.d.next = self.sum.val();
            self.made.d.next = self.made.q.val() + 1;
        }
        if self.busy.q.val() & self.take_symbol.val() {
            if self.take_escape.val() {
                self.escape_left.d.next = false;
            } else {
                self.entries_left.d.next = self.entries_left.q.val() - 1;
            }
        }
        if self.start_i.val() {
            drive!(self; busy.d: true, entries_left.d: size_i, escape_left.d: true, made.d: 0, taken.d: 0,
                half.d: false);
        }
    }
}
