//! The mechanisms that can be put into the GPU: a registry of names, options and builders.
//!
//! A mechanism is a pair of policies, one per SM and one per L2 partition, whose decisions are taken by blocks of
//! `selvedge-hw` under the chosen engine. The GPU calls the policies at named points and does not know which
//! mechanism is there. Mechanisms compose with `+`.
pub mod caba;
pub mod codec_stage;
pub mod difference;
#[cfg(test)]
mod directed;
pub mod dmil;
pub mod hw_bdi;
pub mod issue_order;
pub mod lamar;
pub mod latte;
pub mod md_cache;
pub mod mdb;
pub mod mrpb;
mod pdp;
pub mod probe;
#[cfg(test)]
pub(crate) mod small_kernels;
pub mod smil;
pub mod stacked;
pub mod stepped;
pub mod swl;
pub mod ucp;

/// Everything that a file with a mechanism needs.
pub mod prelude {
    pub use super::difference::Difference;
    pub use super::stepped::Stepped;
    pub use super::{
        Build, Claim, Mechanism, MechanismCounters, MechanismError, Needs, OptionInfo, Part, count,
    };
    pub use crate::cache::LinePart;
    pub use crate::config::GpuConfig;
    pub use crate::gpu::Policies;
    pub use crate::memory::DeviceMemory;
    pub use crate::packet::Packet;
    pub use crate::partition::{DramPlan, L2Event, MechanismFault, NoPolicy, PartitionPolicy, Stage};
    pub use crate::sm::policy::{L1dEvent, Load, MemoryEvent, SmPolicy};
    pub use crate::stats::{Decision, FailCause};
    pub use selvedge_hw::wave::Trace;
}

use crate::config::GpuConfig;
use crate::gpu::Policies;
use crate::partition::{NoPolicy, PartitionPolicy};
use crate::sm::policy::{NoSmPolicy, SmPolicy};
pub use crate::stats::{MechanismCounters, count};
use probe::Probes;
use selvedge_hw::{NameTaken, names};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// A mechanism's option: a name with its default and what is allowed.
#[derive(Clone, Copy, Debug)]
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
    /// The names of the values from `low` on, where they have names.
    pub choices: &'static [&'static str],
    /// What it means, with its unit.
    pub help: &'static str,
    /// What the mechanism has for itself with another value than the default.
    pub claim: Option<Claim>,
    /// The block whose latency it is: then it may also be `auto`, for which [`MechanismSpec::settle`] has the value.
    pub latency_of: Option<&'static str>,
}

/// The value of an option that is `auto` and not settled yet.
const AUTO: u32 = u32::MAX;

impl OptionInfo {
    /// A number from `low` to `high`.
    pub const fn number(
        name: &'static str,
        default: u32,
        (low, high): (u32, u32),
        help: &'static str,
    ) -> Self {
        let (power_of_two, choices, claim, latency_of) = (false, &[], None, None);
        OptionInfo { name, default, low, high, power_of_two, choices, help, claim, latency_of }
    }

    /// A number of cycles that is a block's latency.
    pub const fn latency_of(self, block: &'static str) -> Self {
        OptionInfo { latency_of: Some(block), ..self }
    }

