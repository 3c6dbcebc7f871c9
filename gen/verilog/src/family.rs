//! A block under all values of some parameters, to be written as one module with these parameters.
use crate::design::{Design, emit, emit_family};
use crate::error::{EmitError, Problem};
use crate::options::EmitOptions;
use rust_hdl_core::prelude::Block;
use selvedge_hw::{Allowed, BlockEntry, ParamError, ParamSpec};
use serde_json::Value;
use std::collections::BTreeSet;

/// A block with one choice of the parameters' values.
pub struct FamilySample {
    /// The block, elaborated with them.
    pub block: Box<dyn Block>,
    /// The values, in the order of the family's parameters.
    pub values: Vec<usize>,
}

/// A block under all values of the parameters that its Verilog module has.
pub struct Family {
    /// Names of the parameters in Verilog, with their descriptions.
    pub parameters: Vec<(String, String)>,
    /// The block under every combination of values. The last sample is the default.
    pub samples: Vec<FamilySample>,
}

impl Family {
    /// Returns the family of a block. `params` must be complete. A parameter of the block becomes a Verilog parameter if
    /// [`BlockEntry::verilog_parameters`] names it and `params` has its default; all others are fixed. A block without such
    /// parameters has one sample.
    ///
    /// # Errors
    /// [`ParamError`] if the parameters are invalid.
    pub fn of(entry: &dyn BlockEntry, params: &Value) -> Result<Family, ParamError> {
        let defaults = entry.defaults();
        let is_open = |spec: &&ParamSpec| {
            entry.verilog_parameters().contains(&spec.name) && params[spec.name] == defaults[spec.name]
        };
        let open: Vec<&ParamSpec> = entry.schema().iter().filter(is_open).collect();
        let mut choices = vec![params.clone()];
        for spec in &open {
            let with = |params: &Value, value: Value| {
                let mut params = params.clone();
                params[spec.name] = value;
                params
            };
            let values = spec.allowed.samples();
            choices = choices
                .iter()
                .flat_map(|params| values.iter().map(move |value| with(params, value.clone())))
                .collect();
        }
        // Only valid combinations become samples.
        choices.retain(|choice| choice != params && entry.check(choice).is_ok());
        choices.push(params.clone());
        let sample = |choice: Value| {
            let value = |spec: &&ParamSpec| choice[spec.name].as_u64().unwrap_or_default() as usize;
            Ok(FamilySample { block: entry.elaborate(&choice)?, values: open.iter().map(value).collect() })
        };
        let meaning = |spec: &&ParamSpec| {
            let doc = spec.doc.trim_end_matches('.').replace('`', "");
            (
                spec.name.to_ascii_uppercase(),
                format!("{doc}; verified with {}", verified(spec, &params[spec.name])),
            )
        };
        Ok(Family {
            parameters: open.iter().map(meaning).collect(),
            samples: choices.into_iter().map(sample).collect::<Result<_, ParamError>>()?,
        })
    }

    /// Writes the family: [`emit`] if it has no parameters, [`emit_family`] otherwise.
    ///
    /// # Errors
    /// The errors of [`emit`] and [`emit_family`].
    pub fn emit(&self, top: &str, options: &EmitOptions) -> Result<Design, EmitError> {
        match &self.samples[..] {
            [only] => emit(only.block.as_ref(), top, options),
            _ => emit_family(self, top, options),
        }
    }

    /// Returns the parameters of a module in a sample: first the family's, then the module's own. Returns `None` if two have
    /// the same name and different values.
    pub(crate) fn parameters_of(
        &self,
        sample: usize,
        own: &[(String, usize)],
    ) -> Option<Vec<(String, usize)>> {
        let values = &self.samples[sample].values;
        let mut all: Vec<(String, usize)> =
            self.parameters.iter().map(|(name, _)| name.clone()).zip(values.iter().copied()).collect();
        for (name, value) in own {
            match all.iter().find(|(other, _)| other == name) {
                Some((_, other)) if other != value => return None,
                Some(_) => {}
                None => all.push((name.clone(), *value)),
            }
        }
        Some(all)
    }

    /// Returns the error that refuses a module.
    pub(crate) fn error(&self, block: &str, module: &str) -> EmitError {
        let names: Vec<&str> = self.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let problem = Problem::NoFamily { parameters: names.join(", ") };
        EmitError { block: block.into(), subject: module.into(), problem }
    }
}

/// Returns the values of a parameter that the module supports, as text: all allowed values, or for a wide range the limits
/// and the default.
fn verified(spec: &ParamSpec, default: &Value) -> String {
    match spec.allowed {
        Allowed::Range(low, high) if spec.allowed.samples().len() as u64 != high - low + 1 => {
            let values = BTreeSet::from([Some(low), default.as_u64(), Some(high)]);
            let values: Vec<String> = values.into_iter().flatten().map(|value| value.to_string()).collect();
            values.join(", ")
        }
        allowed => allowed.to_string(),
    }
}
