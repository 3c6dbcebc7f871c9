//! A line in both of its forms, by the algorithm that compresses it.
use super::lines::LINE_BYTES;
use crate::caba::{cpack as cpack_routine, fpc as fpc_routine};
use selvedge_blocks::bdi::{self, units};
use selvedge_blocks::line::Line;
use selvedge_blocks::{cpack, fpc};

/// What compresses lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// BDI.
    #[default]
    Bdi,
    /// FPC in segments of four words (CABA, section 5.1.4).
    Fpc,
    /// C-Pack with at most four dictionary values (the same section).
    Cpack,
}

impl Algorithm {
    /// All of them, the cheapest decompression first.
    pub const ALL: [Algorithm; 3] = [Algorithm::Bdi, Algorithm::Cpack, Algorithm::Fpc];
}

/// Which algorithm each line is compressed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// All by the same.
    One(Algorithm),
    /// Each by the one with the fewest bursts; of several, by the one that is decompressed in the fewest instructions
    /// (CABA, section 7.3: BestOfAll).
    Best,
}

impl Default for Choice {
    fn default() -> Self {
        Choice::One(Algorithm::default())
    }
}

impl Choice {
    /// The algorithms in question, the cheapest decompression first.
    pub fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Choice::One(Algorithm::Bdi) => &Algorithm::ALL[..1],
            Choice::One(Algorithm::Cpack) => &Algorithm::ALL[1..2],
            Choice::One(Algorithm::Fpc) => &Algorithm::ALL[2..],
            Choice::Best => &Algorithm::ALL,
        }
    }

    /// A line of these values.
    pub fn line(self, values: Line) -> LineForms {
        let forms = self.algorithms().iter().map(|algorithm| LineForms::of(*algorithm, values));
        // Of several with the fewest bursts, the first.
        forms.min_by_key(LineForms::bursts).unwrap_or_default()
    }
}

/// A line in both of its forms.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineForms {
    /// What compresses it.
    pub algorithm: Algorithm,
    /// Number of its encoding, other for every algorithm; 0: it is not compressed.
    pub tag: u8,
    /// Bytes of the payload.
    pub size: u8,
    /// Compressed.
    pub payload: Line,
    /// Uncompressed.
    pub values: Line,
}

impl LineForms {
    /// The line as an algorithm compresses it, if that saves a burst.
    pub fn of(algorithm: Algorithm, values: Line) -> Self {
        let (tag, size, payload) = match algorithm {
            Algorithm::Bdi => {
                let form = bdi::compress_words(&values, LINE_BYTES);
                (form.encoding.tag(), usize::from(form.size), form.payload)
            }
            Algorithm::Fpc => {
                let form = fpc::compress(&values, LINE_BYTES, fpc::Variant::Segments);
                (fpc_routine::TAG, usize::from(form.bits).div_ceil(8), form.payload)
            }
            Algorithm::Cpack => {
                let form = cpack::compress(&values, LINE_BYTES, cpack::Variant::Small4);
                (cpack_routine::TAG, usize::from(form.bits).div_ceil(8), form.payload)
            }
        };
        if units(size) < units(LINE_BYTES) {
            return LineForms { algorithm, tag, size: size as u8, payload, values };
        }
        LineForms { algorithm, tag: 0, size: LINE_BYTES as u8, payload: values, values }
    }

    /// 32-byte bursts that it takes: at least one.
    pub fn bursts(&self) -> u32 {
        units(usize::from(self.size)) as u32
    }

    /// Is it smaller compressed?
    pub fn is_compressed(&self) -> bool {
        usize::from(self.size) < LINE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(word: impl Fn(usize) -> u32) -> Line {
        std::array::from_fn(|i| u64::from(word(2 * i)) | u64::from(word(2 * i + 1)) << 32)
    }

    #[test]
    fn the_best_is_the_algorithm_with_the_fewest_bursts() {
        // Small differences; four bits a word; and four values in turn that are far from each other.
        let near = line(|i| 0x1234_5600 + i as u32);
        let nibbles = line(|i| i as u32 * 5 % 8);
        let few = line(|i| [0x1234_5678, 0x9abc_def0, 0x0f1e_2d3c, 0x5566_7788][i % 4]);
        for (values, algorithm) in
            [(near, Algorithm::Bdi), (nibbles, Algorithm::Fpc), (few, Algorithm::Cpack)]
        {
            let best = Choice::Best.line(values);
            let bursts = Algorithm::ALL.map(|algorithm| LineForms::of(algorithm, values).bursts());
            assert_eq!(
                (best.algorithm, Some(best.bursts())),
                (algorithm, bursts.into_iter().min()),
                "{bursts:?}"
            );
        }
    }

    #[test]
    fn a_line_that_saves_no_burst_stays_as_it_is() {
        // Six raw segments, one of halfwords and one of zeros: 107 bytes.
        let values = line(|i| match i {
            0..24 => 0x1234_5678u32.wrapping_add(i as u32 * 0x0101_1111),
            24..28 => 0x1234,
            _ => 0,
        });
        let form = LineForms::of(Algorithm::Fpc, values);
        assert_eq!((form.is_compressed(), form.tag, form.bursts()), (false, 0, 4));
    }
}
