//! `selvedge schema`: JSON Schemas of the commands' JSON, generated from the written types, and the page about them.
pub mod columns;
mod page;

use crate::arguments::SchemaOptions;
use crate::error::Failure;
use crate::output::{print, print_table};
use crate::run_command::Sourced;
use crate::verify_command::VerifyReport;
use crate::{bench, classify, list, suite};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use selvedge_area::Table;
use selvedge_area::report::AreaReport;
use selvedge_sim::functional::FunctionalReport;
use selvedge_sim::together::report::TogetherReport;
use serde_json::Value;

/// A form of JSON that commands write.
struct Form {
    name: &'static str,
    /// Commands that write it, as a sentence.
    of: &'static str,
    schema: fn() -> Value,
}

/// All forms, in the order of the page.
const FORMS: [Form; 15] = [
    Form {
        name: "run",
        of: "`run --json`, `cuda --json` and `compare --json`: an object for a run, a list for several and for `compare`",
        schema: of::<OneOrMany<Sourced>>,
    },
    Form {
        name: "together",
        of: "`run A+B --json`: an object for the run of all workloads; `compare A+B --json`: an entry of its list",
        schema: of::<TogetherReport>,
    },
    Form {
        name: "functional",
        of: "`run --functional --json`: an object for a run, a list for several",
        schema: of::<OneOrMany<FunctionalReport>>,
    },
    Form {
        name: "study",
        of: "`study collect`: each line of NAME.jsonl; CSV and Parquet have the same columns",
        schema: columns::schema,
    },
    Form { name: "classify", of: "`classify --json`: a list of workloads", schema: of::<Vec<classify::Row>> },
    Form {
        name: "workloads",
        of: "`list workloads --json`: a list, or an object for the one that is named",
        schema: of::<OneOrMany<list::workloads::ListedWorkload>>,
    },
    Form {
        name: "mechanisms",
        of: "`list mechanisms --json`: a list, or an object for the one that is named",
        schema: of::<OneOrMany<list::mechanisms::ListedMechanism>>,
    },
    Form {
        name: "configurations",
        of: "`list configurations --json`: a list, or an object for the one that is named",
        schema: of::<OneOrMany<list::configurations::ListedConfiguration>>,
    },
    Form {
        name: "blocks",
        of: "`list blocks --json`: a list, or an object for the one that is named",
        schema: of::<OneOrMany<list::blocks::ListedBlock>>,
    },
    Form {
        name: "suite",
        of: "`suite list --json`: a list of all suites, or an object for the one that is named",
        schema: of::<OneOrMany<suite::Manifest>>,
    },
    Form {
        name: "suite-programs",
        of: "`suite check --json`, `suite build --json` and `suite record --json`: a list of programs",
        schema: of::<Vec<suite::Row>>,
    },
    Form { name: "area", of: "`area --json`: an object for all blocks", schema: of::<AreaReport> },
    Form { name: "verify", of: "`verify --json`: an object for all blocks", schema: of::<VerifyReport> },
    Form { name: "bench", of: "`bench --json`: an object for all cases", schema: of::<bench::BenchReport> },
    Form {
        name: "bench-peers",
        of: "`bench --peers --json`: an object for all workloads",
        schema: of::<bench::PeersReport>,
    },
];

/// One of a thing, or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
#[allow(dead_code, reason = "it stands for the form alone")]
enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

/// Prints a schema, the page about all schemas, or the list of schemas.
pub fn run(options: &SchemaOptions) -> Result<(), Failure> {
    if options.page {
        return print(&page::page());
    }
    let Some(name) = &options.name else {
        let mut table = Table::new(&["schema", "of"]);
        FORMS.iter().for_each(|form| table.row(vec![form.name.into(), form.of.into()]));
        return print_table(&table);
    };
    let Some(form) = FORMS.iter().find(|form| form.name == name) else {
        let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
        return Err(Failure::usage(format!("schema {name}: must be {}", names.join(", "))));
    };
    print(&(pretty(&form.schema()) + "\n"))
}

impl Form {
    /// Returns the schema with its title.
    fn schema(&self) -> Value {
        let mut schema = (self.schema)();
        schema["title"] = self.name.into();
        schema["description"] = self.of.into();
        schema
    }
}

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_else(|e| unreachable!("it is JSON: {e}"))
}

/// Returns the schema of a serialized type.
fn of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema: Schema = generator.into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    clean(&mut schema);
    schema
}

/// Converts descriptions, which are doc comments, to sentences of a page without code links and line breaks.
fn clean(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text.replace("[`", "`").replace("`]", "`").replace('\n', " ");
                    }
                    value => clean(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(clean),
        _ => {}
    }
}

/// Returns the node within `root` that `node` refers to, or `node` if it is not a reference.
fn resolved<'v>(root: &'v Value, node: &'v Value) -> &'v Value {
    let name = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(node, |name| &root["$defs"][name])
}

/// Returns the non-null choice of a nullable node, or `node` if it is not nullable.
fn present(node: &Value) -> &Value {
    let choices = node["anyOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    match choices {
        [one, null] if null["type"] == "null" => one,
        _ => node,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects the paths of properties in `node` without a description.
    fn missing(node: &Value, path: &str, found: &mut Vec<String>) {
        for (key, value) in node["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            if value["description"].as_str().is_none_or(str::is_empty) {
                found.push(path.clone());
            }
            missing(value, &path, found);
        }
        for (key, value) in node["$defs"].as_object().into_iter().flatten() {
            missing(value, &format!("{path}.{key}"), found);
        }
    }

    #[test]
    fn every_key_of_every_form_is_explained() {
        let mut found = Vec::new();
        FORMS.iter().for_each(|form| missing(&form.schema(), form.name, &mut found));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn parts_of_one_name_are_the_same_in_all_forms() {
        let mut seen = std::collections::BTreeMap::new();
        for form in &FORMS {
            for (name, part) in form.schema()["$defs"].as_object().into_iter().flatten() {
                let first = seen.entry(name.clone()).or_insert_with(|| part.clone());
                assert_eq!(first, part, "{name} of {}", form.name);
            }
        }
        assert!(seen.len() > 30, "{}", seen.len());
    }
}
