//! A model of the values in memory for a trace of addresses.
//!
//! The value of a byte depends on its address only, so stores leave it as it is. Nothing is kept: every read computes the values.
use crate::limits::Limits;
use selvedge_hw::file::read;
use selvedge_ptx::memory::OutsideValues;
use std::path::{Path, PathBuf};

/// Bytes of a block. Each block, at a multiple of its size, has one class.
const BLOCK_BYTES: usize = 128;

/// Words of 8 bytes of a block.
const BLOCK_WORDS: usize = BLOCK_BYTES / 8;

/// Allowed difference between 1 and the sum of the fractions.
const SUM_ERROR: f64 = 1e-6;

/// Key of the seed in a distribution.
const SEED: &str = "seed";

/// Form of the values in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueClass {
    /// Zeros only.
    Zeros,
    /// One random word of 8 bytes, repeated.
    Repeated,
    /// Random integers of 4 bytes from 0 to 127.
    Narrow,
    /// Words of `word` bytes: a random base of the block plus a random difference, 0 to 2^(8 * `difference` - 1) - 1, of the word.
    Near { word: usize, difference: usize },
    /// Random bytes.
    Random,
}

/// Classes by name. A name such as `b8d2` is that of the form of base-delta-immediate compression that holds the block.
const CLASSES: [(&str, ValueClass); 10] = [
    ("zeros", ValueClass::Zeros),
    ("repeated", ValueClass::Repeated),
    ("narrow", ValueClass::Narrow),
    ("b8d1", ValueClass::Near { word: 8, difference: 1 }),
    ("b8d2", ValueClass::Near { word: 8, difference: 2 }),
    ("b8d4", ValueClass::Near { word: 8, difference: 4 }),
    ("b4d1", ValueClass::Near { word: 4, difference: 1 }),
    ("b4d2", ValueClass::Near { word: 4, difference: 2 }),
    ("b2d1", ValueClass::Near { word: 2, difference: 1 }),
    ("random", ValueClass::Random),
];

/// A model of the values in memory.
#[derive(Debug, PartialEq)]
pub struct ValueModel {
    /// Text from which the model was parsed.
    pub name: String,
    values: ModelValues,
}

#[derive(Debug, PartialEq)]
enum ModelValues {
    /// Classes of the blocks. Each class has the blocks whose draw, from 0 to 1, is below its bound and not below the bound before.
    Classes { bounds: Vec<(f64, ValueClass)>, seed: u64 },
    /// Contents of a file, which repeat from address 0 on.
    File { path: PathBuf, bytes: Vec<u8> },
}

/// The text is not a model, or its file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("values {text}: {message}")]
pub struct ValueModelError {
    text: String,
    message: String,
}

impl ValueModel {
    /// Parses a class, a list `CLASS=FRACTION,...` with an optional `seed=N`, or the path of a file relative to `folder`. A text
    /// with `/` is a path. The file must lie within `limits.memory`.
    ///
    /// # Errors
    /// Returns an error of one line for an unknown class, an invalid fraction or a file that cannot be read.
    pub fn parse(text: &str, folder: &Path, limits: &Limits) -> Result<Self, ValueModelError> {
        let is_classes = !text.contains('/') && (text.contains(['=', ',']) || class_of(text).is_some());
        let values = if is_classes { classes(text) } else { file(&folder.join(text), limits.memory) };
        let refused = |message| ValueModelError { text: text.to_owned(), message };
        Ok(Self { name: text.to_owned(), values: values.map_err(refused)? })
    }

    /// Returns the file that contains the values, if any.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.values {
            ModelValues::Classes { .. } => None,
            ModelValues::File { path, .. } => Some(path),
        }
    }
}

