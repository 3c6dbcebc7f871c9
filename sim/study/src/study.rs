//! Study files, which describe simulations as a cross product and as single points.
use crate::error::{StudyError, StudyText, one_line};
use crate::file::{KeyedValue, Section, parse};
use crate::key::{Decides, work_name};
use crate::parameters::Parameters;
use crate::point::{Labels, Point, PointWork};
use crate::sources::{LoadedWorkload, Sources};
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_hw::{BlockCompiler, BlockForm, Engine};
use selvedge_sim::best::settled;
use selvedge_sim::config::{BUILT_IN, GpuConfig};
use selvedge_sim::gpu::Bounds;
use selvedge_sim::intervals::percent;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::mechanism::probe::ProbeSpec;
use selvedge_sim::overrides::{Override, overridden, text_of};
use selvedge_sim::run::{RunSpec, Source};
use selvedge_sim::share::ShareSpec;
use selvedge_sim::together::TogetherSpec;
use selvedge_sim::workload::Size;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Max number of points of a study.
const MOST_POINTS: usize = 1_000_000;

/// Default way of sharing the GPU.
const USUAL_SHARE: &str = "left-over";

/// Settings of all runs, in addition to a study file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StudyScale {
    /// Size of all workloads, which replaces the sizes of the file.
    pub size: Option<Size>,
    /// Max thread instructions of each run of a single workload. A smaller limit of the file still applies.
    pub max_instructions: Option<u64>,
    /// Max intervals of a launch, for each run of a single workload without a limit on cycles.
    pub intervals: Option<u64>,
}

/// A study: its name, title and points.
pub struct Study {
    /// Name of the study; by default the stem of its file name.
    pub name: String,
    /// Title for tables and charts.
    pub title: Option<String>,
    points: Vec<Point>,
    set_keys: Vec<String>,
}

impl Study {
    /// Reads a study file. Its paths are relative to its folder.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let file = path.display().to_string();
        let text = read_text(path, MOST_TEXT_BYTES)
            .map_err(|e| StudyError::Unreadable { file: file.clone(), why: e.to_string() })?;
        Self::parse(&text, path)
    }

    /// Returns whether any point runs Verilog. [`Study::compile_with`] then provides the compiler.
    pub fn runs_verilog(&self) -> bool {
        let engine = |point: &Point| match &point.work {
            Ok(PointWork::One(spec)) => Some(spec.engine),
            Ok(PointWork::Together(spec)) => Some(spec.engine),
            Err(_) => None,
        };
        self.points.iter().filter_map(engine).any(|engine| engine.has(BlockForm::Verilog))
    }

    /// Uses `compiler` for the Verilog of all points. Also adds it to the keys of points that run Verilog.
    pub fn compile_with(&mut self, compiler: &Arc<dyn BlockCompiler>) {
        let identity = compiler.identity();
        for point in &mut self.points {
            let (probes, engine) = match &mut point.work {
                Ok(PointWork::One(spec)) => (&mut spec.probes, spec.engine),
                Ok(PointWork::Together(spec)) => (&mut spec.probes, spec.engine),
                Err(_) => continue,
            };
            if engine.has(BlockForm::Verilog) {
                point.key = point.key.compiled_by(&identity);
            }
            probes.compiler = Some(Arc::clone(compiler));
        }
    }

    /// Parses the text of a study file. `origin` names it in messages; paths are relative to the folder of `origin`.
    ///
    /// # Errors
    /// The errors of [`Study::read`].
    pub fn parse(text: &str, origin: &Path) -> Result<Self, StudyError> {
        Self::parse_at(text, origin, StudyScale::default())
    }

    /// Parses the text of a study file like [`Study::parse`]. `scale` applies to all runs.
    ///
    /// # Errors
    /// The errors of [`Study::read`].
    pub fn parse_at(text: &str, origin: &Path, scale: StudyScale) -> Result<Self, StudyError> {
        let file = origin.display().to_string();
        let text = StudyText { file: &file, text };
        let table = parse(text)?;
        let top = Section::top(text, &table);
        top.only(&[
            "name",
            "title",
            "size",
            "engine",
            "config",
            "configs",
            "records",
            "workloads",
            "mechanisms",
            "share",
            "cycles_together",
            "alone",
            "max_cycles",
            "max_instructions",
            "intervals",
            "error",
            "timeout",
            "vary",
            "point",
        ])?;
        let folder = origin.parent().unwrap_or(Path::new(""));
        let stem = origin.file_stem().map_or("study".into(), |stem| stem.to_string_lossy().into_owned());
        let name = top.get("name").map_or(Ok(stem), |name| name.string().map(str::to_owned))?;
        let title = top.get("title").map(|title| title.string().map(str::to_owned)).transpose()?;
        let mut reader = PointReader::new(&top, folder, scale)?;
        reader.product(&top)?;
        reader.single_points(&top)?;
        if reader.points.is_empty() {
            return Err(top
                .need("workloads", "a list of workloads, or [[point]] be given")
                .err()
                .unwrap_or_else(|| unreachable!("a product has a point")));
        }
        let mut set_keys = Vec::new();
        for one in reader.points.iter().flat_map(|point| &point.parameters.set) {
            if !set_keys.contains(&one.key) {
                set_keys.push(one.key.clone());
            }
        }
        Ok(Study { name, title, points: reader.points, set_keys })
    }

    /// Returns the points of the product, with the mechanism varying fastest, then the single ones.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the points by value.
    pub fn into_points(self) -> Vec<Point> {
        self.points
    }

    /// Returns the keys of configurations that any point overrides. Each is a column of the table.
    pub fn set_keys(&self) -> &[String] {
        &self.set_keys
    }
}

