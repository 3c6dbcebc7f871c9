//! Lockstep detects a fault in the RTL at the right cycle and port, and reports it in one line and a waveform.
use selvedge_hw::Clock;
use selvedge_hw::{Divergence, Engine, HwBlock, Instance, PlantedUpset, StepError};
use selvedge_hw_codecs::bdi::{
    BdiCompressor, BdiCompressorParams, BdiDecompressor, BdiDecompressorParams, BdiEncoding, CompressorIn,
};
use selvedge_hw_codecs::line::LINE_WORDS;
use selvedge_hw_dai::milg::{Milg, MilgParams};
use std::io::BufReader;

/// Steps an instance through its block's stimulus until it diverges or `cycles` have passed.
fn run<B: HwBlock>(instance: &mut Instance<B>, seed: u64, cycles: usize) -> Result<(), Box<Divergence>> {
    for clock in B::stimulus(&instance.params().clone(), seed).take(cycles) {
        if clock.reset {
            instance.reset();
        } else {
            instance.step(&clock.inputs).map_err(|error| Box::new(difference(&error)))?;
        }
    }
    Ok(())
}

/// Returns the divergence in the error of a step without Verilog.
fn difference(error: &StepError) -> Divergence {
    error.divergence().expect("no Verilog runs").clone()
}

fn lockstep<B: HwBlock>(name: &str, params: &B::Params) -> Instance<B> {
    Instance::new(name, params, Engine::Lockstep).unwrap()
}

/// Returns inputs that offer a line of eight-byte words that compresses to (8,1), in every cycle.
fn offer() -> CompressorIn {
    let mut line_i = [0x4000_5000_6000_7000u64; LINE_WORDS];
    line_i.iter_mut().enumerate().for_each(|(index, word)| *word += index as u64);
    CompressorIn { valid_i: true, line_i, ready_i: true }
}

/// Returns the divergence if cycle 100 inverts one bit of the first delta in the RTL.
fn flipped_delta_bit() -> Divergence {
    let mut instance = lockstep::<BdiCompressor>("sm3.bdi_compressor", &BdiCompressorParams::default());
    // The output registers hold 4 bits of tag, 8 of size, then the payload: 8 bytes of base, 2 of mask, the deltas.
    let bit = 4 + 8 + 8 * (8 + 2);
    instance.inject(PlantedUpset { cycle: 100, bit }).unwrap();
    for _ in 0..1000 {
        if let Err(error) = instance.step(&offer()) {
            return difference(&error);
        }
    }
    panic!("the fault was not seen");
}

#[test]
fn a_flipped_bit_of_a_delta_is_caught_in_its_cycle_at_its_port() {
    let divergence = flipped_delta_bit();
    assert_eq!((divergence.cycle, divergence.port), (100, "payload_o"));
    // From the top: deltas 15 to 0, the empty mask, the base. The fault sets bit 0 of the first delta.
    assert_eq!(divergence.expected, "0xf0e0d0c0b0a0908070605040302010000004000500060007000");
    assert_eq!(divergence.got, "0xf0e0d0c0b0a0908070605040302010100004000500060007000");
    let line = divergence.to_string();
    assert!(!line.contains('\n') && line.starts_with("sm3.bdi_compressor (bdi_compressor): "), "{line}");
}

#[test]
fn the_divergence_writes_the_last_64_cycles_of_both_sides() {
    let divergence = flipped_delta_bit();
    let path = std::env::temp_dir().join(format!("selvedge-divergence-{}.vcd", std::process::id()));
    divergence.write_vcd(&path).unwrap();
    let text = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    let mut parser = vcd::Parser::new(BufReader::new(text.as_slice()));
    let header = parser.parse_header().unwrap();
    let payload =
        |side| header.find_var(&["selvedge", "sm3", "bdi_compressor", side, "payload_o"]).unwrap().code;
    let (model, rtl) = (payload("model"), payload("rtl"));
    let (mut time, mut first, mut last) = (0, None, Vec::new());
    for command in parser {
        match command.unwrap() {
            vcd::Command::Timestamp(now) => time = now,
            vcd::Command::ChangeVector(code, value) if code == model || code == rtl => {
                first.get_or_insert(Clock::default().cycle_at(time));
                last.push((Clock::default().cycle_at(time), code, value));
            }
            _ => {}
        }
    }
    assert_eq!(first, Some(37), "64 cycles, the last of them cycle 100");
    let (cycle, code, changed) = last.last().unwrap();
    assert_eq!((*cycle, *code), (100, rtl));
    let before = last.iter().rev().find(|(_, code, _)| *code == model).map(|(_, _, value)| value).unwrap();
    let different = before.iter().zip(changed.iter()).filter(|(a, b)| a != b).count();
    assert_eq!(different, 1);
}

