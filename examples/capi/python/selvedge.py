"""libselvedge by ctypes: a block and the memory system as objects."""
import ctypes
import json
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p

API_VERSION = 1
READ, WRITE, ATOMIC = 0, 1, 2

library = ctypes.CDLL(os.environ.get("SELVEDGE_LIBRARY", "libselvedge.so.1"))
library.selvedge_api_version.restype = c_uint32
library.selvedge_last_error.restype = c_char_p
if library.selvedge_api_version() != API_VERSION:
    raise ImportError("libselvedge has another version of its interface")


class Error(Exception):
    """What the library says is wrong, in one line."""


def call(name, *arguments):
    function = getattr(library, name)
    function.restype = c_int32
    if function(*arguments) != 0:
        raise Error(library.selvedge_last_error().decode())


def text_of(name, handle):
    """Calls a function that writes a text, and frees it."""
    pointer = c_void_p()
    call(name, handle, byref(pointer))
    text = ctypes.cast(pointer, c_char_p).value.decode()
    library.selvedge_string_free(pointer)
    return text


class Port(Structure):
    _fields_ = [("name", c_char_p), ("bits", c_uint32), ("words", c_uint32), ("is_output", c_bool)]


class Block:
    """A block, whose ports are its attributes' names in `set` and `get`; values are integers."""

    def __init__(self, name, engine="model", **parameters):
        self.handle = c_void_p()
        given = json.dumps(parameters).encode()
        call("selvedge_block_new", name.encode(), given, engine.encode(), byref(self.handle))
        count = c_size_t()
        call("selvedge_block_port_count", self.handle, byref(count))
        self.ports = {}
        for index in range(count.value):
            port = Port()
            call("selvedge_block_port", self.handle, c_size_t(index), byref(port))
            self.ports[port.name.decode()] = (index, port.words)

    def __del__(self):
        library.selvedge_block_free(self.handle)

    def set(self, **values):
        for name, value in values.items():
            index, words = self.ports[name]
            array = (c_uint64 * words)(*(value >> 64 * word & (1 << 64) - 1 for word in range(words)))
            call("selvedge_block_set", self.handle, c_size_t(index), array, c_size_t(words))

    def get(self, name):
        index, words = self.ports[name]
        array = (c_uint64 * words)()
        call("selvedge_block_get", self.handle, c_size_t(index), array, c_size_t(words))
        return sum(word << 64 * place for place, word in enumerate(array))

    def step(self):
        call("selvedge_block_step", self.handle)

    def reset(self):
        call("selvedge_block_reset", self.handle)


class Request(Structure):
    _fields_ = [
        ("address", c_uint64), ("tag", c_uint64), ("bytes", c_uint32), ("sm", c_uint32), ("operation", c_uint32),
    ]


class Reply(Structure):
    _fields_ = [("request", Request), ("sent", c_uint64), ("received", c_uint64)]


class Memory:
    """Crossbar, L2 slices and DRAM of a configuration."""

    def __init__(self, configuration):
        self.handle = c_void_p()
        call("selvedge_memory_new", configuration.encode(), byref(self.handle))

    def __del__(self):
        library.selvedge_memory_free(self.handle)

    def offer(self, address, size, sm=0, operation=READ, tag=0):
        request, taken = Request(address, tag, size, sm, operation), c_bool()
        call("selvedge_memory_offer", self.handle, byref(request), byref(taken))
        return taken.value

    def step(self):
        call("selvedge_memory_step", self.handle)

    def reply(self, sm=0):
        reply, is_there = Reply(), c_bool()
        call("selvedge_memory_reply", self.handle, c_uint32(sm), byref(reply), byref(is_there))
        return reply if is_there.value else None

    def is_idle(self):
        idle = c_bool()
        call("selvedge_memory_is_idle", self.handle, byref(idle))
        return idle.value

    def statistics(self):
        return json.loads(text_of("selvedge_memory_statistics", self.handle))
