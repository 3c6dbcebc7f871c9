//! Constraints on a block's stimulus, from a TOML file: values, ranges or percentages of some inputs.
use crate::error::Failure;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_hw::{BlockEntry, Direction, Prng, StimulusBits};
use selvedge_testbenches::vectors::stimulus;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraints {
    inputs: BTreeMap<String, Constraint>,
}

/// The values of an input. Exactly one key is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraint {
    /// Values that are equally likely.
    values: Option<Vec<u64>>,
    /// The least and the greatest of equally likely values.
    range: Option<[u64; 2]>,
    /// Percentage of cycles in which a bit is 1.
    percent: Option<u64>,
}

/// A source of values.
enum DrawnValues {
    List(Vec<u64>),
    Range(u64, u64),
    Percent(u64),
}

impl DrawnValues {
    fn new(constraint: Constraint, bits: usize) -> Result<Self, String> {
        let most = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
        match constraint {
            Constraint { values: Some(list), range: None, percent: None } => {
                match list.iter().find(|value| **value > most) {
                    Some(value) => Err(format!("values: {value}: must be 0 to {most}")),
                    None if list.is_empty() => Err("values: must be one or more".into()),
                    None => Ok(DrawnValues::List(list)),
                }
            }
            Constraint { values: None, range: Some([from, to]), percent: None } => {
                let is_right = from <= to && to <= most;
                let wrong = || format!("range: [{from}, {to}]: must be [FROM, TO] within 0 to {most}");
                if is_right { Ok(DrawnValues::Range(from, to)) } else { Err(wrong()) }
            }
            Constraint { values: None, range: None, percent: Some(percent) } => match (percent, bits) {
                (..=100, 1) => Ok(DrawnValues::Percent(percent)),
                (..=100, _) => Err("percent: allowed for inputs of 1 bit".into()),
                _ => Err(format!("percent: {percent}: must be 0 to 100")),
            },
            _ => Err("must have one of values, range, percent".into()),
        }
    }

    fn draw(&self, prng: &mut Prng) -> u64 {
        match self {
            DrawnValues::List(list) => list[prng.below(list.len() as u64) as usize],
            DrawnValues::Range(0, u64::MAX) => prng.bits(),
            DrawnValues::Range(from, to) => from + prng.below(to - from + 1),
            DrawnValues::Percent(percent) => u64::from(prng.chance(*percent)),
        }
    }
}

/// Returns the block's stimulus with the constraints of a file. The constrained inputs are independent of the others and of
/// earlier cycles.
///
/// # Errors
/// Fails if the file cannot be read, or if an input or a value does not exist.
pub fn constrained(
    path: &Path,
    entry: &dyn BlockEntry,
    params: &Value,
    seed: u64,
) -> Result<Box<dyn Iterator<Item = StimulusBits>>, Failure> {
    let refused = |why: String| Failure::usage(format!("--stimulus {}: {why}", path.display()));
    let text = read_text(path, MOST_TEXT_BYTES).map_err(|error| refused(error.to_string()))?;
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let file: Constraints = toml::from_str(&text).map_err(|error| {
        refused(format!("line {}: {}", line(error.span().map_or(0, |span| span.start)), error.message()))
    })?;
    let ports = entry.ports(params).map_err(Failure::usage)?;
    let inputs: Vec<_> = ports.iter().filter(|port| port.direction == Direction::Input).collect();
    let mut rules = Vec::new();
    for (name, constraint) in file.inputs {
        let Some(at) = inputs.iter().position(|port| port.name == name) else {
            let names: Vec<&str> = inputs.iter().map(|port| port.name).collect();
            return Err(refused(format!("inputs.{name}: must be {}", names.join(", "))));
        };
        let values = DrawnValues::new(constraint, inputs[at].bits);
        rules.push((at, values.map_err(|why| refused(format!("inputs.{name}: {why}")))?));
    }
    // The seed differs from that of the block's stimulus, whose values are then independent.
    let mut prng = Prng::new(!seed);
    let own = stimulus(entry, params, seed).map_err(Failure::usage)?;
    Ok(Box::new(own.map(move |mut clock| {
        for (at, values) in rules.iter().filter(|_| !clock.reset) {
            let words = &mut clock.inputs[*at];
            words.fill(0);
            words[0] = values.draw(&mut prng);
        }
        clock
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_blocks::find;

    fn file(text: &str) -> Result<Vec<StimulusBits>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.toml");
        std::fs::write(&path, text).expect("written");
        let entry = find("milg").expect("a block");
        let clocks = constrained(&path, entry, &entry.defaults(), 1).map_err(|why| format!("{why:?}"))?;
        Ok(clocks.take(3000).collect())
    }

    #[test]
    fn named_inputs_are_constrained_and_the_others_are_those_of_the_block() {
        let text = "[inputs]\nissued_i = { values = [0, 2] }\ncompleted_i = { range = [1, 2] }\nrequest_i = { percent = 5 }\n";
        let clocks = file(text).expect("a stimulus");
        let entry = find("milg").expect("a block");
        let own: Vec<_> = stimulus(entry, &entry.defaults(), 1).expect("valid").take(3000).collect();
        let mut requests = 0;
        for (clock, own) in clocks.iter().zip(&own).filter(|(clock, _)| !clock.reset) {
            let [issued, completed, request, failure] = [0, 1, 2, 3].map(|at| clock.inputs[at][0]);
            assert!([0, 2].contains(&issued) && [1, 2].contains(&completed), "{clock:?}");
            assert_eq!(failure, own.inputs[3][0]);
            requests += request;
        }
        assert!((90..210).contains(&requests), "{requests} of 3000 are not 5%");
    }

    #[test]
    fn wrong_constraints_are_refused() {
        for (text, part) in [
            ("[inputs]\nissue_i = { values = [0] }\n", "must be issued_i, completed_i"),
            ("[inputs]\nissued_i = { values = [4] }\n", "values: 4: must be 0 to 3"),
            ("[inputs]\nissued_i = { values = [] }\n", "one or more"),
            ("[inputs]\nissued_i = { range = [2, 1] }\n", "must be [FROM, TO] within 0 to 3"),
            ("[inputs]\nissued_i = { percent = 5 }\n", "1 bit"),
            ("[inputs]\nrequest_i = { percent = 500 }\n", "must be 0 to 100"),
            ("[inputs]\nrequest_i = { percent = 5, values = [1] }\n", "one of values, range, percent"),
            ("[inputs]\nrequest_i = { chance = 5 }\n", "unknown field"),
            ("inputs", "line 1: "),
        ] {
            let why = file(text).expect_err(text);
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
