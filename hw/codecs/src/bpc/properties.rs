//! BPC against its definition, computed bit by bit without the codec's arithmetic. The blocks carry lines in order and in the
//! stated cycles, under any stalls.
use crate::bpc::stimulus::BpcLineGenerator;
use crate::bpc::{
    BpcCompressed, BpcCompressor, BpcDecompressor, BpcParams, CompressorIn, DecompressorIn, compress,
    decompress,
};
use crate::equivalence::lines_through;
use crate::line::{Bits, LINE_BYTES, Line, bytes_of, words_of};
use bitvec::prelude::*;
use proptest::prelude::*;
use selvedge_hw::{Engine, HwBlock, Instance};

/// Appends bits given as text, first bit first.
fn prefix(bits: &mut Bits, text: &str) {
    bits.extend(text.chars().map(|c| c == '1'));
}

/// Appends the low `width` bits of a number, lowest first.
fn field(bits: &mut Bits, value: u64, width: usize) {
    bits.extend_from_bitslice(&value.view_bits::<Lsb0>()[..width]);
}

/// Returns the codes of a line by definition.
fn defined(line: &[u8]) -> Bits {
    let words: Vec<i64> =
        line.chunks(4).map(|bytes| i64::from(u32::from_le_bytes(bytes.try_into().unwrap()))).collect();
    let mut bits = Bits::new();
    let base = i64::from(words[0] as u32 as i32);
    match base {
        0 => prefix(&mut bits, "000"),
        -8..=7 => (prefix(&mut bits, "001"), field(&mut bits, base as u64, 4)).1,
        -128..=127 => (prefix(&mut bits, "010"), field(&mut bits, base as u64, 8)).1,
        -32768..=32767 => (prefix(&mut bits, "011"), field(&mut bits, base as u64, 16)).1,
        _ => (prefix(&mut bits, "1"), field(&mut bits, base as u64, 32)).1,
    }
    let deltas: Vec<i64> = words.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let dbp = |plane: u32| deltas.iter().map(|delta| delta >> plane & 1 == 1).collect::<Vec<bool>>();
    let place_bits = words.len().ilog2() as usize;
    let mut run = 0u64;
    let end_run = |bits: &mut Bits, run: &mut u64| {
        match *run {
            0 => {}
            1 => prefix(bits, "001"),
            run => (prefix(bits, "01"), field(bits, run - 2, 5)).1,
        }
        *run = 0;
    };
    for plane in (0..33).rev() {
        let own = dbp(plane);
        let above = if plane == 32 { vec![false; deltas.len()] } else { dbp(plane + 1) };
        let dbx: Vec<bool> = own.iter().zip(&above).map(|(a, b)| a != b).collect();
        let places: Vec<usize> = (0..dbx.len()).filter(|place| dbx[*place]).collect();
        if places.is_empty() {
            run += 1;
            continue;
        }
        end_run(&mut bits, &mut run);
        match places[..] {
            _ if places.len() == dbx.len() => prefix(&mut bits, "00000"),
            _ if !own.contains(&true) => prefix(&mut bits, "00001"),
            [low, high] if high == low + 1 => {
                (prefix(&mut bits, "00010"), field(&mut bits, low as u64, place_bits)).1
            }
            [place] => (prefix(&mut bits, "00011"), field(&mut bits, place as u64, place_bits)).1,
            _ => {
                prefix(&mut bits, "1");
                bits.extend(dbx);
            }
        }
    }
    end_run(&mut bits, &mut run);
    bits
}

fn check(line: &[u8]) {
    let bits = defined(line);
    let got = compress(line);
    assert_eq!(crate::bpc::code_bits(line), bits.len());
    let shrinks = bits.len().div_ceil(8) < line.len();
    let expected: Bits = if shrinks { bits } else { line.view_bits::<Lsb0>().iter().by_vals().collect() };
    assert_eq!((got.compressed, usize::from(got.size)), (shrinks, expected.len().div_ceil(8)), "{line:02x?}");
    let payload = got.payload.view_bits::<Lsb0>();
    assert_eq!(payload[..expected.len()], expected, "{line:02x?}");
    assert!(payload[expected.len()..].not_any(), "bits beyond the payload");
    let back = decompress(&got, line.len());
    assert!(!back.error && bytes_of(&back.line)[..line.len()] == *line, "{line:02x?}");
}

#[test]
fn lines_with_every_code_are_as_defined() {
    for bytes in LINE_BYTES {
        let mut lines = BpcLineGenerator::new(3, bytes);
        for _ in 0..5_000 {
            check(&bytes_of(&lines.next_line())[..bytes]);
        }
    }
}

proptest! {
    #[test]
    fn any_line_is_as_defined(line in prop::sample::select(LINE_BYTES.to_vec())
        .prop_flat_map(|bytes| prop::collection::vec(prop_oneof![3 => Just(0u8), 1 => Just(0xff), 1 => any::<u8>()], bytes)))
    {
        check(&line);
    }

    /// Every payload decompresses to a line, or to an error with zeros.
    #[test]
    fn any_payload_is_read_to_an_end(payload: Line, size in 0usize..3, sparse: bool) {
        let line_bytes = LINE_BYTES[size];
        let payload = if sparse { payload.map(|word| word & word.rotate_left(9) & word.rotate_left(31)) } else { payload };
        let got = decompress(&BpcCompressed { compressed: true, size: 0, payload }, line_bytes);
        prop_assert!((1..=8).contains(&got.cycles));
        prop_assert!(!got.error || got.line == Line::default());
        prop_assert!(got.line[line_bytes / 8..].iter().all(|word| *word == 0));
    }
}