    /// One of several names; its value is the name's place in `choices`, and the first is the default.
    pub const fn choice(name: &'static str, choices: &'static [&'static str], help: &'static str) -> Self {
        let high = choices.len() as u32 - 1;
        OptionInfo { choices, ..OptionInfo::number(name, 0, (0, high), help) }
    }

    /// The value that `text` stands for, if it is allowed.
    fn value(&self, text: &str) -> Option<u32> {
        if !self.choices.is_empty() {
            return self.choices.iter().position(|choice| *choice == text).map(|at| at as u32);
        }
        if self.latency_of.is_some() && text == "auto" {
            return Some(AUTO);
        }
        text.parse().ok().filter(|value| self.allows(*value))
    }

    fn allows(&self, value: u32) -> bool {
        (self.low..=self.high).contains(&value) && (!self.power_of_two || value.is_power_of_two())
    }

    fn allowed(&self) -> String {
        if !self.choices.is_empty() {
            return format!("allowed are {}", self.choices.join(", "));
        }
        let what = if self.power_of_two { "powers of two from " } else { "" };
        let or = if self.latency_of.is_some() { ", and auto" } else { "" };
        format!("allowed are {what}{} to {}{or}", self.low, self.high)
    }

    /// The default as it is written.
    pub fn default_text(&self) -> String {
        self.choices
            .get(self.default as usize)
            .map_or_else(|| self.default.to_string(), |name| (*name).into())
    }
}

/// Something of the GPU that only one mechanism can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The form of lines between L2 and DRAM.
    MemoryLines,
    /// The form of lines in the L1D.
    L1dLines,
    /// The sectors that a miss fetches.
    Granularity,
    /// Which loads pass by the L1D.
    Bypass,
    /// The assist warps of the SMs.
    AssistWarps,
    /// The ways of the L1D that each kernel has.
    Ways,
    /// Which warps may be scheduled.
    WarpLimit,
    /// The order of the kernels' memory instructions.
    Ranks,
    /// The number of the kernels' memory instructions in flight.
    Limits,
    /// What the workload runs for several times first.
    Trials,
}

impl Claim {
    /// What two mechanisms with this claim both do.
    fn why(self) -> &'static str {
        match self {
            Claim::MemoryLines => "compress or divide the lines between L2 and DRAM",
            Claim::L1dLines => "compress or divide the lines in the L1D",
            Claim::Granularity => "choose the sectors that a miss fetches",
            Claim::Bypass => "choose the loads that pass by the L1D",
            Claim::AssistWarps => "have the SMs' assist warps",
            Claim::Ways => "give the kernels ways of the L1D",
            Claim::WarpLimit => "limit the warps that are scheduled",
            Claim::Ranks => "rank the kernels' memory instructions",
            Claim::Limits => "limit the kernels' memory instructions",
            Claim::Trials => "run the workload several times first",
        }
    }
}

/// What a mechanism looks at, each with what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Addresses: any trace has them.
    Nothing,
    /// The values in memory, which a trace of addresses does not have.
    Values,
    /// The values in registers, which no trace has.
    Execution,
}

impl Needs {
    /// In a few words; none for what every source has.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Needs::Nothing => None,
            Needs::Values => Some("values in memory"),
            Needs::Execution => Some("values in registers (no trace)"),
        }
    }
}

/// What a mechanism is built from.
pub struct Build<'a> {
    /// The machine, with what the mechanisms have added to it.
    pub config: &'a GpuConfig,
    /// Kernels at the same time.
    pub kernels: usize,
    /// The maker of block instances.
    pub probes: &'a Probes,
}

/// What the registry knows of a mechanism.
#[derive(Clone, Copy, Debug)]
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
    /// What a trace may lack.
    pub needs: Needs,
    /// What it asks of the machine; empty when it suits every one.
    pub machine_needs: &'static str,
    /// What it has for itself.
    pub claims: &'static [Claim],
    /// Adds to the machine what the mechanism brings along (tags, sectors, limits) and refuses a machine that does not
    /// suit it.
    pub machine: fn(&Part, &mut GpuConfig) -> Result<(), MechanismError>,
    /// Builds its policies; an empty list is a mechanism without share in SMs, or in partitions.
    pub build: fn(&Part, &Build<'_>) -> Policies,
}

