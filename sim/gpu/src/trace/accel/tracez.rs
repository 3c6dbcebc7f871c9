//! A `.tracez` file of Accel-Sim 2: a kernel's trace packed with zstd. [`TracezText`] reads the text of the same `.traceg` file.
//!
//! The file has the header as text up to a zero byte, the size of the dictionary and the instructions of a piece, the dictionary,
//! the pieces of each warp, an index of thread blocks and warps, and the offset of the index. Each piece is a zstd frame of lines.
//! Integers are little-endian. Offsets of the index and of warps have 8 bytes, all other integers 4.
use ruzstd::decoding::{Dictionary, FrameDecoder, StreamingDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};

/// Max bytes of the header.
const LONGEST_HEADER: u64 = 1 << 20;
/// Max bytes of the dictionary. Accel-Sim trains dictionaries of 64 KiB.
const LONGEST_DICTIONARY: u32 = 16 << 20;
/// Bytes of the offset of the index, at the end of the file.
const OFFSET_BYTES: u64 = 8;

/// The text of a packed trace.
pub(super) struct TracezText<R> {
    input: R,
    size: u64,
    is_open: bool,
    /// Text that precedes the next piece.
    text: Cursor<Vec<u8>>,
    piece: Option<StreamingDecoder<Cursor<Vec<u8>>, FrameDecoder>>,
    /// The decoder between two pieces.
    decoder: Option<FrameDecoder>,
    /// The index from the next thread block or warp on.
    index: Cursor<Vec<u8>>,
    blocks_left: u32,
    in_block: bool,
    /// Number of the next warp of the thread block.
    warp: u32,
    warps_left: u32,
    pieces_left: u32,
    /// Offset of the next piece.
    at: u64,
}

/// Returns an error for a damaged file.
fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Reads a number of 4 bytes.
fn number(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Reads a number of 8 bytes.
fn offset(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

impl<R: Read + Seek> TracezText<R> {
    /// Returns the text of `input`, which is read from its start. An error of the file appears when the text is read.
    pub fn new(input: R) -> Self {
        TracezText {
            input,
            size: 0,
            is_open: false,
            text: Cursor::default(),
            piece: None,
            decoder: None,
            index: Cursor::default(),
            blocks_left: 0,
            in_block: false,
            warp: 0,
            warps_left: 0,
            pieces_left: 0,
            at: 0,
        }
    }

    /// Reads header, dictionary and index. The header is the first text.
    fn open(&mut self) -> io::Result<()> {
        self.size = self.input.seek(SeekFrom::End(0))?;
        self.input.rewind()?;
        let mut header = Vec::new();
        BufReader::new(&mut self.input).take(LONGEST_HEADER).read_until(0, &mut header)?;
        self.input.seek(SeekFrom::Start(header.len() as u64))?;
        if header.pop() != Some(0) {
            return Err(damaged("no zero byte ends the header"));
        }
        header.push(b'\n');
        let (dictionary, _) = (number(&mut self.input)?, number(&mut self.input)?);
        let mut decoder = FrameDecoder::new();
        if dictionary > LONGEST_DICTIONARY {
            return Err(damaged(format!(
                "a dictionary of {dictionary} bytes: must be at most {LONGEST_DICTIONARY}"
            )));
        }
        if dictionary > 0 {
            let mut bytes = vec![0; dictionary as usize];
            self.input.read_exact(&mut bytes)?;
            let dictionary = Dictionary::decode_dict(&bytes).map_err(|why| damaged(why.to_string()))?;
            decoder.add_dict(dictionary).map_err(|why| damaged(why.to_string()))?;
        }
        let end = self.size.saturating_sub(OFFSET_BYTES);
        self.input.seek(SeekFrom::Start(end))?;
        let start = offset(&mut self.input)?;
        let length = end.checked_sub(start).ok_or_else(|| {
            damaged(format!("an index at byte {start}: must be in the {end} bytes before its offset"))
        })?;
        self.input.seek(SeekFrom::Start(start))?;
        let mut index = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut index)?;
        self.index = Cursor::new(index);
        self.blocks_left = number(&mut self.index)?;
        (self.decoder, self.text, self.is_open) = (Some(decoder), Cursor::new(header), true);
        Ok(())
    }

    /// Moves on to the next text or piece. Returns `false` after the last.
    fn advance(&mut self) -> io::Result<bool> {
        if self.pieces_left > 0 {
            self.pieces_left -= 1;
            self.begin_piece()?;
        } else if self.warps_left > 0 {
            self.warps_left -= 1;
            self.begin_warp()?;
        } else if self.in_block {
            self.in_block = false;
            self.text = Cursor::new(b"#END_TB\n".to_vec());
        } else if self.blocks_left > 0 {
            self.blocks_left -= 1;
            self.begin_block()?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn begin_block(&mut self) -> io::Result<()> {
        let mut block = [0; 11];
        for word in &mut block {
            *word = number(&mut self.index)?;
        }
        // The place of the block in its cluster follows that in the grid.
        let [x, y, z, .., warps] = block;
        (self.in_block, self.warp, self.warps_left) = (true, 0, warps);
        self.text = Cursor::new(format!("#BEGIN_TB\nthread block = {x},{y},{z}\n").into_bytes());
        Ok(())
    }

    fn begin_warp(&mut self) -> io::Result<()> {
        let (count, pieces) = (number(&mut self.index)?, number(&mut self.index)?);
        self.at = offset(&mut self.index)?;
        for _ in 0..pieces {
            number(&mut self.index)?;
        }
        self.input.seek(SeekFrom::Start(self.at))?;
        let repeated = (number(&mut self.input)?, number(&mut self.input)?);
        if repeated != (count, pieces) {
            let at = self.at;
            return Err(damaged(format!(
                "a warp of {} instructions in {} pieces at byte {at}: must be {count} in {pieces}, as in the index",
                repeated.0, repeated.1
            )));
        }
        (self.at, self.pieces_left) = (self.at + 8, pieces);
        self.text = Cursor::new(format!("warp = {}\ninsts = {count}\n", self.warp).into_bytes());
        self.warp += 1;
        Ok(())
    }

    fn begin_piece(&mut self) -> io::Result<()> {
        self.input.seek(SeekFrom::Start(self.at))?;
        let length = number(&mut self.input)?;
        let end = self.at.saturating_add(4 + u64::from(length));
        if end > self.size {
            return Err(damaged(format!(
                "a piece of {length} bytes at byte {}: the file ends before",
                self.at
            )));
        }
        let mut packed = vec![0; length as usize];
        self.input.read_exact(&mut packed)?;
        let decoder = self.decoder.take().unwrap_or_default();
        let piece = StreamingDecoder::new_with_decoder(Cursor::new(packed), decoder);
        let at = self.at;
        self.piece = Some(piece.map_err(|why| damaged(format!("the piece at byte {at}: {why}")))?);
        self.at = end;
        Ok(())
    }
}

impl<R: Read + Seek> Read for TracezText<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        if !self.is_open {
            self.open()?;
        }
        loop {
            let mut read = self.text.read(to)?;
            if let Some(piece) = self.piece.as_mut().filter(|_| read == 0) {
                read = piece.read(to)?;
                if read == 0 {
                    self.decoder = self.piece.take().map(StreamingDecoder::into_frame_decoder);
                    // No line end follows the last line of a piece.
                    self.text = Cursor::new(b"\n".to_vec());
                    continue;
                }
            }
            if read > 0 || !self.advance()? {
                return Ok(read);
            }
        }
    }
}
