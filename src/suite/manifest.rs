//! Manifests of benchmark suites: TOML files that list programs, how to build and run them, and how to check their output.
use crate::error::Failure;
use include_dir::{Dir, include_dir};
use schemars::JsonSchema;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_sim::workload::Size;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Component, Path};
use toml::Spanned;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/suites");

/// A suite and its programs.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Suite")]
pub struct Manifest {
    /// Name of the suite: that of its file.
    #[serde(skip_deserializing)]
    pub name: String,
    /// Name and version as its authors write them.
    pub title: String,
    /// Copy of the suite that the manifest describes.
    pub source: String,
    /// Flags of every program for the compiler.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Check of programs that have no separate one.
    #[serde(default)]
    pub check: Check,
    /// Programs.
    #[serde(rename(deserialize = "program"), serialize_with = "plain_list")]
    #[schemars(with = "Vec<Program>")]
    pub programs: Vec<Spanned<Program>>,
}

/// A program of a suite.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SuiteProgram")]
pub struct Program {
    /// Name of the program.
    pub name: String,
    /// Folder of the program in the suite. It is compiled and run in a copy of this folder.
    pub folder: String,
    /// Papers that evaluate the program, with their abbreviations.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub papers: String,
    /// Compiler.
    #[serde(default)]
    pub compiler: Compiler,
    /// Source files, relative to the folder.
    pub sources: Vec<String>,
    /// Flags for the compiler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Check of the output, instead of that of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Values of the configuration that the program needs, such as memory.out_of_bounds=zero.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Fact that a user of the program needs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Sizes.
    pub sizes: Sizes,
}

/// Compilers.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compiler {
    /// nvcc of any CUDA toolkit since version 11.
    #[default]
    Nvcc,
    /// clang with the headers of CUDA 11, for sources that use texture references or removed fields.
    Clang,
}

/// Runs of a program by size.
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SuiteSizes")]
pub struct Sizes {
    /// Run of seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    tiny: Option<Run>,
    /// Run for a quick look.
    #[serde(skip_serializing_if = "Option::is_none")]
    small: Option<Run>,
    /// Run for comparisons.
    #[serde(skip_serializing_if = "Option::is_none")]
    study: Option<Run>,
    /// Default input of the suite, or that of the papers.
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<Run>,
}

/// A run of a program.
#[derive(Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SuiteRun")]
pub struct Run {
    /// Arguments of the program, which runs in a copy of its folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Flags for the compiler that fix the size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Files that the program reads, relative to the folder of the suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// `true` if a copy of the suite was recorded at this size and passed its check.
    #[serde(default)]
    pub verified: bool,
}

/// Check of a program's output. Without keys, only the exit code 0 is demanded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SuiteCheck")]
pub struct Check {
    /// Text that the output must contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Text that the output must not contain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// `true` if the program compares its results and returns the verdict as exit code.
    #[serde(default)]
    pub exit_code: bool,
}