#[derive(Clone)]
struct WorkloadChoice {
    text: String,
    label: String,
    size: Size,
    input: Option<String>,
    values: Option<String>,
    loaded: Vec<LoadedWorkload>,
}

#[derive(Clone)]
struct ConfigChoice {
    name: String,
    label: String,
    set: Vec<Override>,
    config: Arc<GpuConfig>,
}

#[derive(Clone)]
struct MechanismChoice {
    label: String,
    spec: MechanismSpec,
    config: Option<ConfigChoice>,
    set: Vec<Override>,
}

/// Choices for one point.
struct PointChoice<'c> {
    workload: &'c WorkloadChoice,
    config: &'c ConfigChoice,
    vary: &'c [Override],
    share: Option<&'c str>,
    mechanism: &'c MechanismChoice,
}

/// Settings of the study, and the points read so far.
struct PointReader<'a> {
    sources: Sources<'a>,
    size: Size,
    scale: StudyScale,
    engine: Engine,
    configs: Vec<ConfigChoice>,
    shares: Vec<String>,
    cycles_together: Option<u64>,
    alone: bool,
    bounds: Bounds,
    intervals: Option<u64>,
    error_percent: Option<f64>,
    timeout: Option<Duration>,
    points: Vec<Point>,
}

const SIZES: &str = "tiny, small, study or paper";
const ENGINES: &str = "model, rtl, verilog, lockstep, model+verilog or rtl+verilog";
const SHARES: &str = "left-over, spatial, smk-p, smk-pw[:CYCLES], warped-slicer[:CYCLES] or sm:N,N";

/// Returns a number of cycles: an integer, or that of `size` in a table with one for each size.
fn cycles_at(item: &KeyedValue<'_>, size: Size) -> Result<u64, StudyError> {
    if !item.is_table() {
        return item.count();
    }
    let section = item.section("a table of cycles by size")?;
    section.only(&["tiny", "small", "study", "paper"])?;
    section.need(&size.to_string(), "the cycles at the size of the study")?.count()
}

