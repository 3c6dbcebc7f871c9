//! Tests of study files: points, keys and mistakes.
use crate::fingerprint::{SOURCES, VERILOG, fingerprint};
use crate::parameters::Parameters;
use crate::runner::scouts;
use crate::{COLUMNS, Point, Study, StudyRow, StudyScale};
use selvedge_hw::{BlockCompiler, BlockEntry, CompileError, CompiledBlock};
use selvedge_sim::source::ProgramRecord;
use selvedge_sim::workload::Size;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const ONE: &str = "size = \"tiny\"\nworkloads = [\"vecadd\"]\nmechanisms = [\"base\"]\n";

/// Returns the only point of a small study.
pub fn point() -> Point {
    points_of(&study(ONE)).remove(0)
}

/// Returns the only point of that study with another workload.
pub fn point_of(workload: &str) -> Point {
    points_of(&study(&ONE.replace("vecadd", workload))).remove(0)
}

fn study(text: &str) -> Study {
    Study::parse(text, Path::new("my.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn points_of(study: &Study) -> Vec<Point> {
    let mut points = Vec::new();
    points.extend(study.points().iter().map(|point| Point {
        index: point.index,
        parameters: point.parameters.clone(),
        labels: point.labels.clone(),
        key: point.key.clone(),
        work: Err("not run".into()),
        timeout: point.timeout,
        config: point.config.clone(),
        work_name: point.work_name.clone(),
    }));
    points
}

fn error(text: &str) -> String {
    match Study::parse(text, Path::new("my.toml")) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_study_is_a_product_and_single_points() {
    let study = study(
        r#"
        name = "both"
        configs = ["gtx480", { config = "gtx480-lamar", label = "L" }]
        workloads = ["vecadd", "bfs", { workload = "atax", size = "tiny" }, "bfs+kmeans"]
        mechanisms = ["base", "hw-bdi", { mechanism = "base", config = "gtx480-caba", label = "C" }]
        share = ["left-over", "smk-p"]
        [[vary]]
        key = "l1d.ways"
        values = [2, 4, 8]
        [[vary]]
        key = "l1d.mshr_entries"
        values = [16, 32]
        [[point]]
        workload = "vecadd"
        mechanism = "dmil"
        set = { "l1d.ways" = 1 }
        "#,
    );
    // Three workloads alone, and one pair under two ways of sharing; two mechanisms on two machines, one on its own machine.
    let (workloads, mechanisms, combinations) = (3 + 2, 2 * 2 + 1, 3 * 2);
    assert_eq!(study.points().len(), workloads * mechanisms * combinations + 1);
    assert_eq!(study.set_keys(), ["l1d.ways", "l1d.mshr_entries"]);
    assert!(study.points().iter().enumerate().all(|(at, point)| point.index == at));
    let keys: BTreeSet<_> = study.points().iter().map(|point| &point.key).collect();
    assert_eq!(keys.len(), study.points().len(), "all are different");
    let last = study.points().last().expect("a point");
    assert_eq!((last.config.l1d.ways, last.parameters.mechanism.as_str()), (1, "dmil"));
    let caba = study.points().iter().filter(|point| point.labels.mechanism == "C");
    assert!(caba.clone().all(|point| point.parameters.config == "gtx480-caba"));
    assert_eq!(caba.count(), workloads * combinations);
    let alone = study.points().iter().filter(|point| point.parameters.share.is_none());
    assert!(alone.clone().all(|point| !point.parameters.workload.contains('+')));
}

#[test]
fn a_mistake_names_its_line_the_value_and_what_it_must_be() {
    for (text, says) in [
        ("", "my.toml:1: the file has no `workloads`: must be a list of workloads, or [[point]] be given"),
        ("name = \"x\"\nworkload = []", "my.toml:2: unknown key `workload`: must be one of name, title,"),
        ("name = \n", "my.toml:1: "),
        (
            "workloads = [\"vecadd\"]",
            "my.toml:1: the file has no `mechanisms`: must be a list of mechanisms beside",
        ),
        ("mechanisms = [\"base\"]", "my.toml:1: mechanisms: must be given with `workloads`"),
        (
            "\nworkloads = \"vecadd\"",
            "my.toml:2: workloads = \"vecadd\": must be a list with at least one value",
        ),
        ("workloads = []", "my.toml:1: workloads = []: must be a list with at least one value"),
        ("workloads = [\n\"vecad\"]", "my.toml:2: unknown workload 'vecad'"),
        ("workloads = [\"no.toml\"]", "my.toml:1: no.toml: cannot read it:"),
        (
            "workloads = [{ workload = \"bfs\", sise = \"tiny\" }]",
            "my.toml:1: unknown key `sise` of a workload",
        ),
        ("workloads = [{ label = \"x\" }]", "my.toml:1: a workload has no `workload`: must be a workload"),
        ("size = \"large\"", "my.toml:1: size = \"large\": must be tiny, small, study or paper"),
        ("engine = 1", "my.toml:1: engine = 1: must be a string that is not empty"),
        (
            "engine = \"rlt\"",
            "my.toml:1: engine = \"rlt\": must be model, rtl, verilog, lockstep, model+verilog or rtl+verilog",
        ),
        ("config = \"gtx48\"", "my.toml:1: configuration 'gtx48': neither a built-in one"),
        ("config = \"gtx480\"\nconfigs = [\"gtx480\"]", "my.toml:2: configs: must be given without config"),
        (
            "configs = [{ config = \"gtx480\", set = { \"l1d.ways\" = 0 } }]",
            "my.toml:1: l1d.ways = 0: must be 1 to 512",
        ),
        ("share = [\"smk\"]", "my.toml:1: share = \"smk\": must be left-over,"),
        ("max_cycles = 0", "my.toml:1: max_cycles = 0: must be an integer of 1 or more"),
        ("max_cycles = 5\nintervals = 6", "my.toml:2: intervals: must be given without max_cycles"),
        ("\nerror = \"2%\"", "my.toml:2: error: must be given with intervals"),
        (
            "intervals = 6\nerror = \"2\"",
            "my.toml:2: error = \"2\": must be a percentage from \"0.01%\" to \"100%\"",
        ),
        ("intervals = 6\nerror = 2", "my.toml:2: error = 2: must be a percentage from \"0.01%\" to \"100%\""),
        ("intervals = 6\nerror = \"101%\"", "my.toml:2: error = \"101%\": must be a percentage from"),
        (
            "intervals = 6\nworkloads = [\"bfs+atax\"]",
            "my.toml:2: workloads = \"bfs+atax\": must be one workload beside `intervals`",
        ),
        ("alone = 1", "my.toml:1: alone = 1: must be true or false"),
        ("timeout = \"5\"", "my.toml:1: timeout = \"5\": must be a number with s, m or h"),
    ] {
        let error = error(text);
        assert!(error.starts_with(says) && !error.contains('\n'), "`{error}` must begin with `{says}`");
    }
    for (more, says) in [
        ("[[vary]]\nkey = \"l1d.sets\"", "my.toml:4: [[vary]] has no `values`: must be a list of values"),
        ("[[vary]]\nkey = \"l1d.ways\"\nvalues = [\n4, 0]", "my.toml:7: l1d.ways = 0: must be 1 to 512"),
        ("[[vary]]\nkey = \"l1d.wayz\"\nvalues = [4]", "my.toml:6: l1d.wayz: no key of a configuration:"),
        (
            "[[vary]]\nkey = \"l1d.ways\"\nvalues = [[1]]",
            "my.toml:6: values = [1]: must be a number, a string, true or",
        ),
        (
            "[[vary]]\nkey = \"l1d.ways\"\nvalue = [1]",
            "my.toml:6: unknown key `value` of [[vary]]: must be one of key,",
        ),
        ("[[point]]\nmechanism = \"base\"", "my.toml:4: [[point]] has no `workload`: must be a workload"),
        ("[[point]]\nworkload = \"bfs\"\nmechanism = \"bass\"", "my.toml:6: unknown mechanism 'bass':"),
        (
            "[[point]]\nworkload = \"bfs\"\nmechanism = \"base\"\nshare = \"smk-p\"",
            "my.toml:7: share = \"smk-p\": must be given with several workloads",
        ),
    ] {
        let error = error(&format!("{ONE}{more}"));
        assert!(error.starts_with(says) && !error.contains('\n'), "`{error}` must begin with `{says}`");
    }
}

#[test]
fn a_key_changes_with_what_decides_the_result() {
    let key = |text: &str| study(text).points()[0].key.clone();
    let usual = key(ONE);
    for (from, to) in [
        ("tiny", "small"),
        ("vecadd", "bfs"),
        ("base", "dmil"),
        ("size", "engine = \"rtl\"\nsize"),
        ("size", "config = \"gtx480-lamar\"\nsize"),
        ("size", "max_cycles = 10\nsize"),
        ("size", "max_instructions = 10\nsize"),
        ("size", "intervals = 6\nsize"),
        ("mechanisms = [\"base\"]", "mechanisms = [{ mechanism = \"base\", set = { \"l1d.ways\" = 8 } }]"),
    ] {
        assert_ne!(key(&ONE.replace(from, to)), usual, "{to}");
    }
    let precision = |percent: &str| {
        let error = format!("intervals = 6\nerror = \"{percent}\"\nsize");
        key(&ONE.replace("size", &error))
    };
    assert_ne!(precision("2%"), key(&ONE.replace("size", "intervals = 6\nsize")));
    assert_ne!(precision("2%"), precision("3%"));
    assert_eq!(precision("2%"), precision("2.0%"));
    for share in ["", "share = [\"smk-p\"]\n", "cycles_together = 9\n", "alone = true\n"] {
        let pair = |share: &str| key(&format!("{share}{}", ONE.replace("vecadd", "bfs+vecadd")));
        assert_eq!(pair(share) == pair(""), share.is_empty(), "{share}");
    }
}

#[test]
fn a_scale_replaces_the_sizes_and_adds_a_limit_to_runs_of_one_workload() {
    let text = r#"
        size = "study"
        workloads = ["vecadd", { workload = "atax", size = "small" }, "bfs+kmeans"]
        mechanisms = ["base"]
        cycles_together = { study = 200, paper = 2000 }
        "#;
    let scale = StudyScale { size: Some(Size::Paper), max_instructions: Some(50), ..StudyScale::default() };
    let parameters = |text: &str, scale| -> Vec<(String, Option<u64>, Option<u64>)> {
        let study = Study::parse_at(text, Path::new("my.toml"), scale).unwrap_or_else(|e| panic!("{e}"));
        let of = |p: &Parameters| (p.size.clone(), p.max_instructions, p.cycles_together);
        study.points().iter().map(|point| of(&point.parameters)).collect()
    };
    let row = |size: &str, limit, cycles| (size.to_owned(), limit, cycles);
    let as_written = [row("study", None, None), row("small", None, None), row("study", None, Some(200))];
    assert_eq!(parameters(text, StudyScale::default()), as_written);
    let scaled = [row("paper", Some(50), None), row("paper", Some(50), None), row("paper", None, Some(2000))];
    assert_eq!(parameters(text, scale), scaled);
    let limit = |own: u64| parameters(&format!("max_instructions = {own}\n{text}"), scale)[0].1;
    assert_eq!((limit(40), limit(60)), (Some(40), Some(50)), "the smaller limit holds");
}

#[test]
fn a_scale_gives_intervals_to_runs_of_one_workload_without_a_limit_on_cycles() {
    let workloads =
        "workloads = [\"vecadd\", \"bfs+kmeans\"]\nmechanisms = [\"base\"]\ncycles_together = 9\n";
    let intervals = |text: &str, scale| -> Vec<Option<u64>> {
        let study = Study::parse_at(text, Path::new("my.toml"), scale).unwrap_or_else(|e| panic!("{e}"));
        study.points().iter().map(|point| point.parameters.intervals).collect()
    };
    let scale = StudyScale { intervals: Some(6), ..StudyScale::default() };
    assert_eq!(intervals(workloads, scale), [Some(6), None]);
    assert_eq!(intervals(&format!("max_cycles = 7\n{workloads}"), scale), [None, None]);
    assert_eq!(intervals(&format!("max_instructions = 7\n{workloads}"), scale), [Some(6), None]);
    let own = "intervals = 3\nworkloads = [\"vecadd\"]\nmechanisms = [\"base\"]\n";
    assert_eq!(intervals(own, scale), [Some(3)]);
}

#[test]
fn cycles_by_size_must_have_the_size_of_the_study() {
    let text = "size = \"tiny\"\nworkloads = [\"bfs+kmeans\"]\nmechanisms = [\"base\"]\ncycles_together = { study = 9 }\n";
    let said = error(text);
    assert!(said.contains("my.toml:4") && said.contains("has no `tiny`"), "{said}");
}

#[test]
fn a_key_stays_with_names_and_places_and_what_is_said_twice() {
    let key = |text: &str| study(text).points()[0].key.clone();
    let usual = key(ONE);
    for (from, to) in [
        ("size", "name = \"other\"\ntitle = \"T\"\nsize"),
        ("size", "timeout = \"1h\"\nsize"),
        ("size", "share = [\"smk-p\"]\ncycles_together = 9\nalone = true\nsize"),
        ("\"vecadd\"", "{ workload = \"vecadd\", label = \"V\" }"),
        ("size", "configs = [{ config = \"gtx480\", label = \"G\", set = { \"l1d.ways\" = 4 } }]\nsize"),
    ] {
        assert_eq!(key(&ONE.replace(from, to)), usual, "{to}");
    }
    let mechanism = |text: &str| key(&ONE.replace("base", text));
    assert_eq!(mechanism("hw-bdi"), mechanism("hw-bdi,md_kb=8"), "the usual value");
    assert_ne!(mechanism("hw-bdi"), mechanism("hw-bdi,md_kb=16"));
}

#[test]
fn a_key_follows_the_bytes_of_launch_files_wherever_they_lie() {
    let key = |ptx: &str, bytes: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let launch = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n\
                      [[arg]]\ntype = \"u32\"\nfile = \"data.txt\"\n";
        for (name, text) in [("k.toml", launch), ("k.ptx", ptx), ("data.txt", bytes)] {
            std::fs::write(folder.path().join(name), text).expect("written");
        }
        let text = "workloads = [\"k.toml\"]\nmechanisms = [\"base\"]\n";
        let path = folder.path().join("study.toml");
        Study::parse(text, &path).unwrap_or_else(|e| panic!("{e}")).points()[0].key.clone()
    };
    let ptx =
        ".version 4.0\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n ret;\n}\n";
    let usual = key(ptx, "1\n2\n");
    assert_eq!(key(ptx, "1\n2\n"), usual);
    assert_ne!(key(ptx, "1\n3\n"), usual);
    assert_ne!(key(&format!("{ptx}\n"), "1\n2\n"), usual);
}

#[test]
fn parts_that_do_not_suit_each_other_are_a_point_with_a_reason() {
    let text = "workloads = [\"vecadd\"]\nmechanisms = [\"base\"]\n\
                [[vary]]\nkey = \"l1d.index\"\nvalues = [\"bmod\", \"bxor\"]\n\
                [[vary]]\nkey = \"l1d.sets\"\nvalues = [8, 32]\n";
    let study = study(text);
    let reasons: Vec<Option<&str>> =
        study.points().iter().map(|point| point.work.as_ref().err().map(String::as_str)).collect();
    assert_eq!(reasons.iter().flatten().count(), 1, "{reasons:?}");
    assert!(reasons[2].is_some_and(|why| why.contains("l1d")), "bxor with 8 sets: {reasons:?}");
}

#[test]
fn every_parameter_of_a_row_is_among_the_columns_in_their_order() {
    let row = StudyRow::new("s", &point(), None, &[]);
    let names: Vec<&str> = row.parameters.iter().map(|(name, _)| name.as_str()).collect();
    let columns: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(names, columns[..names.len()]);
}

#[test]
fn a_key_follows_the_bytes_of_a_recorded_program_wherever_it_lies() {
    let key = |arguments: &str| {
        let record =
            ProgramRecord { name: "p".into(), arguments: arguments.into(), ..ProgramRecord::default() };
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("p.sprog"), record.to_bytes().expect("packed")).expect("written");
        let path = folder.path().join("study.toml");
        let study = Study::parse("workloads = [\"p.sprog\"]\nmechanisms = [\"base\"]\n", &path);
        let study = study.unwrap_or_else(|e| panic!("{e}"));
        let point = &study.points()[0];
        assert_eq!(point.parameters.size, "-", "a record has no size");
        assert!(point.work.is_ok(), "{:?}", point.work.as_ref().err());
        point.key.clone()
    };
    assert_eq!(key("1"), key("1"));
    assert_ne!(key("1"), key("2"));
}

#[test]
fn a_program_of_a_suite_is_the_record_of_its_size_in_the_folder_of_records() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("kept/mine")).expect("created");
    for size in ["tiny", "small"] {
        let record = ProgramRecord { name: "p".into(), arguments: size.into(), ..ProgramRecord::default() };
        let file = folder.path().join(format!("kept/mine/p-{size}.sprog"));
        std::fs::write(file, record.to_bytes().expect("packed")).expect("written");
    }
    let path = folder.path().join("study.toml");
    let list = "[\"mine/p\", { workload = \"mine/p\", size = \"small\" }, \"vecadd\"]";
    let text = format!("size = \"tiny\"\nworkloads = {list}\nmechanisms = [\"base\"]\n");
    let study =
        Study::parse(&format!("records = \"kept/\"\n{text}"), &path).unwrap_or_else(|e| panic!("{e}"));
    let points = study.points();
    let workload = |index: usize| points[index].parameters.workload.as_str();
    assert_eq!([workload(0), workload(1)], ["kept/mine/p-tiny.sprog", "kept/mine/p-small.sprog"]);
    assert_eq!([workload(2), &points[0].labels.workload], ["vecadd", "mine/p"]);
    assert_ne!(points[0].key, points[1].key);
    let error =
        |text: &str| Study::parse(text, &path).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error(&text).contains("study.toml:2: "), "{}", error(&text));
    let absent = format!("records = \"kept\"\n{}", text.replace("mine/p", "mine/q"));
    assert!(
        error(&absent).contains("study.toml:3: kept/mine/q-tiny.sprog: cannot read it"),
        "{}",
        error(&absent)
    );
}

