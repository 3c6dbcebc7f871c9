//! Finds the first set bit after a position, cyclically. The table uses it to find a free entry and the next entry to deploy.

use super::ROW;
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Finds the first set bit after a position, or else the first set bit of all.
    ///
    /// The N bits are ROWS rows of 8. The first bit of each row is found in parallel with the choice of the row. The position
    /// is that of the bit that was taken last: the bit's row, and a mask of the columns after the bit.
    #[require(N == ROWS * ROW)]
    pub struct FirstBehind<const N: usize, const ROWS: usize, const INDEX: usize> {
        /// bits to search
        pub bits_i: Signal<In, U<N>>,
        /// row of the position, one-hot; 0 to search from the first bit on
        pub row_i: Signal<In, U<ROWS>>,
        /// columns after the position
        pub behind_i: Signal<In, U<ROW>>,
        /// the found bit, one-hot; 0 if no bit is set
        pub first_o: Signal<Out, U<N>>,
        /// number of the found bit; 0 if no bit is set
        pub index_o: Signal<Out, U<INDEX>>,
        /// at least one bit is set
        pub any_o: Signal<Out, Bit>,
        /// the first bit of each row, one-hot in the row
        pub candidates_o: Signal<Out, U<N>>,
        /// row of the found bit, one-hot
        pub row_o: Signal<Out, U<ROWS>>,
        /// columns after the found bit
        pub behind_o: Signal<Out, U<ROW>>,
        row: Signal<Local, U<ROW>>,
        masked: Signal<Local, U<ROW>>,
        is_behind: Signal<Local, Bit>,
        later: Signal<Local, Bit>,
        /// columns from the row's first bit on
        reached: Signal<Local, U<ROW>>,
        candidate: Signal<Local, U<ROW>>,
        candidates: Signal<Local, U<N>>,
        rows_behind: Signal<Local, U<ROWS>>,
        rows: Signal<Local, U<ROWS>>,
        found: Signal<Local, Bit>,
        chosen: Signal<Local, U<ROWS>>,
        first: Signal<Local, U<N>>,
        column: Signal<Local, U<ROW>>,
        column_reached: Signal<Local, U<ROW>>,
        index: Signal<Local, U<INDEX>>,
    }
}

#[hdl_gen]
impl Logic for FirstBehind {
    fn update(&mut self) {
        comment!(
            "candidate of each row: its first set bit; in the position's row, set bits after it come first"
        );
        drive!(self; later: false, rows: 0, rows_behind: 0, candidates: 0);
        for r in 0..ROWS {
            self.row.next = self.bits_i.val().get_bits::<ROW>(r * 8);
            self.masked.next = self.row.val() & self.behind_i.val();
            self.is_behind.next = self.row_i.val().get_bit(r) & self.masked.val().any();
            self.rows.next[r] = self.row.val().any();
            self.rows_behind.next[r] = self.is_behind.val() | (self.later.val() & self.row.val().any());
            if self.is_behind.val() {
                self.row.next = self.masked.val();
            }
            self.reached.next = self.row.val() | (self.row.val() << 1);
            self.reached.next = self.reached.val() | (self.reached.val() << 2);
            self.reached.next = self.reached.val() | (self.reached.val() << 4);
            self.candidate.next = self.row.val() & !(self.reached.val() << 1);
            self.candidates.next[r * 8..] = self.candidate.val();
            self.later.next = self.later.val() | self.row_i.val().get_bit(r);
        }
        self.candidates_o.next = self.candidates.val();
        self.any_o.next = self.rows.val().any();

        comment!("the first row with a set bit after the position, else the first row with a set bit");
        if self.rows_behind.val().any() {
            self.rows.next = self.rows_behind.val();
        }
        drive!(self; found: false, chosen: 0);
        for r in 0..ROWS {
            self.chosen.next[r] = self.rows.val().get_bit(r) & !self.found.val();
            self.found.next = self.found.val() | self.rows.val().get_bit(r);
        }
        self.row_o.next = self.chosen.val();

        comment!("candidate and number of that row, and the columns after the candidate");
        drive!(self; first: 0, column: 0, index: 0);
        for r in 0..ROWS {
            if self.chosen.val().get_bit(r) {
                self.candidate.next = self.candidates.val().get_bits::<ROW>(r * 8);
                self.first.next[r * 8..] = self.candidate.val();
                self.column.next = self.column.val() | self.candidate.val();
                self.index.next = self.index.val() | (r * 8).to_bits::<INDEX>();
            }
        }
        for c in 0..8 {
            if self.column.val().get_bit(c) {
                self.index.next = self.index.val() | c.to_bits::<INDEX>();
            }
        }
        drive!(self; first_o: first, index_o: index);
        self.column_reached.next = self.column.val() | (self.column.val() << 1);
        self.column_reached.next = self.column_reached.val() | (self.column_reached.val() << 2);
        self.column_reached.next = self.column_reached.val() | (self.column_reached.val() << 4);
        self.behind_o.next = self.column_reached.val() << 1;
    }
}
