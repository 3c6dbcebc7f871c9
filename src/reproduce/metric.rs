//! Quantities that figures show, computed from a run's report as `metrics.toml` says.
use serde::Deserialize;
use serde_json::Value;
use strum::Display;

/// A quantity of a run, by itself or against another run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// What it is called in tables.
    pub title: String,
    /// Keys of the report that are added; those with `-` in front are subtracted.
    pub sum: Vec<String>,
    /// Keys whose sum divides it.
    #[serde(default)]
    pub per: Vec<String>,
    /// Keys of the reference whose sum divides what is saved.
    #[serde(default)]
    pub whole: Vec<String>,
    /// A factor.
    #[serde(default = "one")]
    pub scale: f64,
    /// How it is compared with the reference.
    pub against: Option<Against>,
    /// What its values are.
    pub unit: Unit,
}

fn one() -> f64 {
    1.0
}

/// How a quantity is compared with the reference's.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// Divided by the reference's.
    Reference,
    /// The reference's divided by this one.
    Inverse,
    /// The difference to the reference's, divided by the reference's whole.
    Saved,
}

/// What values are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Compared with 1: more or less of something.
    Ratio,
    /// A part of a whole.
    Fraction,
    /// Anything else.
    Number,
}

impl Unit {
    /// Returns a value as tables have it.
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{value:.3}"),
            Unit::Fraction => format!("{:.1}%", 100.0 * value),
            Unit::Number if value.abs() >= 100.0 => format!("{value:.0}"),
            Unit::Number => format!("{value:.2}"),
        }
    }

    /// Returns a ratio as a change in percent, and others as they are.
    pub fn change(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{:+.1}%", rounded(100.0 * (value - 1.0), 1)),
            _ => self.show(value),
        }
    }

    /// Returns ours less the paper's: in points of a percent, but for numbers.
    pub fn difference(self, ours: f64, paper: f64) -> f64 {
        match self {
            Unit::Ratio | Unit::Fraction => 100.0 * (ours - paper),
            Unit::Number => ours - paper,
        }
    }

    /// Returns the difference as tables have it.
    pub fn show_difference(self, ours: f64, paper: f64) -> String {
        let difference = self.difference(ours, paper);
        match self {
            Unit::Ratio | Unit::Fraction => format!("{:+.1} points", rounded(difference, 1)),
            Unit::Number => format!("{:+.2}", rounded(difference, 2)),
        }
    }
}

/// Rounds to so many digits behind the point, without a negative zero.
fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor + 0.0
}

/// A mean over applications.
#[derive(Clone, Copy, Debug, Deserialize, Display, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Mean {
    /// The root of the product.
    Geometric,
    /// The inverse of the mean of inverses.
    Harmonic,
    /// The sum over the number.
    Arithmetic,
}

impl Mean {
    /// Returns the mean; none of nothing, and none but the arithmetic one where a value is not above 0.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() || (self != Mean::Arithmetic && values.iter().any(|value| *value <= 0.0)) {
            return None;
        }
        let count = values.len() as f64;
        Some(match self {
            Mean::Geometric => (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp(),
            Mean::Harmonic => count / values.iter().map(|value| 1.0 / value).sum::<f64>(),
            Mean::Arithmetic => values.iter().sum::<f64>() / count,
        })
    }
}

impl Metric {
    /// Returns the quantity of `report`, compared with `reference` where it is one that is compared; none where a report lacks a
    /// key or a divisor is 0.
    pub fn value(&self, report: &Value, reference: Option<&Value>) -> Option<f64> {
        let own = self.plain(report)?;
        let value = match self.against {
            None => own,
            Some(Against::Reference) => own / self.plain(reference?)?,
            Some(Against::Inverse) => self.plain(reference?)? / own,
            Some(Against::Saved) => (self.plain(reference?)? - own) / sum(reference?, &self.whole)?,
        };
        value.is_finite().then_some(value)
    }

    fn plain(&self, report: &Value) -> Option<f64> {
        let divisor = if self.per.is_empty() { 1.0 } else { sum(report, &self.per)? };
        Some(self.scale * sum(report, &self.sum)? / divisor)
    }
}

/// Returns the sum of keys, which are separated by points and may be places in lists.
fn sum(report: &Value, keys: &[String]) -> Option<f64> {
    let signed = |key: &str| match key.strip_prefix('-') {
        Some(key) => look_up(report, key).map(|value| -value),
        None => look_up(report, key),
    };
    keys.iter().map(|key| signed(key)).sum()
}

fn look_up(report: &Value, key: &str) -> Option<f64> {
    let found = key.split('.').try_fold(report, |value, part| match value {
        Value::Array(list) => list.get(part.parse::<usize>().ok()?),
        value => value.get(part),
    });
    found?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metric(text: &str) -> Metric {
        toml::from_str(&format!("title = \"t\"\n{text}")).expect("a metric")
    }

    #[test]
    fn a_quantity_is_a_sum_over_a_sum_with_a_factor() {
        let report = json!({ "a": { "b": 6, "c": 2 }, "list": [{ "d": 5 }] });
        let metric =
            metric("sum = [\"a.b\", \"-a.c\"]\nper = [\"list.0.d\"]\nscale = 10.0\nunit = \"number\"");
        assert_eq!(metric.value(&report, None), Some(8.0));
    }

    #[test]
    fn a_missing_key_and_a_division_by_zero_give_nothing() {
        let report = json!({ "a": 1, "zero": 0 });
        assert_eq!(metric("sum = [\"b\"]\nunit = \"number\"").value(&report, None), None);
        assert_eq!(metric("sum = [\"a\"]\nper = [\"zero\"]\nunit = \"number\"").value(&report, None), None);
        let speedup = metric("sum = [\"a\"]\nagainst = \"inverse\"\nunit = \"ratio\"");
        assert_eq!(speedup.value(&report, None), None);
    }

    #[test]
    fn the_reference_divides_or_is_divided_or_is_saved_from() {
        let (report, reference) = (json!({ "a": 2, "all": 1 }), json!({ "a": 3, "all": 10 }));
        let value = |against: &str| {
            metric(&format!("sum = [\"a\"]\nwhole = [\"all\"]\nagainst = \"{against}\"\nunit = \"ratio\""))
                .value(&report, Some(&reference))
                .expect("a value")
        };
        assert!((value("reference") - 2.0 / 3.0).abs() < 1e-12);
        assert!((value("inverse") - 1.5).abs() < 1e-12);
        assert!((value("saved") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn means_are_those_of_their_names() {
        let values = [1.0, 2.0, 4.0];
        assert!((Mean::Geometric.of(&values).expect("a mean") - 2.0).abs() < 1e-12);
        assert!((Mean::Harmonic.of(&values).expect("a mean") - 3.0 / 1.75).abs() < 1e-12);
        assert!((Mean::Arithmetic.of(&values).expect("a mean") - 7.0 / 3.0).abs() < 1e-12);
        assert_eq!(Mean::Geometric.of(&[1.0, 0.0]), None);
        assert_eq!(Mean::Arithmetic.of(&[]), None);
    }

    #[test]
    fn values_changes_and_differences_are_in_their_units() {
        assert_eq!(Unit::Ratio.show(1.1916), "1.192");
        assert_eq!(Unit::Ratio.change(0.754), "-24.6%");
        assert_eq!(Unit::Ratio.change(0.99999), "+0.0%");
        assert_eq!(Unit::Ratio.show_difference(1.071, 1.136), "-6.5 points");
        assert_eq!(Unit::Fraction.show(0.5364), "53.6%");
        assert_eq!(Unit::Number.show_difference(1.5, 1.25), "+0.25");
    }
}
