//! Suggestions of valid names, for messages about a wrong one.

/// Max names in a message.
const MOST: usize = 3;

/// Returns the end of a message about the wrong name `wrong`. It lists all names if they are few. Otherwise it lists up to
/// three [similar](is_near) names, if any, and `command`, which prints all names.
pub fn allowed<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, command: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let count = names.len();
    if count <= MOST {
        return format!("must be {}", names.join(" or "));
    }
    let near = nearest(wrong, names);
    let near = if near.is_empty() { String::new() } else { format!(", nearest {}", near.join(", ")) };
    format!("must be one of {count}{near}; `{command}` prints all")
}

/// Returns up to three of the names that are [similar](is_near) to `wrong`, the most similar first. Names that contain
/// the word are the most similar.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<&str> = names.into_iter().filter(|name| is_near(wrong, name)).collect();
    near.sort_by_cached_key(|name| order(wrong, name));
    near.truncate(MOST);
    near
}

/// Returns whether a user who wrote `wrong` may have meant `name`: if one contains the other, or if at most a third of the
/// characters differ. Case does not matter.
pub fn is_near(wrong: &str, name: &str) -> bool {
    let (wrong, name) = (folded(wrong), name.to_lowercase());
    let part = |whole: &str, part: &str| part.len() >= 2 && whole.contains(part);
    let most = wrong.chars().count().max(name.chars().count()).div_ceil(3);
    part(&name, &wrong)
        || (part(&wrong, &name) && 2 * name.len() >= wrong.len())
        || strsim::damerau_levenshtein(&wrong, &name) <= most
}

/// Returns the sort key of a name: whether it lacks the word, and its distance.
fn order(wrong: &str, name: &str) -> (bool, usize) {
    let (wrong, name) = (folded(wrong), name.to_lowercase());
    (wrong.is_empty() || !name.contains(&wrong), strsim::damerau_levenshtein(&wrong, &name))
}

/// Returns the beginning of the word in lower case. Distances to a very long word take much time and are meaningless.
fn folded(wrong: &str) -> String {
    wrong.chars().take(80).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{allowed, is_near};

    #[test]
    fn few_names_are_all_listed() {
        assert_eq!(allowed("rlt", ["model", "rtl"], "list"), "must be model or rtl");
    }

    #[test]
    fn of_many_names_the_nearest_are_listed() {
        let names = ["vecadd", "atax", "bicg", "bfs", "btree"];
        let said = allowed("Vecad", names, "selvedge list workloads");
        assert!(said.starts_with("must be one of 5, nearest vecadd;"), "{said}");
        assert!(said.ends_with("; `selvedge list workloads` prints all"), "{said}");
    }

    #[test]
    fn a_name_that_contains_the_word_is_nearer_than_any_other() {
        let names = ["bgp", "bpg", "spp", "bdi_compressor", "bdi_decompressor"];
        assert!(allowed("bdi", names, "c").contains("nearest bdi_compressor, bdi_decompressor;"));
    }

    #[test]
    fn names_as_near_as_each_other_keep_their_order() {
        assert!(allowed("aaaz", ["aaab", "bbbb", "aaac", "aaad"], "c").contains("nearest aaab, aaac, aaad"));
    }

    #[test]
    fn a_word_unlike_all_names_gets_no_suggestion() {
        let names = ["vecadd", "scan", "hotspot", "kmeans", "bfs"];
        let said = allowed("version", names, "selvedge list workloads");
        assert_eq!(said, "must be one of 5; `selvedge list workloads` prints all");
        for (wrong, name) in [("vecad", "vecadd"), ("kmean", "kmeans"), ("BFS", "bfs"), ("hw-bdy", "hw-bdi")]
        {
            assert!(is_near(wrong, name), "{wrong}");
        }
        for (wrong, name) in [("", "bfs"), ("nosuch", "bicg"), ("b", "bfs"), ("matmul.cu", "atax")] {
            assert!(!is_near(wrong, name), "{wrong}");
        }
    }
}