#[test]
fn a_trace_of_addresses_takes_a_model_of_its_values_which_its_key_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces");
    std::fs::copy(traces.join("kernel-1.traceg"), path("k.traceg")).expect("copied");
    for (name, bytes) in [("a.bin", [1u8, 2]), ("b.bin", [1, 2]), ("c.bin", [1, 3])] {
        std::fs::write(path(name), bytes).expect("written");
    }
    let study = |workload: &str| {
        let text = format!("workloads = [\n{workload}]\nmechanisms = [\"hw-bdi\"]\n");
        Study::parse(&text, &path("s.toml"))
    };
    let model = |values: &str| format!("{{ workload = \"k.traceg\", values = \"{values}\" }}");
    let point = |workload: &str| study(workload).unwrap_or_else(|e| panic!("{e}")).into_points().remove(0);
    let key = |values: &str| point(&model(values)).key;
    let keys: BTreeSet<_> = ["zeros", "random", "random,seed=2", "a.bin", "c.bin"].map(key).into();
    assert_eq!(keys.len(), 5);
    assert!(!keys.contains(&point("\"k.traceg\"").key));
    assert_eq!(key("a.bin"), key("b.bin"), "the contents decide");
    let random = point(&model("random"));
    assert_eq!(random.labels.workload, "k.traceg random");
    assert!(random.parameters.command().contains(" --values random "), "{}", random.parameters.command());
    let error = |workload: &str| study(workload).err().map(|error| error.to_string()).unwrap_or_default();
    let unknown = error(&model("zero=1"));
    assert!(unknown.contains("s.toml:2: values zero=1: unknown class 'zero': must be one of"), "{unknown}");
    let own = error("{ workload = \"vecadd\", values = \"zeros\" }");
    assert!(own.contains("s.toml:2: values zeros: vecadd has values of its own"), "{own}");
}

