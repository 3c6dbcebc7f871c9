//! Parameters of a block's elaboration, parsed and checked from one declaration per block.
use serde_json::{Map, Value};
use std::fmt;

/// The valid values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Every integer from the first to the second, both included.
    Range(u64, u64),
    /// These numbers only.
    OneOf(&'static [u64]),
    /// `true` or `false`.
    Switch,
}

impl Allowed {
    fn admits(self, value: &Value) -> bool {
        match self {
            Allowed::Range(low, high) => value.as_u64().is_some_and(|v| (low..=high).contains(&v)),
            Allowed::OneOf(list) => value.as_u64().is_some_and(|v| list.contains(&v)),
            Allowed::Switch => value.is_boolean(),
        }
    }

    /// Returns values for tests: all values, or only the ends of a range of more than eight.
    pub fn samples(self) -> Vec<Value> {
        match self {
            Allowed::Range(low, high) if high - low < 8 => (low..=high).map(Value::from).collect(),
            Allowed::Range(low, high) => vec![low.into(), high.into()],
            Allowed::OneOf(list) => list.iter().copied().map(Value::from).collect(),
            Allowed::Switch => vec![false.into(), true.into()],
        }
    }

    fn parse(self, text: &str) -> Option<Value> {
        let value = match self {
            Allowed::Switch => Value::from(text.parse::<bool>().ok()?),
            Allowed::Range(..) | Allowed::OneOf(_) => Value::from(text.parse::<u64>().ok()?),
        };
        self.admits(&value).then_some(value)
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Range(low, high) => write!(f, "{low} to {high}"),
            Allowed::OneOf(list) => {
                let list: Vec<String> = list.iter().map(u64::to_string).collect();
                f.write_str(&list.join(", "))
            }
            Allowed::Switch => f.write_str("true, false"),
        }
    }
}

/// Declaration of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// The field's name in the block's `Params`, in configuration files and after `--param`.
    pub name: &'static str,
    /// The valid values.
    pub allowed: Allowed,
    /// The effect of the parameter, with its unit.
    pub doc: &'static str,
}

/// Declares a block's parameters: a struct of plain values; `SPECS`, the value of
/// [`HwBlock::PARAMS`](crate::HwBlock::PARAMS); and `DEFAULT`, its default as a constant.
///
/// ```
/// use selvedge_hw::{Allowed, block_params};
///
/// block_params! {
///     /// Parameters of a counter.
///     pub struct CounterParams {
///         /// Width of the count.
///         bits: u32 = 8, Allowed::OneOf(&[4, 8]);
///     }
/// }
/// assert_eq!(CounterParams::default().bits, 8);
/// assert_eq!(CounterParams::SPECS[0].doc, "Width of the count.");
/// ```
#[macro_export]
macro_rules! block_params {
    (
        $(#[$attribute:meta])*
        pub struct $params:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $value:ty = $default:expr, $allowed:expr; )+
        }
    ) => {
        $(#[$attribute])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, $crate::serde::Serialize, $crate::serde::Deserialize, $crate::selvedge_state::State,
        )]
        #[state(crate = $crate::selvedge_state)]
        #[serde(crate = "selvedge_hw::serde", deny_unknown_fields, default)]
        pub struct $params {
            $( $(#[doc = $doc])+ pub $field: $value ),+
        }

        impl $params {
            /// Every parameter.
            pub const SPECS: &'static [$crate::ParamSpec] = &[$(
                $crate::ParamSpec {
                    name: stringify!($field),
                    allowed: $allowed,
                    doc: concat!($($doc),+).trim_ascii(),
                }
            ),+];

            /// The default of every parameter.
            pub const DEFAULT: Self = $params { $($field: $default),+ };
        }

        impl Default for $params {
            fn default() -> Self {
                $params::DEFAULT
            }
        }
    };
}

/// The error of an invalid parameter. Each variant displays as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The block has no such parameter.
    #[error("{block}: unknown parameter '{name}'; it has: {known}")]
    Unknown {
        /// The block.
        block: &'static str,
        /// The name that was given.
        name: String,
        /// The parameters that exist, separated by commas.
        known: String,
    },
    /// The value is invalid.
    #[error("{block}: parameter '{name}' = '{value}': must be {allowed}")]
    Value {
        /// The block.
        block: &'static str,
        /// The parameter.
        name: String,
        /// The value that was given.
        value: String,
        /// The valid values.
        allowed: String,
    },
    /// The values are valid one by one, but not together.
    #[error("{block}: {problem}")]
    Conflict {
        /// The block.
        block: &'static str,
        /// The parameters, their values and the demand on them.
        problem: String,
    },
    /// The parameters are not an object of names and values.
    #[error("{block}: parameters must be names with values, not '{value}'")]
    NotAnObject {
        /// The block.
        block: &'static str,
        /// The value that was given instead.
        value: String,
    },
}

