//! Tests copies of boxes of a tensor, against the rules of the CUDA driver API and the PTX ISA.

use super::super::{Arg, FunctionalError, LaunchDims, Module, run_limited};
use super::{kernel_text, note_all};
use crate::memory::DeviceMemory;
use crate::tensor_map::{TensorMap, TiledTensor};

/// Words of the tensor, which follows the map in the buffer.
const WORDS: usize = 1024;
const TENSOR: u64 = 128;
const RESULT: u64 = TENSOR + 4 * WORDS as u64;
const DECLARATIONS: &str = ".shared .align 8 .b64 bar; .shared .align 1024 .b32 tile[512];";

/// A tensor and a box, for tests.
#[derive(Clone)]
struct Case {
    data_type: u32,
    sides: Vec<u64>,
    strides: Vec<u64>,
    box_sides: Vec<u32>,
    steps: Vec<u32>,
    swizzle: u32,
    fill: u32,
}

impl Case {
    /// Returns a tensor of words without padding.
    fn words(sides: &[u64], box_sides: &[u32]) -> Self {
        let strides =
            (1..sides.len()).map(|dimension| 4 * sides[..dimension].iter().product::<u64>()).collect();
        Self {
            data_type: 2,
            sides: sides.to_vec(),
            strides,
            box_sides: box_sides.to_vec(),
            steps: vec![1; sides.len()],
            swizzle: 0,
            fill: 0,
        }
    }

