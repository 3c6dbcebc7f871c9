//! Initial contents of a buffer or symbol.
use super::element::{Class, Element, FileNumber};
use super::error::LaunchFileError;
use super::format::{Distribution, Init, Item, NumberText, Text};
use super::room::Most;
use super::values;
use crate::workload::random::Random;
use std::sync::Arc;
use toml::Spanned;

/// Max distinct values of a Zipf distribution. Each has a table entry.
const MAX_ZIPF: u64 = 1 << 16;

/// Initial values, checked.
#[derive(Clone, Debug)]
pub(super) enum BufferFill {
    Zeros,
    /// Bits of every element.
    Constant(u64),
    /// Bits of the first element, and of the difference. Integers wrap.
    Iota {
        start: u64,
        step: u64,
    },
    Random {
        seed: u64,
        spread: ValueDistribution,
    },
    /// The bytes, as in memory.
    Given(Arc<Vec<u8>>),
}

/// Distribution of random values.
#[derive(Clone, Debug)]
pub(super) enum ValueDistribution {
    /// All bits of an integer, or a float from 0 up to 1.
    Full,
    /// Integers in a range that includes both bounds.
    Whole(i128, i128),
    Uniform(f64, f64),
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// 0 is most frequent, then 1, and so on: value k is proportional to (k + 1)^-exponent. Stored as running sums.
    Zipf(Arc<[f64]>),
}

/// All keys that describe initial contents.
pub(super) const KEYS: [&str; 15] = [
    "init",
    "value",
    "values",
    "start",
    "step",
    "seed",
    "distribution",
    "low",
    "high",
    "mean",
    "deviation",
    "exponent",
    "limit",
    "file",
    "format",
];

/// Returns the keys that belong to `init` and, for random values, to the distribution.
fn keys_of(init: Init, distribution: Distribution) -> &'static [&'static str] {
    match (init, distribution) {
        (Init::Zeros, _) => &[],
        (Init::Constant, _) => &["value"],
        (Init::Iota, _) => &["start", "step"],
        (Init::Values, _) => &["values"],
        (Init::File, _) => &["file", "format"],
        (Init::Random, Distribution::Uniform) => &["seed", "distribution", "low", "high"],
        (Init::Random, Distribution::Normal) => &["seed", "distribution", "mean", "deviation"],
        (Init::Random, Distribution::Zipf) => &["seed", "distribution", "exponent", "limit"],
    }
}

/// Returns the stated initialization, or the one that other keys of the item imply.
fn init_of(item: &Item) -> Option<Init> {
    match (&item.init, &item.file, &item.values) {
        (Some(init), ..) => Some(*init.get_ref()),
        (None, Some(_), _) => Some(Init::File),
        (None, None, Some(_)) => Some(Init::Values),
        _ => None,
    }
}

