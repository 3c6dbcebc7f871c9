//! Results in a store for the figures of a command, each read once.
use super::catalog::{Catalog, study};
use super::claims::Place;
use super::paper::Figure;
use super::sample::{Sample, samples};
use super::table::{Panel, panels};
use crate::error::Failure;
use selvedge_study::{Store, StudyScale};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Results of figures.
pub struct Measured<'a> {
    catalog: &'a Catalog,
    store: &'a Store,
    scale: StudyScale,
    samples: BTreeMap<String, Rc<Vec<Sample>>>,
    panels: BTreeMap<String, Rc<Vec<Panel>>>,
    commits: BTreeSet<String>,
}

impl<'a> Measured<'a> {
    /// Returns the results in `store`. They are read on demand.
    pub fn new(catalog: &'a Catalog, store: &'a Store, scale: StudyScale) -> Self {
        Measured {
            catalog,
            store,
            scale,
            samples: BTreeMap::new(),
            panels: BTreeMap::new(),
            commits: BTreeSet::new(),
        }
    }

    /// Returns the figure `id`.
    ///
    /// # Errors
    /// Fails if no figure has this name.
    pub fn figure(&self, id: &str) -> Result<&'a Figure, Failure> {
        Ok(self.catalog.figure(id)?.1)
    }

    /// Returns the points of a figure's study.
    ///
    /// # Errors
    /// Fails if the figure or study does not exist.
    pub fn samples(&mut self, id: &str) -> Result<Rc<Vec<Sample>>, Failure> {
        let name = self.figure(id)?.study().to_owned();
        if let Some(samples) = self.samples.get(&name) {
            return Ok(Rc::clone(samples));
        }
        let study = study(&name, self.scale)?;
        let samples = Rc::new(samples(&study, self.store));
        self.commits.extend(samples.iter().filter_map(|sample| sample.commit.clone()));
        self.samples.insert(name, Rc::clone(&samples));
        Ok(samples)
    }

    /// Returns the panels of a figure.
    ///
    /// # Errors
    /// Fails if the figure, study or quantity does not exist.
    pub fn panels(&mut self, id: &str) -> Result<Rc<Vec<Panel>>, Failure> {
        if let Some(panels) = self.panels.get(id) {
            return Ok(Rc::clone(panels));
        }
        let (paper, figure) = self.catalog.figure(id)?;
        let samples = self.samples(id)?;
        let panels = Rc::new(panels(self.catalog, paper, figure, &samples)?);
        self.panels.insert(id.into(), Rc::clone(&panels));
        Ok(panels)
    }

    /// Formats the value that a text refers to. If it is not measured, returns words that say so.
    ///
    /// # Errors
    /// Fails if the figure does not exist or does not show the quantity.
    pub fn show(&mut self, place: &Place) -> Result<String, Failure> {
        let panels = self.panels(place.figure)?;
        let panel = panels.iter().find(|panel| panel.metric == place.metric).ok_or_else(|| {
            Failure::usage(format!("{}: {}: must be a quantity of it", place.figure, place.metric))
        })?;
        let show = |value| match place.is_change {
            true => panel.unit.change(value),
            false => panel.unit.show(value),
        };
        Ok(panel.value(place.of, place.series).map_or("(not measured)".into(), show))
    }

    /// Returns the sizes of a figure's workloads as text.
    ///
    /// # Errors
    /// Fails if the figure or study does not exist.
    pub fn sizes(&mut self, id: &str) -> Result<String, Failure> {
        let samples = self.samples(id)?;
        let sizes: BTreeSet<&str> = samples.iter().map(|one| one.size.as_str()).collect();
        Ok(format!("size {}", sizes.into_iter().collect::<Vec<_>>().join(" and ")))
    }

    /// Returns the simulator commits that computed the results read so far.
    pub fn commits(&self) -> String {
        self.commits
            .iter()
            .map(|commit| commit.chars().take(12).collect())
            .collect::<Vec<String>>()
            .join(", ")
    }
}
