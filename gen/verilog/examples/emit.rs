//! Emits a custom block as Verilog: `cargo run -p selvedge-gen --example emit`.
use selvedge_gen::{EmitError, EmitOptions, emit};
use selvedge_hw::rtl::prelude::*;

rtl_block! {
    /// Counts the cycles in which `enable_i` is high.
    pub struct Counter<const N: usize> {
        /// clock
        pub clk_i: Signal<In, Clock>,
        /// asynchronous reset, active low
        pub rst_ni: Signal<In, Bit>,
        /// count this cycle
        pub enable_i: Signal<In, Bit>,
        /// the count, modulo 2^N
        pub count_o: Signal<Out, U<N>>,
        count: Reg<U<N>>,
    }
}

#[hdl_gen]
impl Logic for Counter {
    fn update(&mut self) {
        dff_setup!(self, clk_i, count);
        comment!("a cycle without enable leaves the count as it is");
        if self.enable_i.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        self.count_o.next = self.count.q.val();
    }
}

fn main() -> Result<(), EmitError> {
    let design = emit(&Counter::<8>::default(), "counter", &EmitOptions::default())?;
    print!("{}", design.text());
    Ok(())
}