impl BufferFill {
    /// Checks the initial values of `item` at `at`; returns `None` if it states none. `others` are further permitted
    /// keys. `most` limits a file of values.
    pub(super) fn check(
        text: &Text,
        item: &Item,
        at: usize,
        element: Element,
        others: &[&'static str],
        most: Most,
    ) -> Result<Option<Self>, LaunchFileError> {
        let stated = init_of(item);
        let init = stated.unwrap_or(Init::Zeros);
        let distribution = item.distribution.as_ref().map_or(Distribution::Uniform, |d| *d.get_ref());
        let allowed = [others, &["init"], keys_of(init, distribution)].concat();
        // A seed may remain while the user tries other values of `init`.
        let given = item.given().filter(|(key, _)| *key != "seed");
        text.only(given, &allowed, &format!("a buffer of {init:?} values").to_lowercase())?;
        let Some(init) = stated else { return Ok(None) };
        let number = |value: &Option<Spanned<FileNumber>>, key: &str, default: u64| {
            value.as_ref().map_or(Ok(default), |value| bits(text, value, key, element))
        };
        Ok(Some(match init {
            Init::Zeros => Self::Zeros,
            Init::Constant => {
                Self::Constant(bits(text, text.need(&item.value, "value", at)?, "value", element)?)
            }
            Init::Iota => Self::Iota {
                start: number(&item.start, "start", 0)?,
                step: number(&item.step, "step", element.of_float(1.0))?,
            },
            Init::Values => Self::Given(list(text, text.need(&item.values, "values", at)?, element)?.into()),
            Init::File => Self::Given(file(text, item, at, element, most)?.into()),
            Init::Random => Self::Random {
                seed: item.seed.as_ref().map_or(0, |seed| *seed.get_ref()),
                spread: ValueDistribution::check(text, item, element, distribution)?,
            },
        }))
    }

    /// Returns the number of elements, if the values determine it.
    pub(super) fn count(&self, element: Element) -> Option<u64> {
        match self {
            Self::Given(bytes) => Some((bytes.len() / element.bytes()) as u64),
            _ => None,
        }
    }

    /// Writes the elements to `out`.
    pub(super) fn write(&self, element: Element, out: &mut [u8]) {
        match self {
            Self::Zeros => out.fill(0),
            Self::Constant(bits) => element.put(out, |_| *bits),
            Self::Iota { start, step } => element.put(out, |i| after(element, *start, *step, i)),
            Self::Random { seed, spread } => {
                let mut random = Random::new(*seed);
                element.put(out, |_| spread.next(element, &mut random));
            }
            Self::Given(bytes) => out.copy_from_slice(bytes),
        }
    }
}

/// Returns the bits of `start` plus `turns` times `step`. Integers wrap.
pub(super) fn after(element: Element, start: u64, step: u64, turns: u64) -> u64 {
    if element.class() == Class::Float {
        return element.of_float(element.to_float(start) + turns as f64 * element.to_float(step));
    }
    start.wrapping_add(step.wrapping_mul(turns)) & element.mask()
}

/// Returns the bits of the number at `key`.
pub(super) fn bits(
    text: &Text,
    value: &Spanned<FileNumber>,
    key: &str,
    element: Element,
) -> Result<u64, LaunchFileError> {
    let written = value.get_ref().text();
    element.parse(&written).map_err(|allowed| {
        text.bad(value.span().start, format!("{key} = {}: {allowed}", values::quote(&written)))
    })
}

/// Returns the bytes of the numbers of `values`.
pub(super) fn list(
    text: &Text,
    numbers: &Spanned<Vec<FileNumber>>,
    element: Element,
) -> Result<Vec<u8>, LaunchFileError> {
    let at = numbers.span().start;
    if numbers.get_ref().is_empty() {
        return Err(text.bad(at, "values = []: must be one number or more"));
    }
    let mut out = Vec::new();
    for (index, number) in numbers.get_ref().iter().enumerate() {
        let written = number.text();
        let bits = element.parse(&written).map_err(|allowed| {
            text.bad(at, format!("values[{index}] = {}: {allowed}", values::quote(&written)))
        })?;
        element.push(&mut out, bits);
    }
    Ok(out)
}

fn file(
    text: &Text,
    item: &Item,
    at: usize,
    element: Element,
    most: Most,
) -> Result<Vec<u8>, LaunchFileError> {
    let file = text.need(&item.file, "file", at)?;
    let format = item.format.as_ref().map_or(NumberText::Text, |format| *format.get_ref());
    text.load(file, format, element, most)
}

impl Text {
    /// Returns the bytes of the numbers in a file that the launch file names. If the file is unreadable, the error
    /// names the line of the launch file.
    pub(super) fn load(
        &self,
        file: &Spanned<String>,
        format: NumberText,
        element: Element,
        most: Most,
    ) -> Result<Vec<u8>, LaunchFileError> {
        let at = file.span().start;
        let path = self.path(file.get_ref());
        let bytes = values::load(&path, format, element, most).map_err(|error| match error {
            LaunchFileError::Unreadable { .. } => self.bad(at, error.to_string()),
            other => other,
        })?;
        if bytes.is_empty() {
            return Err(self.bad(at, format!("`{}` holds no numbers", file.get_ref())));
        }
        Ok(bytes)
    }
}

impl ValueDistribution {
    fn check(
        text: &Text,
        item: &Item,
        element: Element,
        distribution: Distribution,
    ) -> Result<Self, LaunchFileError> {
        match distribution {
            Distribution::Uniform => Self::uniform(text, item, element),
            Distribution::Normal => Self::normal(text, item),
            Distribution::Zipf => Self::zipf(text, item, element),
        }
    }

    fn uniform(text: &Text, item: &Item, element: Element) -> Result<Self, LaunchFileError> {
        let (low, high) = match (&item.low, &item.high) {
            (None, None) => return Ok(Self::Full),
            (Some(low), Some(high)) => (low, high),
            (Some(one), None) | (None, Some(one)) => {
                return Err(text.bad(one.span().start, "must be `low` and `high` together, or neither"));
            }
        };
        let first = bits(text, low, "low", element)?;
        let last = bits(text, high, "high", element)?;
        let spread = if element.class() == Class::Float {
            let (low, high) = (element.to_float(first), element.to_float(last));
            (low <= high && (high - low).is_finite()).then_some(Self::Uniform(low, high))
        } else {
            let (low, high) = (signed(element, first, low), signed(element, last, high));
            (low <= high).then_some(Self::Whole(low, high))
        };
        spread.ok_or_else(|| {
            let (low, high) = (low.get_ref().text(), high.get_ref());
            text.bad(
                item.high.as_ref().map_or(0, |h| h.span().start),
                format!(
                    "high = {}: must be finite numbers from low = {} on",
                    values::quote(&high.text()),
                    values::quote(&low)
                ),
            )
        })
    }

