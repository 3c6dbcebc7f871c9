//! Stimulus of the compressor: code streams, and lines of known and unknown words between and during these streams.
use super::model::ScCompressorModel;
use super::params::ScCompressorParams;
use super::rtl::CompressorIn;
use crate::line::Line;
use crate::sc::CodeItem;
use crate::sc::loader::Loader;
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::Traffic;

/// Returns the inputs that offer a line and a code.
pub(in crate::sc) fn inputs(line: Option<Line>, load: Option<CodeItem>, ready_i: bool) -> CompressorIn {
    let code = load.unwrap_or_default();
    CompressorIn {
        valid_i: line.is_some(),
        line_i: line.unwrap_or_default(),
        ready_i,
        load_valid_i: load.is_some(),
        load_first_i: code.first,
        load_last_i: code.last,
        load_index_i: code.index,
        load_escape_i: code.escape,
        load_value_i: code.value,
        load_code_i: code.code,
        load_length_i: code.length,
    }
}

/// Returns the compressor's stimulus, which never ends. An offered item stays until it is taken, as valid/ready streams
/// require. A golden model runs along to show when an item is taken.
pub(super) fn compressor(
    params: &ScCompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut traffic = Traffic::new(seed);
    let mut loader = Loader::new(seed);
    let mut model = ScCompressorModel::new(params);
    let mut first = true;
    let mut offered: Option<Line> = None;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        if std::mem::take(&mut first) || traffic.reset_due() {
            model.reset();
            loader.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if offered.is_none() && traffic.offer() {
            offered = Some(loader.vocabulary().draw_line(&mut prng));
        }
        let load = loader.offer();
        let inputs = inputs(offered, load, traffic.accept());
        let outputs = model.step(&inputs);
        if outputs.ready_o {
            offered = None;
        }
        if outputs.load_ready_o && load.is_some() {
            loader.taken();
        }
        Some(Stimulus::step(inputs))
    })
}
