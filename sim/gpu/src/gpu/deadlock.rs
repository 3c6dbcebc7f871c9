//! The report of a deadlock on one line of bounded length: each component with the resource that it waits for.

/// Max entries of a report.
const SHOWN: usize = 12;

/// Max entries of a report for each component: warps, L1D, crossbar, ...
const SHOWN_OF_EACH: usize = 2;

/// Returns the first lines of every component in each of `groups`, and the number of lines left out.
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

/// Returns the component that a line of a report describes: its first words, without numbers.
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
