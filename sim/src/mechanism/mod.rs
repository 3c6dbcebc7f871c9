//! The mechanisms that can be put into the GPU: a registry of names, options and builders.
//!
//! A mechanism is a pair of policies, one per SM and one per L2 partition, whose decisions are taken by blocks of
//! `selvedge-hw` under the chosen engine. The GPU calls the policies at named points and does not know which
//! mechanism is there. Mechanisms compose with `+`.
pub mod codec_stage;
pub mod dmil;
pub mod hw_bdi;
pub mod issue_order;
pub mod md_cache;
pub mod probe;
pub mod smil;
pub mod stacked;

use crate::config::GpuConfig;
use crate::gpu::Policies;
use crate::partition::{NoPolicy, PartitionPolicy};
use crate::sm::policy::{NoSmPolicy, SmPolicy};
use probe::Probes;
use serde::Serialize;
use std::collections::BTreeMap;

/// A mechanism's option: a name with its default and what is allowed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OptionInfo {
    /// Name, as in `--mechanism NAME,option=value`.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Smallest allowed value.
    pub low: u32,
    /// Largest allowed value.
    pub high: u32,
    /// Must it be a power of two?
    pub power_of_two: bool,
    /// What it means, with its unit.
    pub help: &'static str,
}

impl OptionInfo {
    fn allows(&self, value: u32) -> bool {
        (self.low..=self.high).contains(&value) && (!self.power_of_two || value.is_power_of_two())
    }

    fn allowed(&self) -> String {
        let what = if self.power_of_two { "powers of two from " } else { "" };
        format!("allowed are {what}{} to {}", self.low, self.high)
    }
}

/// What the registry knows of a mechanism.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MechanismInfo {
    /// Name on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// Blocks of `selvedge-hw` that it instantiates.
    pub blocks: &'static [&'static str],
    /// Options.
    pub options: &'static [OptionInfo],
    /// Does it look at the values in memory, which a trace of addresses does not have?
    pub needs_values: bool,
}

/// Every mechanism.
pub const ALL: [MechanismInfo; 7] = [
    MechanismInfo {
        name: "base",
        summary: "no mechanism: the baseline GPU",
        source: "CABA, section 7 (Base)",
        blocks: &[],
        options: &[],
        needs_values: false,
    },
    hw_bdi::INFO,
    hw_bdi::INFO_MEM,
    dmil::INFO,
    smil::INFO,
    issue_order::RBMI,
    issue_order::QBMI,
];

/// A wrong mechanism or option, in one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MechanismError {
    /// No such mechanism.
    #[error("unknown mechanism `{name}`: allowed are {allowed}, joined by +")]
    Unknown {
        /// What was given.
        name: String,
        /// The names there are.
        allowed: String,
    },
    /// No such option, or a value out of range.
    #[error("mechanism {mechanism}: option `{option}`: {allowed}")]
    Option {
        /// The mechanism.
        mechanism: String,
        /// The option as given.
        option: String,
        /// What is allowed.
        allowed: String,
    },
    /// A machine that the mechanism does not suit.
    #[error("mechanism {mechanism}: {key} = {value}: {allowed}")]
    Machine {
        /// The mechanism.
        mechanism: String,
        /// The configuration's key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two mechanisms that cannot work together.
    #[error("mechanisms {first} and {second} cannot be combined: both {why}")]
    Conflict {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// What both claim.
        why: &'static str,
    },
    /// A mechanism that looks at values, and a trace that has none.
    #[error(
        "mechanism {mechanism}: it looks at the values in memory, and {trace} has addresses only: allowed with it are \
         {allowed}; a workload, a launch file or a .strace has values"
    )]
    NeedsValues {
        /// The mechanism.
        mechanism: String,
        /// The trace.
        trace: String,
        /// The mechanisms that do without values.
        allowed: String,
    },
    /// A probe that names no block instance of the mechanism.
    #[error("unknown probe `{name}`: allowed are {allowed}")]
    Probe {
        /// What was given.
        name: String,
        /// The instances there are.
        allowed: String,
    },
    /// A planted fault beyond the outputs of its block.
    #[error("--inject {fault}: allowed are bits 0 to {last}, those of the block's output ports")]
    Fault {
        /// What was given: instance, cycle and bit.
        fault: String,
        /// The last bit.
        last: usize,
    },
}

