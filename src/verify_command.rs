//! `selvedge verify`: compares a block's forms with its golden model and reports the coverage of the stimulus.
mod report;
mod stimulus;

use crate::arguments::VerifyOptions;
use crate::error::Failure;
use crate::gen_command::params;
use crate::output::{Outputs, Plan};
use crate::verilog_option::{cache, compiler};
pub use report::VerifyReport;
use report::{BlockVerification, Differs, Mutant};
use selvedge_blocks::find;
use selvedge_hw::{BlockEntry, CompileError};
use selvedge_testbenches::compiler::{FaultyCircuit, FaultyCircuits, VerilogCompiler};
use selvedge_testbenches::covered::CoveredVectors;
use selvedge_testbenches::mutation::{VerilogMutation, mutations, shuffled};
use selvedge_testbenches::own::Own;
use selvedge_testbenches::parallel;
use selvedge_testbenches::vectors::Vector;
use selvedge_testbenches::verification::{
    FormCircuit, FormDifference, Mismatch, Verified, VerifiedForm, first_mismatch, verify,
};
use selvedge_testbenches::wave::{WaveFormat, Waveform};
use serde_json::Value;
use std::path::{Path, PathBuf};
use stimulus::constrained;

/// A block to verify.
struct VerifyJob {
    entry: &'static dyn BlockEntry,
    params: Value,
    own: Option<Own>,
}

/// The result of a job.
struct VerifiedJob {
    report: BlockVerification,
    difference: Option<FormDifference>,
}

/// Verifies the blocks, and writes the table, the JSON and the waveforms of differences.
pub fn run(options: &VerifyOptions) -> Result<(), Failure> {
    let jobs = jobs(options)?;
    let mut plan = Plan::default();
    jobs.iter()
        .filter_map(|job| job.own.as_ref())
        .flat_map(|own| &own.files)
        .for_each(|file| plan.read(file));
    options.stimulus.iter().for_each(|file| plan.read(file));
    options.json.iter().for_each(|target| plan.write_or_print("--json", target));
    if let Some(path) = &options.output {
        WaveFormat::of(path).map_err(Failure::usage)?;
        plan.write("--output", path);
    }
    let mut outputs = plan.check()?;
    let emitted = compiler("verify", &[])?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes = parallel::map(&jobs, threads, |_, job| job.run(options, &emitted, threads));
    let (mut blocks, mut failures) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        let VerifiedJob { mut report, difference } = outcome?;
        if let Some(difference) = difference {
            let path = waveform_path(options, &report.block);
            write_waveform(&path, options.output.is_some(), &difference, &mut outputs);
            failures.push(Failure::mismatch(format!(
                "{}: {difference}; the seed is {}; {} has the cycles around the difference",
                report.block,
                options.seed,
                path.display()
            )));
            report.difference = Some(Differs::new(&difference, &path));
        }
        blocks.push(report);
    }
    let report = VerifyReport { seed: options.seed, blocks };
    if let Some(target) = &options.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|e| Failure::simulation(format!("the report has no JSON form: {e}")));
        if let Some(text) = outputs.note(text) {
            outputs.write_or_print(target, &(text + "\n"));
        }
    }
    outputs.show(&report.text());
    let last = failures.pop();
    outputs.finish(last.map(|last| last.after(failures)))
}

/// Returns the blocks of the options.
fn jobs(options: &VerifyOptions) -> Result<Vec<VerifyJob>, Failure> {
    let Some(name) = &options.block else {
        let all = selvedge_blocks::all().into_iter();
        return Ok(all.map(|entry| VerifyJob { entry, params: entry.defaults(), own: None }).collect());
    };
    let entry = find(name).map_err(Failure::usage)?;
    let own = options.verilog.as_ref().map(|text| own(entry, text)).transpose()?;
    Ok(vec![VerifyJob { entry, params: params(entry, &options.params)?, own }])
}

/// Returns the custom Verilog of the option, with or without the name of the block.
fn own(entry: &dyn BlockEntry, text: &str) -> Result<Own, Failure> {
    let refused = |why: String| Failure::usage(format!("--verilog {text}: {why}"));
    let is_name = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let given = text.split_once('=').map(|(block, _)| block.trim()).filter(|block| is_name(block));
    let whole = match given {
        Some(block) if block != entry.name() => {
            return Err(refused(format!("must be {}=FILE", entry.name())));
        }
        Some(_) => text.to_string(),
        None => format!("{}={text}", entry.name()),
    };
    let own: Own = whole.parse().map_err(|_| refused("must be FILE[,FILE...][:TOP]".into()))?;
    if own.latency.is_some() {
        return Err(refused("latency: must be compared in a run, with --lockstep model,verilog".into()));
    }
    Ok(Own { text: text.into(), ..own })
}

