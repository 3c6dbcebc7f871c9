//! A custom module that contains a block of Selvedge: a unit that asks a BGP how much of a memory block to fetch, and counts
//! the fetched sectors.
//!
//! ```text
//! cargo run -p selvedge-testbenches --example own_module out
//! ```
//!
//! writes the Verilog of the module and its BGP and a self-checking testbench to the folder `out`. It then compares them
//! with the golden model in Icarus Verilog.
use selvedge_gen::{EmitOptions, ResetStyle};
use selvedge_hw::registry::Entry;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::verify::verify;
use selvedge_hw::{
    Allowed, BlockEntry, Corners, Facts, HwBlock, ParamError, ParamSpec, PortCorners, Stimulus, StimulusIter,
    Storage, block_params,
};
use selvedge_hw_lamar::bgp::{Bgp, BgpIn, BgpModel, BgpParams, BgpTop};
use selvedge_testbenches::emitted::Emitted;
use selvedge_testbenches::{icarus, testbench};
use std::error::Error;
use std::path::Path;

/// Sectors of a memory block.
const SECTORS: u32 = 4;

block_params! {
    /// Parameters.
    pub struct FetchParams {
        /// A block with fewer used sectors has low locality.
        fg_threshold: u32 = 2, Allowed::OneOf(&[2, 3]);
    }
}

impl FetchParams {
    /// Returns the parameters of the BGP.
    fn bgp(&self) -> BgpParams {
        BgpParams { fg_threshold: self.fg_threshold, sectors: SECTORS, ..BgpParams::default() }
    }
}

rtl_module! {
    /// Decides how many sectors of a block to fetch, and counts them.
    pub struct FetchTop for FetchParams as p {
        inputs FetchIn {
            /// a load has missed
            miss_i: bool as Bit = 1,
            /// a block is evicted; wins over a miss
            evict_i: bool as Bit = 1,
            /// address of the block
            address_i: u32 as U<32> = 32,
            /// sectors of the evicted block that were used
            used_i: u8 as U<4> = SECTORS as usize,
        }
        outputs FetchOut {
            /// fetch for the miss of the last cycle
            fetch_o: bool as Bit = 1,
            /// all sectors of the block, and not one alone
            whole_o: bool as Bit = 1,
            /// sectors that were fetched before, modulo 2^32
            sectors_o: u32 as U<32> = 32,
        }
        parts {
            granularity: BgpTop<8, 4, 16, 8, 4> = BgpTop::new(&p.bgp()),
            sectors: Reg<U<32>>,
        }
        upset { sectors }
    }
}

#[hdl_gen]
impl Logic for FetchTop {
    fn update(&mut self) {
        dff_setup!(self, clk_i, sectors);
        drive!(self.granularity; clk_i, rst_ni, query_i: miss_i, evict_i, address_i, used_i);
        if self.granularity.valid_o.val() {
            if self.granularity.coarse_o.val() {
                self.sectors.d.next = self.sectors.q.val() + 4;
            } else {
                self.sectors.d.next = self.sectors.q.val() + 1;
            }
        }
        drive!(self; fetch_o: granularity.valid_o, whole_o: granularity.coarse_o, sectors_o: sectors.q);
    }
}

/// The golden model: the model of the BGP, and a counter.
#[derive(selvedge_hw::selvedge_state::State)]
#[state(crate = selvedge_hw::selvedge_state)]
pub struct FetchModel {
    granularity: BgpModel,
    sectors: u32,
}

impl Clocked<FetchIn, FetchOut> for FetchModel {
    fn step(&mut self, inputs: &FetchIn) -> FetchOut {
        let FetchIn { miss_i: query_i, evict_i, address_i, used_i } = *inputs;
        let granularity = self.granularity.step(&BgpIn { query_i, evict_i, address_i, used_i });
        let (fetch_o, whole_o) = (granularity.valid_o, granularity.coarse_o);
        let outputs = FetchOut { fetch_o, whole_o, sectors_o: self.sectors };
        let fetched = if whole_o { SECTORS } else { 1 };
        self.sectors = self.sectors.wrapping_add(u32::from(fetch_o) * fetched);
        outputs
    }

    fn reset(&mut self) {
        self.granularity.reset();
        self.sectors = 0;
    }
}

/// The unit as a block, like the blocks of Selvedge.
pub struct FetchUnit;

impl HwBlock for FetchUnit {
    const NAME: &'static str = "fetch_unit";
    const SUMMARY: &'static str = "decides how many sectors of a block to fetch, and counts them";
    const SOURCE: &'static str = "an example";
    const PARAMS: &'static [ParamSpec] = FetchParams::SPECS;
    const OPERATIONS: u64 = 20_000;
    type Params = FetchParams;
    type In = FetchIn;
    type Out = FetchOut;
    type Model = FetchModel;

    fn model(params: &FetchParams) -> Result<FetchModel, ParamError> {
        Ok(FetchModel { granularity: Bgp::model(&params.bgp())?, sectors: 0 })
    }
    fn rtl(params: &FetchParams) -> Result<Box<dyn RtlBlock<FetchIn, FetchOut>>, ParamError> {
        Ok(RtlInstance::boxed(FetchTop::new(params)))
    }
    fn facts(params: &FetchParams) -> Facts {
        let mut facts = Bgp::facts(&params.bgp());
        facts.storage.push(Storage { name: "fetched sectors", bits: 32 });
        facts
    }
    fn stimulus(params: &FetchParams, seed: u64) -> StimulusIter<FetchIn> {
        Box::new(Bgp::stimulus(&params.bgp(), seed).map(|Stimulus { inputs, reset }| {
            let BgpIn { query_i: miss_i, evict_i, address_i, used_i } = inputs;
            Stimulus { inputs: FetchIn { miss_i, evict_i, address_i, used_i }, reset }
        }))
    }
    fn corners(_: &FetchParams) -> Box<dyn Corners<FetchIn, FetchOut>> {
        let corners = PortCorners::new(|_: &FetchIn, _: &FetchOut| true);
        let corners = corners.with("a whole block", 100, |_, outputs| outputs.fetch_o && outputs.whole_o);
        Box::new(corners.with("one sector", 100, |_, outputs| outputs.fetch_o && !outputs.whole_o))
    }
}

/// Compares model and RTL, then writes Verilog and testbench to `folder` and runs them. Returns the number of compared
/// cycles.
fn check(folder: &Path) -> Result<u64, Box<dyn Error>> {
    verify::<FetchUnit>(&FetchParams::default(), 1)?;
    let entry = Entry::<FetchUnit>::NEW;
    let params = entry.defaults();
    let emitted = Emitted::of(&entry, &params, &EmitOptions::default())?;
    let testbench = testbench::write(&entry, &params, 20_000, 1, ResetStyle::default())?;
    std::fs::create_dir_all(folder)?;
    Ok(icarus::run(&testbench, &emitted, folder)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or("out".into());
    let cycles = check(Path::new(&folder))?;
    println!("{folder}/fetch_unit.v: {cycles} cycles are those of the golden model");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_contains_a_block_is_its_model_in_icarus() {
        let folder = tempfile::tempdir().expect("a folder");
        let cycles = check(folder.path()).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(cycles, 20_000);
        let top = std::fs::read_to_string(folder.path().join("fetch_unit.v")).expect("the top");
        assert!(top.contains("fetch_unit_bgp_top"), "it has an instance of the BGP: {top}");
    }
}