#[test]
fn a_damaged_record_is_a_mistake_of_the_study() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("p.sprog"), "selvedge program 2\nnothing").expect("written");
    let text = "workloads = [\n\"p.sprog\"]\nmechanisms = [\"base\"]\n";
    let error = Study::parse(text, &folder.path().join("s.toml")).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("s.toml:2: ") && error.contains("is damaged")));
}

#[test]
fn the_first_open_point_of_each_workload_is_begun_before_all_others() {
    let study = study(
        "size = \"tiny\"\nworkloads = [\"vecadd\", \"bfs\"]\nmechanisms = [\"base\", \"hw-bdi\", \"bgp\"]\n",
    );
    let of = |costs: [f64; 6]| scouts(study.points(), &costs).into_iter().collect::<Vec<_>>();
    assert_eq!(of([1.0, 9.0, 9.0, 1.0, 9.0, 9.0]), [0, 3]);
    assert_eq!(of([0.0, 9.0, 9.0, 0.0, 0.0, 0.0]), [1], "what has a result says nothing");
    assert!(scouts(study.points(), &[]).is_empty(), "without costs the order is that of the list");
}

/// The key of a point depends on the compiler if the point runs Verilog.
#[test]
fn a_key_follows_the_compiler_of_verilog() {
    let key = |engine: &str, version: &str| {
        let mut study = study(&format!("engine = \"{engine}\"\n{}", ONE.replace("base", "hw-bdi")));
        let compiler: Arc<dyn BlockCompiler> = Arc::new(Named(version.into()));
        study.compile_with(&compiler);
        study.points()[0].key.clone()
    };
    for engine in ["verilog", "rtl+verilog", "model+verilog"] {
        assert_eq!(key(engine, "Verilator 5.006"), key(engine, "Verilator 5.006"), "{engine}");
        assert_ne!(key(engine, "Verilator 5.006"), key(engine, "Verilator 5.008"), "{engine}");
    }
    assert_eq!(key("rtl", "Verilator 5.006"), key("rtl", "Verilator 5.008"));
}