fn plain_list<S: serde::Serializer>(programs: &[Spanned<Program>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(programs.iter().map(Spanned::get_ref))
}

impl Sizes {
    /// Returns the run of a size.
    pub fn get(&self, size: Size) -> Option<&Run> {
        match size {
            Size::Tiny => self.tiny.as_ref(),
            Size::Small => self.small.as_ref(),
            Size::Study => self.study.as_ref(),
            Size::Paper => self.paper.as_ref(),
        }
    }

    /// Returns the sizes in ascending order, with their runs.
    pub fn all(&self) -> impl Iterator<Item = (Size, &Run)> {
        Size::ALL.into_iter().filter_map(|size| Some((size, self.get(size)?)))
    }
}

impl Check {
    /// Returns whether the program's results are checked.
    pub fn is_made(&self) -> bool {
        *self != Check::default()
    }

    /// Returns the difference between `output` and the demanded text, if any.
    pub fn complaint(&self, output: &str) -> Option<String> {
        if let Some(text) = self.text.as_ref().filter(|text| !output.contains(*text)) {
            return Some(format!("the output lacks `{text}`"));
        }
        let found = self.without.as_ref().filter(|text| output.contains(*text))?;
        Some(format!("the output has `{found}`"))
    }

    /// Returns the check as a cell of a table.
    pub fn cell(&self) -> String {
        let text = self.text.iter().map(|text| format!("text `{text}`"));
        let without = self.without.iter().map(|text| format!("no text `{text}`"));
        let code = self.exit_code.then(|| "exit code".to_owned());
        let all: Vec<String> = text.chain(without).chain(code).collect();
        if all.is_empty() { "unchecked".into() } else { all.join(", ") }
    }
}

impl Manifest {
    /// Returns the names of the built-in suites.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<_> = FILES
            .files()
            .filter_map(|file| file.path().file_name()?.to_str()?.strip_suffix(".toml"))
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns a built-in suite, or the one of a manifest whose name ends in `.toml`.
    ///
    /// # Errors
    /// An unknown suite, or the first mistake in the file with its line.
    pub fn find(name: &str) -> Result<Self, Failure> {
        let path = Path::new(name);
        if name.ends_with(".toml") {
            let text = read_text(path, MOST_TEXT_BYTES)
                .map_err(|why| Failure::usage(format!("{name}: cannot read it: {why}")))?;
            return Self::parse(name, &text).map_err(Failure::usage);
        }
        let file = format!("{name}.toml");
        let text = FILES.get_file(&file).and_then(|file| file.contents_utf8()).ok_or_else(|| {
            let names = Self::names().join(", ");
            Failure::usage(format!("suite {name}: must be {names}, or a manifest NAME.toml"))
        })?;
        Self::parse(&file, text).map_err(Failure::usage)
    }

    /// Parses a manifest. `file` names it in messages; its stem is the name of the suite.
    fn parse(file: &str, text: &str) -> Result<Self, String> {
        let bad = |at: usize, message: &str| {
            let line =
                text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("{file}:{line}: {message}")
        };
        let mut manifest: Manifest = toml::from_str(text)
            .map_err(|error| bad(error.span().map_or(0, |span| span.start), error.message()))?;
        manifest.name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !is_name(&manifest.name) {
            return Err(format!("{file}: the file's name must be NAME.toml, with {NAME}"));
        }
        let mut names = BTreeSet::new();
        for program in &manifest.programs {
            let at = program.span().start;
            let program = program.get_ref();
            if let Some(mistake) = program.mistake() {
                return Err(bad(at, &mistake));
            }
            if !names.insert(&program.name) {
                return Err(bad(at, &format!("name = \"{}\": two programs have this name", program.name)));
            }
        }
        Ok(manifest)
    }

    /// Returns the programs with these names, or by default all programs with a run of this size.
    ///
    /// # Errors
    /// An unknown program, or one without a run of this size.
    pub fn select(&self, names: &[String], size: Size) -> Result<Vec<&Program>, Failure> {
        let all = || self.programs.iter().map(Spanned::get_ref);
        let suite = &self.name;
        if names.is_empty() {
            let found: Vec<_> = all().filter(|program| program.sizes.get(size).is_some()).collect();
            if found.is_empty() {
                return Err(Failure::usage(format!("suite {suite}: no program has the size {size}")));
            }
            return Ok(found);
        }
        let one = |name: &String| {
            let program = all().find(|program| program.name == *name).ok_or_else(|| {
                let known = all().map(|program| program.name.as_str()).collect::<Vec<_>>().join(", ");
                Failure::usage(format!("{suite}/{name}: must be one of {known}"))
            })?;
            if program.sizes.get(size).is_none() {
                let sizes =
                    program.sizes.all().map(|(size, _)| size.to_string()).collect::<Vec<_>>().join(", ");
                return Err(Failure::usage(format!("--size {size}: {suite}/{name} has {sizes}")));
            }
            Ok(program)
        };
        names.iter().map(one).collect()
    }

    /// Returns the check of a program.
    pub fn check_of<'a>(&'a self, program: &'a Program) -> &'a Check {
        program.check.as_ref().unwrap_or(&self.check)
    }
}

/// Characters of names, which are part of file names and of workloads in studies.
const NAME: &str = "lower-case letters, digits, _ and -";

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(is_plain)
}

