//! Schema of a row of a study: parameters, the keys of a run's JSON joined by dots, and the origin of the result.
use super::{of, present, resolved};
use selvedge_sim::report::RunReport;
use selvedge_sim::together::report::TogetherReport;
use selvedge_study::{COLUMNS, INTERVAL, LAUNCHES, NO_STATISTICS};
use serde_json::{Map, Value, json};

/// Pattern of the configuration keys that a study sets, which are columns.
const SETTINGS: &str = r"^[a-z0-9_]+(\.[a-z0-9_]+)+$";

/// A column of a row, or the columns of a list or map. `N` is the index in a list, `NAME` the key in a map.
pub struct Column {
    /// Name, such as `totals.l1d.misses` or `programs.N.ctas`.
    pub name: String,
    /// Meaning, as a sentence.
    pub meaning: String,
}

impl Column {
    /// Returns whether `name` is the column's name, or matches its `N` and `NAME`.
    pub fn is(&self, name: &str) -> bool {
        let (own, other) = (self.name.split('.'), name.split('.'));
        let fits = |(own, other): (&str, &str)| match own {
            "N" => other == own || !other.is_empty() && other.bytes().all(|byte| byte.is_ascii_digit()),
            "NAME" => !other.is_empty(),
            _ => own == other,
        };
        own.clone().count() == other.clone().count() && own.zip(other).all(fits)
    }

    /// Returns whether the column's name ends in `.name`.
    pub fn ends_in(&self, name: &str) -> bool {
        self.name.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
    }
}

/// Returns the columns of a row and of an interval, without the settings of a study.
pub fn columns() -> Vec<Column> {
    let of_intervals = INTERVAL.iter().map(|of| Column { name: of.name.into(), meaning: of.meaning.into() });
    row().listed().chain(of_intervals).collect()
}

/// Returns the keys of the JSON of a run that rows lack, such as those of single launches.
pub fn other_keys() -> Vec<Column> {
    let mut keys = Columns::default();
    for root in [of::<RunReport>(), of::<TogetherReport>()] {
        for (key, node) in root["properties"].as_object().into_iter().flatten() {
            if key == "kernels" || NO_STATISTICS.contains(&key.as_str()) {
                keys.add(&root, node, key, false);
            }
        }
    }
    keys.listed().collect()
}

/// Returns the schema of a row.
pub fn schema() -> Value {
    let row = row();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": row.named,
        "patternProperties": row.patterns,
        "additionalProperties": false,
        "required": ["study", "point", "workload", "config", "mechanism", "engine", "status"]
    })
}

/// Returns all columns with their schemas.
fn row() -> Columns {
    let mut row = Columns::default();
    for root in [of::<RunReport>(), of::<TogetherReport>()] {
        for (key, node) in root["properties"].as_object().into_iter().flatten() {
            if key != "kernels" && !NO_STATISTICS.contains(&key.as_str()) {
                row.add(&root, node, key, false);
            }
        }
    }
    for column in COLUMNS.iter().chain([&LAUNCHES]) {
        let schema = json!({ "type": column.kind, "description": column.meaning });
        row.named.insert(column.name.into(), schema);
    }
    let set = json!({
        "type": ["integer", "number", "string", "boolean"],
        "description": "A value of the configuration that the study sets, by its key."
    });
    row.patterns.insert(SETTINGS.into(), set);
    row
}

/// Columns with fixed names, and columns whose names match a pattern.
#[derive(Default)]
struct Columns {
    named: Map<String, Value>,
    patterns: Map<String, Value>,
}

impl Columns {
    /// Returns the names and meanings, without the settings of a study.
    fn listed(self) -> impl Iterator<Item = Column> {
        let column = |(name, column): (String, Value)| Column {
            name: name
                .trim_matches(['^', '$'])
                .replace(r"\.", ".")
                .replace("[0-9]+", "N")
                .replace("[a-z0-9_]+", "NAME"),
            meaning: column["description"]
                .as_str()
                .unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        };
        let patterns = self.patterns.into_iter().filter(|(name, _)| *name != SETTINGS);
        self.named.into_iter().chain(patterns).map(column)
    }

    /// Adds the columns of the node at `name`, which is a pattern if `is_pattern`.
    fn add(&mut self, root: &Value, node: &Value, name: &str, is_pattern: bool) {
        let description = &node["description"];
        let found = resolved(root, present(node));
        let dot = if is_pattern { r"\." } else { "." };
        let variants = found["oneOf"].as_array().into_iter().flatten();
        let mut has_inner = false;
        for object in std::iter::once(found).chain(variants) {
            for (key, inner) in object["properties"].as_object().into_iter().flatten() {
                has_inner = true;
                let mut inner = inner.clone();
                if inner["description"].is_null() {
                    inner["description"] = object["description"].clone();
                }
                self.add(root, &inner, &format!("{name}{dot}{key}"), is_pattern);
            }
        }
        if has_inner {
            return;
        }
        if found["additionalProperties"].is_object() {
            let pattern = format!(r"{}\.[a-z0-9_]+", escaped(name, is_pattern));
            self.insert(&pattern, true, &found["additionalProperties"], description);
            return;
        }
        if found["type"] == "array" {
            let items = resolved(root, &found["items"]);
            if items["properties"].is_object() {
                self.add(root, items, &format!(r"{}\.[0-9]+", escaped(name, is_pattern)), true);
            } else {
                self.insert(name, is_pattern, &json!({ "type": "string" }), description);
            }
            return;
        }
        // A choice of words is a string.
        let text = json!({ "type": "string" });
        let kind = if found["oneOf"].is_array() || found["enum"].is_array() { &text } else { found };
        self.insert(name, is_pattern, kind, description);
    }

    fn insert(&mut self, name: &str, is_pattern: bool, kind: &Value, description: &Value) {
        let column = json!({ "type": kind["type"], "description": description });
        if is_pattern {
            self.patterns.insert(format!("^{name}$"), column);
        } else {
            self.named.insert(name.into(), column);
        }
    }
}

/// Returns a name as a pattern.
fn escaped(name: &str, is_pattern: bool) -> String {
    if is_pattern { name.into() } else { name.replace('.', r"\.") }
}
