"""Packs a kernel's trace as Accel-Sim 2 does: python3 pack.py NAME.traceg NAME.tracez. Needs the package zstandard."""

import struct
import sys

import zstandard

# Accel-Sim packs 2,048 instructions at a time. Fewer give several pieces for each warp.
PIECE = 4


def blocks_of(lines):
    """Yields the place of each thread block, and the instructions of its warps."""
    place, warps, left = None, [], 0
    for line in lines:
        key, _, value = line.partition(" = ")
        if left > 0:
            warps[-1].append(line)
            left -= 1
        elif key == "thread block":
            place = [int(number) for number in value.split(",")]
        elif key == "warp":
            warps.append([])
        elif key == "insts":
            left = int(value)
        elif line == "#END_TB":
            yield place, warps
            place, warps = None, []


def main(source, target):
    text = open(source).read()
    header, begin, rest = text.partition("#BEGIN_TB\n")
    blocks = list(blocks_of((begin + rest).splitlines()))
    # The samples of Accel-Sim are lines. Few of them train a dictionary only if they are repeated.
    samples = [line.encode() for _, warps in blocks for warp in warps for line in warp] * 20
    dictionary = zstandard.train_dictionary(4096, samples)
    packer = zstandard.ZstdCompressor(level=3, dict_data=dictionary, write_content_size=True)
    words = dictionary.as_bytes()
    out = bytearray(header.encode() + b"\0" + struct.pack("<II", len(words), PIECE) + words)
    index = struct.pack("<I", len(blocks))
    for place, warps in blocks:
        # Without clusters, each block is a cluster.
        index += struct.pack("<11I", *place, *place, 0, 0, 0, 0, len(warps))
        for warp in warps:
            pieces = [warp[at : at + PIECE] for at in range(0, len(warp), PIECE)]
            counts = [len(piece) for piece in pieces]
            index += struct.pack(f"<IIQ{len(counts)}I", len(warp), len(pieces), len(out), *counts)
            out += struct.pack("<II", len(warp), len(pieces))
            for piece in pieces:
                packed = packer.compress("\n".join(piece).encode())
                out += struct.pack("<I", len(packed)) + packed
    offset = len(out)
    open(target, "wb").write(bytes(out) + index + struct.pack("<Q", offset))


main(*sys.argv[1:])
