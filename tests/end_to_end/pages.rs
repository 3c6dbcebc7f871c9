//! Pages of `docs/`: every link leads to a file, and the book has every page. Also checks the completions and manual
//! pages.
use crate::browser::{Page, chromium};
use crate::command::{selvedge, selvedge_in};
use selvedge_area::liberty::LIBRARIES;
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the Markdown files below a folder.
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns the link targets of a page that are files, without their anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files =
        targets.filter(|target| !target.contains("://") && !target.starts_with('#') && !target.contains(' '));
    files.filter_map(|target| target.split('#').next()).collect()
}

#[test]
fn every_link_leads_to_a_file() {
    let mut all = pages(Path::new("docs"));
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(PathBuf::from));
    let mut count = 0;
    for page in &all {
        let text = fs::read_to_string(page).expect("the page is there");
        let folder = page.parent().expect("a folder");
        for link in links(&text) {
            count += 1;
            assert!(folder.join(link).exists(), "{}: {link}", page.display());
        }
    }
    assert!(count > 100, "{count} links in {} pages", all.len());
}

#[test]
fn a_link_is_found_with_its_anchor_cut_off() {
    assert_eq!(links("[a](b.md#c) and [d](https://e) [f](#g) ![h](i.svg)"), ["b.md", "i.svg"]);
}

#[test]
fn the_book_has_every_page_of_docs() {
    let text = fs::read_to_string("docs/SUMMARY.md").expect("the summary is there");
    let listed: Vec<PathBuf> = links(&text).into_iter().map(|link| Path::new("docs").join(link)).collect();
    for page in pages(Path::new("docs")) {
        let is_summary = page.ends_with("SUMMARY.md");
        assert!(is_summary || listed.contains(&page), "docs/SUMMARY.md lacks {}", page.display());
    }
}

#[test]
fn every_command_has_a_manual_page_and_completions() {
    let folder = tempfile::tempdir().expect("a folder");
    let help = selvedge(&["--help"]);
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A deeper line continues the description of the command above.
    let first = commands.filter(|line| !line.starts_with("   "));
    let names: Vec<&str> = first.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.contains(&"config"), "{help}");
    assert!(selvedge_in(folder.path(), &["man", "-o", "man"]).status.success());
    let completions = selvedge(&["completions", "bash"]);
    for name in names.into_iter().filter(|name| *name != "help") {
        let page =
            fs::read_to_string(folder.path().join(format!("man/selvedge-{name}.1"))).unwrap_or_default();
        assert!(page.contains(".TH"), "{name} has no page");
        assert!(completions.contains(&format!("selvedge__subcmd__{name}")), "{name}");
    }
}

#[test]
fn the_doctor_knows_what_for_each_tool_is() {
    let table = selvedge(&["doctor"]);
    for (tool, serves) in [("yosys", "area: synthesis"), ("valgrind", "bench --instructions")] {
        let row = table.lines().find(|line| line.starts_with(tool)).unwrap_or_default();
        assert!(row.contains(serves), "{table}");
    }
}

#[test]
fn the_doctor_lists_each_cell_library_with_its_package() {
    let table = selvedge(&["doctor"]);
    for library in LIBRARIES {
        let path = Path::new(library.path);
        let file = path.file_name().and_then(|name| name.to_str()).expect("a file");
        let row = table.lines().find(|line| line.starts_with(file)).unwrap_or_default();
        assert!(row.ends_with(library.package), "{table}");
        assert_eq!(row.contains(library.path), path.is_file(), "{table}");
    }
}

#[test]
fn a_key_is_explained_with_what_it_must_be() {
    let text = selvedge(&["config", "explain", "l1d.mshr_entries"]);
    assert!(text.contains("default  32\n") && text.contains("must be  1 to "), "{text}");
    let output = selvedge_in(Path::new("."), &["config", "explain", "l1d.mshr"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("l1d.mshr_entries") && error.lines().count() == 1, "{error}");
}

#[test]
fn the_pages_of_keys_and_statistics_are_what_the_commands_print() {
    for (page, command) in [
        ("docs/reference/configuration.md", &["config", "explain", "--markdown"][..]),
        ("docs/reference/statistics.md", &["stats", "list", "--markdown"]),
    ] {
        let text = fs::read_to_string(page).expect("the page is there");
        assert!(
            text.ends_with(&selvedge(command)),
            "{page} must end with what `selvedge {}` prints",
            command.join(" ")
        );
    }
}

#[test]
fn the_changelog_has_the_form_of_keep_a_changelog() {
    let text = fs::read_to_string("CHANGELOG.md").expect("the changelog is there");
    let releases: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(releases.first(), Some(&"[Unreleased]"));
    let oldest = releases.last().copied().unwrap_or_default();
    assert!(oldest.starts_with("[0.1.0] - 20"), "{oldest}");
    for kind in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
        assert!(kinds.contains(&kind), "### {kind}");
    }
}