/// Sends one line through the compressor and then the decompressor, in lockstep with their models. Returns the compressed line
/// and the cycles of each block.
fn alone(line: &Line, line_bytes: usize) -> (BpcCompressed, u32, u32) {
    let params = BpcParams { line_bytes };
    let mut compressor = Instance::<BpcCompressor>::new("compressor", &params, Engine::Lockstep).unwrap();
    let mut decompressor =
        Instance::<BpcDecompressor>::new("decompressor", &params, Engine::Lockstep).unwrap();
    compressor.step(&CompressorIn { valid_i: true, line_i: *line, ready_i: true }).unwrap();
    let idle = CompressorIn { ready_i: true, ..CompressorIn::default() };
    let (packed, first) =
        (1..).map(|cycle| (compressor.step(&idle).unwrap(), cycle)).find(|(o, _)| o.valid_o).unwrap();
    let between =
        BpcCompressed { compressed: packed.compressed_o, size: packed.size_o, payload: packed.payload_o };
    let (compressed_i, payload_i) = (packed.compressed_o, packed.payload_o);
    decompressor.step(&DecompressorIn { valid_i: true, compressed_i, payload_i, ready_i: true }).unwrap();
    let idle = DecompressorIn { ready_i: true, ..DecompressorIn::default() };
    let (back, second) =
        (1..).map(|cycle| (decompressor.step(&idle).unwrap(), cycle)).find(|(o, _)| o.valid_o).unwrap();
    assert!(!back.error_o && back.line_o == *line);
    (between, first, second)
}

#[test]
fn a_line_takes_the_stated_cycles() {
    let latency = BpcDecompressor::facts(&BpcParams::default()).latency;
    assert_eq!(latency, 11, "LATTE-CC, table I");
    let mut longest = 0;
    for line_bytes in LINE_BYTES {
        let mut lines = BpcLineGenerator::new(5, line_bytes);
        for _ in 0..200 {
            let line = lines.next_line();
            let (between, first, second) = alone(&line, line_bytes);
            assert_eq!(between, compress(&bytes_of(&line)[..line_bytes]));
            assert_eq!(first, BpcCompressor::facts(&BpcParams { line_bytes }).latency);
            assert!(second <= latency);
            longest = longest.max(second);
        }
        assert_eq!(
            alone(&words_of(&vec![0; line_bytes]), line_bytes).2,
            4,
            "a run of all planes is one code"
        );
    }
    assert!(longest >= latency - 1, "{longest}");
}

/// Decompresses a payload in which only `bits` are set. Returns whether it gives a line, and the cycles.
fn read_alone(bits: &[usize], line_bytes: usize) -> (bool, u32) {
    let mut payload_i = Line::default();
    bits.iter().for_each(|bit| payload_i[bit / 64] |= 1 << (bit % 64));
    let mut decompressor =
        Instance::<BpcDecompressor>::new("decompressor", &BpcParams { line_bytes }, Engine::Lockstep)
            .unwrap();
    decompressor
        .step(&DecompressorIn { valid_i: true, compressed_i: true, payload_i, ready_i: true })
        .unwrap();
    let idle = DecompressorIn { ready_i: true, ..DecompressorIn::default() };
    let (back, cycles) =
        (1..).map(|cycle| (decompressor.step(&idle).unwrap(), cycle)).find(|(o, _)| o.valid_o).unwrap();
    (!back.error_o, cycles)
}

#[test]
fn the_code_of_the_last_plane_is_read_with_four_others() {
    for line_bytes in LINE_BYTES {
        // A base of three bits, then planes of five bits each.
        let last = 3 + 32 * 5;
        assert_eq!(read_alone(&[], line_bytes), (true, 11), "33 codes");
        assert_eq!(read_alone(&[last], line_bytes), (true, 11), "a raw plane is the last");
        assert_eq!(read_alone(&[last + 1], line_bytes), (false, 11), "a run goes beyond it");
        // The 28th code is a run of six planes, to the end, or of five, up to the last plane.
        let run = 3 + 27 * 5;
        assert_eq!(read_alone(&[run + 1, run + 4], line_bytes), (true, 10), "28 codes");
        assert_eq!(read_alone(&[run + 1, run + 2, run + 3], line_bytes), (true, 10), "29 codes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    /// Connects compressor and decompressor, each in lockstep with its model, under any stalls and resets.
    #[test]
    fn lines_come_through_both_blocks_in_order_under_any_stalls(
        size in 0usize..3,
        seed: u64,
        traffic in prop::collection::vec((any::<bool>(), any::<bool>(), 0u8..100), 1..300),
    ) {
        let line_bytes = LINE_BYTES[size];
        let params = BpcParams { line_bytes };
        let mut compressor = Instance::<BpcCompressor>::new("compressor", &params, Engine::Lockstep).unwrap();
        let mut decompressor = Instance::<BpcDecompressor>::new("decompressor", &params, Engine::Lockstep).unwrap();
        let generator = BpcLineGenerator::new(seed, line_bytes);
        let traffic = traffic.into_iter().map(|(offer, take, chance)| (offer, true, take, chance));
        let inside = lines_through!(compressor, decompressor, generator, traffic, compressed_o -> compressed_i);
        prop_assert!(inside <= 3);
    }
}

#[test]
fn a_wrong_parameter_names_what_is_allowed() {
    let error = BpcCompressor::model(&BpcParams { line_bytes: 48 }).unwrap_err().to_string();
    assert_eq!(error, "bpc_compressor: parameter 'line_bytes' = '48': must be 32, 64, 128");
}