#[test]
fn a_fault_in_each_output_register_is_caught_at_its_port() {
    let caught = |bit| {
        let mut instance = lockstep::<Milg>("sm0.milg", &MilgParams::default());
        instance.inject(PlantedUpset { cycle: 500, bit }).unwrap();
        let divergence = run(&mut instance, 3, 2000).unwrap_err();
        assert_eq!(divergence.cycle, 500);
        divergence.port
    };
    // may_issue_o compares the first two registers. It is the first port, but does not always show a fault in a low bit.
    assert!(["inflight_o", "may_issue_o"].contains(&caught(0)));
    assert!(["limit_o", "may_issue_o"].contains(&caught(7)));
    assert_eq!(caught(14), "update_o");

    let mut decompressor = lockstep::<BdiDecompressor>("d", &BdiDecompressorParams::default());
    decompressor.inject(PlantedUpset { cycle: 77, bit: 0 }).unwrap();
    assert_eq!(run(&mut decompressor, 3, 200).unwrap_err().port, "error_o");
}

#[test]
fn without_a_fault_lockstep_passes() {
    run(&mut lockstep::<BdiCompressor>("c", &BdiCompressorParams::default()), 9, 3000).unwrap();
    run(&mut lockstep::<BdiDecompressor>("d", &BdiDecompressorParams::default()), 9, 3000).unwrap();
    run(&mut lockstep::<Milg>("m", &MilgParams::default()), 9, 3000).unwrap();
}

#[test]
fn a_fault_goes_unseen_when_the_rtl_runs_alone_and_is_refused_without_rtl() {
    let fault = PlantedUpset { cycle: 100, bit: 20 };
    let params = BdiCompressorParams::default();
    let mut rtl = Instance::<BdiCompressor>::new("c", &params, Engine::Rtl).unwrap();
    rtl.inject(fault).unwrap();
    run(&mut rtl, 9, 1000).unwrap();
    let mut model = Instance::<BdiCompressor>::new("c", &params, Engine::Model).unwrap();
    let refusal = model.inject(fault).unwrap_err().to_string();
    assert_eq!(
        refusal,
        "c: a fault needs RTL to strike, but the engine is model; use rtl, lockstep or rtl+verilog"
    );
}

#[test]
fn an_instance_records_the_cycles_that_are_watched() {
    let mut instance =
        Instance::<BdiCompressor>::new("c", &BdiCompressorParams::default(), Engine::Model).unwrap();
    assert!(instance.trace().is_none());
    instance.watch(10, 5);
    instance.advance_to(8);
    for _ in 0..20 {
        instance.step(&offer()).unwrap();
    }
    let trace = instance.trace().unwrap();
    assert_eq!(trace.samples.iter().map(|sample| sample.cycle).collect::<Vec<_>>(), [10, 11, 12, 13, 14]);
    let encoding = trace.ports.iter().position(|port| port.name == "encoding_o").unwrap();
    assert_eq!(trace.samples[0].values[encoding], [u64::from(BdiEncoding::B8D1.tag())]);
}

#[test]
fn bad_parameters_are_refused_in_one_line() {
    let params = BdiCompressorParams { pipeline_depth: 6, ..BdiCompressorParams::default() };
    let error = Instance::<BdiCompressor>::new("c", &params, Engine::Model).err().unwrap().to_string();
    assert_eq!(error, "bdi_compressor: parameter 'pipeline_depth' = '6': must be 1 to 5");
}
