//! Suggestions of valid names, for messages about a wrong one.

/// Max names in a message.
const MOST: usize = 3;

/// Returns the end of a message about the wrong name `wrong`. It lists all names if they are few. Otherwise it lists the
/// nearest three, first names that contain the word, and `command`, which prints all names.
pub fn allowed<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, command: &str) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    let count = names.len();
    if count <= MOST {
        return format!("must be {}", names.join(" or "));
    }
    // Distances to a very long name take much time and are meaningless.
    let wrong: String = wrong.chars().take(80).flat_map(char::to_lowercase).collect();
    names.sort_by_cached_key(|name| {
        let name = name.to_lowercase();
        (wrong.is_empty() || !name.contains(&wrong), strsim::damerau_levenshtein(&wrong, &name))
    });
    format!("must be one of {count}, nearest {}; `{command}` prints all", names[..MOST].join(", "))
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn few_names_are_all_listed() {
        assert_eq!(allowed("rlt", ["model", "rtl"], "list"), "must be model or rtl");
    }

    #[test]
    fn of_many_names_the_nearest_are_listed() {
        let names = ["vecadd", "atax", "bicg", "bfs", "btree"];
        let said = allowed("Vecsub", names, "selvedge list workloads");
        assert!(said.starts_with("must be one of 5, nearest vecadd, "), "{said}");
        assert!(said.ends_with("; `selvedge list workloads` prints all"), "{said}");
    }

    #[test]
    fn a_name_that_contains_the_word_is_nearer_than_any_other() {
        let names = ["bgp", "bpg", "spp", "bdi_compressor", "bdi_decompressor"];
        assert!(allowed("bdi", names, "c").contains("nearest bdi_compressor, bdi_decompressor, bgp"));
    }

    #[test]
    fn names_as_near_as_each_other_keep_their_order() {
        assert!(allowed("zzzz", ["aaaa", "bbbb", "cccc", "dddd"], "c").contains("nearest aaaa, bbbb, cccc"));
    }
}
