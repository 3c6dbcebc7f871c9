//! Parses the value of `--mechanism`: one or more mechanisms, combined with `+`.
use super::{all, find, names_of};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{
    AUTO, Claim, DataNeeds, MechanismError, MechanismInfo, Search, Selected, Site,
};
use selvedge_gpu::parts::Parts;
use selvedge_hw::names;
use selvedge_mechanisms::BASE;
use std::collections::BTreeMap;

/// One or more mechanisms, parsed from the value of `--mechanism`.
#[derive(Clone, Debug)]
pub struct MechanismSpec {
    /// Text of the option.
    pub text: String,
    /// Mechanisms in the order of the text.
    pub parts: Vec<Selected>,
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

/// Returns why the two mechanisms conflict, if they claim the same thing.
fn conflict(first: &Selected, second: &Selected) -> Option<&'static str> {
    if first.info.name == second.info.name {
        return Some("are the same mechanism");
    }
    first.claims().find(|claim| second.claims().any(|other| other == *claim)).map(Claim::why)
}

/// Parses one mechanism: `NAME[=VALUE][,OPTION=VALUE...]`. A value after the name is the value of the first option.
fn parse_part(text: &str) -> Result<Selected, MechanismError> {
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
    let mut selected = Selected::new(info);
    let mut given = Vec::new();
    for word in short.as_deref().into_iter().chain(words) {
        let (at, value) = parse_option(info, word)?;
        if given.contains(&at) {
            let (mechanism, option) = (info.name.into(), word.trim().into());
            return Err(MechanismError::Option { mechanism, option, allowed: "must be given once".into() });
        }
        given.push(at);
        selected.values[at] = value;
    }
    Ok(selected)
}

/// Returns the index of the option among those of the mechanism, and its value.
fn parse_option(info: &MechanismInfo, word: &str) -> Result<(usize, u32), MechanismError> {
    let fail = |allowed: String| MechanismError::Option {
        mechanism: info.name.into(),
        option: word.trim().into(),
        allowed,
    };
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let Some(at) = info.options.iter().position(|o| o.name == key.trim()) else {
        let names: Vec<_> = info.options.iter().map(|o| format!("{}=N", o.name)).collect();
        let allowed = if names.is_empty() { "it has no options".into() } else { names.join(", ") };
        return Err(fail(format!("allowed: {allowed}")));
    };
    let option = &info.options[at];
    match option.value(value.trim()) {
        Some(value) => Ok((at, value)),
        None => Err(fail(option.allowed())),
    }
}

/// Returns the configuration after the changes of each mechanism, in order.
fn with<'a>(
    mut parts: impl Iterator<Item = &'a Selected>,
    mut machine: GpuConfig,
) -> Result<GpuConfig, MechanismError> {
    parts.try_for_each(|part| (part.info.configure)(part, &mut machine))?;
    Ok(machine)
}

impl MechanismSpec {
    /// Returns the specification without a mechanism.
    pub fn base() -> Self {
        MechanismSpec { text: "base".into(), parts: vec![Selected::new(&BASE)] }
    }

