//! Studies, numbers of the papers and claims, which are embedded in the program.
use super::claims::Claims;
use super::metric::Metric;
use super::paper::{Figure, Group, Paper};
use crate::error::Failure;
use include_dir::{Dir, include_dir};
use selvedge_hw::names::allowed;
use selvedge_study::{Study, StudyScale};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder `studies`.
static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/studies");

/// The papers, in the order of lists.
const PAPERS: [&str; 4] = ["paper/latte-cc.toml", "paper/lamar.toml", "paper/caba.toml", "paper/dai.toml"];

/// File of the experiments that isolate causes, in the format of a paper.
const CAUSES: &str = "causes.toml";

/// Embedded data of all papers.
pub struct Catalog {
    /// Papers with their figures.
    pub papers: Vec<Paper>,
    /// Experiments that isolate causes.
    pub causes: Paper,
    /// Headline claims, and the causes of differences.
    pub claims: Claims,
    metrics: BTreeMap<String, Metric>,
}

impl Catalog {
    /// Reads the embedded data.
    ///
    /// # Errors
    /// Fails if a file is malformed.
    pub fn load() -> Result<Self, Failure> {
        Ok(Catalog {
            papers: PAPERS.iter().map(|file| read(file)).collect::<Result<_, _>>()?,
            causes: read(CAUSES)?,
            claims: read("claims.toml")?,
            metrics: read("metrics.toml")?,
        })
    }

    /// Returns the figures of the papers, then the experiments, each with its paper.
    pub fn figures(&self) -> impl Iterator<Item = (&Paper, &Figure)> {
        self.papers
            .iter()
            .chain([&self.causes])
            .flat_map(|paper| paper.figure.iter().map(move |figure| (paper, figure)))
    }

    /// Returns the figure `id`.
    ///
    /// # Errors
    /// Fails if no figure has this name. The message suggests similar names.
    pub fn figure(&self, id: &str) -> Result<(&Paper, &Figure), Failure> {
        self.figures().find(|(_, figure)| figure.id == id).ok_or_else(|| {
            let names = self.figures().map(|(_, figure)| figure.id.as_str());
            Failure::usage(format!(
                "{id}: no such figure: {}",
                allowed(id, names, "selvedge reproduce --list")
            ))
        })
    }

    /// Returns the quantity `name`.
    ///
    /// # Errors
    /// Fails if no quantity has this name.
    pub fn metric(&self, name: &str) -> Result<&Metric, Failure> {
        self.metrics.get(name).ok_or_else(|| {
            let names = self.metrics.keys().map(String::as_str);
            Failure::usage(format!(
                "{name}: no such quantity: {}",
                allowed(name, names, "studies/metrics.toml")
            ))
        })
    }

    /// Returns the group `name`.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups().find(|group| group.name == name)
    }

    /// Returns the groups of all papers.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.papers.iter().flat_map(|paper| &paper.group)
    }

    /// Returns the groups for which `figure` of `paper` shows a mean, given its workloads.
    pub fn groups_of<'a>(
        &'a self,
        paper: &'a Paper,
        figure: &Figure,
        workloads: &[String],
    ) -> Vec<&'a Group> {
        if !figure.groups.is_empty() {
            return figure.groups.iter().filter_map(|name| self.group(name)).collect();
        }
        paper.group.iter().filter(|group| group.workloads.iter().any(|one| workloads.contains(one))).collect()
    }
}

/// Returns the study `name` at a scale.
///
/// # Errors
/// Fails if no study has this name, or if it has a mistake.
pub fn study(name: &str, scale: StudyScale) -> Result<Study, Failure> {
    let file = format!("{name}.toml");
    Study::parse_at(text(&file)?, &Path::new("studies").join(&file), scale).map_err(Failure::usage)
}

/// Returns the names of all studies: the files without the data of papers and claims.
#[cfg(test)]
pub fn study_names() -> Vec<String> {
    let others = [CAUSES, "claims.toml", "metrics.toml"].map(Path::new);
    FILES
        .files()
        .filter(|file| !others.contains(&file.path()))
        .filter_map(|file| file.path().file_stem()?.to_str().map(str::to_owned))
        .collect()
}

fn text(file: &str) -> Result<&'static str, Failure> {
    let found = FILES.get_file(file).and_then(|file| file.contents_utf8());
    found.ok_or_else(|| Failure::usage(format!("studies/{file}: must be part of the program")))
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, Failure> {
    toml::from_str(text(file)?).map_err(|error| Failure::usage(format!("studies/{file}: {error}")))
}
