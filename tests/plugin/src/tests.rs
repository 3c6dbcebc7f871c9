//! Tests that the block's model and RTL agree, and that the mechanism gives the same report under every engine.
use crate::{block::Params, block::StreamFilterBlock, mechanism::StreamFilter};
use selvedge_hw::{Engine, verify::verify};
use selvedge_sim::simulation::Simulation;

#[test]
fn model_and_rtl_are_the_same() {
    for miss_bits in [3, 4] {
        verify::<StreamFilterBlock>(&Params { miss_bits }, 1).unwrap_or_else(|why| panic!("{why}"));
    }
}

#[test]
fn loads_bypass_the_l1d_under_every_engine_alike() {
    selvedge_sim::mechanism::add::<StreamFilter>().expect("the name is free");
    let bfs = Simulation::builder().workload("bfs").mechanism("stream_filter").check();
    let model = bfs.run().expect("it runs");
    let lockstep = bfs.engine(Engine::Lockstep).run().expect("it runs");
    assert!(model.mechanism_counters["bypassed_loads"] > 0);
    assert_eq!(model.totals, lockstep.totals);
}
