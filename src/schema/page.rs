//! Page about all forms, `docs/reference/output.md`.
use super::{FORMS, Form, present, resolved};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Text before the tables.
const ABOUT: &str = include_str!("page.md");

/// Text that marks a nullable value.
const NULL: &str = " or null";

/// Returns the page.
pub fn page() -> String {
    let mut text = ABOUT.to_owned();
    let mut seen = BTreeSet::new();
    for form in &FORMS {
        let schema = form.schema();
        let name = form.name;
        write!(text, "## {name}\n\n{}.\n\n", form.of).expect("a string takes it");
        if form.name == "study" {
            columns(&mut text, &schema);
            continue;
        }
        let mut parts = vec![top(form, &schema)];
        let mut at = 0;
        while at < parts.len() {
            let part = parts[at].clone();
            at += 1;
            if !part.is_empty() && !seen.insert(part.clone()) {
                continue;
            }
            let node = if part.is_empty() { &schema } else { &schema["$defs"][&part] };
            if !part.is_empty() {
                write!(text, "### {part}\n\n{}\n\n", description(node)).expect("a string takes it");
            }
            table(&mut text, &schema, node);
            references(node, &mut parts);
        }
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Returns the name of the part that the form repeats. Returns an empty string if the form is an object.
fn top(form: &Form, schema: &Value) -> String {
    let mut parts = Vec::new();
    for key in ["anyOf", "items"] {
        references(&schema[key], &mut parts);
    }
    if schema["properties"].is_object() {
        return String::new();
    }
    parts.into_iter().next().unwrap_or_else(|| unreachable!("{} is made of parts", form.name))
}

/// Adds the names of the parts that `node` refers to.
fn references(node: &Value, to: &mut Vec<String>) {
    match node {
        Value::Object(object) => {
            for (key, value) in object {
                match value.as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
                    Some(name) if key == "$ref" => to.push(name.into()),
                    // References within other parts belong to those parts.
                    _ if key == "$defs" => {}
                    _ => references(value, to),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, to)),
        _ => {}
    }
}

/// Writes the table of an object's keys, or of a choice's words.
fn table(text: &mut String, root: &Value, node: &Value) {
    let mut line = |cells: &[&str]| writeln!(text, "| {} |", cells.join(" | ")).expect("a string takes it");
    if let Some(properties) = node["properties"].as_object() {
        line(&["key", "value", "what"]);
        line(&["---", "---", "---"]);
        let required = node["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (key, value) in properties {
            let is_optional = !required.iter().any(|one| one == key);
            let mut kind = kind(root, value);
            if is_optional {
                // An absent value is omitted, not null.
                kind = kind.trim_end_matches(NULL).to_owned() + ", optional";
            }
            line(&[&format!("`{key}`"), &kind, &description(value)]);
        }
    }
    let choices = node["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !choices.is_empty() {
        line(&["value", "what"]);
        line(&["---", "---"]);
    }
    for choice in choices {
        let of = |word: &str| format!("`{word}`");
        let words: Vec<String> = match (choice["const"].as_str(), choice["enum"].as_array()) {
            (Some(word), _) => vec![of(word)],
            (_, Some(words)) => words.iter().filter_map(Value::as_str).map(of).collect(),
            _ => {
                let keys = choice["properties"].as_object().into_iter().flatten();
                keys.map(|(key, value)| format!("`{key}`: {}", kind(root, value))).collect()
            }
        };
        line(&[&words.join(", "), &description(choice)]);
    }
    text.push('\n');
}

/// Writes the columns of a study with their meanings, without the keys of a run's JSON.
fn columns(text: &mut String, schema: &Value) {
    text.push_str("| column | value | what |\n| --- | --- | --- |\n");
    for column in &selvedge_study::COLUMNS {
        let value = kind(schema, &schema["properties"][column.name]);
        writeln!(text, "| `{}` | {value} | {} |", column.name, column.meaning).expect("a string takes it");
    }
    text.push_str(
        "| keys of `[[vary]]` and `set` | number, text or flag | The value of the configuration. |\n\
         | keys of [run](#run) or [together](#together), joined by dots | | The measurements. |\n\n",
    );
}

/// Returns the kind of a value, with a link to its part.
fn kind(root: &Value, node: &Value) -> String {
    let inner = present(node);
    let null = if std::ptr::eq(inner, node) { "" } else { NULL };
    if let Some(name) = inner["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        return format!("[{name}](#{}){null}", name.to_lowercase());
    }
    let found = resolved(root, inner);
    let types: Vec<&str> = match &found["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    };
    let words: Vec<String> = types.into_iter().map(|one| word(root, found, one)).collect();
    words.join(" or ") + null
}

fn word(root: &Value, node: &Value, kind_name: &str) -> String {
    match kind_name {
        "boolean" => "flag".into(),
        "string" => "text".into(),
        "array" => format!("list of {}", kind(root, &node["items"])),
        "object" if node["additionalProperties"].is_object() => {
            format!("object of {}", kind(root, &node["additionalProperties"]))
        }
        other => other.into(),
    }
}

fn description(node: &Value) -> String {
    node["description"].as_str().unwrap_or_default().replace('|', "\\|")
}