/// A compiler that only has an identity.
#[derive(Debug)]
struct Named(String);

impl BlockCompiler for Named {
    fn compile(
        &self,
        _: &dyn BlockEntry,
        _: &serde_json::Value,
    ) -> Result<Box<dyn CompiledBlock>, CompileError> {
        Err(CompileError("nothing is compiled".into()))
    }

    fn identity(&self) -> String {
        self.0.clone()
    }
}

/// Creates a workspace with a source of the simulator, of the emitter and of a command, and a lock file.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        ("sim/gpu/src/lib.rs", "fn gpu() {}"),
        ("sim/gpu/tests/all.rs", "fn test() {}"),
        ("gen/verilog/src/lib.rs", "fn emit() {}"),
        ("src/main.rs", "fn main() {}"),
        ("Cargo.lock", LOCK),
    ] {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    folder
}

/// Lock file in which the simulator depends on `solver`, and through `helper` on one of two versions of `math`. The command
/// depends on `colors`.
const LOCK: &str = r#"version = 4

[[package]]
name = "colors"
version = "1.0.0"
checksum = "c0"

[[package]]
name = "helper"
version = "2.0.0"
dependencies = [
 "math 1.0.0",
]

[[package]]
name = "math"
version = "1.0.0"
checksum = "m1"

