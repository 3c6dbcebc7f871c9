//! `--set KEY=VALUE`: values that override a configuration.
use crate::error::Failure;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::overrides::{Override, overridden};

/// Returns the configuration `name` with the values of `set`, and with at most `registers` per thread.
///
/// # Errors
/// Fails for an unknown configuration or key, or for an invalid value.
pub fn configuration(name: &str, set: &[String], registers: Option<u32>) -> Result<GpuConfig, Failure> {
    let config = GpuConfig::load(name).map_err(Failure::usage)?;
    let overrides = set.iter().map(|text| parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mut config =
        overridden(&config, &overrides).map_err(|why| Failure::usage(format!("--set: {why}")))?;
    let own = config.sm.registers_per_thread;
    config.sm.registers_per_thread = own.min(registers.unwrap_or(own));
    Ok(config)
}

/// Parses KEY=VALUE. A value that is not valid TOML is a string.
fn parse(text: &str) -> Result<Override, Failure> {
    let wrong = || Failure::usage(format!("--set {text}: must be KEY=VALUE, such as l1d.sets=64"));
    let (key, value) =
        text.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty()).ok_or_else(wrong)?;
    let plain = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let plain = plain.and_then(|mut table| table.remove("value"));
    Ok(Override { key: key.into(), value: plain.unwrap_or_else(|| value.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_flags_and_words_are_set() {
        let set = ["l1d.ways=8", "l1d.index=modulo"].map(String::from);
        let error = configuration("gtx480", &set[..1], None).map(|config| config.l1d.ways);
        assert_eq!(error.expect("valid"), 8);
        assert!(configuration("gtx480", &set, None).is_err(), "no such index");
        assert!(configuration("gtx480", &["l1d.index=bmod".into()], Some(16)).is_ok());
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for text in ["", "l1d.sets", "=1", "l1d.sets="] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
