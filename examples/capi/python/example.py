"""Compresses lines with the block bdi_compressor, and reads lines from the memory system of gtx480."""
import struct

import selvedge


def compress(block, line):
    """Sends a line through the compressor: its encoding's tag, its size in bytes, and the cycles that it takes."""
    block.set(valid_i=1, line_i=int.from_bytes(line, "little"), ready_i=1)
    for cycle in range(10):
        block.step()
        block.set(valid_i=0)
        if block.get("valid_o"):
            return block.get("encoding_o"), block.get("size_o"), cycle
    raise RuntimeError("no payload leaves the compressor")


lines = {
    "zeros": bytes(128),
    "one word": struct.pack("<Q", 0x123456789ABCDEF0) * 16,
    "pointers": struct.pack("<16Q", *(0x7F0012340000 + 8 * n for n in range(16))),
    "noise": bytes(n * n * 37 % 251 for n in range(128)),
}
model, rtl = selvedge.Block("bdi_compressor"), selvedge.Block("bdi_compressor", engine="rtl")
for name, line in lines.items():
    result = compress(model, line)
    assert compress(rtl, line) == result, "model and RTL differ"
    encoding, size, cycles = result
    print(f"{name}: encoding {encoding}, {size} bytes, {cycles} cycles")

memory = selvedge.Memory("gtx480")


def read(address):
    assert memory.offer(address, 128, tag=7)
    while True:
        memory.step()
        reply = memory.reply()
        if reply:
            assert reply.request.tag == 7 and reply.request.address == address
            while not memory.is_idle():
                memory.step()
            return reply.received - reply.sent


print(f"DRAM read: {read(0)} cycles, L2 hit: {read(0)} cycles")
counters = memory.statistics()
print(f"L2 hits {counters['l2']['hits']}, misses {counters['l2']['misses']}, DRAM reads {counters['dram']['reads']}")
try:
    selvedge.Block("bdi_compresor")
except selvedge.Error as error:
    print(error)