[[package]]
name = "math"
version = "3.0.0"
checksum = "m3"

[[package]]
name = "selvedge"
version = "0.1.0"
dependencies = [
 "colors",
 "math 3.0.0",
 "selvedge-sim",
]

[[package]]
name = "selvedge-sim"
version = "0.1.0"
dependencies = [
 "helper",
 "solver",
]

[[package]]
name = "selvedge-testbenches"
version = "0.1.0"
dependencies = [
 "colors",
]

[[package]]
name = "solver"
version = "0.9.0"
checksum = "s9"
"#;

#[test]
fn a_fingerprint_follows_sources_and_the_versions_of_dependencies() {
    let usual = workspace();
    let of = |folder: &tempfile::TempDir| {
        [&SOURCES[..], &VERILOG].map(|folders| fingerprint(folder.path(), folders))
    };
    let [simulator, verilog] = of(&usual);
    assert_eq!(of(&workspace()), [simulator.clone(), verilog.clone()]);
    for (file, from, to, changes) in [
        ("Cargo.lock", "s9", "s8", [true, false]),
        ("Cargo.lock", "0.9.0", "0.9.1", [true, false]),
        ("Cargo.lock", "m1", "m0", [true, false]),
        ("Cargo.lock", "m3", "m0", [false, false]),
        ("Cargo.lock", "c0", "c1", [false, true]),
        ("sim/gpu/src/lib.rs", "gpu", "cpu", [true, false]),
        ("gen/verilog/src/lib.rs", "emit", "omit", [false, true]),
        ("sim/gpu/tests/all.rs", "test", "rest", [false, false]),
        ("src/main.rs", "main", "rain", [false, false]),
    ] {
        let folder = workspace();
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).expect("there");
        assert!(text.contains(from), "{file}: {from}");
        std::fs::write(&path, text.replace(from, to)).expect("written");
        let [other, emitter] = of(&folder);
        assert_eq!([other != simulator, emitter != verilog], changes, "{file}: {from}");
    }
}

/// The fingerprint also reads the real lock file of this workspace.
#[test]
fn the_fingerprint_of_the_simulator_follows_its_own_lock_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(lock) = std::fs::read_to_string(root.join("Cargo.lock")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let of = |lock: &str| {
        std::fs::write(folder.path().join("Cargo.lock"), lock).expect("written");
        fingerprint(folder.path(), &SOURCES)
    };
    let section = |name: &str| format!("name = \"{name}\"\nversion = \"");
    let changed = |name: &str| lock.replace(&section(name), &(section(name) + "9"));
    for name in ["rust-hdl-core", "rustc-hash", "selvedge-gpu"] {
        assert_ne!(of(&changed(name)), of(&lock), "{name}");
    }
    assert_eq!(of(&changed("plotters")), of(&lock), "charts decide no result");
}
