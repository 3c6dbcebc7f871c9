//! The table of technologies: their gate equivalents, and the nodes to which areas can be scaled.
use crate::error::AreaError;
use schemars::JsonSchema;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A standard-cell library that is known by name.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Technology {
    /// Prefix of the library's name in its liberty file.
    pub library: String,
    /// Name in tables.
    pub name: String,
    /// Technology node, nm.
    pub node_nm: u32,
    /// Area of the smallest NAND gate with two inputs, um2: one gate equivalent.
    pub nand2_um2: f64,
    /// Typical supply voltage, V.
    pub vdd: f64,
    /// Clock that a mapping must reach by default, MHz. Without it, no clock is required.
    #[serde(default)]
    pub clock_mhz: Option<u32>,
}

/// The technologies that are part of Selvedge; `technologies.toml` names their sources.
const BUILT_IN: &str = include_str!("technologies.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TechnologyFile {
    technology: Vec<Technology>,
}

/// All known technologies; the user's own precede the built-in ones.
#[derive(Clone, Debug)]
pub struct Technologies(Vec<Technology>);

impl Technologies {
    /// Loads the technologies of the user's file, if there is one, and the built-in ones.
    ///
    /// # Errors
    /// [`AreaError`] if the file cannot be read or is not a technology table.
    pub fn load(own: Option<&Path>) -> Result<Self, AreaError> {
        let mut all = Vec::new();
        if let Some(path) = own {
            let text = read_text(path, MOST_TEXT_BYTES).map_err(AreaError::at(path))?;
            let problem = |problem: String| AreaError::BadFile { path: path.into(), problem };
            let file: TechnologyFile = toml::from_str(&text).map_err(|e| problem(e.message().to_string()))?;
            if let Some(wrong) = file.technology.iter().find(|one| !is_sound(one)) {
                let what = "node_nm, nand2_um2, vdd and clock_mhz must be above 0";
                return Err(problem(format!("technology `{}`: {what}", wrong.name)));
            }
            all.extend(file.technology);
        }
        let built_in: TechnologyFile =
            toml::from_str(BUILT_IN).expect("the table that comes with Selvedge is sound");
        all.extend(built_in.technology);
        Ok(Technologies(all))
    }

    /// Returns the technology of a library.
    pub fn of_library(&self, name: &str) -> Option<&Technology> {
        self.0.iter().find(|one| name.starts_with(&one.library))
    }

    /// Returns the first technology of a node such as `45nm`.
    ///
    /// # Errors
    /// [`UnknownNode`] with the known nodes, if none matches.
    pub fn of_node(&self, text: &str) -> Result<&Technology, UnknownNode> {
        let node = text.trim_end_matches("nm").trim().parse::<u32>().ok();
        self.0.iter().find(|one| Some(one.node_nm) == node).ok_or_else(|| {
            let mut nodes: Vec<u32> = self.0.iter().map(|one| one.node_nm).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let nodes: Vec<String> = nodes.iter().map(|node| format!("{node}nm")).collect();
            UnknownNode { node: text.into(), known: nodes.join(", ") }
        })
    }
}

/// A node without a known library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{node}: must be the node of a known library: {known}")]
pub struct UnknownNode {
    /// The requested node.
    pub node: String,
    /// The known nodes.
    pub known: String,
}

fn is_sound(one: &Technology) -> bool {
    one.node_nm > 0 && one.nand2_um2 > 0.0 && one.vdd > 0.0 && one.clock_mhz != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_table_comes_first() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text =
            "[[technology]]\nlibrary = \"mine\"\nname = \"Mine\"\nnode_nm = 45\nnand2_um2 = 0.8\nvdd = 1.0\n";
        std::fs::write(file.path(), text).expect("written");
        let all = Technologies::load(Some(file.path())).expect("sound");
        assert_eq!(all.of_node("45nm").expect("known").name, "Mine");
        assert_eq!(all.of_library("osu018_stdcells").expect("known").node_nm, 180);
        assert_eq!(all.of_library("other"), None);
        let error = all.of_node("7nm").expect_err("unknown");
        assert!(error.to_string().contains("45nm, 130nm, 180nm"), "{error}");
        std::fs::write(file.path(), text.replace("0.8", "0")).expect("written");
        assert!(Technologies::load(Some(file.path())).is_err());
    }
}