    fn normal(text: &Text, item: &Item) -> Result<Self, LaunchFileError> {
        let mean = float(text, &item.mean, "mean", 0.0, f64::MIN)?;
        Ok(Self::Normal { mean, deviation: float(text, &item.deviation, "deviation", 1.0, 0.0)? })
    }

    fn zipf(text: &Text, item: &Item, element: Element) -> Result<Self, LaunchFileError> {
        let exponent = float(text, &item.exponent, "exponent", 1.0, 0.0)?;
        let most = match element.class() {
            Class::Float => MAX_ZIPF,
            _ => (element.range().1 + 1).min(MAX_ZIPF.into()) as u64,
        };
        let (limit, at) = item.limit.as_ref().map_or((256.min(most), 0), |l| (*l.get_ref(), l.span().start));
        if !(1..=most).contains(&limit) {
            return Err(text.bad(at, format!("limit = {limit}: must be 1 to {most}")));
        }
        let mut sum = 0.0;
        let sums = (1..=limit).map(|k| {
            sum += (k as f64).powf(-exponent);
            sum
        });
        Ok(Self::Zipf(sums.collect()))
    }

    /// Returns the bits of the next random element.
    fn next(&self, element: Element, random: &mut Random) -> u64 {
        match self {
            Self::Full if element.class() == Class::Float => element.of_float(unit(random)),
            Self::Full => random.bits() & element.mask(),
            Self::Uniform(low, high) => element.of_float(low + unit(random) * (high - low)),
            Self::Whole(low, high) => {
                // The high half of a product avoids a division. For 64-bit ranges its bias is below 2^-63.
                let span = (high - low) as u128 + 1;
                let step = if span > u128::from(u64::MAX) {
                    u128::from(random.bits())
                } else {
                    (u128::from(random.bits()) * span) >> 64
                };
                (low + step as i128) as u64 & element.mask()
            }
            Self::Normal { mean, deviation } => element.of_float(mean + deviation * normal(random)),
            Self::Zipf(sums) => {
                let most = sums.last().copied().unwrap_or(0.0);
                let point = unit(random) * most;
                let value = sums.partition_point(|sum| *sum <= point).min(sums.len() - 1);
                if element.class() == Class::Float { element.of_float(value as f64) } else { value as u64 }
            }
        }
    }
}

/// Returns the number as written. Untyped bits may have been written with a sign.
fn signed(element: Element, bits: u64, written: &Spanned<FileNumber>) -> i128 {
    let value = element.to_int(bits);
    let negative = written.get_ref().text().starts_with('-') && value > 0;
    if negative { value - (1_i128 << (8 * element.bytes())) } else { value }
}

/// Returns a finite number of at least `least`, or `default`.
fn float(
    text: &Text,
    value: &Option<Spanned<f64>>,
    key: &str,
    default: f64,
    least: f64,
) -> Result<f64, LaunchFileError> {
    let Some(value) = value else { return Ok(default) };
    let number = *value.get_ref();
    if number.is_finite() && number >= least {
        return Ok(number);
    }
    let from = if least == f64::MIN { String::new() } else { format!(" from {least}") };
    Err(text.bad(value.span().start, format!("{key} = {number}: must be finite numbers{from}")))
}

/// Returns a uniform number from 0 up to 1.
fn unit(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a standard normal number by the Box-Muller method.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - unit(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

#[cfg(test)]
mod tests {
    use super::super::room::Room;
    use super::*;
    use std::path::PathBuf;

    /// Returns the elements of a `[[buffer]]` with these keys.
    fn fill(keys: &str, element: Element, count: u64) -> Vec<f64> {
        let mut bytes = vec![0; count as usize * element.bytes()];
        try_fill(keys, element).expect(keys).write(element, &mut bytes);
        element.each(&bytes).map(|bits| element.to_float(bits)).collect()
    }

    fn try_fill(keys: &str, element: Element) -> Result<BufferFill, LaunchFileError> {
        let text = Text { name: "my.toml".into(), folder: PathBuf::new(), text: keys.into() };
        let item: Item = toml::from_str(keys).expect("TOML");
        Ok(BufferFill::check(&text, &item, 0, element, &[], Room::new(1 << 20).most(None, element))?
            .expect("something is stated"))
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn random_without_a_range_is_all_bits_or_the_unit_interval() {
        // First outputs of SplitMix64 for seed 1234567, from the reference implementation.
        let mut bytes = [0; 16];
        let random = try_fill("init='random'\nseed=1234567", Element::U64).expect("valid");
        random.write(Element::U64, &mut bytes);
        let words: Vec<u64> = Element::U64.each(&bytes).collect();
        assert_eq!(words, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        let floats = fill("init='random'", Element::F64, 1000);
        assert!(floats.iter().all(|f| (0.0..1.0).contains(f)) && (mean(&floats) - 0.5).abs() < 0.05);
    }

    #[test]
    fn a_uniform_range_is_kept_and_both_ends_of_integers_are_reached() {
        for element in [Element::S8, Element::B8, Element::S64] {
            let values = fill("init='random'\nlow=-2\nhigh=2", element, 500);
            let seen: std::collections::BTreeSet<i64> =
                values.iter().map(|v| *v as i64 as i8 as i64).collect();
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2], "{element:?}");
        }
        let values = fill("init='random'\nlow=-3\nhigh=5", Element::F32, 2000);
        assert!(values.iter().all(|v| (-3.0..=5.0).contains(v)) && (mean(&values) - 1.0).abs() < 0.2);
    }

    #[test]
    fn a_normal_distribution_has_its_mean_and_deviation() {
        let keys = "init='random'\ndistribution='normal'\nmean=10.0\ndeviation=2.0";
        let values = fill(keys, Element::F32, 10_000);
        let squares: Vec<f64> = values.iter().map(|v| (v - 10.0).powi(2)).collect();
        // Three standard errors of each estimate.
        assert!((mean(&values) - 10.0).abs() < 0.06, "{}", mean(&values));
        assert!((mean(&squares) - 4.0).abs() < 0.17, "{}", mean(&squares));
    }

    #[test]
    fn a_zipf_distribution_is_small_integers_with_the_smallest_most_often() {
        let keys = "init='random'\ndistribution='zipf'\nexponent=1.0\nlimit=4";
        let values = fill(keys, Element::U32, 10_000);
        let share = |k: f64| values.iter().filter(|v| **v == k).count() as f64 / 1e4;
        // 1 : 1/2 : 1/3 : 1/4, with a sum of 25/12.
        for (k, want) in [(0.0, 0.48), (1.0, 0.24), (2.0, 0.16), (3.0, 0.12)] {
            assert!((share(k) - want).abs() < 0.015, "{k}: {}", share(k));
        }
    }

    #[test]
    fn iota_counts_by_its_step_and_wraps_like_the_type() {
        assert_eq!(fill("init='iota'", Element::F32, 3), [0.0, 1.0, 2.0]);
        assert_eq!(fill("init='iota'\nstart=250\nstep=3", Element::U8, 4), [250.0, 253.0, 0.0, 3.0]);
        assert_eq!(fill("init='iota'\nstart=1\nstep=-2", Element::S16, 3), [1.0, -1.0, -3.0]);
        assert_eq!(fill("init='iota'\nstart=0.5\nstep=0.25", Element::F16, 3), [0.5, 0.75, 1.0]);
    }

    #[test]
    fn constants_and_lists_are_as_written() {
        assert_eq!(fill("init='constant'\nvalue=-1.5", Element::F64, 2), [-1.5, -1.5]);
        assert_eq!(fill("values=[3, '0x10']", Element::U16, 2), [3.0, 16.0]);
    }

    #[test]
    fn a_key_that_does_not_go_with_the_values_is_refused() {
        let cases = [
            ("init='iota'\nlow=3", "my.toml:2: unknown field `low` for a buffer of iota values"),
            ("init='random'\nmean=3.0", "my.toml:2: unknown field `mean`"),
            ("init='random'\nlow=3", "my.toml:2: must be `low` and `high` together, or neither"),
            ("init='random'\nlow=3\nhigh=2", "my.toml:3: high = 2: must be finite numbers from low = 3 on"),
            ("init='random'\ndistribution='normal'\ndeviation=-1.0", "my.toml:3: deviation = -1"),
            ("init='random'\ndistribution='zipf'\nlimit=300", "my.toml:3: limit = 300: must be 1 to 256"),
            ("init='constant'", "my.toml:1: missing key `value`"),
            ("init='constant'\nvalue=256", "my.toml:2: value = 256: must be integers from 0 to 255"),
            ("values=[1, 2.5]", "my.toml:1: values[1] = 2.5: must be integers from 0 to 255"),
            ("values=[]", "my.toml:1: values = []: must be one number or more"),
            ("file='none.txt'", "my.toml:1: none.txt: cannot read it: "),
        ];
        for (keys, says) in cases {
            let refused = try_fill(keys, Element::U8).expect_err(keys).to_string();
            assert!(refused.starts_with(says), "{keys}: {refused}");
        }
    }
}