/// A mechanism, written as a type. [`add`] makes it known to `--mechanism`, `compare` and `list`.
pub trait Mechanism {
    /// Name on the command line.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// Paper and section.
    const SOURCE: &'static str;
    /// Names of the blocks that it instantiates.
    const BLOCKS: &'static [&'static str] = &[];
    /// Options.
    const OPTIONS: &'static [OptionInfo] = &[];
    /// What a trace may lack.
    const NEEDS: Needs = Needs::Nothing;
    /// What it requires of the configuration, for lists; empty when it suits every one.
    const CONFIGURATION: &'static str = "";
    /// What only one mechanism can have.
    const CLAIMS: &'static [Claim] = &[];

    /// Adds to the configuration what the mechanism brings along (tags, sectors, limits) and refuses one that does not suit.
    ///
    /// # Errors
    /// [`Part::unsuited`].
    fn configure(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
        let _ = (part, config);
        Ok(())
    }

    /// Builds its policies; an empty list is a mechanism without share in SMs, or in partitions.
    fn attach(part: &Part, with: &Build<'_>) -> Policies;
}

impl MechanismInfo {
    /// Returns what the registry knows of `M`.
    pub const fn of<M: Mechanism>() -> Self {
        MechanismInfo {
            name: M::NAME,
            summary: M::SUMMARY,
            source: M::SOURCE,
            blocks: M::BLOCKS,
            options: M::OPTIONS,
            needs: M::NEEDS,
            machine_needs: M::CONFIGURATION,
            claims: M::CLAIMS,
            machine: M::configure,
            build: M::attach,
        }
    }
}

/// Any machine suits, as it is.
pub fn any_machine(_: &Part, _: &mut GpuConfig) -> Result<(), MechanismError> {
    Ok(())
}

/// A mechanism that is a matter of the machine alone.
pub fn no_policies(_: &Part, _: &Build<'_>) -> Policies {
    Policies { sms: Vec::new(), partitions: Vec::new() }
}

/// The baseline.
const BASE: MechanismInfo = MechanismInfo {
    name: "base",
    summary: "no mechanism: the baseline GPU",
    source: "CABA, section 7 (Base)",
    blocks: &[],
    options: &[],
    needs: Needs::Nothing,
    machine_needs: "",
    claims: &[],
    machine: any_machine,
    build: no_policies,
};

/// Every mechanism of this crate.
pub const ALL: &[MechanismInfo] = &[
    BASE,
    hw_bdi::INFO,
    hw_bdi::INFO_MEM,
    lamar::CG_ONLY,
    lamar::FG_ONLY,
    lamar::STATIC_GDU,
    lamar::SPP,
    lamar::BGP_INF,
    lamar::BGP,
    hw_bdi::INFO_IDEAL,
    caba::INFO_BDI,
    caba::INFO_FPC,
    caba::INFO_CPACK,
    caba::INFO_BEST,
    caba::prefetch::INFO,
    caba::memo::INFO,
    dmil::INFO,
    smil::INFO,
    issue_order::RBMI,
    issue_order::QBMI,
    latte::LATTE_CC,
    latte::ADAPTIVE_HIT_COUNT,
    latte::ADAPTIVE_CMP,
    latte::STATIC_BDI,
    latte::STATIC_SC,
    latte::STATIC_BPC,
    latte::KERNEL_OPT,
    mdb::LOCAL,
    mdb::GLOBAL,
    swl::SWL,
    swl::SWL_BEST,
    swl::CBWT_BEST,
    mrpb::INFO,
    ucp::INFO,
];

/// The mechanisms of other crates.
static ADDED: RwLock<Vec<&'static MechanismInfo>> = RwLock::new(Vec::new());

/// Adds the mechanism `M` of another crate.
///
/// # Errors
/// A mechanism of that name is there already.
pub fn add<M: Mechanism>() -> Result<(), NameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if ALL.iter().chain(added.iter().copied()).any(|info| info.name == M::NAME) {
        return Err(NameTaken { what: "mechanism", name: M::NAME });
    }
    added.push(const { &MechanismInfo::of::<M>() });
    Ok(())
}

/// Returns every mechanism: first [`ALL`], then those that were added.
pub fn all() -> Vec<&'static MechanismInfo> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    ALL.iter().chain(added.iter().copied()).collect()
}

