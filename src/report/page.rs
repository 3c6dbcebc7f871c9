//! Writes the page as one HTML file with its style, scripts and data. It loads nothing and opens from disk.
use super::Page;
use crate::error::Failure;
use crate::plot::is_xml;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Chart library; see `third_party/vega/README.md`.
const LIBRARY: [&str; 3] = [
    include_str!("../../third_party/vega/vega.min.js"),
    include_str!("../../third_party/vega/vega-interpreter.min.js"),
    include_str!("../../third_party/vega/vega-lite.min.js"),
];

/// Licenses of the library, which every copy must include.
const LICENSES: [(&str, &str); 3] = [
    ("Vega", include_str!("../../third_party/vega/LICENSE-vega")),
    ("Vega interpreter", include_str!("../../third_party/vega/LICENSE-vega-interpreter")),
    ("Vega-Lite", include_str!("../../third_party/vega/LICENSE-vega-lite")),
];

/// The page's own scripts, in the order of their dependencies.
const SCRIPTS: [&str; 4] = [
    include_str!("page/model.js"),
    include_str!("page/tables.js"),
    include_str!("page/charts.js"),
    include_str!("page/page.js"),
];

const STYLE: &str = include_str!("page/style.css");

/// Returns the page as HTML.
///
/// Its content security policy allows only the page's own scripts, identified by hashes, and loads nothing.
pub fn html(page: &Page) -> Result<String, Failure> {
    let data = serde_json::to_string(page)
        .map_err(|e| Failure::simulation(format!("the page's data have no JSON form: {e}")))?;
    let scripts: Vec<&str> = LIBRARY.into_iter().chain(SCRIPTS).collect();
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<header><h1>{title}</h1><p id=\"summary\"></p></header>\n\
         <main><nav aria-label=\"Sections\"></nav><noscript><p>The tables and charts need JavaScript, which runs from this file \
         alone.</p></noscript></main>\n<footer>{}</footer>\n<script type=\"application/json\" id=\"data\">{}</script>\n",
        policy(&scripts),
        licenses(),
        embedded(&data),
        title = escaped(&page.title),
    );
    for script in scripts {
        let _ = writeln!(text, "<script>{script}</script>");
    }
    text.push_str("</body>\n</html>\n");
    Ok(text)
}

/// Returns the content security policy, which allows only these scripts.
fn policy(scripts: &[&str]) -> String {
    let hashes: String = scripts
        .iter()
        .map(|script| format!(" 'sha256-{}'", BASE64.encode(Sha256::digest(script.as_bytes()))))
        .collect();
    format!(
        "default-src 'none'; script-src{hashes}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    )
}

/// Returns the licenses of the included library.
fn licenses() -> String {
    let mut text = String::from("<details><summary>Licenses of the chart library</summary>");
    for (name, license) in LICENSES {
        let _ = write!(text, "<h3>{name}</h3><pre>{}</pre>", escaped(license));
    }
    text + "</details>"
}

/// Escapes text between tags, and replaces characters that HTML and XML do not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if !is_xml(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

/// Escapes JSON inside a script element, where `<` could begin an end tag or a comment. JSON has these characters only
/// in strings.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_script_can_end_its_element() {
        for script in LIBRARY.into_iter().chain(SCRIPTS) {
            let lower = script.to_lowercase();
            assert!(!lower.contains("</script") && !lower.contains("<!--"));
        }
    }

    #[test]
    fn a_title_has_no_character_that_xml_lacks() {
        assert_eq!(
            escaped("a\u{1}\u{1b}[2J<b>\0\u{ffff}\n"),
            "a\u{fffd}\u{fffd}[2J&lt;b&gt;\u{fffd}\u{fffd}\n"
        );
    }

    #[test]
    fn embedded_json_has_the_same_value_and_no_tag() {
        let value = serde_json::json!({"</script><script>alert(1)": "<!-- & \u{2028}"});
        let text = embedded(&value.to_string());
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON"), value);
    }

    #[test]
    fn the_policy_names_each_script_by_its_hash() {
        // printf alert | openssl dgst -sha256 -binary | base64
        let policy = policy(&["alert"]);
        assert!(
            policy.contains("script-src 'sha256-35BQWN1npAn++BSA6B5HNlcrDttNf7mHxpXNB+Jg7IE=';"),
            "{policy}"
        );
    }
}