/// Returns the values of an attribute in a page of HTML.
fn attribute<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    html.split(&format!(" {name}=\"")).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn the_book_builds_without_a_warning_and_without_a_dead_link() {
    let mdbook = fs::canonicalize("target/mdbook/bin/mdbook");
    let Ok(mdbook) = mdbook else {
        return skip("the_book_builds_without_a_warning_and_without_a_dead_link", "mdbook is not installed");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let built = Command::new(mdbook).args(["build", "-d"]).arg(folder.path()).output().expect("it starts");
    let log = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && !log.contains("WARN") && !log.contains("ERROR"), "{log}");
    let mut checked = 0;
    for page in pages(Path::new("docs")).into_iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.strip_prefix("docs").expect("a page of docs").with_extension("html");
        let path = folder.path().join(&name);
        let html =
            fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is not in the book", name.display()));
        let links = attribute(&html, "href");
        for link in links.into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { path.clone() } else { path.parent().expect("a folder").join(file) };
            assert!(target.exists(), "{}: {link}", name.display());
            checked += 1;
            if !anchor.is_empty() {
                let target = fs::read_to_string(&target).expect("a page");
                assert!(attribute(&target, "id").contains(&anchor), "{}: {link}", name.display());
            }
        }
    }
    assert!(checked > 1000, "{checked} links");
    let files = fs::read_dir(folder.path()).expect("the book").map(|entry| entry.expect("an entry").path());
    let index = files.filter(|path| path.display().to_string().contains("searchindex"));
    let index: String = index.map(|path| fs::read_to_string(path).expect("text")).collect();
    assert!(
        index.contains("reference/blocks/milg.html"),
        "the search finds a block: mdbook needs its feature `search`"
    );
}

/// JavaScript that returns the texts of pictures that leave their box, cross another box, or touch another text. The box of
/// a text is the smallest one that contains its anchor.
const TEXTS_OUTSIDE: &str = r#"[...document.querySelectorAll("figure")].flatMap(figure => {
  const around = ({ x, y, width, height }) => ({ x, y, width, height });
  const boxes = [...figure.querySelectorAll("rect")].map(rect => around(rect.getBBox()));
  const inside = (a, b) => a.x >= b.x && a.y >= b.y && a.x + a.width <= b.x + b.width && a.y + a.height <= b.y + b.height;
  const touches = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height;
  const texts = [...figure.querySelectorAll("text")].map(text => ({ text, box: around(text.getBBox()) }));
  return texts.filter(({ text, box }) => {
    const anchor = { x: Number(text.getAttribute("x")), y: Number(text.getAttribute("y")), width: 0, height: 0 };
    const own = boxes.filter(other => inside(anchor, other)).sort((a, b) => a.width * a.height - b.width * b.height)[0];
    const crossed = boxes.some(other => touches(box, other) && !inside(box, other));
    const covered = texts.some(other => other.text !== text && touches(box, other.box));
    return !own || !inside({ ...box, width: box.width + 2 }, own) || crossed || covered;
  }).map(({ text }) => figure.id + ": " + text.textContent);
})"#;

/// Returns the drawings of the pages, sorted by path.
fn pictures(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            found.extend(pictures(&path));
        } else if path.extension().is_some_and(|extension| extension == "svg") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the texts of drawings, each with its name, that leave their boxes in a font.
fn texts_outside(program: &str, drawings: &[(String, String)], font: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pictures.html");
    let fonts = "font-family=\"Helvetica, Arial, sans-serif\"";
    let mut html = "<!doctype html><body>".to_owned();
    for (name, svg) in drawings {
        assert!(svg.contains(fonts), "{name}: the fonts of the picture");
        let svg = svg.replace(fonts, &format!("font-family=\"{font}\""));
        html += &format!("<figure id=\"{name}\">{svg}</figure>");
    }
    // The page is complete once this runs, and `open` waits for it.
    html += "<script>document.documentElement.dataset.charts = 0</script>";
    fs::write(&file, html).expect("written");
    let mut page = Page::open(program, &file, "light");
    let texts = page.evaluate("document.querySelectorAll('svg text').length");
    assert!(texts.as_u64().is_some_and(|count| count > 5 * drawings.len() as u64), "{texts}");
    let found = page.evaluate(TEXTS_OUTSIDE);
    found.as_array().expect("a list").iter().map(|text| text.as_str().expect("text").to_owned()).collect()
}