/// Returns whether `path` names a file below the folder of a suite.
fn is_below(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

impl Program {
    /// Returns whether at least one size is verified.
    pub fn is_verified(&self) -> bool {
        self.sizes.all().any(|(_, run)| run.verified)
    }

    /// Returns the mistake in the values, if any.
    fn mistake(&self) -> Option<String> {
        let name = &self.name;
        if !is_name(name) {
            return Some(format!("name = \"{name}\": must be {NAME}"));
        }
        if !is_below(&self.folder) {
            let folder = &self.folder;
            return Some(format!(
                "folder = \"{folder}\" of {name}: must be a folder below that of the suite"
            ));
        }
        let empty = self.sources.is_empty() || self.sources.iter().any(String::is_empty);
        if empty || self.sources.iter().any(|source| source.starts_with(['-', '/'])) {
            return Some(format!("sources of {name}: must be one file or more, relative to the folder"));
        }
        if let Some(input) = self.sizes.all().flat_map(|(_, run)| &run.inputs).find(|input| !is_below(input))
        {
            return Some(format!("inputs of {name}: {input}: must be a file below the folder of the suite"));
        }
        if self.sizes.all().next().is_none() {
            return Some(format!(
                "sizes of {name}: must be one of {} or more",
                Size::ALL.map(|size| size.to_string()).join(", ")
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str =
        "[[program]]\nname = \"a\"\nfolder = \"f\"\nsources = [\"a.cu\"]\n[program.sizes.tiny]\n";

    fn with(change: (&str, &str)) -> Result<Manifest, String> {
        let text = format!("title = \"T\"\nsource = \"S\"\n{PROGRAM}");
        let changed = text.replace(change.0, change.1);
        assert!(change.0.is_empty() || changed != text, "{change:?}");
        Manifest::parse("own.toml", &changed)
    }

    #[test]
    fn every_suite_parses_and_has_verified_programs() {
        let names = Manifest::names();
        assert!(names.contains(&"rodinia") && names.contains(&"polybench"), "{names:?}");
        for name in names {
            let suite = Manifest::find(name).unwrap_or_else(|failure| panic!("{failure:?}"));
            assert!(!suite.title.is_empty() && !suite.source.is_empty(), "{name}");
            let runs = || suite.programs.iter().flat_map(|program| program.get_ref().sizes.all());
            assert!(runs().any(|(_, run)| run.verified), "{name}: no program was run");
        }
    }

    #[test]
    fn a_mistake_is_one_line_with_its_position() {
        assert!(with(("", "")).is_ok());
        for (change, message) in [
            (("title", "titel"), "own.toml:1: unknown field `titel`"),
            (("folder = ", "folders = "), "own.toml:5: unknown field `folders`"),
            (("sizes.tiny", "sizes.huge"), "own.toml:7: unknown field `huge`"),
            (("\"a\"", "\"A+b\""), "own.toml:3: name = \"A+b\": must be lower-case"),
            (("\"f\"", "\"../f\""), "own.toml:3: folder = \"../f\" of a: must be a folder below"),
            (("[\"a.cu\"]", "[]"), "own.toml:3: sources of a: must be one file or more"),
            (("sizes.tiny]", "sizes]"), "own.toml:3: sizes of a: must be one of tiny, small, study, paper"),
            (("sizes.tiny]", "sizes.tiny]\ninputs = [\"/x\"]"), "own.toml:3: inputs of a: /x: must be"),
        ] {
            let mistake = with(change).expect_err("a mistake");
            assert!(mistake.starts_with(message), "{mistake}");
        }
        let twice = format!("title = \"T\"\nsource = \"S\"\n{PROGRAM}{PROGRAM}");
        let mistake = Manifest::parse("own.toml", &twice).expect_err("a mistake");
        assert_eq!(mistake, "own.toml:8: name = \"a\": two programs have this name");
        assert!(Manifest::parse("My own.toml", PROGRAM).is_err());
    }

    #[test]
    fn a_check_demands_and_forbids_text() {
        let check = Check { text: Some("PASS".into()), without: Some("FAIL".into()), exit_code: false };
        assert_eq!(check.complaint("x PASS"), None);
        assert_eq!(check.complaint("x"), Some("the output lacks `PASS`".into()));
        assert_eq!(check.complaint("PASS FAIL"), Some("the output has `FAIL`".into()));
        assert!(check.is_made() && !Check::default().is_made());
    }
}
