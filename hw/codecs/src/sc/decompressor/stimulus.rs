//! Stimulus of the decompressor: code streams, and payloads that are correct, cut short or random.
use super::model::ScDecompressorModel;
use super::params::ScDecompressorParams;
use super::rtl::DecompressorIn;
use crate::line::{LINE_WORDS, Line};
use crate::sc::huffman::CodeBook;
use crate::sc::loader::Loader;
use crate::sc::vocabulary::Vocabulary;
use crate::sc::{CodeItem, LINE_BITS, words_of};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;
use selvedge_hw::traffic::Traffic;

/// Payload that is offered to the decompressor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfferedPayload {
    pub payload: Line,
    pub bits: u16,
    pub compressed: bool,
}

/// Returns the inputs that offer a payload and a code.
pub(super) fn inputs(
    offered: Option<OfferedPayload>,
    load: Option<CodeItem>,
    ready_i: bool,
) -> DecompressorIn {
    let (offer, code) = (offered.unwrap_or_default(), load.unwrap_or_default());
    DecompressorIn {
        valid_i: offered.is_some(),
        compressed_i: offer.compressed,
        bits_i: offer.bits,
        payload_i: offer.payload,
        ready_i,
        load_valid_i: load.is_some(),
        load_first_i: code.first,
        load_last_i: code.last,
        load_escape_i: code.escape,
        load_value_i: code.value,
        load_code_i: code.code,
        load_length_i: code.length,
    }
}

/// Returns the payload that the compressor would give for a line.
pub(super) fn payload_of(book: &CodeBook, line: &Line) -> OfferedPayload {
    let codes = book.encode(&words_of(line));
    if codes.len() > LINE_BITS {
        return OfferedPayload { payload: *line, bits: LINE_BITS as u16, compressed: false };
    }
    let mut payload = [0; LINE_WORDS];
    payload[..codes.words().len()].copy_from_slice(codes.words());
    OfferedPayload { payload, bits: codes.len() as u16, compressed: true }
}

/// Draws the next offer. One in eight is wrong or has bits after its codes.
fn draw(vocabulary: &Vocabulary, prng: &mut Prng) -> OfferedPayload {
    let mut offer = payload_of(vocabulary.book(), &vocabulary.draw_line(prng));
    match prng.below(32) {
        0 => {
            let payload = std::array::from_fn(|_| prng.bits());
            offer = OfferedPayload { payload, bits: prng.below(2048) as u16, compressed: true };
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
    params: &ScDecompressorParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<DecompressorIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut traffic = Traffic::new(seed);
    let mut loader = Loader::new(seed);
    let mut model = ScDecompressorModel::new(params);
    let mut first = true;
    let mut offered: Option<OfferedPayload> = None;
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