impl<'a> PointReader<'a> {
    fn new(top: &Section<'a>, folder: &'a Path, scale: StudyScale) -> Result<Self, StudyError> {
        let records = top.get("records").map(|records| records.string()).transpose()?;
        let records = records.map(|records| records.trim_end_matches('/').to_owned());
        let size = top.get("size").map_or(Ok(Size::Small), |size| size.parse(SIZES))?;
        let size = scale.size.unwrap_or(size);
        let mut reader = PointReader {
            sources: Sources::new(folder, records),
            size,
            scale,
            engine: top.get("engine").map_or(Ok(Engine::Model), |engine| engine.parse(ENGINES))?,
            configs: Vec::new(),
            shares: Vec::new(),
            cycles_together: top.get("cycles_together").map(|cycles| cycles_at(&cycles, size)).transpose()?,
            alone: top.get("alone").map_or(Ok(false), |alone| alone.flag())?,
            bounds: Bounds {
                cycles: top.get("max_cycles").map(|most| most.count()).transpose()?,
                instructions: top.get("max_instructions").map(|most| most.count()).transpose()?,
            },
            intervals: top.get("intervals").map(|most| most.count()).transpose()?,
            error_percent: top.get("error").map(|error| percentage(&error)).transpose()?,
            timeout: top.get("timeout").map(|timeout| duration(&timeout)).transpose()?,
            points: Vec::new(),
        };
        if let (Some(intervals), true) = (top.get("intervals"), reader.bounds.cycles.is_some()) {
            return Err(intervals.wrong("intervals: must be given without max_cycles"));
        }
        if let (Some(error), None) = (top.get("error"), reader.intervals) {
            return Err(error.wrong("error: must be given with intervals"));
        }
        reader.configs = match (top.get("config"), top.get("configs")) {
            (Some(_), Some(configs)) => return Err(configs.wrong("configs: must be given without config")),
            (Some(config), None) => vec![reader.config(&config)?],
            (None, Some(configs)) => {
                configs.list()?.iter().map(|one| reader.config(one)).collect::<Result<_, _>>()?
            }
            (None, None) => vec![built_in_config(BUILT_IN[0].name)],
        };
        if let Some(shares) = top.get("share") {
            for share in shares.list()? {
                share.parse::<ShareSpec>(SHARES)?;
                reader.shares.push(share.string()?.to_owned());
            }
        }
        Ok(reader)
    }

    fn product(&mut self, top: &Section<'a>) -> Result<(), StudyError> {
        let Some(workloads) = top.get("workloads") else {
            let stray = ["mechanisms", "vary"].into_iter().find_map(|key| top.get(key));
            let Some(stray) = stray else { return Ok(()) };
            return Err(stray.wrong(format!("{}: must be given with `workloads`", stray.key())));
        };
        let workloads =
            workloads.list()?.iter().map(|one| self.workload(one)).collect::<Result<Vec<_>, _>>()?;
        let mechanisms = top.need("mechanisms", "a list of mechanisms beside `workloads`")?;
        let mechanisms =
            mechanisms.list()?.iter().map(|one| self.mechanism(one)).collect::<Result<Vec<_>, _>>()?;
        let combinations = self.combinations(top)?;
        let (configs, shares) = (self.configs.clone(), self.shares.clone());
        for workload in &workloads {
            for (place, config) in configs.iter().enumerate() {
                for vary in &combinations {
                    for share in shares_of(workload, &shares) {
                        for mechanism in &mechanisms {
                            // A mechanism with its own configuration is added once.
                            if place > 0 && mechanism.config.is_some() {
                                continue;
                            }
                            let config = mechanism.config.as_ref().unwrap_or(config);
                            self.add(PointChoice { workload, config, vary, share, mechanism });
                        }
                    }
                }
                if self.points.len() > MOST_POINTS {
                    let message = format!("a study has at most {MOST_POINTS} points");
                    return Err(top.text.bad(top.span(), message));
                }
            }
        }
        Ok(())
    }

    /// Returns all combinations of `[[vary]]` values, with the last key varying fastest.
    fn combinations(&self, top: &Section<'a>) -> Result<Vec<Vec<Override>>, StudyError> {
        let mut all = vec![Vec::new()];
        let Some(vary) = top.get("vary") else { return Ok(all) };
        let mut keys = Vec::new();
        for one in vary.list()? {
            let section = one.section("[[vary]]")?;
            section.only(&["key", "values"])?;
            let key_item = section.need("key", "a key of the configuration, such as \"l1d.sets\"")?;
            let key = key_item.string()?;
            if keys.contains(&key) {
                return Err(key_item.refuse("given once"));
            }
            keys.push(key);
            let mut next = Vec::new();
            let values = section.need("values", "a list of values")?.list()?;
            let values = values.iter().map(|value| self.value(key, value)).collect::<Result<Vec<_>, _>>()?;
            if all.len().saturating_mul(values.len()) > MOST_POINTS {
                return Err(one.wrong(format!("[[vary]]: a study has at most {MOST_POINTS} points")));
            }
            for chosen in &all {
                for value in &values {
                    let mut chosen = chosen.clone();
                    chosen.push(value.clone());
                    next.push(chosen);
                }
            }
            all = next;
        }
        Ok(all)
    }