/// The registry's entry of that name.
fn find(name: &str) -> Option<&'static MechanismInfo> {
    all().into_iter().find(|info| info.name == name)
}

/// The names of the mechanisms that are meant, for a message.
fn names_of(is_meant: impl Fn(&MechanismInfo) -> bool) -> String {
    all().into_iter().filter(|info| is_meant(info)).map(|info| info.name).collect::<Vec<_>>().join(", ")
}

/// A wrong mechanism or option, in one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MechanismError {
    /// No such mechanism.
    #[error("unknown mechanism `{name}`: {allowed}")]
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
    /// A mechanism that looks at what a trace does not have, or that the instructions of a trace would lack.
    #[error("mechanism {mechanism}: {why}: allowed with it are {allowed}; {instead}")]
    Needs {
        /// The mechanism.
        mechanism: String,
        /// What it looks at, and what there is.
        why: String,
        /// The mechanisms that do without.
        allowed: String,
        /// What else could be run.
        instead: &'static str,
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
#[derive(Clone, Debug)]
pub struct Part {
    /// Its entry in the registry.
    pub info: &'static MechanismInfo,
    /// Value of every option, given or default.
    pub options: BTreeMap<&'static str, u32>,
    /// What trials have chosen launch by launch, the last for all that follow; nothing elsewhere.
    pub launches: Vec<u32>,
}

impl Part {
    /// Does an L1D with one tag for each way keep lines compressed?
    pub fn compresses_l1d_in_place(&self) -> bool {
        self.options.get(caba::DIRECT_LOAD) == Some(&1)
    }

    /// Tags for each way of an L2 that keeps lines compressed; none where it keeps them as they are.
    pub fn compressed_l2_tags(&self) -> Option<u32> {
        let has_metadata = self.options.contains_key(hw_bdi::MD_KB.name);
        let elsewhere = [hw_bdi::INFO_MEM.name, hw_bdi::INFO_IDEAL.name].contains(&self.info.name);
        let compresses = has_metadata && !elsewhere;
        let is_raw = self.options.get(caba::L2) == Some(&1);
        (compresses && !is_raw).then(|| self.options.get(caba::L2_TAGS).copied().unwrap_or(1))
    }

    /// What it has for itself, as its options say.
    fn claims(&self) -> impl Iterator<Item = Claim> {
        let is_changed = |option: &&OptionInfo| self.options[option.name] != option.default;
        let optional = self.info.options.iter().filter(is_changed).filter_map(|option| option.claim);
        self.info.claims.iter().copied().chain(optional)
    }

    /// A machine that does not suit, with the configuration's key, its value and what is allowed.
    pub fn unsuited(&self, key: &'static str, value: impl ToString, allowed: &'static str) -> MechanismError {
        MechanismError::Machine { mechanism: self.info.name.into(), key, value: value.to_string(), allowed }
    }
}

/// What `--mechanism` says: one or more mechanisms.
#[derive(Clone, Debug)]
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
                if let Some(why) = conflict(first, second) {
                    return Err(MechanismError::Conflict {
                        first: first.info.name.into(),
                        second: second.info.name.into(),
                        why,
                    });
                }
            }
        }
        Ok(MechanismSpec { text: text.into(), parts })
    }
}

/// What both mechanisms claim, if anything.
fn conflict(first: &Part, second: &Part) -> Option<&'static str> {
    if first.info.name == second.info.name {
        return Some("are the same mechanism");
    }
    first.claims().find(|claim| second.claims().any(|other| other == *claim)).map(Claim::why)
}

