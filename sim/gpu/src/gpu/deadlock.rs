//! The report of a deadlock: who waits for what, on one line of bearable length.

/// Most lines of a deadlock's report.
const SHOWN: usize = 12;

/// Most lines of it for each component: warps, L1D, crossbar, ...
const SHOWN_OF_EACH: usize = 2;

/// The first lines of every component in `groups`, and how many there are beside them.
pub(super) fn report(groups: &[Vec<String>]) -> String {
    let (mut shown, mut more) = (Vec::new(), 0);
    for group in groups {
        let mut components: Vec<(&str, usize)> = Vec::new();
        for line in group {
            let of = component(line);
            let at = components.iter().position(|(known, _)| *known == of).unwrap_or_else(|| {
                components.push((of, 0));
                components.len() - 1
            });
            components[at].1 += 1;
            if components[at].1 <= SHOWN_OF_EACH && shown.len() < SHOWN {
                shown.push(line.as_str());
            } else {
                more += 1;
            }
        }
    }
    let mut text = shown.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// The component that a line of a deadlock's report is about: its first words, without numbers.
fn component(line: &str) -> &str {
    let end = line.find(" (").into_iter().chain(line.find(": ")).min().unwrap_or(line.len());
    line[..end].trim_end_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lines_of_one_component_leave_room_for_the_others() {
        let warps = (0..48).map(|n| format!("sm0 warp {n} (kernel k) waits"));
        let rest = ["sm0 L1D MSHR: line 0x80 waits", "sm0 mechanism: busy"].map(String::from);
        let group: Vec<String> = warps.chain(rest).collect();
        let expected = "sm0 warp 0 (kernel k) waits; sm0 warp 1 (kernel k) waits; sm0 L1D MSHR: line 0x80 waits; \
                        sm0 mechanism: busy; and 46 more";
        assert_eq!(report(std::slice::from_ref(&group)), expected);
        assert_eq!(report(&vec![group; 100]).matches("; ").count(), SHOWN);
        assert_eq!(report(&[]), "");
    }
}