/// JavaScript that returns the texts of a chart that leave it or overlap another text.
const TEXTS_OVERLAPPING: &str = r#"(() => {
  const svg = document.querySelector("svg");
  const edge = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(text => [text.textContent.trim(), text.getBoundingClientRect()]);
  const wrong = [];
  texts.forEach(([name, a], at) => {
    if (a.left < edge.left || a.right > edge.right || a.top < edge.top || a.bottom > edge.bottom) wrong.push(name + " leaves the chart");
    for (const [other, b] of texts.slice(at + 1)) {
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) wrong.push(name + " overlaps " + other);
    }
  });
  return wrong;
})()"#;

/// Charts that the command draws. All other pictures are drawn by hand.
const CHARTS: [&str; 4] = ["claims", "validation", "area-speedup", "demo"];

/// Returns the texts of the chart that leave it or overlap in DejaVu Sans, the widest of the common fonts.
fn texts_overlapping(program: &str, svg: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chart.html");
    let fonts = "font-family=\"sans-serif\"";
    assert!(svg.contains(fonts), "the fonts of the chart");
    let svg = svg.replace(fonts, "font-family=\"DejaVu Sans\"");
    fs::write(&file, format!("<!doctype html><html data-charts=\"0\"><body>{svg}</body></html>"))
        .expect("written");
    let mut page = Page::open(program, &file, "light");
    let found = page.evaluate(TEXTS_OVERLAPPING);
    found.as_array().expect("a list").iter().map(|text| text.as_str().expect("text").to_owned()).collect()
}

#[test]
fn the_texts_of_the_charts_of_results_do_not_overlap() {
    let name = "the_texts_of_the_charts_of_results_do_not_overlap";
    let Some(program) = chromium() else { return skip(name, "no chromium") };
    for chart in CHARTS {
        let svg = fs::read_to_string(format!("docs/images/{chart}.svg")).expect("the chart is there");
        assert_eq!(texts_overlapping(program, &svg), [""; 0], "{chart}");
    }
    let svg = fs::read_to_string("docs/images/area-speedup.svg").expect("the chart is there");
    let longer = svg.replace("\ndmil\n", &format!("\n{}\n", "dmil".repeat(40)));
    assert!(!texts_overlapping(program, &longer).is_empty(), "a long name leaves the chart");
}

#[test]
fn the_texts_of_the_drawings_stay_in_their_boxes() {
    let name = "the_texts_of_the_drawings_stay_in_their_boxes";
    let Some(program) = chromium() else { return skip(name, "no chromium") };
    let read = |path: PathBuf| {
        (path.display().to_string(), fs::read_to_string(&path).expect("the picture is there"))
    };
    let is_drawing = |path: &PathBuf| !CHARTS.iter().any(|chart| path.ends_with(format!("{chart}.svg")));
    let drawings: Vec<_> =
        pictures(Path::new("docs/images")).into_iter().filter(is_drawing).map(read).collect();
    assert!(drawings.len() > 15, "{}", drawings.len());
    // DejaVu Sans is the widest of the common fonts.
    for font in ["DejaVu Sans", "Arial, sans-serif"] {
        assert_eq!(texts_outside(program, &drawings, font), [""; 0], "{font}");
    }
}

#[test]
fn a_text_that_leaves_its_box_is_found() {
    let Some(program) = chromium() else {
        return skip("a_text_that_leaves_its_box_is_found", "no chromium");
    };
    let svg = fs::read_to_string("docs/images/overview.svg").expect("the picture is there");
    let longer = svg.replace("registers and logic", "registers and the logic between these registers");
    let covered = svg.replace("x=\"340\" y=\"146\"", "x=\"340\" y=\"136\"");
    for (changed, count) in [(longer, 1), (covered, 2)] {
        let drawings = [("overview".to_owned(), changed)];
        assert_eq!(texts_outside(program, &drawings, "DejaVu Sans").len(), count);
    }
}
