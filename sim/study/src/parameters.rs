//! Parameters of a point, as strings and numbers.
use selvedge_sim::overrides::Override;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};

/// The parameters of a point, as the study names them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Workload, launch file or trace; several joined by `+` run at the same time.
    pub workload: String,
    /// Size of built-in workloads.
    pub size: String,
    /// Input file instead of the built-in input.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<String>,
    /// Model of the values in memory of an Accel-Sim trace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub values: Option<String>,
    /// Configuration.
    pub config: String,
    /// Values set in the configuration.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub set: Vec<Override>,
    /// Mechanism with its options.
    pub mechanism: String,
    /// Engine of the mechanism's blocks.
    pub engine: String,
    /// Sharing policy of workloads that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<String>,
    /// Core cycles of workloads that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cycles_together: Option<u64>,
    /// Also runs each of these workloads alone.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub alone: bool,
    /// Core cycles after which the run ends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_cycles: Option<u64>,
    /// Thread instructions after which the run ends.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_instructions: Option<u64>,
    /// Max intervals between beginning and end of a launch, if the run is estimated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intervals: Option<u64>,
    /// Max half width of the confidence interval of the cycles, in percent, if the run is repeated until it is reached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_percent: Option<f64>,
}

impl Parameters {
    /// Returns the command that runs only this point, from the folder of the study file.
    pub fn command(&self) -> String {
        let mut words = vec!["selvedge".to_owned(), "run".into(), self.workload.clone()];
        let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
        if self.size != "-" {
            add("--size", self.size.clone());
        }
        for (option, value) in
            [("--input", &self.input), ("--values", &self.values), ("--share", &self.share)]
        {
            value.iter().for_each(|value| add(option, value.clone()));
        }
        add("--config", self.config.clone());
        self.set.iter().for_each(|one| add("--set", format!("{}={}", one.key, one.cell())));
        add("--mechanism", self.mechanism.clone());
        add("--engine", self.engine.clone());
        for (option, value) in [
            ("--for", self.cycles_together),
            ("--max-cycles", self.max_cycles),
            ("--max-instructions", self.max_instructions),
            ("--intervals", self.intervals),
        ] {
            value.iter().for_each(|value| add(option, value.to_string()));
        }
        self.error_percent.iter().for_each(|percent| add("--error", format!("{percent}%")));
        if self.alone {
            words.push("--alone".into());
        }
        words.iter().map(|word| Shell(word).to_string()).collect::<Vec<_>>().join(" ")
    }
}

/// Displays a word with quotes for a shell, if it needs them.
pub struct Shell<'a>(pub &'a str);

impl Display for Shell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            return f.write_str(self.0);
        }
        write!(f, "'{}'", self.0.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_every_parameter_and_is_quoted() {
        let parameters = Parameters {
            workload: "my file.toml".into(),
            size: "small".into(),
            input: Some("f".into()),
            values: Some("zeros=0.5,random=0.5".into()),
            config: "gtx480".into(),
            set: vec![Override { key: "l1d.sets".into(), value: 64.into() }],
            mechanism: "latte-cc,high=bpc".into(),
            engine: "model".into(),
            share: None,
            cycles_together: None,
            alone: false,
            max_cycles: Some(7),
            max_instructions: None,
            intervals: Some(6),
            error_percent: Some(2.5),
        };
        assert_eq!(
            parameters.command(),
            "selvedge run 'my file.toml' --size small --input f --values zeros=0.5,random=0.5 --config gtx480 --set l1d.sets=64 \
             --mechanism latte-cc,high=bpc --engine model --max-cycles 7 --intervals 6 --error 2.5%"
        );
    }
}
