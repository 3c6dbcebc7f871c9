//! Parsers of option values.
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fmt::Debug;
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;

/// Returns a parser of a variant's name. Its error lists all names.
pub fn name_of<T>() -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Debug> + VariantNames + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).map(|name| name.parse().expect("the name of a variant"))
}

/// Parses the file name of an SVG chart.
///
/// # Errors
/// Fails if the name has an extension other than `svg`.
pub fn chart_file(name: &str) -> Result<PathBuf, &'static str> {
    let file = PathBuf::from(name);
    match file.extension() {
        Some(end) if !end.eq_ignore_ascii_case("svg") => Err("must be a name that ends in .svg"),
        _ => Ok(file),
    }
}