/// One mechanism: `NAME[=VALUE][,OPTION=VALUE...]`; a value at the name is that of the first option.
fn parse_part(text: &str) -> Result<Part, MechanismError> {
    let mut words = text.split(',');
    let first = words.next().unwrap_or_default().trim();
    let (name, value) = first.split_once('=').map_or((first, None), |(name, value)| (name, Some(value)));
    let info = find(name.trim()).ok_or_else(|| {
        let names = all().into_iter().map(|info| info.name);
        let allowed = names::allowed(name, names, "selvedge list mechanisms");
        MechanismError::Unknown { name: name.into(), allowed }
    })?;
    let short = match (value, info.options.first()) {
        (None, _) => None,
        (Some(value), Some(option)) => Some(format!("{}={value}", option.name)),
        (Some(value), None) => Some(value.to_string()),
    };
    let mut options: BTreeMap<_, _> = info.options.iter().map(|o| (o.name, o.default)).collect();
    let mut given = Vec::new();
    for word in short.as_deref().into_iter().chain(words) {
        let (option, value) = parse_option(info, word)?;
        if given.contains(&option) {
            let (mechanism, option) = (info.name.into(), word.trim().into());
            return Err(MechanismError::Option { mechanism, option, allowed: "allowed is once".into() });
        }
        given.push(option);
        options.insert(option, value);
    }
    Ok(Part { info, options, launches: Vec::new() })
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
    match option.value(value.trim()) {
        Some(value) => Ok((option.name, value)),
        None => Err(fail(option.allowed())),
    }
}

/// The machine with what each of the mechanisms brings along, in their order.
fn with<'a>(
    mut parts: impl Iterator<Item = &'a Part>,
    mut machine: GpuConfig,
) -> Result<GpuConfig, MechanismError> {
    parts.try_for_each(|part| (part.info.machine)(part, &mut machine))?;
    Ok(machine)
}

impl MechanismSpec {
    /// The mechanism that changes nothing.
    pub fn base() -> Self {
        MechanismSpec {
            text: "base".into(),
            parts: vec![Part { info: &BASE, options: BTreeMap::new(), launches: Vec::new() }],
        }
    }

    /// Gives the options that are `auto` the latency of their block; a mechanism that names none stays as it is.
    ///
    /// # Errors
    /// [`MechanismError::Option`] for a block that is not among `latencies`, or a latency that the option does not allow.
    pub fn settle(&mut self, latencies: &BTreeMap<String, u32>) -> Result<(), MechanismError> {
        for part in &mut self.parts {
            for option in part.info.options {
                let Some(block) = option.latency_of.filter(|_| part.options[option.name] == AUTO) else {
                    continue;
                };
                let fail = |allowed: String| MechanismError::Option {
                    mechanism: part.info.name.into(),
                    option: format!("{}=auto", option.name),
                    allowed,
                };
                let latency = latencies.get(block).copied();
                let latency = latency.ok_or_else(|| fail(format!("allowed with the latency of {block}")))?;
                if !option.allows(latency) {
                    return Err(fail(format!("{block} takes {latency} cycles: {}", option.allowed())));
                }
                part.options.insert(option.name, latency);
                for given in [option.name, part.info.name] {
                    self.text =
                        self.text.replacen(&format!("{given}=auto"), &format!("{given}={latency}"), 1);
                }
            }
        }
        Ok(())
    }

    /// Are all options settled?
    fn is_settled(&self) -> Result<(), MechanismError> {
        for part in &self.parts {
            let open = part.info.options.iter().find(|option| part.options[option.name] == AUTO);
            if let Some((option, block)) =
                open.and_then(|option| option.latency_of.map(|block| (option, block)))
            {
                return Err(MechanismError::Option {
                    mechanism: part.info.name.into(),
                    option: format!("{}=auto", option.name),
                    allowed: format!(
                        "allowed with --latency-from FILE, what `selvedge area {block} --clock CLOCK --find-depth --json FILE` wrote"
                    ),
                });
            }
        }
        Ok(())
    }

    /// The machine with what every mechanism brings along; call before [`MechanismSpec::build`].
    ///
    /// # Errors
    /// [`MechanismError::Machine`] when it does not suit a mechanism.
    pub fn machine(&self, config: &GpuConfig) -> Result<GpuConfig, MechanismError> {
        self.is_settled()?;
        // What one brings along another may refuse, whichever is named first.
        with(self.parts.iter().rev(), config.clone())?;
        with(self.parts.iter(), config.clone())
    }

