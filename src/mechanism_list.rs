//! Lists of mechanisms, as `--mechanisms` takes them.
use selvedge_sim::mechanism;

/// Splits at the commas before mechanisms. A word with `=` that names no mechanism is an option of the preceding one.
pub fn split(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(',') {
        let name = word.trim().split(['=', '+']).next().unwrap_or_default();
        let is_option = word.contains('=') && mechanism::all().iter().all(|info| info.name != name);
        match found.last_mut() {
            Some(last) if is_option => *last = format!("{last},{word}"),
            _ => found.push(word.trim().into()),
        }
    }
    found
}
