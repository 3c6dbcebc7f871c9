//! The schema of a row of a study: parameters, the keys of a run's JSON joined by dots, and where the result is from.
use super::{of, present, resolved};
use selvedge_sim::report::RunReport;
use selvedge_sim::together::report::TogetherReport;
use selvedge_study::{COLUMNS, LAUNCHES, NO_STATISTICS};
use serde_json::{Map, Value, json};

/// Returns the schema of a row.
pub fn schema() -> Value {
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
    row.patterns.insert(r"^[a-z0-9_]+(\.[a-z0-9_]+)+$".into(), set);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": row.named,
        "patternProperties": row.patterns,
        "additionalProperties": false,
        "required": ["study", "point", "workload", "config", "mechanism", "engine", "status"]
    })
}

/// Columns with a name each, and those whose names have a pattern.
#[derive(Default)]
struct Columns {
    named: Map<String, Value>,
    patterns: Map<String, Value>,
}

impl Columns {
    /// Adds the columns of what stands at `name`, which is a pattern if `is_pattern`.
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
        // One word of several is a text.
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

/// A name as a pattern.
fn escaped(name: &str, is_pattern: bool) -> String {
    if is_pattern { name.into() } else { name.replace('.', r"\.") }
}