    /// Returns an override. At least one configuration must support it.
    fn value(&self, key: &str, item: &KeyedValue<'a>) -> Result<Override, StudyError> {
        let one = Override { key: key.into(), value: item.scalar()? };
        let refused = |config: &ConfigChoice| overridden(&config.config, std::slice::from_ref(&one)).err();
        let mut why = self.configs.iter().map(refused);
        match why.next().flatten() {
            Some(first) if why.all(|other| other.is_some()) => Err(item.wrong(first)),
            _ => Ok(one),
        }
    }

    fn single_points(&mut self, top: &Section<'a>) -> Result<(), StudyError> {
        let Some(points) = top.get("point") else { return Ok(()) };
        for point in points.list()? {
            let section = point.section("[[point]]")?;
            section.only(&["workload", "mechanism", "config", "set", "share"])?;
            let workload = self.workload(&section.need("workload", "a workload")?)?;
            let mechanism = self.mechanism(&section.need("mechanism", "a mechanism, such as \"base\"")?)?;
            let config = match section.get("config") {
                Some(config) => self.config(&config)?,
                None => mechanism.config.clone().unwrap_or_else(|| self.configs[0].clone()),
            };
            let vary = self.settings(&section, &config)?;
            let shares: Vec<String> = match section.get("share") {
                Some(share) if workload.loaded.len() < 2 => {
                    return Err(share.refuse("given with several workloads, as in bfs+kmeans"));
                }
                Some(share) => {
                    share.parse::<ShareSpec>(SHARES)?;
                    vec![share.string()?.to_owned()]
                }
                None => self.shares.clone(),
            };
            for share in shares_of(&workload, &shares) {
                self.add(PointChoice {
                    workload: &workload,
                    config: &config,
                    vary: &vary,
                    share,
                    mechanism: &mechanism,
                });
            }
        }
        Ok(())
    }

    /// Returns the overrides in `set`, which `config` must support.
    fn settings(&self, section: &Section<'a>, config: &ConfigChoice) -> Result<Vec<Override>, StudyError> {
        let Some(set) = section.get("set") else { return Ok(Vec::new()) };
        let table = set.section("set")?;
        let mut found = Vec::new();
        for item in table.items() {
            let key = item.key().to_owned();
            if item.is_table() {
                // `set.l1d.sets = 64` is a table in a table.
                for inner in item.section("set")?.items() {
                    let key = format!("{key}.{}", inner.key());
                    found.push(Override { key, value: inner.scalar()? });
                }
            } else {
                found.push(Override { key, value: item.scalar()? });
            }
        }
        overridden(&config.config, &found).map_err(|why| set.wrong(why))?;
        Ok(found)
    }

    fn workload(&mut self, item: &KeyedValue<'a>) -> Result<WorkloadChoice, StudyError> {
        if !item.is_table() {
            return self.workload_of(item, item.string()?, self.size, None, None, None);
        }
        let section = item.section("a workload")?;
        section.only(&["workload", "label", "size", "input", "values"])?;
        let text = section.need("workload", "a workload")?;
        let size = section.get("size").map_or(Ok(self.size), |size| size.parse(SIZES))?;
        let size = self.scale.size.unwrap_or(size);
        let label = section.get("label").map(|label| label.string()).transpose()?;
        let input = section.get("input").map(|input| input.string()).transpose()?;
        let values = section.get("values").map(|values| values.string()).transpose()?;
        self.workload_of(&text, text.string()?, size, label, input, values)
    }

