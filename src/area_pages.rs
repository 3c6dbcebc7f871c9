//! Text on the pages of `selvedge area --markdown` in addition to the figures.

/// Explains the meaning and the limits of the figures.
pub const PAGE: &str = include_str!("area_page.md");

/// Explains the sums, and why they differ from the papers' sums.
pub const SYSTEMS_PAGE: &str = include_str!("area_systems_page.md");

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_blocks::find;

    #[test]
    fn the_checked_in_pages_say_what_new_ones_would() {
        for (path, text) in
            [("docs/reference/area.md", PAGE), ("docs/reference/area-systems.md", SYSTEMS_PAGE)]
        {
            let page = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let (title, rest) = text.split_once('\n').expect("a title");
            assert!(
                page.starts_with(title) && page.contains(rest),
                "{path}: its words are not the template's"
            );
        }
    }

    #[test]
    fn storage_beside_the_papers_claims_is_the_blocks() {
        let bits = |block: &str| {
            let entry = find(block).expect("a block");
            entry.facts(&entry.defaults()).expect("facts").storage_bits()
        };
        let stated = [
            ("latte_controller", "496 bits, "),
            ("bgp", "4,386 bits "),
            ("bpg", "4,449 bits in each SM"),
            ("milg", "44 bits "),
            ("qbmi", "127 bits for two kernels"),
            ("md_cache", "72,054 bits "),
            ("awc", "56,001 bits in each SM"),
        ];
        for (block, words) in stated {
            assert!(PAGE.contains(&format!("| {words}")), "{words}");
            let number: String =
                words.chars().take_while(|c| *c != ' ').filter(char::is_ascii_digit).collect();
            assert_eq!(number, bits(block).to_string(), "{block}");
        }
        let kilobytes = |block| format!("{:.1}", bits(block) as f64 / 8192.0);
        let [table, compressor, decompressor, builder] =
            ["sc_vft", "sc_compressor", "sc_decompressor", "sc_code_builder"].map(kilobytes);
        let words =
            format!("| {table}, {compressor} and {decompressor} KB, and {builder} KB for the builder");
        assert!(PAGE.contains(&words), "{words}");
    }

    #[test]
    fn the_page_of_areas_has_values_of_the_tables() {
        let page =
            |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let cells = |line: &str| -> Vec<String> {
            line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
        };
        let tables = page("docs/reference/area.md");
        let row = |block: &str, goal: &str| {
            let line = tables.lines().find(|line| line.starts_with(&format!("| {block} | {goal} |")));
            cells(line.unwrap_or_else(|| panic!("docs/reference/area.md: {block} for {goal}")))
        };
        let shown = page("docs/area.md");
        let shown: Vec<Vec<String>> = shown
            .lines()
            .filter(|line| line.starts_with("| `") && !line.starts_with("| `-"))
            .map(cells)
            .collect();
        for one in &shown {
            let block = one[0].trim_matches('`');
            let (area, delay) = (row(block, "area"), row(block, "delay"));
            let expected = [&area[2], &area[12], &delay[2], &delay[12], &area[13], &area[8]];
            assert_eq!(one[1..].iter().collect::<Vec<_>>(), expected, "{block}");
        }
        assert!(shown.len() > 15, "{} blocks", shown.len());
    }
}