    /// Checks that every mechanism does with what there is of `name`, a trace or what is recorded as one.
    ///
    /// # Errors
    /// [`MechanismError::Needs`].
    pub fn check_needs(&self, there_is: Needs, name: &str) -> Result<(), MechanismError> {
        let Some(part) = self.parts.iter().find(|part| part.info.needs > there_is) else { return Ok(()) };
        let (why, instead) = if there_is == Needs::Nothing {
            let why = format!("it looks at the values in memory, and {name} has addresses only");
            (why, "a workload, a launch file or a .strace has values")
        } else {
            let why = format!("it looks at the values in registers, which the trace of {name} does not have");
            (why, "a workload or a launch file that is run has them")
        };
        let allowed = names_of(|info| info.needs <= there_is);
        Err(MechanismError::Needs { mechanism: part.info.name.into(), why, allowed, instead })
    }

    /// Builds the policies of every SM and partition of a machine that [`MechanismSpec::machine`] gave, for so many
    /// kernels at the same time, with their blocks made by `probes`.
    pub fn build(&self, config: &GpuConfig, kernels: usize, probes: &Probes) -> Policies {
        let sms = config.sm.count as usize;
        let partitions = config.l2.partitions as usize;
        let mut sm_parts: Vec<Vec<Box<dyn SmPolicy>>> = (0..sms).map(|_| Vec::new()).collect();
        let mut partition_parts: Vec<Vec<Box<dyn PartitionPolicy>>> =
            (0..partitions).map(|_| Vec::new()).collect();
        for part in &self.parts {
            let Policies { sms, partitions } = (part.info.build)(part, &Build { config, kernels, probes });
            sm_parts.iter_mut().zip(sms).for_each(|(list, policy)| list.push(policy));
            partition_parts.iter_mut().zip(partitions).for_each(|(list, policy)| list.push(policy));
        }
        Policies {
            sms: sm_parts.into_iter().map(stack_sm).collect(),
            partitions: partition_parts.into_iter().map(|list| only_partition(list, config)).collect(),
        }
    }
}

