//! Plain text tables: left-aligned words, right-aligned numbers.

use selvedge_hw::printable::printable;

/// Rows of cells under a head.
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column titles.
    pub fn new(head: &[&str]) -> Self {
        Table { head: head.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row with one cell per column; cells may hold names of others' files.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.head.len(), "a cell per column");
        self.rows.push(cells.iter().map(|cell| printable(cell).into_owned()).collect());
    }

    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let head = &self.head;
        let rule = vec!["---".to_string(); head.len()];
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        [head, &rule].into_iter().chain(&self.rows).map(line).collect()
    }

    /// The table as lines of text.
    pub fn render(&self) -> String {
        let head = &self.head;
        let width =
            |c: usize| self.rows.iter().chain([head]).map(|r| r[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let is_number =
            |c: usize| self.rows.iter().all(|r| r[c].starts_with(|x: char| x.is_ascii_digit() || x == '-'));
        let numbers: Vec<bool> = (0..head.len()).map(is_number).collect();
        let mut text = String::new();
        for row in [head].into_iter().chain(&self.rows) {
            let cells = row.iter().enumerate().map(|(c, cell)| {
                let pad = " ".repeat(widths[c] - cell.chars().count());
                if numbers[c] { format!("{pad}{cell}") } else { format!("{cell}{pad}") }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}
