//! A line uncompressed and compressed, and the algorithms that compress it.
use super::{Form, LINE_BYTES};
use selvedge_hw_codecs::line::Line;
use selvedge_hw_codecs::{bdi, cpack, fpc};
use selvedge_state::State;

/// A codec of bandwidth compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
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
    /// All algorithms, in the order of the cost of decompression, the cheapest first.
    pub const ALL: [Algorithm; 3] = [Algorithm::Bdi, Algorithm::Cpack, Algorithm::Fpc];

    /// Returns the line compressed by this algorithm, even if it is not smaller.
    pub fn compress(self, values: &Line) -> Form {
        match self {
            Algorithm::Bdi => Form::Bdi(bdi::compress_words(values, LINE_BYTES)),
            Algorithm::Fpc => Form::Fpc(fpc::compress(values, LINE_BYTES, fpc::FpcVariant::Segments)),
            Algorithm::Cpack => Form::Cpack(cpack::compress(values, LINE_BYTES, cpack::CpackVariant::Small4)),
        }
    }
}

/// The algorithm that compresses a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum CodecChoice {
    /// One algorithm compresses all lines.
    One(Algorithm),
    /// The algorithm with the fewest bursts compresses the line; of equally good ones, the one with the fewest instructions of
    /// decompression (CABA, section 7.3: BestOfAll).
    /// (CABA, section 7.3: BestOfAll).
    Best,
}

impl Default for CodecChoice {
    fn default() -> Self {
        CodecChoice::One(Algorithm::default())
    }
}

impl CodecChoice {
    /// Returns the algorithms to try, the cheapest decompression first.
    pub fn algorithms(self) -> &'static [Algorithm] {
        match self {
            CodecChoice::One(Algorithm::Bdi) => &Algorithm::ALL[..1],
            CodecChoice::One(Algorithm::Cpack) => &Algorithm::ALL[1..2],
            CodecChoice::One(Algorithm::Fpc) => &Algorithm::ALL[2..],
            CodecChoice::Best => &Algorithm::ALL,
        }
    }

    /// Returns the algorithm that is tried first.
    pub fn first(self) -> Algorithm {
        self.algorithms()[0]
    }

    /// Returns the line with these values, compressed by the best of the algorithms.
    pub fn line(self, values: Line) -> LineForms {
        let forms = self.algorithms().iter().map(|algorithm| LineForms::of(*algorithm, values));
        // Of several with the fewest sub-blocks, `min_by_key` returns the first.
        forms.min_by_key(LineForms::sub_blocks).unwrap_or_default()
    }
}

/// A line, uncompressed and as it is stored.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct LineForms {
    /// The line as it is stored.
    pub form: Form,
    /// The uncompressed values.
    pub values: Line,
}

impl LineForms {
    /// Returns the line compressed by `algorithm`, or uncompressed if that saves no sub-block.
    pub fn of(algorithm: Algorithm, values: Line) -> Self {
        LineForms { form: algorithm.compress(&values).if_smaller(), values }
    }

    /// Returns the number of 32-byte sub-blocks of the stored line, at least one.
    pub fn sub_blocks(&self) -> u32 {
        self.form.sub_blocks()
    }

    /// Returns the line with its form, or uncompressed if the form saves no DRAM burst of `burst_bytes`.
    pub fn if_saves(self, burst_bytes: u32) -> Self {
        LineForms { form: self.form.if_saves(burst_bytes), ..self }
    }

    /// Returns whether the line is stored compressed.
    pub fn is_compressed(&self) -> bool {
        self.form != Form::Raw
    }

    /// Returns the bytes of the stored line.
    pub fn bytes(&self) -> u16 {
        self.form.bytes() as u16
    }

    /// Returns the payload of the stored line.
    pub fn payload(&self) -> &Line {
        match &self.form {
            Form::Raw => &self.values,
            Form::Bdi(form) => &form.payload,
            Form::Fpc(form) => &form.payload,
            Form::Cpack(form) => &form.payload,
            Form::Bpc(form) => &form.payload,
            Form::Sc(form) => &form.payload,
        }
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
        // Small differences, four-bit words, and four values in turn that differ a lot.
        let near = line(|i| 0x1234_5600 + i as u32);
        let nibbles = line(|i| i as u32 * 5 % 8);
        let few = line(|i| [0x1234_5678, 0x9abc_def0, 0x0f1e_2d3c, 0x5566_7788][i % 4]);
        for (values, algorithm) in
            [(near, Algorithm::Bdi), (nibbles, Algorithm::Fpc), (few, Algorithm::Cpack)]
        {
            let best = CodecChoice::Best.line(values);
            let bursts = Algorithm::ALL.map(|algorithm| LineForms::of(algorithm, values).sub_blocks());
            assert_eq!(best.form.algorithm(), Some(algorithm));
            assert_eq!(Some(best.sub_blocks()), bursts.into_iter().min(), "{bursts:?}");
        }
    }

    #[test]
    fn a_line_that_saves_no_burst_stays_as_it_is() {
        // Six uncompressed segments, one of halfwords and one of zeros: 107 bytes.
        let values = line(|i| match i {
            0..24 => 0x1234_5678u32.wrapping_add(i as u32 * 0x0101_1111),
            24..28 => 0x1234,
            _ => 0,
        });
        let form = LineForms::of(Algorithm::Fpc, values);
        assert_eq!((form.form, form.sub_blocks(), form.payload()), (Form::Raw, 4, &values));
    }
}
