//! Tests that each damaged configuration is read or rejected with a line number. Every configuration that is read must build.
use super::*;
use crate::gpu::{Control, Gpu};
use crate::parts::Parts;
use proptest::prelude::*;
use selvedge_testing::{fuzz, one_line};
use std::sync::Arc;

fn real_files() -> Vec<Vec<u8>> {
    let short = "base = \"gtx480\"\nname = \"mine\"\n[sm]\nscheduler = \"lrr\"\ncount = 4\n[l1d]\nways = 8\nindex = \"bxor\"\n\
                 [l2]\npartitions = 8\npartition_index = \"i-poly\"\n[dram]\nbanks = 8\n";
    let whole = BUILT_IN.iter().map(|machine| {
        let config = GpuConfig::load(machine.name).expect("built in");
        toml::to_string(&config).expect("it has a TOML form")
    });
    let stated = BUILT_IN.iter().map(|machine| machine.text.to_owned());
    [short.to_owned()].into_iter().chain(whole).chain(stated).map(String::into_bytes).collect()
}

/// Builds the GPU of a configuration, as a run does.
fn build(config: GpuConfig) {
    let config = Arc::new(config);
    drop(Gpu::new(&config, Parts::none(&config), Arc::new(Control::default())));
}

#[test]
fn fuzz_machines_are_refused_line_by_line_or_can_be_built() {
    fuzz("machines", &real_files(), 400, |bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
        match GpuConfig::examine("fuzz.toml", text) {
            Ok(config) => build(config),
            Err(found) => {
                prop_assert!(!found.is_empty(), "refused without a word");
                // A value that contradicts the base configuration may lack a line number.
                for error in found {
                    one_line(&error.to_string(), "fuzz.toml", false)?;
                }
            }
        }
        Ok(())
    });
}
