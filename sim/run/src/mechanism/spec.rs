//! What `--mechanism` says: one or more mechanisms, combined with `+`.
use super::{all, find, names_of};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_gpu::mechanism::{AUTO, Claim, MechanismError, MechanismInfo, Needs, Part, Search, Site};
use selvedge_gpu::parts::Parts;
use selvedge_hw::names;
use selvedge_mechanisms::BASE;
use std::collections::BTreeMap;

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
            return Err(MechanismError::Option { mechanism, option, allowed: "must be given once".into() });
        }
        given.push(option);
        options.insert(option, value);
    }
    Ok(Part { info, options, choice: Vec::new() })
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

/// The configuration with what each of the mechanisms brings along, in their order.
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
            parts: vec![Part { info: &BASE, options: BTreeMap::new(), choice: Vec::new() }],
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

    /// Returns whether all options are settled.
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

    /// The configuration with what every mechanism brings along; call before [`MechanismSpec::build`].
    ///
    /// # Errors
    /// [`MechanismError::Machine`] when it does not suit a mechanism.
    pub fn machine(&self, config: &GpuConfig) -> Result<GpuConfig, MechanismError> {
        self.is_settled()?;
        super::check_energies(config)?;
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

    /// Builds the parts of every SM and L2 partition of a configuration that [`MechanismSpec::machine`] returned, for the given number of
    /// kernels at the same time, with their blocks made by `probes`.
    ///
    /// # Errors
    /// [`MechanismError::Conflict`] for two mechanisms that both do what only one can.
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

    /// Whether one of the mechanisms has `claim` for itself.
    pub fn claims(&self, claim: Claim) -> bool {
        self.parts.iter().any(|part| part.claims().any(|one| one == claim))
    }

    /// Returns the search of the mechanism that has one and has made no choice, with its place among the parts.
    pub fn search(&self, config: &GpuConfig) -> Option<(usize, Box<dyn Search>)> {
        let search = |(at, part): (usize, &Part)| Some((at, (part.info.search)(part, config)?));
        self.parts.iter().enumerate().find_map(search)
    }

    /// Returns the specification with `choice` for the mechanism at place `at`.
    pub fn with_choice(&self, at: usize, choice: Vec<u32>) -> Self {
        let mut spec = self.clone();
        spec.parts[at].choice = choice;
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::ALL;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
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
            let mut site = Site::new(&config, 1, &probes);
            (info.attach)(part, &mut site);
            site.has_partition_parts()
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
        assert!(slow.contains("bdi_compressor takes 9 cycles: must be 1 to 5, or auto"), "{slow}");
        assert!(error("hw-bdi,md_kb=auto").contains("power of two from 4 to 16"));
        assert!(error("static-sc,latency=auto").contains("must be 0 to 15"), "SC has no such parameter");
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
        assert!(error("caba-bdi,l1_tags=3").contains("must be a power of two from 1 to 4"));
        assert!(error("smil,k1=129").contains("must be 0 to 128"));
        assert!(error("hw-bdi,compress=9").contains("must be 1 to 5"));
        assert!(error("hw-bdi,md_kb=3").contains("must be a power of two from 4 to 16"));
        assert!(error("hw-bdi,compress=1,compress=2").contains("`compress=2`: must be given once"));
        assert!(error("hw-bdi,speed=9").contains("compress=N"));
        assert!(error("hw-bdi+hw-bdi-mem").contains("cannot be combined"));
        assert!(error("dmil,x=1").contains("no options"));
    }
}