/// One mechanism with its options' values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name in the registry.
    pub name: &'static str,
    /// Value of every option, given or default.
    pub options: BTreeMap<&'static str, u32>,
}

/// What `--mechanism` says: one or more mechanisms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MechanismSpec {
    /// As written.
    pub text: String,
    /// The mechanisms.
    pub parts: Vec<Part>,
}

impl std::str::FromStr for MechanismSpec {
    type Err = MechanismError;

    fn from_str(text: &str) -> Result<Self, MechanismError> {
        let parts = text.split('+').map(parse_part).collect::<Result<Vec<_>, _>>()?;
        for (i, first) in parts.iter().enumerate() {
            for second in &parts[i + 1..] {
                if let Some(why) = conflict(first.name, second.name) {
                    return Err(MechanismError::Conflict {
                        first: first.name.into(),
                        second: second.name.into(),
                        why,
                    });
                }
            }
        }
        Ok(MechanismSpec { text: text.into(), parts })
    }
}

/// What both mechanisms claim, if anything.
fn conflict(first: &str, second: &str) -> Option<&'static str> {
    let compresses = |name: &str| name.starts_with("hw-bdi");
    let ranks = |name: &str| name == "rbmi" || name == "qbmi";
    let limits = |name: &str| name == "smil" || name == "dmil";
    if first == second {
        return Some("are the same mechanism");
    }
    let claims = [
        (compresses as fn(&str) -> bool, "compress the lines between L2 and DRAM"),
        (ranks, "rank the kernels' memory instructions"),
        (limits, "limit the kernels' memory instructions"),
    ];
    claims.into_iter().find(|(claims, _)| claims(first) && claims(second)).map(|(_, why)| why)
}

fn parse_part(text: &str) -> Result<Part, MechanismError> {
    let mut words = text.split(',');
    let name = words.next().unwrap_or_default().trim();
    let info = ALL.iter().find(|m| m.name == name).ok_or_else(|| MechanismError::Unknown {
        name: name.into(),
        allowed: ALL.map(|m| m.name).join(", "),
    })?;
    let mut options: BTreeMap<_, _> = info.options.iter().map(|o| (o.name, o.default)).collect();
    let mut given = Vec::new();
    for word in words {
        let (option, value) = parse_option(info, word)?;
        if given.contains(&option) {
            let (mechanism, option) = (info.name.into(), word.trim().into());
            return Err(MechanismError::Option { mechanism, option, allowed: "allowed is once".into() });
        }
        given.push(option);
        options.insert(option, value);
    }
    Ok(Part { name: info.name, options })
}

fn parse_option(info: &MechanismInfo, word: &str) -> Result<(&'static str, u32), MechanismError> {
    let fail = |allowed: String| MechanismError::Option {
        mechanism: info.name.into(),
        option: word.trim().into(),
        allowed,
    };
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let Some(option) = info.options.iter().find(|o| o.name == key.trim()) else {
        let names: Vec<_> = info.options.iter().map(|o| format!("{}=N", o.name)).collect();
        let allowed = if names.is_empty() { "it has no options".into() } else { names.join(", ") };
        return Err(fail(format!("allowed: {allowed}")));
    };
    match value.trim().parse::<u32>() {
        Ok(v) if option.allows(v) => Ok((option.name, v)),
        _ => Err(fail(option.allowed())),
    }
}

/// Counters that a mechanism adds to the report, by name.
pub type MechanismCounters = BTreeMap<&'static str, u64>;

/// Adds to a mechanism's counter.
pub fn count(counters: &mut MechanismCounters, name: &'static str, value: u64) {
    *counters.entry(name).or_default() += value;
}

impl MechanismSpec {
    /// The mechanism that changes nothing.
    pub fn base() -> Self {
        MechanismSpec { text: "base".into(), parts: vec![Part { name: "base", options: BTreeMap::new() }] }
    }

    /// Checks that the machine suits every mechanism; call before [`MechanismSpec::build`].
    ///
    /// # Errors
    /// [`MechanismError::Machine`].
    pub fn check(&self, config: &GpuConfig) -> Result<(), MechanismError> {
        self.parts
            .iter()
            .filter(|part| part.name.starts_with("hw-bdi"))
            .try_for_each(|part| hw_bdi::check(part, config))
    }

