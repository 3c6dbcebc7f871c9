//! `study export`: writes scripts with which Slurm or Snakemake runs the points of a study on many machines.
use super::options::{ExportEngine, StudyExportOptions};
use super::show::BUDGET;
use super::store::open_file;
use crate::error::Failure;
use crate::interrupt::stop_flag;
use crate::output::write_files;
use selvedge_study::{Shell, Study, estimate, memory_needed};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Max tasks by default. Slurm's default `MaxArraySize` is 1001.
const MOST_TASKS: usize = 1000;
/// Estimated seconds of a task by default: short points share a task, because a scheduler takes seconds to start each.
const TASK_S: f64 = 600.0;
/// Factor between the time limit and the estimate: other processors may be slower, and estimates are off by a factor of
/// two.
const SAFETY: f64 = 4.0;
/// Min time limit of a task, minutes.
const LEAST_MINUTES: u64 = 10;

/// Requirements of a study on other machines.
struct Job {
    name: String,
    selvedge: String,
    study: String,
    store: String,
    /// Folder of logs and collected tables.
    folder: PathBuf,
    /// Number of the first point of each task, and the number of all points.
    bounds: Vec<usize>,
    cores: u32,
    /// Time limit of each task.
    minutes: Vec<u64>,
    /// Memory of each task.
    megabytes: Vec<u64>,
}

pub fn run(options: &StudyExportOptions) -> Result<(), Failure> {
    let (study, store) = open_file(&options.file, Some(&options.store))?;
    let stop = stop_flag()?;
    let seconds: Vec<f64> =
        estimate(study.points(), &store, BUDGET, &stop).iter().map(|one| one.seconds).collect();
    let bytes = memory_needed(study.points(), &store, BUDGET, &stop);
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::interrupted("interrupted"));
    }
    let job = Job::new(options, &study, &seconds, &bytes)?;
    let files = match options.engine {
        ExportEngine::Slurm => job.slurm(),
        ExportEngine::Snakemake => vec![("Snakefile", job.snakefile())],
    };
    let files: Vec<(PathBuf, String)> =
        files.into_iter().map(|(name, text)| (options.output.join(name), text)).collect();
    write_files(&files)
}

/// Returns the absolute path as text.
fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
    let text = path.to_str().filter(|text| !text.contains('\n')).map(str::to_owned);
    text.ok_or_else(|| Failure::usage(format!("{}: must be a path of text in one line", path.display())))
}

impl Job {
    fn new(
        options: &StudyExportOptions,
        study: &Study,
        seconds: &[f64],
        bytes: &[u64],
    ) -> Result<Self, Failure> {
        let cores = options.cores as usize;
        let bounds = match options.points_per_task {
            Some(points) => (0..seconds.len()).step_by(points as usize).chain([seconds.len()]).collect(),
            None => batches(seconds, cores),
        };
        let minutes = bounds.windows(2).map(|task| {
            let expected = task_seconds(&seconds[task[0]..task[1]], cores);
            ((SAFETY * expected / 60.0).ceil() as u64).max(LEAST_MINUTES)
        });
        let megabytes = bounds.windows(2).map(|task| {
            let task = &bytes[task[0]..task[1]];
            let most = task.iter().copied().max().unwrap_or_default();
            (most * cores.min(task.len()) as u64).div_ceil(1 << 20)
        });
        let program = std::env::current_exe()
            .map_err(|e| Failure::usage(format!("the path of this program is unknown: {e}")))?;
        Ok(Job {
            name: study.name.clone(),
            selvedge: absolute(&program)?,
            study: absolute(&options.file)?,
            store: absolute(&options.store)?,
            folder: absolute(&options.output)?.into(),
            minutes: minutes.collect(),
            megabytes: megabytes.collect(),
            bounds,
            cores: options.cores,
        })
    }

    fn tasks(&self) -> usize {
        self.bounds.len() - 1
    }

    fn points(&self) -> usize {
        self.bounds.last().copied().unwrap_or_default()
    }

    /// Returns the command that simulates the points of a task. The shell expands `first`, the number of its first
    /// point, and `count`.
    fn point(&self, first: &str, count: &str) -> String {
        format!(
            "{} study point {} --store {} --index {first} --count {count} --jobs {} --keep-going",
            Shell(&self.selvedge),
            Shell(&self.study),
            Shell(&self.store),
            self.cores
        )
    }