    /// Sets each option that is `auto` to the latency of its block.
    ///
    /// # Errors
    /// [`MechanismError::Option`] for a block that `latencies` lacks, or a latency that the option does not allow.
    pub fn settle(&mut self, latencies: &BTreeMap<String, u32>) -> Result<(), MechanismError> {
        for part in &mut self.parts {
            for (at, option) in part.info.options.iter().enumerate() {
                let Some(block) = option.allowed.latency_of.filter(|_| part.values[at] == AUTO) else {
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
                part.values[at] = latency;
                for given in [option.name, part.info.name] {
                    self.text =
                        self.text.replacen(&format!("{given}=auto"), &format!("{given}={latency}"), 1);
                }
            }
        }
        Ok(())
    }

    /// Checks that no option is still `auto`.
    fn is_settled(&self) -> Result<(), MechanismError> {
        for part in &self.parts {
            let mut open = part.options().filter(|(_, value)| *value == AUTO);
            if let Some((option, block)) =
                open.find_map(|(option, _)| Some((option, option.allowed.latency_of?)))
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

    /// Returns the configuration after the changes of each mechanism, for [`MechanismSpec::build`].
    ///
    /// # Errors
    /// [`MechanismError::Machine`] if a mechanism does not support the configuration.
    pub fn machine(&self, config: &GpuConfig) -> Result<GpuConfig, MechanismError> {
        self.is_settled()?;
        super::check_energies(config)?;
        // Also tries the reverse order: a mechanism may not support the change of another one, regardless of their order in the
        // text.
        with(self.parts.iter().rev(), config.clone())?;
        with(self.parts.iter(), config.clone())
    }

    /// Checks that each mechanism can run with the data `there_is`. `name` names the trace or the workload to record.
    ///
    /// # Errors
    /// [`MechanismError::Needs`].
    pub fn check_needs(&self, there_is: DataNeeds, name: &str) -> Result<(), MechanismError> {
        let Some(part) = self.parts.iter().find(|part| part.info.needs > there_is) else { return Ok(()) };
        let (why, instead) = if part.info.needs == DataNeeds::Values {
            let why = format!("it looks at the values in memory, and {name} has addresses only");
            (why, "--values gives the trace values, and a workload, a launch file or a .strace has them")
        } else {
            let only =
                if there_is == DataNeeds::Nothing { " (--values gives only values in memory)" } else { "" };
            let why =
                format!("it looks at the values in registers, which the trace of {name} does not have{only}");
            (why, "a workload or a launch file that is run has them")
        };
        let allowed = names_of(|info| info.needs <= there_is);
        Err(MechanismError::Needs { mechanism: part.info.name.into(), why, allowed, instead })
    }

    /// Builds the parts of all SMs and L2 partitions. `config` must come from [`MechanismSpec::machine`]. `kernels` is the number
    /// of kernels that share the GPU. `probes` creates the blocks.
    ///
    /// # Errors
    /// [`MechanismError::Conflict`] for two mechanisms that claim the same task.
    pub fn build(
        &self,
        config: &GpuConfig,
        kernels: usize,
        probes: &Probes,
    ) -> Result<Parts, MechanismError> {
        let mut site = Site::new(config, kernels, probes);
        for part in &self.parts {
            site.begin(part.info.name);
            (part.info.attach)(part, &mut site);
        }
        site.finish()
    }

    /// Returns whether one of the mechanisms makes `claim`.
    pub fn claims(&self, claim: Claim) -> bool {
        self.parts.iter().any(|part| part.claims().any(|one| one == claim))
    }

    /// Returns the first search of a mechanism that has not yet made a choice, and its index among the parts.
    pub fn search(&self, config: &GpuConfig) -> Option<(usize, Box<dyn Search>)> {
        let search = |(at, part): (usize, &Selected)| Some((at, (part.info.search)(part, config)?));
        self.parts.iter().enumerate().find_map(search)
    }

    /// Returns a copy of the specification in which the mechanism at index `at` has `choice`.
    pub fn with_choice(&self, at: usize, choice: Vec<u32>) -> Self {
        let mut spec = self.clone();
        spec.parts[at].choice = choice;
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::built_in;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;

    fn error(text: &str) -> String {
        text.parse::<MechanismSpec>().expect_err("it is wrong").to_string()
    }

    /// Returns the values of the first mechanism's options, in the order of their declarations.
    fn values(spec: &MechanismSpec) -> &[u32] {
        &spec.parts[0].values
    }

    #[test]
    fn options_override_their_defaults() {
        let spec: MechanismSpec = "hw-bdi,compress=3+dmil".parse().expect("valid");
        assert_eq!(values(&spec), [3, 1, 8]);
        assert_eq!(spec.parts[1].info.name, "dmil");
    }

    #[test]
    fn two_mechanisms_with_partition_policies_are_refused() {
        let config = GpuConfig::load("gtx480").expect("built in");
        let has_partition_policy = |info: &&MechanismInfo| {
            let probes = Probes::new(ProbeSpec::default(), Engine::Model);
            let spec: MechanismSpec = info.name.parse().expect("the registry's own name");
            // Mechanisms that search are replaced by their choice before the GPU is built.
            let config = spec.machine(&config).unwrap_or_else(|_| config.clone());
            let part = &spec.parts[0];
            let mut site = Site::new(&config, 1, &probes);
            (info.attach)(part, &mut site);
            site.has_slice_parts()
        };
        let with: Vec<&MechanismInfo> = built_in()
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
            open.contains("'compress=auto': allowed with --latency-from FILE")
                && open.contains("selvedge area bdi_compressor")
        );
        let mut latencies = BTreeMap::from([("bdi_compressor".to_string(), 3)]);
        let lacking = spec.settle(&latencies).expect_err("one is not known").to_string();
        assert!(
            lacking.contains("'decompress=auto': allowed with the latency of bdi_decompressor"),
            "{lacking}"
        );
        latencies.insert("bdi_decompressor".into(), 2);
        spec.settle(&latencies).expect("both are known");
        assert_eq!(spec.text, "hw-bdi,compress=3,md_kb=16,decompress=2");
        assert_eq!(values(&spec), [3, 2, 16]);
        assert!(spec.machine(&machine).is_ok());
        latencies.insert("bdi_compressor".into(), 9);
        let mut spec: MechanismSpec = "hw-bdi=auto".parse().expect("the first option");
        let slow = spec.settle(&latencies).expect_err("too slow").to_string();
        assert!(slow.contains("bdi_compressor takes 9 cycles: must be 1 to 5, or auto"), "{slow}");
        assert!(error("hw-bdi,md_kb=auto").contains("power of two from 4 to 16"));
        assert!(error("static-sc,latency=auto").contains("must be 0 to 15"), "SC has no such parameter");
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        assert!(error("hw-bdy").contains(": must be one of ") && error("hw-bdy").contains("nearest hw-bdi"));
        assert!(error("rbmi+qbmi").contains("both rank the kernels' memory instructions"));
        assert!(error("smil,k0=4+dmil").contains("both limit the kernels' memory instructions"));
        assert!(
            error("caba-bdi,l1_tags=2+latte-cc").contains("both compress or divide the lines in the L1D")
        );
        assert!(error("caba-bdi,l1_tags=3").contains("must be a power of two from 1 to 4"));
        assert!(error("smil,k1=129").contains("must be 0 to 128"));
        assert!(error("hw-bdi,compress=9").contains("must be 1 to 5"));
        assert!(error("hw-bdi,md_kb=3").contains("must be a power of two from 4 to 16"));
        assert!(error("hw-bdi,compress=1,compress=2").contains("'compress=2': must be given once"));
        assert!(error("hw-bdi,speed=9").contains("compress=N"));
        assert!(error("hw-bdi+hw-bdi-mem").contains("cannot be combined"));
        assert!(error("dmil,x=1").contains("no options"));
    }
}