    /// Checks that every mechanism does without values, which `trace` does not have.
    ///
    /// # Errors
    /// [`MechanismError::NeedsValues`].
    pub fn check_without_values(&self, trace: &str) -> Result<(), MechanismError> {
        let needs_values = |name: &str| ALL.iter().any(|info| info.name == name && info.needs_values);
        match self.parts.iter().find(|part| needs_values(part.name)) {
            None => Ok(()),
            Some(part) => {
                let without = ALL.iter().filter(|info| !info.needs_values).map(|info| info.name);
                Err(MechanismError::NeedsValues {
                    mechanism: part.name.into(),
                    trace: trace.into(),
                    allowed: without.collect::<Vec<_>>().join(", "),
                })
            }
        }
    }

    /// Builds the policies of every SM and partition for so many kernels at the same time, with their blocks made by
    /// `probes`.
    pub fn build(&self, config: &GpuConfig, kernels: usize, probes: &Probes) -> Policies {
        let sms = config.sm.count as usize;
        let partitions = config.l2.partitions as usize;
        let mut sm_parts: Vec<Vec<Box<dyn SmPolicy>>> = (0..sms).map(|_| Vec::new()).collect();
        let mut partition_parts: Vec<Vec<Box<dyn PartitionPolicy>>> =
            (0..partitions).map(|_| Vec::new()).collect();
        for part in &self.parts {
            let Policies { sms, partitions } = match part.name {
                "hw-bdi" => hw_bdi::build(part, config, probes),
                "hw-bdi-mem" => hw_bdi::build_mem(part, config, probes),
                "dmil" => dmil::build(config, kernels, probes),
                "smil" => smil::build(part, config),
                "rbmi" => issue_order::build_rbmi(config, kernels),
                "qbmi" => issue_order::build_qbmi(config, kernels, probes),
                _ => Policies { sms: Vec::new(), partitions: Vec::new() },
            };
            sm_parts.iter_mut().zip(sms).for_each(|(list, policy)| list.push(policy));
            partition_parts.iter_mut().zip(partitions).for_each(|(list, policy)| list.push(policy));
        }
        Policies {
            sms: sm_parts.into_iter().map(stack_sm).collect(),
            partitions: partition_parts
                .into_iter()
                .map(|mut list| {
                    list.pop().unwrap_or_else(|| Box::new(NoPolicy { burst_bytes: config.dram.burst_bytes }))
                })
                .collect(),
        }
    }
}

fn stack_sm(mut parts: Vec<Box<dyn SmPolicy>>) -> Box<dyn SmPolicy> {
    match parts.len() {
        0 => Box::new(NoSmPolicy),
        1 => parts.remove(0),
        _ => Box::new(stacked::Stacked::new(parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<MechanismSpec>().expect_err("it is wrong").to_string()
    }

    #[test]
    fn options_override_their_defaults() {
        let spec: MechanismSpec = "hw-bdi,compress=3+dmil".parse().expect("valid");
        assert_eq!(spec.parts[0].options["compress"], 3);
        assert_eq!(spec.parts[0].options["decompress"], 1);
        assert_eq!(spec.parts[1].name, "dmil");
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        assert!(error("hw-bdy").contains("allowed are base, hw-bdi, hw-bdi-mem, dmil, smil, rbmi, qbmi"));
        assert!(error("rbmi+qbmi").contains("both rank the kernels' memory instructions"));
        assert!(error("smil,k0=4+dmil").contains("both limit the kernels' memory instructions"));
        assert!(error("smil,k1=129").contains("allowed are 0 to 128"));
        assert!(error("hw-bdi,compress=9").contains("allowed are 1 to 5"));
        assert!(error("hw-bdi,md_kb=3").contains("allowed are powers of two from 1 to 1024"));
        assert!(error("hw-bdi,md_ways=5").contains("allowed are powers of two from 1 to 32"));
        assert!(error("hw-bdi,compress=1,compress=2").contains("`compress=2`: allowed is once"));
        assert!(error("hw-bdi,speed=9").contains("compress=N"));
        assert!(error("hw-bdi+hw-bdi-mem").contains("cannot be combined"));
        assert!(error("dmil,x=1").contains("no options"));
    }
}