    /// Returns the command that collects the results.
    fn collect(&self) -> String {
        let outputs = ["results.csv", "results.parquet"].map(|name| self.folder.join(name));
        let outputs = outputs.map(|path| format!("-o {}", Shell(&path.to_string_lossy())));
        let (selvedge, study, store) = (Shell(&self.selvedge), Shell(&self.study), Shell(&self.store));
        format!("{selvedge} study collect {study} --store {store} {}", outputs.join(" "))
    }

    /// Returns the directives of a Slurm job for the scheduler.
    fn directives(&self, step: &str, log: &str, minutes: u64, megabytes: u64, more: &[String]) -> String {
        let name: String =
            self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        // Slurm accepts a quoted path, and expands %-words only in names of logs.
        let log = self.folder.join(log).to_string_lossy().replace('"', "\\\"");
        let mut lines = vec![
            format!("--job-name={name}-{step}"),
            format!("--output=\"{log}\""),
            "--open-mode=append".into(),
            "--ntasks=1".into(),
            format!("--mem={megabytes}M"),
            format!("--time={minutes}"),
        ];
        lines.extend_from_slice(more);
        lines.iter().map(|line| format!("#SBATCH {line}\n")).collect()
    }

    /// Returns an array job, a job that collects, and a script that submits both.
    fn slurm(&self) -> Vec<(&'static str, String)> {
        let most = |of: &[u64]| of.iter().copied().max().unwrap_or_default();
        let tasks = self.tasks();
        let more = [
            format!("--array=0-{}", tasks - 1),
            format!("--cpus-per-task={}", self.cores),
            "--requeue".into(),
        ];
        let (minutes, megabytes) = (most(&self.minutes), most(&self.megabytes));
        let array = self.directives("points", "points-%a.log", minutes, megabytes, &more);
        let bounds: Vec<String> = self.bounds.iter().map(ToString::to_string).collect();
        // A requeued task finds the points that it has already finished.
        let points = format!(
            "#!/bin/sh\n{array}# First points of the tasks, then the number of points.\nset -- {}\n\
             shift \"$SLURM_ARRAY_TASK_ID\"\nexec {}\n",
            bounds.join(" "),
            self.point("\"$1\"", "\"$(($2 - $1))\"")
        );
        let collect = self.directives("collect", "collect.log", LEAST_MINUTES, 1024, &[]);
        let collect = format!("#!/bin/sh\n{collect}exec {}\n", self.collect());
        let path = |name: &str| Shell(&self.folder.join(name).to_string_lossy()).to_string();
        let submit = format!(
            "#!/bin/sh\n# Submits {} points as {tasks} tasks, and the job that collects their results.\nset -e\n\
             points=$(sbatch --parsable {})\nsbatch --dependency=\"afterany:${{points%%;*}}\" {}\n",
            self.points(),
            path("points.sbatch"),
            path("collect.sbatch")
        );
        vec![("points.sbatch", points), ("collect.sbatch", collect), ("submit.sh", submit)]
    }

    /// Returns a Snakefile with a rule for tasks and a rule that collects.
    fn snakefile(&self) -> String {
        // Snakemake expands text in braces.
        let escaped = |command: String| python(&command.replace('{', "{{").replace('}', "}}"));
        let [point, collect] = [self.point("@FIRST@", "@COUNT@"), self.collect()].map(escaped);
        let point = point.replace("@FIRST@", "{params.start}").replace("@COUNT@", "{params.points}");
        let file = |name: &str| python(&self.folder.join(name).to_string_lossy().replace('{', "{{"));
        format!(
            "# {points} points of a study in {tasks} tasks. Run it with `snakemake --cores N`.\n\
             TASKS = {tasks}\n\
             # First points of the tasks, then the number of points.\n\
             BOUNDS = {bounds:?}\n\
             MINUTES = {minutes:?}\n\
             MEGABYTES = {megabytes:?}\n\
             DONE = {done}\n\n\
             rule all:\n    input: {csv}, {parquet}\n\n\
             rule point:\n    output: touch(DONE + \"/{{task}}\")\n    params: start = lambda wildcards: BOUNDS[int(wildcards.task)],\n\
             \x20       points = lambda wildcards: BOUNDS[int(wildcards.task) + 1] - BOUNDS[int(wildcards.task)]\n\
             \x20   threads: {cores}\n    retries: 2\n\
             \x20   resources:\n        mem_mb = lambda wildcards: MEGABYTES[int(wildcards.task)],\n\
             \x20       runtime = lambda wildcards: MINUTES[int(wildcards.task)]\n\
             \x20   shell: {point}\n\n\
             rule collect:\n    input: expand(DONE + \"/{{task}}\", task = range(TASKS))\n    output: {csv}, {parquet}\n\
             \x20   resources: mem_mb = 1024, runtime = {LEAST_MINUTES}\n    shell: {collect}\n",
            points = self.points(),
            tasks = self.tasks(),
            bounds = self.bounds,
            minutes = self.minutes,
            megabytes = self.megabytes,
            done = file("done"),
            csv = file("results.csv"),
            parquet = file("results.parquet"),
            cores = self.cores,
        )
    }
}