impl OutsideValues for ValueModel {
    fn fill(&self, address: u64, out: &mut [u8]) {
        match &self.values {
            ModelValues::File { bytes, .. } => {
                let start = (address % bytes.len() as u64) as usize;
                let from = bytes[start..].iter().chain(bytes.iter().cycle());
                out.iter_mut().zip(from).for_each(|(to, byte)| *to = *byte);
            }
            ModelValues::Classes { bounds, seed } => {
                let (mut address, mut rest) = (address, out);
                while !rest.is_empty() {
                    let at = address as usize % BLOCK_BYTES;
                    let (part, after) = rest.split_at_mut((BLOCK_BYTES - at).min(rest.len()));
                    let block = block(bounds, *seed, address / BLOCK_BYTES as u64);
                    part.copy_from_slice(&block[at..at + part.len()]);
                    address = address.wrapping_add(part.len() as u64);
                    rest = after;
                }
            }
        }
    }
}

/// Returns the class called `name`.
fn class_of(name: &str) -> Option<ValueClass> {
    CLASSES.iter().find(|(known, _)| *known == name).map(|(_, class)| *class)
}

/// Returns the names of the classes for messages.
fn class_names() -> String {
    CLASSES.map(|(name, _)| name).join(", ")
}

/// Parses one class, or a list of classes with their fractions.
fn classes(text: &str) -> Result<ModelValues, String> {
    let (mut fractions, mut seed): (Vec<(f64, &str, ValueClass)>, _) = (Vec::new(), None);
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_alone = items.iter().filter(|item| !item.starts_with("seed=")).count() == 1;
    for item in items {
        let (name, value) = item.split_once('=').map_or((item, None), |(name, value)| (name, Some(value)));
        if name == SEED {
            let number = value.and_then(|value| value.parse::<u64>().ok()).filter(|_| seed.is_none());
            seed = Some(number.ok_or_else(|| format!("'{item}': must be one seed=N with an integer"))?);
            continue;
        }
        let class = class_of(name).ok_or_else(|| {
            format!("unknown class '{name}': must be one of {} (a file needs a path with /)", class_names())
        })?;
        if fractions.iter().any(|(_, known, _)| *known == name) {
            return Err(format!("'{item}': must be given once"));
        }
        let fraction = match value {
            None if is_alone => Some(1.0),
            None => None,
            Some(value) => value.parse::<f64>().ok().filter(|fraction| (0.0..=1.0).contains(fraction)),
        };
        let must = "must be CLASS=FRACTION with a fraction from 0 to 1";
        fractions.push((fraction.ok_or_else(|| format!("'{item}': {must}"))?, name, class));
    }
    let sum = fractions.iter().fold(0.0, |sum, (fraction, ..)| sum + fraction);
    if (sum - 1.0).abs() > SUM_ERROR {
        return Err(format!("the fractions add up to {sum}: must add up to 1"));
    }
    fractions.retain(|(fraction, ..)| *fraction > 0.0);
    let mut bound = 0.0;
    let mut bounds: Vec<(f64, ValueClass)> = Vec::new();
    for (fraction, _, class) in fractions {
        bound += fraction;
        bounds.push((bound, class));
    }
    Ok(ModelValues::Classes { bounds, seed: seed.unwrap_or(0) })
}

/// Reads a file of at most `most` bytes.
fn file(path: &Path, most: u64) -> Result<ModelValues, String> {
    let must = format!("must be {}, CLASS=FRACTION,... or a file", class_names());
    let unreadable = |why: std::io::Error| format!("cannot read the file: {why}: {must}");
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err("not a plain file: must be one".into());
    }
    let bytes = read(path, most).map_err(unreadable)?;
    if bytes.is_empty() {
        return Err("the file is empty: must have at least one byte".into());
    }
    Ok(ModelValues::File { path: path.to_owned(), bytes })
}

/// Returns the bytes of block `number`.
fn block(bounds: &[(f64, ValueClass)], seed: u64, number: u64) -> [u8; BLOCK_BYTES] {
    // The draws of a block follow its class.
    let first = number.wrapping_mul(2 * BLOCK_WORDS as u64 + 2);
    let draw = |at: usize| random(seed, first.wrapping_add(at as u64));
    let share = (draw(0) >> 11) as f64 / (1u64 << 53) as f64;
    // The last bound may lie below 1 by the error of the sum.
    let class = bounds.iter().find(|(bound, _)| share < *bound).or(bounds.last()).map(|(_, class)| *class);
    let mut bytes = [0; BLOCK_BYTES];
    match class.unwrap_or(ValueClass::Zeros) {
        ValueClass::Zeros => {}
        ValueClass::Repeated => words(&mut bytes, 8, |_| draw(1)),
        ValueClass::Narrow => words(&mut bytes, 4, |at| draw(1 + at) & 0x7f),
        ValueClass::Near { word, difference } => {
            let mask = (1 << (8 * difference - 1)) - 1;
            // A block has up to 64 words, which share draws.
            let bits = |at: usize| draw(2 + at / 2) >> (32 * (at % 2));
            words(&mut bytes, word, |at| draw(1).wrapping_add(bits(at) & mask));
        }
        ValueClass::Random => words(&mut bytes, 8, |at| draw(1 + at)),
    }
    bytes
}