    /// Runs statements in one warp, on a tensor whose word n is n + 1. Returns the tensor and the words behind it.
    fn run(&self, body: &str) -> Result<(Vec<u32>, Vec<u32>), FunctionalError> {
        let head =
            "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.u32 %r1, tile;";
        let text = kernel_text(DECLARATIONS, &format!("{head}\n{body}\nret;")).replace("sm_60", "sm_90");
        note_all(&text);
        let module = Module::parse("k.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let kernel = module.kernel("k").expect("there");
        let mut memory = DeviceMemory::new();
        let buffer = memory.alloc(RESULT + 4 * 512, "out").expect("room");
        let map = TensorMap::new(&TiledTensor {
            data_type: self.data_type,
            address: buffer + TENSOR,
            sides: &self.sides,
            strides: &self.strides,
            box_sides: &self.box_sides,
            steps: &self.steps,
            interleave: 0,
            swizzle: self.swizzle,
            fill: self.fill,
        });
        memory.write(buffer, &map.expect("valid").encode()).expect("room");
        memory.write_u32s(buffer + TENSOR, &(1..=WORDS as u32).collect::<Vec<_>>()).expect("room");
        let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
        let dims = LaunchDims::new([1, 1, 1], [32, 1, 1]);
        run_limited(&module, &kernel, &dims, &params, &mut memory, 1 << 24)?;
        let read = |from, count| memory.read_u32s(buffer + from, count).expect("there");
        Ok((read(TENSOR, WORDS), read(RESULT, 512)))
    }

    /// Copies the box at these coordinates to shared memory, and returns its first `words` words.
    fn load(&self, coordinates: &[i32], words: usize) -> Vec<u32> {
        let body = format!(
            "@%p1 mbarrier.init.shared.b64 [bar], 1; bar.warp.sync -1;\n\
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {};\n\
             @%p1 cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {}], [bar];\n\
             WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n\
             mov.u32 %r2, %r0; NEXT: setp.ge.u32 %p3, %r2, {words}; @%p3 bra DONE; mad.lo.u32 %r3, %r2, 4, %r1;\n\
             ld.shared.u32 %r4, [%r3]; mul.wide.u32 %rd1, %r2, 4; add.u64 %rd1, %rd0, %rd1;\n\
             st.global.u32 [%rd1+{RESULT}], %r4; add.u32 %r2, %r2, 32; bra NEXT; DONE:",
            4 * words,
            coordinates.len(),
            list(coordinates),
        );
        self.run(&body).unwrap().1[..words].to_vec()
    }

    /// Fills shared memory with 1000 + n, and copies the box at these coordinates to the tensor, which is returned.
    fn store(&self, coordinates: &[i32]) -> Vec<u32> {
        let body = format!(
            "mov.u32 %r2, %r0; NEXT: setp.ge.u32 %p3, %r2, 512; @%p3 bra DONE; mad.lo.u32 %r3, %r2, 4, %r1;\n\
             add.u32 %r4, %r2, 1000; st.shared.u32 [%r3], %r4; add.u32 %r2, %r2, 32; bra NEXT; DONE:\n\
             fence.proxy.async.shared::cta; bar.warp.sync -1;\n\
             @%p1 cp.async.bulk.tensor.{}d.global.shared::cta.bulk_group [%rd0, {}], [%r1];\n\
             cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
            coordinates.len(),
            list(coordinates),
        );
        self.run(&body).unwrap().0
    }
}

fn list(coordinates: &[i32]) -> String {
    let numbers: Vec<String> = coordinates.iter().map(i32::to_string).collect();
    format!("{{{}}}", numbers.join(", "))
}

#[test]
fn a_box_has_the_elements_at_its_coordinates_and_zeros_outside_the_tensor() {
    let case = Case::words(&[12, 7], &[4, 3]);
    for (x, y) in [(0, 0), (5, 2), (10, 1), (-2, 3), (3, -1), (3, 6), (12, 0), (-4, -3), (11, 6), (-1, 5)] {
        let element = |place: i32| {
            let (column, row) = (x + place % 4, y + place / 4);
            let inside = (0..12).contains(&column) && (0..7).contains(&row);
            if inside { (12 * row + column + 1) as u32 } else { 0 }
        };
        assert_eq!(case.load(&[x, y], 12), (0..12).map(element).collect::<Vec<_>>(), "({x}, {y})");
    }
}

#[test]
fn a_tensor_has_one_to_five_dimensions() {
    let sides: [u64; 5] = [8, 3, 4, 2, 5];
    let box_sides: [u32; 5] = [4, 2, 3, 1, 2];
    let first: [i32; 5] = [2, 1, 2, 1, 3];
    for rank in 1..=5 {
        let case = Case::words(&sides[..rank], &box_sides[..rank]);
        let words = box_sides[..rank].iter().product::<u32>() as usize;
        let element = |place: usize| {
            let (mut rest, mut index, mut weight, mut inside) = (place as u64, 0, 1, true);
            for dimension in 0..rank {
                let at = first[dimension] as u64 + rest % u64::from(box_sides[dimension]);
                rest /= u64::from(box_sides[dimension]);
                inside &= at < sides[dimension];
                index += at * weight;
                weight *= sides[dimension];
            }
            if inside { index as u32 + 1 } else { 0 }
        };
        assert_eq!(case.load(&first[..rank], words), (0..words).map(element).collect::<Vec<_>>(), "{rank}");
    }
}

#[test]
fn rows_may_have_padding_and_be_left_out() {
    // 10 of 16 words of a row belong to the tensor. The box takes every third row.
    let case = Case {
        sides: vec![10, 20],
        strides: vec![64],
        box_sides: vec![8, 9],
        steps: vec![1, 3],
        ..Case::words(&[10, 20], &[])
    };
    let element = |place: u32| {
        let (column, row) = (4 + place % 8, 2 + 3 * (place / 8));
        if column < 10 { 16 * row + column + 1 } else { 0 }
    };
    assert_eq!(case.load(&[4, 2], 24), (0..24).map(element).collect::<Vec<_>>());
}

#[test]
fn pieces_of_sixteen_bytes_are_permuted_within_a_span() {
    // In the permutations of 32, 64 and 128 bytes, the number of a 128-byte line flips bits of the number of a piece.
    for (swizzle, row_words, flipped) in [(1, 8u32, 1), (2, 16, 3), (3, 32, 7)] {
        let rows = 512 / row_words;
        let side = u64::from(row_words);
        let case = Case { swizzle, ..Case::words(&[side, u64::from(rows)], &[row_words, rows]) };
        let got = case.load(&[0, 0], 512);
        for word in 0..512u32 {
            let (line, piece) = (word / 32, word / 4 % 8);
            let moved = 32 * line + 4 * (piece ^ (line & flipped)) + word % 4;
            assert_eq!(got[moved as usize], word + 1, "swizzle {swizzle}, word {word}");
        }
    }
}

#[test]
fn elements_outside_a_tensor_of_floating_point_numbers_may_be_nan() {
    let single = Case { data_type: 7, fill: 1, ..Case::words(&[4, 2], &[4, 2]) };
    let got = single.load(&[2, 0], 8);
    let is_nan = |bits: &u32| f32::from_bits(*bits).is_nan();
    assert_eq!((&got[..2], &got[4..6]), (&[3, 4][..], &[7, 8][..]));
    assert!(got[2..4].iter().chain(&got[6..]).all(is_nan), "{got:x?}");
    // Half precision: the upper ten bits of 16 above the fraction are ones.
    let half = Case { data_type: 6, fill: 1, sides: vec![8], box_sides: vec![8], ..Case::words(&[8], &[]) };
    let got = half.load(&[5], 4);
    assert_eq!(got[0], 4 << 16, "elements 5 and 6 of words 3 and 4");
    for bits in [got[1] >> 16, got[2] & 0xffff, got[2] >> 16, got[3] & 0xffff] {
        assert!(bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0, "{got:x?}");
    }
}

#[test]
fn a_store_changes_only_the_elements_of_the_box_inside_the_tensor() {
    for swizzle in [0, 1] {
        let case = Case { swizzle, ..Case::words(&[12, 7], &[8, 4]) };
        for (x, y) in [(0, 0), (7, 5), (-3, -2), (12, 0)] {
            let mut wanted: Vec<u32> = (1..=WORDS as u32).collect();
            for place in 0..32i32 {
                let (column, row) = (x + place % 8, y + place / 8);
                if (0..12).contains(&column) && (0..7).contains(&row) {
                    // Four rows of 32 bytes are one line, whose number is 0, so that nothing is permuted.
                    wanted[(12 * row + column) as usize] = 1000 + place as u32;
                }
            }
            assert_eq!(case.store(&[x, y]), wanted, "({x}, {y})");
        }
    }
}

#[test]
fn a_wrong_map_or_address_is_a_fault() {
    let case = Case::words(&[12, 7], &[4, 3]);
    let copy = |rank: &str, to: &str, map: &str, at: &str| {
        format!(
            "mbarrier.init.shared.b64 [bar], 1;\n@%p1 cp.async.bulk.tensor.{rank}.shared::cluster.global.mbarrier::\
             complete_tx::bytes [{to}], [{map}, {at}], [bar];"
        )
    };
    for (body, says) in [
        (copy("1d", "tile", "%rd0", "{0}"), "needs a tensor map of 1 dimensions, got one of 2"),
        (copy("2d", "tile+64", "%rd0", "{0, 0}"), "needs a shared address that is a multiple of 128, got 0x"),
        (copy("2d", "tile+2048", "%rd0", "{0, 0}"), "copies 48 bytes at shared address 0x"),
        (
            format!("add.u64 %rd1, %rd0, 128;\n{}", copy("2d", "tile", "%rd1", "{0, 0}")),
            "; cuTensorMapEncodeTiled makes one",
        ),
    ] {
        let error = case.run(&body).expect_err("it fails").to_string();
        assert!(error.starts_with("k.ptx:") && error.contains(says), "{error} does not say {says}");
    }
}

#[test]
fn other_modes_of_tensor_copies_are_refused() {
    let form = "cp.async.bulk.tensor";
    for (statement, says) in [
        (
            format!(
                "{form}.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%rd0, {{0, 0, 0, 0}}], [bar]"
            ),
            "modifier 'im2col' is not known",
        ),
        (
            format!(
                "{form}.6d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0, {{0}}], [bar]"
            ),
            "'6d' is not 1d, 2d, 3d, 4d or 5d",
        ),
        (
            format!(
                "{form}.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0, {{0}}], [bar]"
            ),
            "it moves 2 elements, got 1",
        ),
    ] {
        let text = kernel_text(DECLARATIONS, &format!("{statement};"));
        let error = Module::parse("k.ptx", &text).expect_err("refused").to_string();
        assert!(error.starts_with("k.ptx:13: ") && error.ends_with(says), "{error}");
    }
}
