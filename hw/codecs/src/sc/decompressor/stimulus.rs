//! Stimulus of the decompressor: code streams, and payloads that are correct, cut short or random.
use super::model::DecompressorModel;
use super::params::DecompressorParams;
use super::rtl::DecompressorIn;
use crate::line::{LINE_WORDS, Line};
use crate::sc::loader::Loader;
use crate::sc::vocabulary::Vocabulary;
use crate::sc::{LINE_BITS, words_of};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::Traffic;

/// Payload that is offered to the decompressor.
#[derive(Clone, Copy, Debug, Default)]
struct Offer {
    payload: Line,
    bits: u16,
    compressed: bool,
}

/// Returns the payload that the compressor would give for a line.
fn compressed(vocabulary: &Vocabulary, line: &Line) -> Offer {
    let codes = vocabulary.book().encode(&words_of(line));
    if codes.len() > LINE_BITS {
        return Offer { payload: *line, bits: LINE_BITS as u16, compressed: false };
    }
    let mut payload = [0; LINE_WORDS];
    payload[..codes.words().len()].copy_from_slice(codes.words());
    Offer { payload, bits: codes.len() as u16, compressed: true }
}

/// Draws the next offer. One in eight is wrong or has bits after its codes.
fn draw(vocabulary: &Vocabulary, prng: &mut Prng) -> Offer {
    let mut offer = compressed(vocabulary, &vocabulary.draw_line(prng));
    match prng.below(32) {
        0 => {
            let payload = std::array::from_fn(|_| prng.bits());
            offer = Offer { payload, bits: prng.below(2048) as u16, compressed: true };
        }
        1 => offer.bits = offer.bits.saturating_sub(1),
        2 => offer.bits = prng.below(1 + u64::from(offer.bits)) as u16,
        3 => offer.bits += prng.below(2048 - u64::from(offer.bits)) as u16,
        _ => {}
    }
    offer
}

/// Returns the decompressor's stimulus, which never ends. An offered item stays until it is taken, as valid/ready streams
/// require. A golden model runs along to show when an item is taken.
pub(super) fn decompressor(
    params: &DecompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut traffic = Traffic::new(seed);
    let mut loader = Loader::new(seed);
    let mut model = DecompressorModel::new(params);
    let mut first = true;
    let mut offered: Option<Offer> = None;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        if std::mem::take(&mut first) || traffic.reset_due() {
            model.reset();
            loader.reset();
            offered = None;
            return Some(Stimulus::reset());
        }
        if offered.is_none() && traffic.offer() {
            offered = Some(draw(loader.vocabulary(), &mut prng));
        }
        let load = loader.offer();
        let item = load.unwrap_or_default();
        let offer = offered.unwrap_or_default();
        let inputs = DecompressorIn {
            valid_i: offered.is_some(),
            compressed_i: offer.compressed,
            bits_i: offer.bits,
            payload_i: offer.payload,
            ready_i: traffic.accept(),
            load_valid_i: load.is_some(),
            load_first_i: item.first,
            load_last_i: item.last,
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