/// Returns the expected seconds of a task on so many processors.
fn task_seconds(points: &[f64], cores: usize) -> f64 {
    let longest = points.iter().copied().fold(0.0, f64::max);
    longest.max(points.iter().sum::<f64>() / cores as f64)
}

/// Returns the bounds of the tasks: each takes about [`TASK_S`] or has one point. If that would be more than
/// [`MOST_TASKS`], each task takes longer.
fn batches(seconds: &[f64], cores: usize) -> Vec<usize> {
    let mut most_s = TASK_S;
    loop {
        let mut bounds = vec![0];
        for at in 1..seconds.len() {
            let first = bounds[bounds.len() - 1];
            if task_seconds(&seconds[first..=at], cores) > most_s {
                bounds.push(at);
            }
        }
        if bounds.len() <= MOST_TASKS {
            bounds.push(seconds.len());
            return bounds;
        }
        most_s *= 2.0;
    }
}

/// Returns a text as a Python string literal.
fn python(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            name: "my study".into(),
            selvedge: "/opt/sel vedge".into(),
            study: "/home/a{b}/it's.toml".into(),
            store: "/shared/store".into(),
            folder: "/home/out".into(),
            bounds: vec![0, 3, 6, 7],
            cores: 2,
            minutes: vec![10, 20, 10],
            megabytes: vec![300, 700, 300],
        }
    }

    #[test]
    fn the_array_has_a_task_for_each_group_of_points_and_the_largest_needs() {
        let files = job().slurm();
        let [(_, points), (_, collect), (_, submit)] = &files[..] else { panic!("three files") };
        for line in [
            "#SBATCH --array=0-2\n",
            "#SBATCH --mem=700M\n",
            "#SBATCH --time=20\n",
            "#SBATCH --cpus-per-task=2\n",
            "#SBATCH --job-name=my-study-points\n",
            "exec '/opt/sel vedge' study point '/home/a{b}/it'\\''s.toml' --store /shared/store \
             --index \"$1\" --count \"$(($2 - $1))\" --jobs 2 --keep-going\n",
            "set -- 0 3 6 7\nshift \"$SLURM_ARRAY_TASK_ID\"\n",
        ] {
            assert!(points.contains(line), "{line} of {points}");
        }
        assert!(collect.contains("study collect") && collect.contains("-o /home/out/results.parquet"));
        assert!(submit.contains("sbatch --parsable /home/out/points.sbatch"), "{submit}");
        assert!(submit.contains("afterany:${points%%;*}"), "{submit}");
    }

    #[test]
    fn the_snakefile_has_the_needs_of_each_task_and_braces_that_stay() {
        let text = job().snakefile();
        for line in [
            "TASKS = 3\n",
            "MINUTES = [10, 20, 10]\n",
            "MEGABYTES = [300, 700, 300]\n",
            "BOUNDS = [0, 3, 6, 7]\n",
            "'/home/a{{b}}/it'\\\\''s.toml' --store /shared/store --index {params.start} --count {params.points}",
            "output: touch(DONE + \"/{task}\")\n",
        ] {
            assert!(text.contains(line), "{line} of {text}");
        }
    }

    #[test]
    fn short_points_share_a_task_and_long_points_have_their_own() {
        assert_eq!(batches(&[1.0; 100], 1), [0, 100]);
        assert_eq!(batches(&[400.0, 100.0, 200.0, 3000.0, 1.0], 1), [0, 2, 3, 4, 5]);
        assert_eq!(batches(&[300.0; 8], 2), [0, 4, 8], "two processors halve the time");
        let bounds = batches(&[500.0; 2500], 1);
        assert!(bounds.len() - 1 <= MOST_TASKS && bounds.last() == Some(&2500), "{}", bounds.len());
    }
}
