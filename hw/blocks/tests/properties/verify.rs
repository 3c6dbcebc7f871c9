//! Verification reports the errors of a block.
use selvedge_hw::verify::{Unverified, verify};
use selvedge_hw::{Corners, Facts, HwBlock, ParamError, ParamSpec, RtlBlock, StimulusIter};
use selvedge_hw_dai::milg::{Milg, MilgIn, MilgModel, MilgOut, MilgParams};

/// The MILG with a golden model whose intervals have 2^`MODEL_BITS` requests, verified over `OPERATIONS` operations.
struct Variant<const MODEL_BITS: u32, const OPERATIONS: u64>;

impl<const MODEL_BITS: u32, const OPERATIONS: u64> HwBlock for Variant<MODEL_BITS, OPERATIONS> {
    const NAME: &'static str = "milg_variant";
    const SUMMARY: &'static str = Milg::SUMMARY;
    const SOURCE: &'static str = Milg::SOURCE;
    const PARAMS: &'static [ParamSpec] = Milg::PARAMS;
    const OPERATIONS: u64 = OPERATIONS;
    type Params = MilgParams;
    type In = MilgIn;
    type Out = MilgOut;
    type Model = MilgModel;

    fn model(params: &MilgParams) -> Result<MilgModel, ParamError> {
        Milg::model(&MilgParams { request_bits: MODEL_BITS, ..*params })
    }
    fn rtl(params: &MilgParams) -> Result<Box<dyn RtlBlock<MilgIn, MilgOut>>, ParamError> {
        Milg::rtl(params)
    }
    fn facts(params: &MilgParams) -> Facts {
        Milg::facts(params)
    }
    fn stimulus(params: &MilgParams, seed: u64) -> StimulusIter<MilgIn> {
        Milg::stimulus(params, seed)
    }
    fn corners(params: &MilgParams) -> Box<dyn Corners<MilgIn, MilgOut>> {
        Milg::corners(params)
    }
}

#[test]
fn a_block_that_is_right_is_verified() {
    verify::<Variant<10, 100_000>>(&MilgParams::default(), 1).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn a_difference_names_the_sides_and_every_port_and_leaves_a_waveform() {
    let why = verify::<Variant<8, 100_000>>(&MilgParams::default(), 1).expect_err("the model is wrong");
    let text = why.to_string();
    assert!(text.contains("model and RTL differ in cycle "), "{text}");
    assert!(text.contains("at port update_o: model 0x1, RTL 0x0"), "{text}");
    for port in
        ["issued_i: 0x", "rsfail_i: 0x", "inflight_o (model | RTL): 0x", "update_o (model | RTL): 0x1 | 0x0"]
    {
        assert!(text.contains(port), "{port}: {text}");
    }
    let Unverified::Differs { vcd, .. } = why else { panic!("{text}") };
    let waveform = std::fs::read_to_string(&vcd).expect("the waveform is there");
    assert!(
        waveform.contains("$scope module model") && waveform.contains("$scope module rtl"),
        "{waveform:.400}"
    );
    std::fs::remove_file(vcd).expect("removed");
}

#[test]
fn a_corner_case_that_the_stimulus_does_not_reach_is_named() {
    let why =
        verify::<Variant<10, 10>>(&MilgParams::default(), 1).expect_err("ten cycles are few").to_string();
    assert_eq!(why, "milg_variant: corner case 'in flight pushed beyond the top' seen 0 times, must be 1");
}

#[test]
fn parameters_that_are_not_allowed_are_named() {
    let params = MilgParams { rsfail_bits: 13, ..MilgParams::default() };
    let why = verify::<Milg>(&params, 1).expect_err("13 bits are not allowed").to_string();
    assert!(why.contains("parameter 'rsfail_bits' = '13'"), "{why}");
}