impl VerifyJob {
    /// Verifies the block, and plants faults if the options request them and all forms are equal.
    fn run(
        &self,
        options: &VerifyOptions,
        emitted: &VerilogCompiler,
        threads: usize,
    ) -> Result<VerifiedJob, Failure> {
        let mut forms = self.forms(emitted)?;
        let mut vectors = self.vectors(options)?;
        let verified = verify(self.entry, &self.params, &mut vectors, &mut forms).map_err(Failure::usage)?;
        let names = forms.iter().map(|form| form.name.clone()).collect();
        let mut report = BlockVerification::new(self.entry, &self.params, names, &verified);
        let Verified { difference, .. } = verified;
        if let (Some(count), None) = (options.mutate, &difference) {
            report.mutants = self.mutants(options, count as usize, threads)?;
        }
        Ok(VerifiedJob { report, difference })
    }

    /// Returns the forms that are compared with the model.
    fn forms(&self, emitted: &VerilogCompiler) -> Result<Vec<VerifiedForm>, Failure> {
        let verilog = |compiler: &VerilogCompiler| {
            compiler.clocked(self.entry, &self.params).map(FormCircuit::Verilog).map_err(Failure::usage)
        };
        let form = |name: &str, scope, circuit| VerifiedForm { name: name.into(), scope, circuit };
        let mut forms = Vec::new();
        // Verilog with errors is refused before the emitted Verilog is compiled.
        if let Some(own) = &self.own {
            let compiler = compiler("--verilog", std::slice::from_ref(own))?;
            forms.push(form("custom Verilog", "custom", verilog(&compiler)?));
        }
        let rtl = self.entry.rtl(&self.params).map_err(Failure::usage)?;
        forms.insert(0, form("RTL", "rtl", FormCircuit::Rtl(rtl)));
        forms.insert(1, form("emitted Verilog", "verilog", verilog(emitted)?));
        Ok(forms)
    }

    /// Returns the vectors of the options.
    fn vectors(&self, options: &VerifyOptions) -> Result<CoveredVectors, Failure> {
        let VerifyJob { entry, params, .. } = self;
        let (operations, seed) = (options.operations, options.seed);
        let vectors = match &options.stimulus {
            None => CoveredVectors::new(*entry, params, operations, seed),
            Some(path) => {
                CoveredVectors::of(*entry, params, operations, constrained(path, *entry, params, seed)?)
            }
        };
        vectors.map_err(Failure::usage)
    }

    /// Plants `count` faults in the custom Verilog, or else in the emitted Verilog, one at a time.
    fn mutants(&self, options: &VerifyOptions, count: usize, threads: usize) -> Result<Vec<Mutant>, Failure> {
        let ports = self.entry.ports(&self.params).map_err(Failure::usage)?;
        let circuits = FaultyCircuits::new(&cache("--mutate")?, self.own.as_ref(), self.entry, &self.params)
            .map_err(Failure::usage)?;
        let (mut covered, mut vectors): (_, Vec<Vector>) = (self.vectors(options)?, Vec::new());
        while let Some(vector) = covered.next_vector().map_err(Failure::usage)? {
            vectors.push(vector);
        }
        let of_file = |(file, text): (usize, &str)| {
            mutations(text).into_iter().map(|mutation| (file, mutation)).collect::<Vec<_>>()
        };
        let texts = circuits.files().iter().map(|file| file.text.as_str());
        let mut all = shuffled(texts.enumerate().flat_map(of_file).collect(), options.seed).into_iter();
        let try_one =
            |_, (file, mutation): &(usize, VerilogMutation)| -> Result<Option<Mutant>, CompileError> {
                let source = &circuits.files()[*file];
                let circuit = circuits.with(*file, &mutation.apply(&source.text))?;
                let mismatch = match circuit {
                    None => return Ok(None),
                    Some(FaultyCircuit::Ends(why)) => Some((0, Mismatch::Ended(why))),
                    Some(FaultyCircuit::Runs(mut circuit)) => first_mismatch(&ports, &vectors, &mut circuit),
                };
                Ok(Some(Mutant::new(&source.name, mutation, mismatch)))
            };
        let mut mutants = Vec::new();
        while mutants.len() < count {
            // Text that is not valid Verilog does not count.
            let batch: Vec<_> = all.by_ref().take(count - mutants.len()).collect();
            if batch.is_empty() {
                break;
            }
            for mutant in parallel::map(&batch, threads, try_one) {
                mutants.extend(mutant.map_err(Failure::usage)?);
            }
        }
        Ok(mutants)
    }
}

/// Returns the path of the waveform of a block's difference.
fn waveform_path(options: &VerifyOptions, block: &str) -> PathBuf {
    options.output.clone().unwrap_or_else(|| PathBuf::from(format!("verify-{block}.vcd")))
}

/// Writes the cycles around a difference, and the files for viewers. `is_planned` states whether the plan has the waveform.
fn write_waveform(path: &Path, is_planned: bool, difference: &FormDifference, outputs: &mut Outputs) {
    let waveform = Waveform { traces: difference.traces.clone() };
    let bytes = outputs.note(waveform.bytes(path).map_err(Failure::usage));
    let viewers = outputs.note(waveform.beside(path).map_err(Failure::usage));
    match bytes {
        Some(bytes) if is_planned => outputs.write(path, bytes),
        Some(bytes) => drop(outputs.write_late("the waveform of the difference", path, bytes)),
        None => {}
    }
    for (path, bytes) in viewers.into_iter().flatten() {
        outputs.write_late("a file for viewers", &path, bytes);
    }
}