/// The one policy of a partition. Two would need an order along its path, which no mechanism states: whatever builds one
/// claims [`Claim::MemoryLines`], so that a specification with two is refused when it is read.
fn only_partition(mut list: Vec<Box<dyn PartitionPolicy>>, config: &GpuConfig) -> Box<dyn PartitionPolicy> {
    assert!(list.len() <= 1, "two mechanisms with a partition policy, neither of which claims its path");
    list.pop().unwrap_or_else(|| Box::new(NoPolicy { burst_bytes: config.dram.burst_bytes }))
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
    use probe::ProbeSpec;
    use selvedge_hw::Engine;

    fn error(text: &str) -> String {
        text.parse::<MechanismSpec>().expect_err("it is wrong").to_string()
    }

    #[test]
    fn options_override_their_defaults() {
        let spec: MechanismSpec = "hw-bdi,compress=3+dmil".parse().expect("valid");
        assert_eq!(spec.parts[0].options["compress"], 3);
        assert_eq!(spec.parts[0].options["decompress"], 1);
        assert_eq!(spec.parts[1].info.name, "dmil");
    }

    #[test]
    fn two_mechanisms_with_partition_policies_are_refused() {
        let config = GpuConfig::load("gtx480").expect("built in");
        let has_partition_policy = |info: &&MechanismInfo| {
            let probes = Probes::new(ProbeSpec::default(), Engine::Model);
            let spec: MechanismSpec = info.name.parse().expect("the registry's own name");
            // Those that search replace themselves before they are built.
            let config = spec.machine(&config).unwrap_or_else(|_| config.clone());
            let part = &spec.parts[0];
            !(info.build)(part, &Build { config: &config, kernels: 1, probes: &probes }).partitions.is_empty()
        };
        let with: Vec<&MechanismInfo> = ALL
            .iter()
            .filter(|info| !info.claims.contains(&Claim::Trials))
            .filter(has_partition_policy)
            .collect();
        assert!(with.len() >= 10, "{}", with.len());
        for (at, first) in with.iter().enumerate() {
            for second in &with[at + 1..] {
                let refused = error(&format!("{}+{}", first.name, second.name));
                assert!(refused.contains("cannot be combined"), "{refused}");
            }
        }
    }

    #[test]
    fn what_one_brings_along_another_refuses_whichever_is_named_first() {
        let machine = GpuConfig::load("gtx480").expect("built in");
        for text in ["ucp+static-bdi", "static-bdi+ucp", "ucp+caba-bdi,l1_tags=2", "caba-bdi,l1_tags=2+ucp"] {
            let spec: MechanismSpec = text.parse().expect("both are known");
            let refused = spec.machine(&machine).expect_err(text).to_string();
            assert!(refused.contains("l1d.tags_per_way"), "{text}: {refused}");
        }
    }

    #[test]
    fn latencies_that_are_auto_are_those_of_the_blocks() {
        let machine = GpuConfig::load("gtx480").expect("built in");
        let mut spec: MechanismSpec = "hw-bdi,compress=auto,md_kb=16,decompress=auto".parse().expect("valid");
        let open = spec.machine(&machine).expect_err("nothing is known of the codecs").to_string();
        assert!(
            open.contains("`compress=auto`: allowed with --latency-from FILE")
                && open.contains("selvedge area bdi_compressor")
        );
        let mut latencies = BTreeMap::from([("bdi_compressor".to_string(), 3)]);
        let lacking = spec.settle(&latencies).expect_err("one is not known").to_string();
        assert!(
            lacking.contains("`decompress=auto`: allowed with the latency of bdi_decompressor"),
            "{lacking}"
        );
        latencies.insert("bdi_decompressor".into(), 2);
        spec.settle(&latencies).expect("both are known");
        assert_eq!(spec.text, "hw-bdi,compress=3,md_kb=16,decompress=2");
        assert_eq!((spec.parts[0].options["compress"], spec.parts[0].options["decompress"]), (3, 2));
        assert!(spec.machine(&machine).is_ok());
        latencies.insert("bdi_compressor".into(), 9);
        let mut spec: MechanismSpec = "hw-bdi=auto".parse().expect("the first option");
        let slow = spec.settle(&latencies).expect_err("too slow").to_string();
        assert!(slow.contains("bdi_compressor takes 9 cycles: allowed are 1 to 5, and auto"), "{slow}");
        assert!(error("hw-bdi,md_kb=auto").contains("powers of two from 4 to 16"));
        assert!(error("static-sc,latency=auto").contains("allowed are 0 to 15"), "SC has no such parameter");
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        assert!(
            error("hw-bdy").contains(": must be one of ") && error("hw-bdy").contains("nearest hw-bdi, ")
        );
        assert!(error("rbmi+qbmi").contains("both rank the kernels' memory instructions"));
        assert!(error("smil,k0=4+dmil").contains("both limit the kernels' memory instructions"));
        assert!(
            error("caba-bdi,l1_tags=2+latte-cc").contains("both compress or divide the lines in the L1D")
        );
        assert!(error("caba-bdi,l1_tags=3").contains("allowed are powers of two from 1 to 4"));
        assert!(error("smil,k1=129").contains("allowed are 0 to 128"));
        assert!(error("hw-bdi,compress=9").contains("allowed are 1 to 5"));
        assert!(error("hw-bdi,md_kb=3").contains("allowed are powers of two from 4 to 16"));
        assert!(error("hw-bdi,compress=1,compress=2").contains("`compress=2`: allowed is once"));
        assert!(error("hw-bdi,speed=9").contains("compress=N"));
        assert!(error("hw-bdi+hw-bdi-mem").contains("cannot be combined"));
        assert!(error("dmil,x=1").contains("no options"));
    }
}