    fn workload_of(
        &mut self,
        item: &KeyedValue<'a>,
        text: &str,
        size: Size,
        label: Option<&str>,
        input: Option<&str>,
        values: Option<&str>,
    ) -> Result<WorkloadChoice, StudyError> {
        let path = input.map(|input| self.sources.path(input));
        let names: Vec<_> =
            self.sources.names(text).into_iter().map(|name| self.sources.recorded(name, size)).collect();
        if names.len() > 1 && input.is_some() {
            return Err(item.refuse("one workload beside `input`"));
        }
        if names.len() > 1 && self.intervals.is_some() {
            return Err(item.refuse("one workload beside `intervals`"));
        }
        let load =
            |name: &String| self.sources.load(name, path.as_deref(), values).map_err(|why| item.wrong(why));
        let loaded = names.iter().map(load).collect::<Result<Vec<_>, _>>()?;
        let usual = || values.map_or(text.to_owned(), |values| format!("{text} {values}"));
        let label = label.map_or_else(usual, str::to_owned);
        let (input, values) = (input.map(Into::into), values.map(Into::into));
        Ok(WorkloadChoice { text: names.join("+"), label, size, input, values, loaded })
    }

    fn config(&self, item: &KeyedValue<'a>) -> Result<ConfigChoice, StudyError> {
        let (name, section) = if item.is_table() {
            let section = item.section("a configuration")?;
            section.only(&["config", "label", "set"])?;
            (section.need("config", "a configuration")?, Some(section))
        } else {
            (item.clone(), None)
        };
        let text = name.string()?;
        let is_built_in = BUILT_IN.iter().any(|built_in| built_in.name == text);
        let path = if is_built_in { text.into() } else { self.sources.path(text) };
        let config =
            GpuConfig::load(&path.to_string_lossy()).map_err(|why| name.wrong(one_line(&why.to_string())))?;
        let mut choice =
            ConfigChoice { name: text.into(), label: text.into(), set: Vec::new(), config: Arc::new(config) };
        if let Some(section) = section {
            choice.set = self.settings(&section, &choice)?;
            let label = section.get("label").map(|label| label.string()).transpose()?;
            choice.label = label.map_or_else(|| label_of(text, &choice.set), str::to_owned);
        }
        Ok(choice)
    }