/// Sets the words of `word` bytes to the lowest bytes of `value` at their index.
fn words(bytes: &mut [u8; BLOCK_BYTES], word: usize, value: impl Fn(usize) -> u64) {
    for (at, to) in bytes.chunks_exact_mut(word).enumerate() {
        to.copy_from_slice(&value(at).to_le_bytes()[..word]);
    }
}

/// Returns random number `at` of a sequence: SplitMix64, whose state after `at` steps is known without them.
fn random(seed: u64, at: u64) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |mut z: u64| {
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    mixed(mixed(seed.wrapping_add(STEP)).wrapping_add(at.wrapping_mul(STEP)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn model(text: &str) -> ValueModel {
        ValueModel::parse(text, Path::new(""), &Limits::default()).expect(text)
    }

    fn refusal(text: &str) -> String {
        ValueModel::parse(text, Path::new(""), &Limits::default()).expect_err(text).to_string()
    }

    fn block_at(model: &ValueModel, number: u64) -> [u8; BLOCK_BYTES] {
        let mut bytes = [0; BLOCK_BYTES];
        model.fill(number * BLOCK_BYTES as u64, &mut bytes);
        bytes
    }

    /// Returns the integers of `size` bytes in a block.
    fn integers(bytes: &[u8], size: usize) -> Vec<u64> {
        let integer = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        bytes.chunks(size).map(integer).collect()
    }

    /// Returns the name of the smallest form in which base-delta-immediate compression holds a block: the words minus the first
    /// word, modulo 2^(8 * size), are sign-extended integers of fewer bytes (Pekhimenko et al., 2012, table 2).
    fn smallest_form(bytes: &[u8]) -> &'static str {
        let is_near = |size: usize, bytes_left: usize| {
            let all = integers(bytes, size);
            let unused = 64 - 8 * size as u32;
            all.iter().all(|word| {
                let difference = ((word.wrapping_sub(all[0])) << unused) as i64 >> unused;
                (difference << (64 - 8 * bytes_left) >> (64 - 8 * bytes_left)) == difference
            })
        };
        let words = integers(bytes, 8);
        if bytes.iter().all(|byte| *byte == 0) {
            return "zeros";
        }
        if words.iter().all(|word| *word == words[0]) {
            return "repeated";
        }
        // Bytes of the forms of a block of 128: the base, and a difference for each word.
        let mut forms =
            [("b8d1", 8, 1), ("b8d2", 8, 2), ("b8d4", 8, 4), ("b4d1", 4, 1), ("b4d2", 4, 2), ("b2d1", 2, 1)];
        forms.sort_by_key(|(_, size, left)| size + BLOCK_BYTES / size * left);
        forms.iter().find(|(_, size, left)| is_near(*size, *left)).map_or("random", |(name, ..)| name)
    }

    #[test]
    fn a_block_of_a_class_has_the_form_of_that_name() {
        for (name, _) in CLASSES {
            let expected = if name == "narrow" { "b4d1" } else { name };
            for number in 0..1000 {
                let bytes = block_at(&model(name), 1 << 33 | number);
                assert_eq!(smallest_form(&bytes), expected, "{name} {number}: {bytes:?}");
            }
        }
        for number in 0..1000 {
            assert!(integers(&block_at(&model("narrow"), number), 4).iter().all(|word| *word < 128));
        }
    }

    #[test]
    fn classes_have_their_fractions_of_the_blocks() {
        let mixed = model("zeros=0.3, b8d2=0.25,repeated=0,random=0.45");
        let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
        let blocks = 40_000;
        (0..blocks).for_each(|at| *counts.entry(smallest_form(&block_at(&mixed, at))).or_default() += 1.0);
        // Five standard deviations of a binomial distribution of 40,000 draws.
        let within = 5.0 * (0.25 / blocks as f64).sqrt();
        for (name, fraction) in [("zeros", 0.3), ("b8d2", 0.25), ("random", 0.45)] {
            let found = counts[name] / blocks as f64;
            assert!((found - fraction).abs() < within, "{name}: {found}, not {fraction}");
        }
        assert_eq!(counts.len(), 3, "{counts:?}");
    }

    #[test]
    fn random_bytes_are_uniform() {
        let random = model("random");
        let mut counts = [0f64; 256];
        (0..4096).for_each(|at| block_at(&random, at).iter().for_each(|byte| counts[*byte as usize] += 1.0));
        let expected = (4096 * BLOCK_BYTES) as f64 / 256.0;
        let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        // 255 degrees of freedom: mean 255, standard deviation 22.6.
        assert!((150.0..360.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn values_depend_on_the_address_and_the_seed_only() {
        let (first, same, other) = (model("random"), model("random"), model("random,seed=7"));
        let mut whole = [0; 1000];
        first.fill(5000, &mut whole);
        for (from, to) in [(0, 1), (1, 121), (119, 121), (300, 1000)] {
            let mut part = vec![0; to - from];
            same.fill(5000 + from as u64, &mut part);
            assert_eq!(part, whole[from..to], "{from}..{to}");
        }
        assert_ne!(block_at(&first, 3), block_at(&first, 4));
        assert_ne!(block_at(&first, 3), block_at(&other, 3));
        // The last addresses have values, too.
        first.fill(u64::MAX - 3, &mut whole);
    }

    #[test]
    fn a_file_repeats_from_address_0_on() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("v"), [1, 2, 3]).expect("written");
        let model = ValueModel::parse("v", folder.path(), &Limits::default()).expect("a file");
        let mut bytes = [0; 8];
        model.fill(4, &mut bytes);
        assert_eq!(bytes, [2, 3, 1, 2, 3, 1, 2, 3]);
        assert_eq!((model.name.as_str(), model.file()), ("v", Some(folder.path().join("v").as_path())));
    }

    #[test]
    fn mistakes_are_refused_with_what_is_allowed() {
        let cases = [
            ("zero", "cannot read the file: No such file"),
            ("zero", "must be zeros, repeated, "),
            ("", "cannot read the file"),
            ("none/zeros", "cannot read the file"),
            ("zero=1", "unknown class 'zero': must be one of zeros, repeated, "),
            ("zeros=0.5,random=0.4", "the fractions add up to 0.9: must add up to 1"),
            ("zeros=0.6,random=0.6", "the fractions add up to 1.2"),
            ("zeros=1.5,random=-0.5", "'zeros=1.5': must be CLASS=FRACTION with a fraction from 0 to 1"),
            ("zeros=NaN", "'zeros=NaN': must be"),
            ("zeros=0.5,zeros=0.5", "'zeros=0.5': must be given once"),
            ("zeros,random", "'zeros': must be CLASS=FRACTION"),
            ("random,seed=-1", "'seed=-1': must be one seed=N"),
            ("random,seed=1,seed=2", "'seed=2': must be one seed=N"),
            ("seed=1", "the fractions add up to 0"),
        ];
        for (text, says) in cases {
            let line = refusal(text);
            assert!(line.starts_with(&format!("values {text}: ")) && line.contains(says), "{line}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("empty"), []).expect("written");
        std::fs::write(folder.path().join("large"), [0; 9]).expect("written");
        let limits = Limits { memory: 8, ..Limits::default() };
        for (name, says) in
            [("empty", "the file is empty"), ("large", "cannot read the file"), (".", "plain file")]
        {
            let line = ValueModel::parse(name, folder.path(), &limits).expect_err(name).to_string();
            assert!(line.contains(says) && line.lines().count() == 1, "{line}");
        }
    }
}
