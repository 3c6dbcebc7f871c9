//! Octrees of point masses, stored in the order of a walk that opens every cell.

/// Position and mass.
pub(super) type Mass = [f32; 4];

/// Max depth of cells. Bodies that still share a cell at this depth are combined.
const DEEPEST: usize = 20;

/// The cells of an octree. The first child of a cell follows it.
#[derive(Default)]
pub(super) struct Octree {
    /// Centre of mass and mass of each cell.
    pub(super) cells: Vec<Mass>,
    /// Edge length of each cell's cube; 0 for a leaf.
    pub(super) size: Vec<f32>,
    /// For each cell, the cell after all its descendants.
    pub(super) after: Vec<u32>,
}

impl Octree {
    /// Builds the tree of `bodies`.
    pub(super) fn new(bodies: &[Mass]) -> Self {
        let mut tree = Octree::default();
        if bodies.is_empty() {
            return tree;
        }
        let places = || bodies.iter().flat_map(|body| &body[..3]);
        let low = places().copied().fold(f32::INFINITY, f32::min);
        let size = places().copied().fold(f32::NEG_INFINITY, f32::max) - low;
        tree.add(bodies, [low + size / 2.0; 3], size, DEEPEST);
        tree
    }

    /// Adds the cell of `bodies`, whose cube has this centre and size, and all its descendants.
    fn add(&mut self, bodies: &[Mass], centre: [f32; 3], size: f32, deeper: usize) {
        let cell = self.cells.len();
        let mass: f32 = bodies.iter().map(|body| body[3]).sum();
        let mean = |axis: usize| bodies.iter().map(|body| body[axis] * body[3]).sum::<f32>() / mass;
        let is_leaf = bodies.len() == 1 || deeper == 0;
        self.cells.push(if bodies.len() == 1 { bodies[0] } else { [mean(0), mean(1), mean(2), mass] });
        self.size.push(if is_leaf { 0.0 } else { size });
        self.after.push(0);
        if !is_leaf {
            let mut octants = vec![Vec::new(); 8];
            for body in bodies {
                let octant = (0..3).filter(|axis| body[*axis] >= centre[*axis]).map(|axis| 1 << axis);
                octants[octant.sum::<usize>()].push(*body);
            }
            for (octant, inside) in octants.iter().enumerate().filter(|(_, inside)| !inside.is_empty()) {
                let side = |axis: usize| if octant >> axis & 1 == 1 { size / 4.0 } else { -size / 4.0 };
                let centre = [0, 1, 2].map(|axis| centre[axis] + side(axis));
                self.add(inside, centre, size / 2.0, deeper - 1);
            }
        }
        self.after[cell] = self.cells.len() as u32;
    }

    /// Returns the children of a cell; empty for a leaf.
    pub(super) fn children(&self, cell: usize) -> impl Iterator<Item = usize> {
        let end = self.after[cell] as usize;
        let before_end = move |child: usize| (child < end).then_some(child);
        std::iter::successors(before_end(cell + 1), move |child| before_end(self.after[*child] as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    fn bodies() -> Vec<Mass> {
        let mut random = Random::new(1);
        (0..200).map(|_| [(); 4].map(|()| random.unit())).collect()
    }

    #[test]
    fn every_body_is_one_leaf() {
        let (bodies, tree) = (bodies(), Octree::new(&bodies()));
        let leaves = tree.cells.iter().zip(&tree.size).filter(|(_, size)| **size == 0.0);
        let mut leaves: Vec<Mass> = leaves.map(|(leaf, _)| *leaf).collect();
        let mut expected = bodies;
        for masses in [&mut leaves, &mut expected] {
            masses.sort_by(|one, other| one[0].total_cmp(&other[0]));
        }
        assert_eq!(leaves, expected);
    }

    #[test]
    fn a_cell_has_the_mass_of_its_children() {
        let tree = Octree::new(&bodies());
        for cell in (0..tree.cells.len()).filter(|cell| tree.size[*cell] > 0.0) {
            let sum: f32 = tree.children(cell).map(|child| tree.cells[child][3]).sum();
            assert!((sum - tree.cells[cell][3]).abs() < 1e-3 * sum);
        }
    }

    #[test]
    fn bodies_at_the_same_place_share_a_leaf() {
        let tree = Octree::new(&[[0.5, 0.5, 0.5, 1.0], [0.5, 0.5, 0.5, 2.0], [0.0, 0.0, 0.0, 1.0]]);
        assert!(tree.cells.iter().zip(&tree.size).any(|(cell, size)| *size == 0.0 && cell[3] == 3.0));
    }
}