    fn mechanism(&self, item: &KeyedValue<'a>) -> Result<MechanismChoice, StudyError> {
        let spec = |item: &KeyedValue<'a>| -> Result<MechanismSpec, StudyError> {
            item.string()?
                .parse()
                .map_err(|why: selvedge_sim::mechanism::MechanismError| item.wrong(why.to_string()))
        };
        if !item.is_table() {
            let spec = spec(item)?;
            return Ok(MechanismChoice { label: spec.text.clone(), spec, config: None, set: Vec::new() });
        }
        let section = item.section("a mechanism")?;
        section.only(&["mechanism", "label", "config", "set"])?;
        let spec = spec(&section.need("mechanism", "a mechanism")?)?;
        let config = section.get("config").map(|config| self.config(&config)).transpose()?;
        let set = self.settings(&section, config.as_ref().unwrap_or(&self.configs[0]))?;
        let label = section.get("label").map(|label| label.string()).transpose()?;
        let label = label.map_or_else(|| label_of(&spec.text, &set), str::to_owned);
        Ok(MechanismChoice { label, spec, config, set })
    }

    fn add(&mut self, choice: PointChoice) {
        let PointChoice { workload, config, vary, share, mechanism } = choice;
        let set: Vec<Override> = config.set.iter().chain(vary).chain(&mechanism.set).cloned().collect();
        let limits = [self.bounds.instructions, self.scale.max_instructions];
        let max_instructions = match share {
            Some(_) => self.bounds.instructions,
            None => limits.into_iter().flatten().min(),
        };
        let scaled = self.scale.intervals.filter(|_| share.is_none() && self.bounds.cycles.is_none());
        let has_size = workload.loaded.iter().any(|one| matches!(one.source, Source::BuiltIn(_)));
        let parameters = Parameters {
            workload: workload.text.clone(),
            size: if has_size { workload.size.to_string() } else { "-".into() },
            input: workload.input.clone(),
            values: workload.values.clone(),
            config: config.name.clone(),
            set,
            mechanism: mechanism.spec.text.clone(),
            engine: self.engine.to_string(),
            share: share.map(str::to_owned),
            cycles_together: share.and(self.cycles_together),
            alone: share.is_some() && self.alone,
            max_cycles: self.bounds.cycles,
            max_instructions,
            intervals: self.intervals.or(scaled),
            error_percent: self.error_percent,
        };
        let machine = match overridden(&config.config, &parameters.set) {
            Ok(_) if parameters.set.is_empty() => Ok(Arc::clone(&config.config)),
            other => other.map(Arc::new),
        };
        let key = Decides {
            parameters: &parameters,
            workloads: &workload.loaded,
            config: machine.as_deref().map_err(|_| (&*config.config, parameters.set.as_slice())),
            mechanism: &mechanism.spec,
        }
        .key();
        let point = Point {
            index: self.points.len(),
            labels: Labels {
                workload: workload.label.clone(),
                config: config.label.clone(),
                mechanism: mechanism.label.clone(),
            },
            key,
            config: machine.clone().unwrap_or_else(|_| Arc::clone(&config.config)),
            work: machine.and_then(|machine| self.work(&parameters, workload, machine, &mechanism.spec)),
            timeout: self.timeout,
            work_name: work_name(&workload.loaded, &parameters),
            parameters,
        };
        self.points.push(point);
    }

    /// Returns the simulation of a point.
    ///
    /// # Errors
    /// The mechanism does not support the configuration.
    fn work(
        &self,
        parameters: &Parameters,
        workload: &WorkloadChoice,
        config: Arc<GpuConfig>,
        mechanism: &MechanismSpec,
    ) -> Result<PointWork, String> {
        settled(mechanism, &config).machine(&config).map_err(|why| why.to_string())?;
        let mechanism = mechanism.clone();
        let probes = ProbeSpec::default();
        let max_memory = self.sources.max_memory();
        let bounds = Bounds { cycles: parameters.max_cycles, instructions: parameters.max_instructions };
        let (engine, size) = (self.engine, workload.size);
        let Some(share) = &parameters.share else {
            return Ok(PointWork::One(Box::new(RunSpec {
                size,
                input: parameters.input.as_ref().map(|input| self.sources.path(input)),
                engine,
                probes,
                max_memory,
                bounds,
                ..RunSpec::new(workload.loaded[0].source.clone(), config, mechanism)
            })));
        };
        Ok(PointWork::Together(Box::new(TogetherSpec {
            workloads: workload.loaded.iter().map(|one| one.source.clone()).collect(),
            size,
            config,
            share: share.parse().map_err(|why: selvedge_sim::share::ShareError| why.to_string())?,
            cycles: parameters.cycles_together,
            alone: parameters.alone,
            isolated: None,
            mechanism,
            engine,
            probes,
            check_dram: false,
            max_memory,
            bounds,
        })))
    }
}

/// Returns the ways of sharing of a workload; a single `None` if it runs alone.
fn shares_of<'s>(workload: &WorkloadChoice, shares: &'s [String]) -> Vec<Option<&'s str>> {
    match (workload.loaded.len(), shares) {
        (1, _) => vec![None],
        (_, []) => vec![Some(USUAL_SHARE)],
        (_, shares) => shares.iter().map(|share| Some(share.as_str())).collect(),
    }
}

/// Returns a name followed by the overrides.
fn label_of(name: &str, set: &[Override]) -> String {
    set.iter().fold(name.to_owned(), |label, one| format!("{label} {}={}", one.key, text_of(&one.value)))
}

fn built_in_config(name: &str) -> ConfigChoice {
    let config = GpuConfig::load(name).unwrap_or_else(|e| unreachable!("{name} is built in: {e}"));
    ConfigChoice { name: name.into(), label: name.into(), set: Vec::new(), config: Arc::new(config) }
}

fn percentage(item: &KeyedValue) -> Result<f64, StudyError> {
    let found = item.string().ok().and_then(percent);
    found.ok_or_else(|| item.refuse("a percentage from \"0.01%\" to \"100%\""))
}

fn duration(item: &KeyedValue) -> Result<Duration, StudyError> {
    let must = "a number with s, m or h, such as \"90s\", \"10m\" or \"2h\"";
    let found = humantime::parse_duration(item.string()?).ok().filter(|time| !time.is_zero());
    found.ok_or_else(|| item.refuse(must))
}
