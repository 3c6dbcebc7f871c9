//! Stimulus of the compressor: code streams, and lines of known and unknown words between and during these streams.
use super::model::CompressorModel;
use super::params::CompressorParams;
use super::rtl::CompressorIn;
use crate::line::Line;
use crate::sc::loader::Loader;
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::Traffic;

/// Returns the compressor's stimulus, which never ends. An offered item stays until it is taken, as valid/ready streams
/// require. A golden model runs along to show when an item is taken.
pub(super) fn compressor(
    params: &CompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CompressorIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut traffic = Traffic::new(seed);
    let mut loader = Loader::new(seed);
    let mut model = CompressorModel::new(params);
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
        let item = load.unwrap_or_default();
        let inputs = CompressorIn {
            valid_i: offered.is_some(),
            line_i: offered.unwrap_or_default(),
            ready_i: traffic.accept(),
            load_valid_i: load.is_some(),
            load_first_i: item.first,
            load_last_i: item.last,
            load_index_i: item.index,
            load_escape_i: item.escape,
            load_value_i: item.value,
            load_code_i: item.code,
            load_length_i: item.length,
        };
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
