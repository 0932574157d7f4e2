# SPDX-License-Identifier: Apache-2.0
"""serving_loop.py BUNDLE [STEPS [HSA-LIBRARY]]: serving_loop.c through ctypes. Without a package; FRONT_LIBRARY names libfront."""
import array
import ctypes as c
import math
import os
import struct
import sys

LAYERS, POSITIONS, BLOCK, BLOCKS, HIDDEN = 4, 4096, 64, 16, 5120
BLOCK_BYTES = 584 * BLOCK
if len(sys.argv) < 2:
    sys.exit("usage: serving_loop.py BUNDLE [STEPS [HSA-LIBRARY]]")
try:
    front = c.CDLL(os.environ.get("FRONT_LIBRARY", "libfront.so.0"))
except OSError as error:
    sys.exit(f"serving_loop.py: {error}: install libfront, or set FRONT_LIBRARY to its path")
front.front_error.restype = front.front_status_name.restype = c.c_char_p


def must(status):
    if status:
        sys.exit(f"serving_loop.py: {front.front_status_name(status).decode()}: {front.front_error().decode()}")


class Options(c.Structure):  # a handle is one pointer: c_void_p
    _fields_ = [("size", c.c_size_t), ("hsa_library", c.c_char_p)]


class Pick(c.Structure):
    _fields_ = [("name", c.c_char * 96), ("tokens", c.c_uint32), ("first_pad", c.c_uint32), ("pads", c.c_uint32)]


class Argument(c.Structure):
    _fields_ = [("name", c.c_char_p), ("offset", c.c_uint32), ("use", c.c_uint32), ("needed", c.c_uint32), ("align", c.c_uint32),
                ("bytes", c.c_uint64)]


class Device(c.Structure):
    _fields_ = [("name", c.c_char * 64), ("isa", c.c_char * 96), ("product", c.c_char * 64), ("uuid", c.c_char * 32), ("pci", c.c_char * 16),
                ("compute_units", c.c_uint32), ("memory_bytes", c.c_uint64)]


class Ticket(c.Structure):
    _fields_ = [("queue", c.c_void_p), ("number", c.c_uint64)]


IN, INSTANCE, SCALAR = 0, 3, 4


def made(function, *args):
    handle = c.c_void_p()
    must(function(*args, c.byref(handle)))
    return handle


def filled(nbytes, value):
    address = made(front.front_memory_allocate, device, c.c_uint64((nbytes + 3) // 4 * 4))
    must(front.front_memory_fill(device, address, c.c_uint32(value), c.c_uint64((nbytes + 3) // 4)))
    return address.value


def rotations():
    table = array.array("f")
    for p in range(POSITIONS):
        angles = [p * 10000 ** (-i / 32) for i in range(32)]
        table.extend(map(math.cos, angles))
        table.extend(map(math.sin, angles))
    address = filled(4 * len(table), 0)
    must(front.front_memory_copy(device, c.c_void_p(address), table.tobytes(), c.c_uint64(4 * len(table))))
    return address


def layer_arguments(kernel, rows):
    """The kernarg block, and where each argument lies in it."""
    block, argument, at, index = bytearray(216), Argument(), {}, 0
    while not front.front_kernel_argument(kernel, index, c.byref(argument)):
        name, index = argument.name.decode(), index + 1
        at[name] = argument.offset
        if not argument.needed or not argument.bytes or argument.use in (INSTANCE, SCALAR):
            continue
        ones = 0x3F803F80 if "_w" in name else 0x7F7F7F7F if "_s" in name else 0x38383838
        weight = argument.use == IN and (name[0] == "w" or "n_w" in name)
        struct.pack_into("Q", block, argument.offset, filled(argument.bytes, ones if weight else 0))
    pointers = {"x": filled(rows * HIDDEN * 2, 0x3F803F80), "cos_sin": rotations(), "comp_bt": filled(4096, 0),
                "swa": filled(BLOCKS * BLOCK_BYTES, 0), "swa_stride": BLOCK_BYTES}
    for name, value in pointers.items():
        struct.pack_into("Q", block, at[name], value)
    for name, value in {"x_stride": HIDDEN, "swa_block": BLOCK, "comp_block": 64}.items():
        struct.pack_into("i", block, at[name], value)
    return bytes(block), {name: struct.unpack_from("Q", block, at[name])[0] for name in ("pos", "slot", "q")}


def bf16(bits):
    return struct.unpack("f", struct.pack("I", bits << 16))[0]


steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
options = Options(c.sizeof(Options), sys.argv[3].encode() if len(sys.argv) > 3 else None)
runtime = made(front.front_open, c.byref(options))
info, pick, ticket = Device(), Pick(), Ticket()
must(front.front_device_describe(runtime, 0, c.byref(info)))
device = made(front.front_device_open, runtime, None)
bundle = made(front.front_bundle_open, sys.argv[1].encode())
must(front.front_pick(bundle, info.name, b"tp=8,ratio=2,window=128", 1, c.byref(pick)))
kernel = made(front.front_kernel_load_bundle, device, bundle, pick.name)
instance = made(front.front_instance_create, kernel, None)
queue = made(front.front_queue_create, device, None)
layers = [layer_arguments(kernel, pick.tokens) for _ in range(LAYERS)]
bindings = [made(front.front_binding_create, instance, block) for block, _ in layers]
wrong = 0
for step in range(steps):
    pos = [step % POSITIONS] + [0] * pick.pads
    slot = [step % (BLOCKS * BLOCK)] + [-1] * pick.pads
    for _, at in layers:
        for name, values in (("pos", pos), ("slot", slot)):
            must(front.front_memory_copy(device, c.c_void_p(at[name]), array.array("q", values).tobytes(), c.c_uint64(8 * len(values))))
    for binding in bindings:
        must(front.front_launch(queue, binding, c.byref(ticket)))
    must(front.front_wait(ticket, c.c_uint64(60_000_000_000)))
    q = (c.c_uint16 * 512)()
    for _, at in layers:
        must(front.front_memory_copy(device, q, c.c_void_p(at["q"]), c.c_uint64(c.sizeof(q))))
        turned = 1280 * (math.cos(pos[0]) - math.sin(pos[0]))
        wrong += bf16(q[0]) != 1280 or abs(bf16(q[448]) - turned) > 8
print(f"{pick.name.decode()}: {steps} steps of {LAYERS} layers, q of the last: {bf16(q[0]):g}, {bf16(q[448]):g}")
must(front.front_queue_destroy(queue))
sys.exit(wrong != 0)
