//! Plain text tables: words are left-aligned and numbers right-aligned. A table is as wide as its content, or fits a
//! terminal.
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use selvedge_hw::printable::printable;

/// Blanks between two columns.
const GAP: usize = 2;

/// Max length of a word that stays in one piece when a column is wrapped.
const LONGEST_WORD: usize = 24;

/// A table of text cells under column titles.
#[derive(Clone)]
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Columns that a narrow terminal omits, in the order of omission.
    dispensable: Vec<&'static str>,
}

impl Table {
    /// Returns an empty table with these column titles.
    pub fn new(head: &[&str]) -> Self {
        Table {
            head: head.iter().map(ToString::to_string).collect(),
            rows: Vec::new(),
            dispensable: Vec::new(),
        }
    }

    /// Sets the columns to omit one by one while the table is wider than the terminal.
    #[must_use]
    pub fn dispensable(mut self, columns: &[&'static str]) -> Self {
        debug_assert!(columns.iter().all(|column| self.position(column).is_some()), "columns of the table");
        self.dispensable = columns.to_vec();
        self
    }

    /// Adds a row with one cell per column. Cells may contain names from external files, so unprintable characters are
    /// replaced.
    pub fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.head.len(), "a cell per column");
        self.rows.push(cells.iter().map(|cell| printable(cell).into_owned()).collect());
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table as Markdown.
    pub fn markdown(&self) -> String {
        let head = &self.head;
        let rule = vec!["---".to_string(); head.len()];
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        [head, &rule].into_iter().chain(&self.rows).map(line).collect()
    }

    /// Returns the table as text of any width, with one line per row.
    pub fn render(&self) -> String {
        self.lay_out(None)
    }

    /// Returns the table as text. If `width` is given, lines have at most `width` characters. Words wrap first. If that is
    /// insufficient, columns are omitted and named: first the dispensable ones, then from the right. The first column stays.
    pub fn render_within(&self, width: Option<usize>) -> String {
        let Some(width) = width.filter(|width| self.width(Self::natural) > *width) else {
            return self.render();
        };
        let mut table = self.clone();
        let mut missing = Vec::new();
        while table.width(Self::least) > width && table.head.len() > 1 {
            let dispensable = table.dispensable.iter().find_map(|column| table.position(column));
            let at = dispensable.unwrap_or(table.head.len() - 1);
            missing.push(table.head[at].clone());
            table.remove(at);
        }
        let mut text = table.lay_out(Some(width));
        if !missing.is_empty() {
            text += &format!("(a wider terminal shows: {})\n", missing.join(", "));
        }
        text
    }

    /// Omits a column if all its cells are empty.
    #[must_use]
    pub fn without_empty(mut self, column: &str) -> Self {
        if let Some(at) = self.position(column).filter(|at| self.rows.iter().all(|row| row[*at].is_empty())) {
            self.remove(at);
        }
        self
    }

    fn position(&self, column: &str) -> Option<usize> {
        self.head.iter().position(|title| *title == column)
    }

    fn remove(&mut self, at: usize) {
        self.head.remove(at);
        self.rows.iter_mut().for_each(|row| drop(row.remove(at)));
    }

    /// Returns the title and the cells of a column.
    fn column(&self, at: usize) -> impl Iterator<Item = &str> {
        [self.head[at].as_str()].into_iter().chain(self.rows.iter().map(move |row| row[at].as_str()))
    }

    fn holds_numbers(&self, at: usize) -> bool {
        let is_number = |cell: &str| {
            cell.starts_with(|first: char| first.is_ascii_digit() || first == '-')
                && !cell.contains(", ")
                && !cell.contains(" to ")
        };
        self.rows.iter().all(|row| is_number(&row[at]))
    }

    /// Returns the width of a column without wrapping.
    fn natural(&self, at: usize) -> usize {
        self.column(at).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    /// Returns the min width of a column.
    fn least(&self, at: usize) -> usize {
        if self.holds_numbers(at) {
            return self.natural(at);
        }
        let words = self.column(at).flat_map(str::split_whitespace).map(|word| word.chars().count());
        words.max().unwrap_or(0).min(LONGEST_WORD)
    }

    /// Returns the width of the table if `of` returns the width of each column.
    fn width(&self, of: fn(&Self, usize) -> usize) -> usize {
        let columns = self.head.len();
        (0..columns).map(|at| of(self, at)).sum::<usize>() + GAP * columns.saturating_sub(1)
    }

    fn lay_out(&self, width: Option<usize>) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).set_header(&self.head).add_rows(&self.rows);
        table.set_content_arrangement(ContentArrangement::Disabled);
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
        }
        let last = self.head.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            let gap = if at == last { 0 } else { GAP };
            column.set_padding((0, gap as u16));
            if self.holds_numbers(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if width.is_some() {
                let least = (self.least(at) + gap) as u16;
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
            }
        }
        table.trim_fmt() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["mechanism", "what", "cycles"]).dispensable(&["cycles"]);
        table.row(vec!["base".into(), "runs the baseline GPU without a mechanism".into(), "1234".into()]);
        table.row(vec!["swl".into(), "limits each scheduler to its N oldest warps".into(), "5".into()]);
        table
    }

    #[test]
    fn a_row_is_a_line_where_there_is_room() {
        let wide = "mechanism  what                                         cycles\n\
                    base       runs the baseline GPU without a mechanism      1234\n\
                    swl        limits each scheduler to its N oldest warps       5\n";
        assert_eq!(table().render(), wide);
        assert_eq!(table().render_within(Some(62)), wide);
        assert_eq!(table().render_within(None), wide);
    }

    #[test]
    fn words_wrap_in_a_narrow_terminal() {
        let text = table().render_within(Some(50));
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert!(text.lines().count() > 3 && text.contains("1234"), "{text}");
    }

    #[test]
    fn a_column_is_left_out_and_named_where_wrapping_does_not_suffice() {
        let text = table().render_within(Some(24));
        assert!(text.lines().next().is_some_and(|head| !head.contains("cycles")), "{text}");
        assert!(text.ends_with("(a wider terminal shows: cycles)\n"), "{text}");
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out_on_request() {
        let mut table = Table::new(&["workload", "speedup"]);
        table.row(vec!["bfs".into(), String::new()]);
        assert_eq!(table.clone().without_empty("speedup").render(), "workload\nbfs\n");
        table.row(vec!["atax".into(), "1.016".into()]);
        assert!(table.without_empty("speedup").render().contains("1.016"));
    }

    #[test]
    fn a_table_without_rows_has_its_head() {
        assert_eq!(Table::new(&["a", "b"]).render(), "a  b\n");
    }
}