/// The declared parameters of one block, and the block's name for errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema {
    pub block: &'static str,
    pub specs: &'static [ParamSpec],
}

impl Schema {
    fn spec(&self, name: &str) -> Result<&'static ParamSpec, ParamError> {
        self.specs.iter().find(|spec| spec.name == name).ok_or_else(|| ParamError::Unknown {
            block: self.block,
            name: name.to_string(),
            known: match self.specs {
                [] => "none".to_string(),
                specs => specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
            },
        })
    }

    fn bad_value(&self, spec: &ParamSpec, value: impl fmt::Display) -> ParamError {
        ParamError::Value {
            block: self.block,
            name: spec.name.to_string(),
            value: value.to_string(),
            allowed: spec.allowed.to_string(),
        }
    }

    /// Parses `(name, value)` pairs of a command line. A dash in a name counts as an underscore.
    pub fn parse(&self, pairs: &[(String, String)]) -> Result<Map<String, Value>, ParamError> {
        let mut map = Map::new();
        for (name, text) in pairs {
            let spec = self.spec(&name.replace('-', "_"))?;
            let value = spec.allowed.parse(text).ok_or_else(|| self.bad_value(spec, text))?;
            map.insert(spec.name.to_string(), value);
        }
        Ok(map)
    }

    /// Checks an object, and replaces the defaults by its values.
    pub fn complete(&self, mut defaults: Value, object: &Value) -> Result<Value, ParamError> {
        self.check(object)?;
        if let (Value::Object(all), Value::Object(given)) = (&mut defaults, object) {
            all.extend(given.clone());
        }
        Ok(defaults)
    }

    /// Checks every name and value of an object.
    pub fn check(&self, object: &Value) -> Result<(), ParamError> {
        let Value::Object(map) = object else {
            return Err(ParamError::NotAnObject { block: self.block, value: object.to_string() });
        };
        for (name, value) in map {
            let spec = self.spec(name)?;
            if !spec.allowed.admits(value) {
                return Err(self.bad_value(spec, value));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: Schema = Schema {
        block: "adder",
        specs: &[
            ParamSpec { name: "width", allowed: Allowed::Range(1, 64), doc: "" },
            ParamSpec { name: "lanes", allowed: Allowed::OneOf(&[1, 2, 4]), doc: "" },
            ParamSpec { name: "carry_in", allowed: Allowed::Switch, doc: "" },
        ],
    };

    fn parse(name: &str, value: &str) -> Result<Value, String> {
        let pair = (name.to_string(), value.to_string());
        SCHEMA.parse(&[pair]).map(Value::Object).map_err(|error| error.to_string())
    }

    #[test]
    fn pairs_become_typed_values() {
        assert_eq!(parse("width", "12").unwrap().to_string(), r#"{"width":12}"#);
        assert_eq!(parse("carry-in", "true").unwrap().to_string(), r#"{"carry_in":true}"#);
    }

    #[test]
    fn errors_name_parameter_value_and_what_is_allowed() {
        assert_eq!(parse("width", "65").unwrap_err(), "adder: parameter 'width' = '65': must be 1 to 64");
        assert_eq!(parse("width", "-1").unwrap_err(), "adder: parameter 'width' = '-1': must be 1 to 64");
        assert_eq!(parse("lanes", "3").unwrap_err(), "adder: parameter 'lanes' = '3': must be 1, 2, 4");
        assert_eq!(
            parse("carry_in", "1").unwrap_err(),
            "adder: parameter 'carry_in' = '1': must be true, false"
        );
        assert_eq!(
            parse("depth", "1").unwrap_err(),
            "adder: unknown parameter 'depth'; it has: width, lanes, carry_in"
        );
    }

    #[test]
    fn objects_are_checked_like_pairs() {
        let error = |json: &str| SCHEMA.check(&serde_json::from_str(json).unwrap()).unwrap_err().to_string();
        assert_eq!(error(r#"{"lanes": "2"}"#), "adder: parameter 'lanes' = '\"2\"': must be 1, 2, 4");
        assert_eq!(error("[1]"), "adder: parameters must be names with values, not '[1]'");
        assert_eq!(SCHEMA.check(&serde_json::from_str(r#"{"lanes": 2}"#).unwrap()), Ok(()));
    }
}
