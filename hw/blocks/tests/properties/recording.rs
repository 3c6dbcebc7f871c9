//! The recording of a probed instance against the block stepped in every cycle.
use selvedge_hw::wave::{CycleSample, Trace};
use selvedge_hw::{ClockedBits, Direction, Engine, HwBlock, Instance, Prng};
use selvedge_hw_caba::awc::Awc;
use selvedge_hw_codecs::bdi::{BdiCompressor, BdiCompressorParams, BdiDecompressor, CompressorIn};
use selvedge_hw_codecs::line::LINE_WORDS;
use selvedge_hw_dai::milg::Milg;
use selvedge_hw_lamar::bgp::Bgp;

/// Steps an instance through its block's stimulus, with random idle cycles skipped. Returns its trace.
fn recorded<B: HwBlock>(params: &B::Params, engine: Engine, window: (u64, u64)) -> Trace {
    let mut plain = Instance::<B>::new("i", params, engine).unwrap();
    let mut probed = Instance::<B>::new("i", params, engine).unwrap();
    probed.watch(window.0, window.1);
    let mut random = Prng::new(7);
    for clock in B::stimulus(params, 5).filter(|clock| !clock.reset).take(800) {
        if random.below(4) == 0 {
            let cycle = probed.cycle() + random.below(40);
            plain.advance_to(cycle);
            probed.advance_to(cycle);
        }
        let outputs = [&mut plain, &mut probed].map(|one| one.step(&clock.inputs).unwrap());
        assert_eq!(outputs[0], outputs[1], "a probe changes nothing");
    }
    probed.trace().expect("it is watched")
}

/// Returns the values of the inputs or outputs in a sample.
fn of(trace: &Trace, sample: &CycleSample, direction: Direction) -> Vec<Vec<u64>> {
    let ports = trace.ports.iter().zip(&sample.values);
    ports.filter(|(port, _)| port.direction == direction).map(|(_, value)| value.clone()).collect()
}

/// Steps the block in every cycle with the recorded inputs and checks the recorded outputs. Returns the number of cycles without
/// a sample.
fn replay(trace: &Trace, circuit: &mut dyn ClockedBits) -> u64 {
    let (first, last) = (trace.samples[0].cycle, trace.samples[trace.samples.len() - 1].cycle);
    assert_eq!(first, 0);
    let mut samples = trace.samples.iter().peekable();
    let mut now = samples.next().unwrap();
    let mut left_out = 0;
    for cycle in 0..=last {
        match samples.next_if(|next| next.cycle == cycle) {
            Some(next) => now = next,
            None => left_out += u64::from(cycle > 0),
        }
        let outputs = circuit.step(&of(trace, now, Direction::Input));
        assert_eq!(outputs, of(trace, now, Direction::Output), "cycle {cycle}");
    }
    left_out
}

#[test]
fn a_recording_is_the_block_clocked_in_every_cycle_with_its_inputs() {
    fn check<B: HwBlock>(entry: &str) -> u64 {
        let mut left_out = 0;
        for engine in [Engine::Model, Engine::Rtl, Engine::Lockstep] {
            let params = B::Params::default();
            let trace = recorded::<B>(&params, engine, (0, u64::MAX));
            let entry = selvedge_blocks::find(entry).unwrap();
            let values = serde_json::to_value(&params).unwrap();
            // Data are undefined while valid is low: model and RTL differ there.
            let circuit = if engine == Engine::Model { entry.model(&values) } else { entry.rtl(&values) };
            left_out += replay(&trace, &mut *circuit.unwrap());
        }
        left_out
    }
    for left_out in [
        check::<Milg>("milg"),
        check::<Bgp>("bgp"),
        check::<BdiCompressor>("bdi_compressor"),
        check::<BdiDecompressor>("bdi_decompressor"),
    ] {
        assert!(left_out > 3000, "at rest nothing is recorded: {left_out}");
    }
    check::<Awc>("awc");
}

#[test]
fn a_window_shows_its_first_cycle_though_the_block_is_at_rest() {
    let params = BdiCompressorParams::default();
    let mut compressor = Instance::<BdiCompressor>::new("c", &params, Engine::Rtl).unwrap();
    compressor.watch(100, 500);
    compressor.advance_to(300);
    let offer = CompressorIn { valid_i: true, line_i: [7; LINE_WORDS], ready_i: true };
    compressor.step(&offer).unwrap();
    let trace = compressor.trace().unwrap();
    let cycles: Vec<u64> = trace.samples.iter().map(|sample| sample.cycle).collect();
    assert_eq!(cycles[..2], [100, 300], "{cycles:?}");
    assert!(!trace.is_gated, "its clock runs in the cycles between");
}

#[test]
fn valid_o_is_high_in_the_cycles_in_which_items_leave_and_falls_after_them() {
    for engine in [Engine::Model, Engine::Rtl, Engine::Lockstep] {
        let params = BdiCompressorParams::default();
        let mut compressor = Instance::<BdiCompressor>::new("c", &params, engine).unwrap();
        compressor.watch(0, u64::MAX);
        let mut items = 0;
        for at in 0..20 {
            // Sends one line, up to the cycle in which it leaves. The clock then stops until the next line.
            compressor.advance_to(50 * at);
            let mut offer = CompressorIn { valid_i: true, line_i: [at; LINE_WORDS], ready_i: true };
            while !compressor.step(&offer).unwrap().valid_o {
                offer.valid_i = false;
            }
            items += 1;
        }
        let trace = compressor.trace().unwrap();
        let place = |name| trace.ports.iter().position(|port| port.name == name).unwrap();
        let (valid, ready) = (place("valid_o"), place("ready_i"));
        let mut given = 0;
        let next = trace.samples[1..].iter().map(|sample| sample.cycle).chain([u64::MAX]);
        for (sample, next) in trace.samples.iter().zip(next) {
            if sample.values[valid][0] == 1 && sample.values[ready][0] == 1 {
                assert_eq!(next, sample.cycle + 1, "{engine}: it is not high for longer");
                given += 1;
            }
        }
        assert_eq!(given, items, "{engine}");
        assert_eq!(trace.samples[trace.samples.len() - 1].values[valid], [0], "{engine}: it has fallen");
    }
}
