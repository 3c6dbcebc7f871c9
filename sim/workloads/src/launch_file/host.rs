//! Host program of a launch file: fills buffers, launches kernels, checks flags, compares results, and returns the
//! files to save.
use super::action::{BufferRange, What};
use super::buffer::BufferHome;
use super::error::{LaunchFileError, line_of};
use super::fill::BufferFill;
use super::format::Is;
use super::plan::{Flag, Move, Turns};
use super::{LaunchFileParts, values};
use crate::workload::{HostProgram, Launch, OutputFile, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::texture::Texture;
use std::sync::Arc;

/// A running launch file.
pub(super) struct LaunchFileRun {
    parts: Arc<LaunchFileParts>,
    /// Place and number of elements of each buffer.
    bound: Vec<(BufferHome, u64)>,
    /// Address of the PTX variable that holds the handle of each texture, if any.
    references: Vec<Option<u64>>,
    /// PTX name of the kernel of each move that is a launch.
    kernels: Vec<String>,
    /// Address of each buffer, once allocated. A swap exchanges two of them.
    addresses: Option<Vec<u64>>,
    /// Handle of each texture, once created.
    handles: Vec<u64>,
    /// Index of the next move of the plan.
    next: usize,
    /// Number of completed turns of each loop.
    turns: Vec<u64>,
    done: bool,
    /// Error of a loop whose last turn ended without its flag.
    endless: Option<LaunchFileError>,
}

impl LaunchFileRun {
    /// Creates a run of `parts`. `names` are the PTX names of the launches' kernels, in launch order.
    pub(super) fn new(
        parts: Arc<LaunchFileParts>,
        bound: Vec<(BufferHome, u64)>,
        references: Vec<Option<u64>>,
        names: Vec<String>,
    ) -> Self {
        let mut names = names.into_iter();
        let launched = |next: &Move| matches!(next, Move::Launch(_)).then(|| names.next()).flatten();
        let kernels = parts.plan.moves.iter().map(launched).map(Option::unwrap_or_default).collect();
        LaunchFileRun {
            turns: vec![0; parts.plan.loops.len()],
            parts,
            bound,
            references,
            kernels,
            addresses: None,
            handles: Vec::new(),
            next: 0,
            done: false,
            endless: None,
        }
    }

    /// Allocates and fills the buffers, and fills the symbols.
    fn place(&self, memory: &mut DeviceMemory) -> Result<Vec<u64>, WorkloadError> {
        let mut addresses = Vec::with_capacity(self.bound.len());
        for (buffer, (place, count)) in self.parts.buffers.iter().zip(&self.bound) {
            let bytes = count * buffer.element.bytes() as u64;
            let address = match place {
                BufferHome::Heap => memory.alloc(bytes, &buffer.name)?,
                BufferHome::Part(whole, offset) => addresses[*whole] + offset,
                BufferHome::Global(address) => *address,
                // Binding already filled the constant, and nothing uses its address.
                BufferHome::Constant => {
                    addresses.push(0);
                    continue;
                }
            };
            // New memory is already zero. A write would make the host allocate its pages.
            let untouched = matches!((place, &buffer.fill), (BufferHome::Heap, Some(BufferFill::Zeros)));
            if let Some(fill) = buffer.fill.as_ref().filter(|_| !untouched) {
                memory.fill(address, bytes, |out| fill.write(buffer.element, out))?;
            }
            addresses.push(address);
        }
        for index in 0..self.parts.buffers.len() {
            self.patch(memory, &addresses, index)?;
        }
        Ok(addresses)
    }

    /// Writes the addresses that a buffer contains.
    fn patch(&self, memory: &mut DeviceMemory, addresses: &[u64], index: usize) -> Result<(), WorkloadError> {
        let (buffer, (_, count)) = (&self.parts.buffers[index], self.bound[index]);
        if buffer.patches.is_empty() {
            return Ok(());
        }
        let bytes = count * buffer.element.bytes() as u64;
        memory.fill(addresses[index], bytes, |out| {
            buffer.patches.iter().for_each(|patch| patch.write(addresses, out));
        })?;
        Ok(())
    }

    /// Creates the textures, and writes their handles to the texture references.
    fn make_textures(&self, memory: &mut DeviceMemory, addresses: &[u64]) -> Result<Vec<u64>, WorkloadError> {
        let mut handles = Vec::with_capacity(self.references.len());
        for (view, reference) in self.parts.textures.iter().zip(&self.references) {
            let address = addresses[view.buffer] + view.texture.address;
            let handle = memory.create_texture(Texture { address, ..view.texture.clone() })?;
            if let Some(variable) = reference {
                memory.write_u64s(*variable, &[handle])?;
            }
            handles.push(handle);
        }
        Ok(handles)
    }

    /// Returns the bytes of a buffer.
    fn contents<'m>(&self, memory: &'m DeviceMemory, index: usize) -> Result<&'m [u8], WorkloadError> {
        let addresses = self.addresses.as_deref().unwrap_or(&[]);
        let (buffer, (_, count)) = (&self.parts.buffers[index], self.bound[index]);
        Ok(memory.bytes(addresses[index], count * buffer.element.bytes() as u64)?)
    }

    fn flag_address(&self, flag: &Flag, addresses: &[u64]) -> u64 {
        addresses[flag.buffer] + flag.index * self.parts.buffers[flag.buffer].element.bytes() as u64
    }

    /// Returns the bits of the flag.
    fn flag(&self, flag: &Flag, addresses: &[u64], memory: &DeviceMemory) -> Result<u64, WorkloadError> {
        let element = self.parts.buffers[flag.buffer].element;
        let mut bytes = vec![0; element.bytes()];
        memory.read(self.flag_address(flag, addresses), &mut bytes)?;
        Ok(element.each(&bytes).next().unwrap_or(0))
    }

    /// Returns the next launch, if any is left. `addresses` has the addresses of the buffers.
    fn advance(
        &mut self,
        parts: &LaunchFileParts,
        addresses: &mut [u64],
        memory: &mut DeviceMemory,
    ) -> Result<Option<Launch>, WorkloadError> {
        while let Some(next) = parts.plan.moves.get(self.next) {
            let here = self.next;
            self.next += 1;
            match next {
                Move::Launch(step) => {
                    let turns: Vec<u64> = step.loops.iter().map(|number| self.turns[*number]).collect();
                    let dims = step.dims(&parts.text, &turns)?;
                    let args =
                        step.args.iter().map(|(_, arg)| arg.arg(&turns, addresses, &self.handles)).collect();
                    return Ok(Some(Launch { kernel: self.kernels[here].clone(), dims, args }));
                }
                Move::Act(action) => self.act(&action.what, addresses, memory)?,
                Move::Enter(number) => {
                    self.turns[*number] = 0;
                    self.reset(&parts.plan.loops[*number], addresses, memory)?;
                }
                Move::Again { number, start } => {
                    let turns = &parts.plan.loops[*number];
                    self.turns[*number] += 1;
                    if !self.has_ended(turns, self.turns[*number], addresses, memory)? {
                        turns.swap.iter().for_each(|[a, b]| addresses.swap(*a, *b));
                        self.reset(turns, addresses, memory)?;
                        self.next = *start;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Executes a `[[host]]` table.
    fn act(&self, what: &What, addresses: &[u64], memory: &mut DeviceMemory) -> Result<(), WorkloadError> {
        let place = |part: &BufferRange| {
            let size = self.parts.buffers[part.buffer].element.bytes() as u64;
            let count = part.count(self.bound[part.buffer].1).unwrap_or(0);
            (addresses[part.buffer] + part.offset * size, count * size)
        };
        match what {
            What::Copy { from, to } => {
                let ((from, bytes), (to, _)) = (place(from), place(to));
                let copied = memory.bytes(from, bytes)?.to_vec();
                Ok(memory.set(to, bytes, |out| out.copy_from_slice(&copied))?)
            }
            What::Set { part, bits } => {
                let (address, bytes) = place(part);
                let element = self.parts.buffers[part.buffer].element;
                Ok(memory.set(address, bytes, |out| element.put(out, |_| *bits))?)
            }
            What::Reset(index) => {
                let (buffer, (_, count)) = (&self.parts.buffers[*index], self.bound[*index]);
                let bytes = count * buffer.element.bytes() as u64;
                let fill = buffer.fill.as_ref().unwrap_or(&BufferFill::Zeros);
                memory.fill(addresses[*index], bytes, |out| fill.write(buffer.element, out))?;
                self.patch(memory, addresses, *index)
            }
        }
    }

    /// Writes the initial value of the loop's flag before a turn.
    fn reset(
        &self,
        turns: &Turns,
        addresses: &[u64],
        memory: &mut DeviceMemory,
    ) -> Result<(), WorkloadError> {
        let Some(flag) = &turns.until else { return Ok(()) };
        let Some(bits) = flag.reset else { return Ok(()) };
        let mut bytes = Vec::new();
        self.parts.buffers[flag.buffer].element.push(&mut bytes, bits);
        Ok(memory.write(self.flag_address(flag, addresses), &bytes)?)
    }

    /// Ends a turn. Returns whether it was the last.
    fn has_ended(
        &mut self,
        turns: &Turns,
        turn: u64,
        addresses: &[u64],
        memory: &DeviceMemory,
    ) -> Result<bool, WorkloadError> {
        let out_of_turns = turns.most.is_some_and(|most| turn >= most);
        let Some(flag) = &turns.until else { return Ok(out_of_turns) };
        let element = self.parts.buffers[flag.buffer].element;
        let bits = self.flag(flag, addresses, memory)?;
        // Minus zero also counts as zero.
        let zero = element.to_float(bits) == 0.0;
        if zero == (flag.is == Is::Zero) {
            return Ok(true);
        }
        if out_of_turns && self.endless.is_none() {
            let text = &self.parts.text;
            self.endless = Some(LaunchFileError::Unexpected {
                file: text.name.clone(),
                line: line_of(text.text.as_bytes(), flag.at),
                message: format!(
                    "loop `{}`: {}[{}] is {} after {} turns, which should be {}",
                    turns.name,
                    self.parts.buffers[flag.buffer].name,
                    flag.index,
                    element.show(bits),
                    turn,
                    if flag.is == Is::Zero { "zero" } else { "nonzero" }
                ),
            });
        }
        Ok(out_of_turns)
    }
}

impl HostProgram for LaunchFileRun {
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> {
        if self.done {
            return Ok(None);
        }
        let mut addresses = match self.addresses.take() {
            Some(addresses) => addresses,
            None => {
                let addresses = self.place(memory)?;
                self.handles = self.make_textures(memory, &addresses)?;
                addresses
            }
        };
        let parts = Arc::clone(&self.parts);
        let launch = self.advance(&parts, &mut addresses, memory);
        self.addresses = Some(addresses);
        let launch = launch?;
        self.done = launch.is_none();
        Ok(launch)
    }

    /// Compares every buffer with its expected contents. Returns the first difference.
    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError> {
        if !self.done {
            return Err(WorkloadError::Unfinished { workload: "launch file" });
        }
        if let Some(endless) = &self.endless {
            return Err(endless.clone().into());
        }
        for (index, buffer) in self.parts.buffers.iter().enumerate() {
            let Some(expect) = &buffer.expect else { continue };
            let got = self.contents(memory, index)?;
            if let Some(message) = expect.difference(&buffer.name, buffer.element, got) {
                let text = &self.parts.text;
                let line = line_of(text.text.as_bytes(), expect.at);
                return Err(LaunchFileError::Unexpected { file: text.name.clone(), line, message }.into());
            }
        }
        Ok(())
    }

    fn checks(&self) -> bool {
        self.parts.buffers.iter().any(|buffer| buffer.expect.is_some())
    }

    fn outputs(&self, memory: &DeviceMemory) -> Result<Vec<OutputFile>, WorkloadError> {
        let mut files = Vec::new();
        for (index, buffer) in self.parts.buffers.iter().enumerate() {
            let Some(save) = &buffer.save else { continue };
            let bytes = self.contents(memory, index)?;
            let bytes = values::store(bytes, save.format, buffer.element);
            files.push(OutputFile { path: save.path.clone(), bytes });
        }
        Ok(files)
    }
}
