//! Suffix trees of texts over the letters A, C, G and T.

/// Returns the start positions of the suffixes of `text`, in lexicographic order of the suffixes.
pub(super) fn sorted_suffixes(text: &[u8]) -> Vec<u32> {
    let mut suffixes: Vec<u32> = (0..text.len() as u32).collect();
    suffixes.sort_unstable_by_key(|suffix| &text[*suffix as usize..]);
    suffixes
}

/// Returns the length of the common prefix of two texts.
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// A suffix tree. Node 0 is the root.
#[derive(Default)]
pub(super) struct SuffixTree {
    /// Children of each node, by the code of their first letter; 0 if absent.
    pub(super) child: Vec<[u32; 4]>,
    /// For each node, the position in the text of the letters on the edge from its parent.
    pub(super) start: Vec<u32>,
    /// For each node, the number of letters on the edge from its parent.
    pub(super) length: Vec<u32>,
    /// For each node, the start of the first sorted suffix below it.
    pub(super) position: Vec<u32>,
}

impl SuffixTree {
    /// Builds the tree of `text`.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut tree = SuffixTree::default();
        tree.add(text, &sorted_suffixes(text), 0, 0);
        tree
    }

    /// Returns the code of a letter: 0 to 3 for A, C, T and G.
    fn code(letter: u8) -> usize {
        usize::from(letter >> 1 & 3)
    }

    /// Adds the node above these sorted suffixes, and all its descendants. The node is reached by `length` letters
    /// after `depth` others. Returns its number.
    fn add(&mut self, text: &[u8], suffixes: &[u32], depth: usize, length: usize) -> u32 {
        let node = self.child.len();
        self.child.push([0; 4]);
        let position = suffixes.first().copied().unwrap_or(0);
        self.start.push(position + depth as u32);
        self.length.push(length as u32);
        self.position.push(position);
        let below = depth + length;
        let rest = |suffix: u32| &text[suffix as usize + below..];
        // A suffix that ends at this node has no further letter.
        let longer = suffixes.iter().position(|suffix| !rest(*suffix).is_empty());
        let mut longer = longer.map_or(&[][..], |first| &suffixes[first..]);
        while let Some(one) = longer.first() {
            let letter = rest(*one)[0];
            // The suffixes are sorted, so bisection finds the end of the group.
            let (group, others) =
                longer.split_at(longer.partition_point(|suffix| rest(*suffix)[0] == letter));
            let (first, last) = (rest(group[0]), rest(group[group.len() - 1]));
            // Sorted suffixes share the common prefix of the first and the last. A single suffix keeps all its
            // letters.
            let shared = if group.len() == 1 { first.len() } else { common(first, last) };
            let child = self.add(text, group, below, shared);
            self.child[node][Self::code(letter)] = child;
            longer = others;
        }
        node as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suffix_is_spelled_by_a_walk_from_the_root() {
        let text = b"GATTACAGATTACCA";
        let tree = SuffixTree::new(text);
        for begin in 0..text.len() {
            let (mut node, mut at) = (0, begin);
            while at < text.len() {
                node = tree.child[node][SuffixTree::code(text[at])] as usize;
                assert_ne!(node, 0);
                let (start, length) = (tree.start[node] as usize, tree.length[node] as usize);
                let spelled = common(&text[start..start + length], &text[at..]);
                assert!(spelled == length || at + spelled == text.len());
                at += spelled;
            }
        }
    }
}
