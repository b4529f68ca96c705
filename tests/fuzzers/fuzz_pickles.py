"""Pickles made up and damaged at random, read in a process with little memory.

    python tests/fuzzers/fuzz_pickles.py --cases 100000 --seed 1
    python tests/fuzzers/fuzz_pickles.py --replay 1:4711

The outcome of each must be a ValueError, or the value that Python's own unpickler finds, which is given stand-ins for
the classes. Another exception, a crash, more memory than `_MEMORY` or a case of over 10 s is a failure, and its replay
is printed.
"""

import argparse
import collections
import pickle
import pickletools
import random
import resource
import signal
import subprocess
import sys
import tempfile
import types
from io import BytesIO
from pathlib import Path

HERE = Path(__file__).resolve()
SOURCE = HERE.parents[2] / "src" / "panconv"
if __name__ == "__main__":  # a process of its own: the reader alone, without torch, which takes seconds to import
    sys.path.insert(0, str(HERE.parents[1] / "helpers"))
    for name, folder in (("panconv", SOURCE), ("panconv.data", SOURCE / "data")):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(folder)]

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from hostile_pickles import BODIES, FILES, array, csr, vector  # noqa: E402

from panconv.data.pickles import read_array, read_lists, read_matrix  # noqa: E402

_MEMORY = 2**27
_SECONDS = 10
READERS = (read_array, read_lists, read_matrix)
_SMALL = [body for body in BODIES.values() if len(body) < 500]


def main(cases, seed=0):
    """Runs the cases in a process of their own; the line that replays the first failure, or None."""
    with tempfile.NamedTemporaryFile() as progress:
        command = [sys.executable, str(HERE), "--child", progress.name, "--cases", str(cases), "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 + cases / 50)
        if done.returncode == 0:
            return None
        last = Path(progress.name).read_text().strip("\0 \n")
        said = (done.stdout + done.stderr).strip()[-2000:]
        return f"{said}\nexit {done.returncode}; replay: python {HERE} --replay {seed}:{last}"


# ---------------------------------------------------------------------- cases


def case(seed, index):
    """A pickle, and whether it is undamaged."""
    rng = random.Random(f"{seed}:{index}")
    kind = rng.randrange(5)
    if kind == 0:
        return _sound(rng), True
    if kind == 1:
        return _damaged(rng, _sound(rng)), False
    if kind == 2:
        return _reordered(rng, _sound(rng)), False
    if kind == 3:
        return b"\x80" + rng.choice(b"\x02\x04").to_bytes(1, "little") + _babble(rng) + b".", False
    return _damaged(rng, rng.choice(list(FILES.values()))[:5000]), False


def _sound(rng):
    numbers = np.random.default_rng(rng.randrange(2**32))
    kind, rows, columns = rng.randrange(4), rng.randrange(6), rng.randrange(6)
    dtype = rng.choice(["f4", "f8", "i4", "u1", "i8", ">f4", "?"])
    dense = (numbers.random((rows, columns)) * 9 * (numbers.random((rows, columns)) < 0.5)).astype(dtype)
    if kind == 0:
        return _pickled(rng, np.asfortranarray(dense) if rng.random() < 0.3 else dense)
    if kind == 1:
        dense = dense.astype(dense.dtype.newbyteorder("="))
        return _pickled(rng, sp.csr_matrix(dense))
    if kind == 2:
        nodes = {int(i): [rng.randrange(10 ** rng.randrange(1, 9)) for _ in range(columns)] for i in range(rows)}
        return _pickled(rng, collections.defaultdict(list, nodes) if rng.random() < 0.5 else nodes)
    python2 = csr((2, 3), [0, 1, 2], [0, 2], [1, 2]) if rng.random() < 0.5 else vector([1, 2, 3], "f4")
    return b"\x80\x02" + (array([2, 2], b"abcdABCD" * 2) if rng.random() < 0.3 else python2) + b"."


def _pickled(rng, value):
    content = pickle.dumps(value, rng.choice([2, 3, 4]))
    return pickletools.optimize(content) if rng.random() < 0.3 else content


def _damaged(rng, content):
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at, size = rng.randrange(len(content) + 1), rng.choice([0, 1, 1, 2, 4, 20])
        other = rng.choice(_SMALL) if rng.random() < 0.2 else rng.randbytes(rng.choice([0, 1, 1, 4]))
        content[at : at + size] = other
    return bytes(content)


def _opcodes(content):
    starts = [position for _, _, position in pickletools.genops(content)]
    return [content[a:b] for a, b in zip(starts, [*starts[1:], len(content)], strict=True)]


def _reordered(rng, content):
    parts = _opcodes(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(1, len(parts))
        change = rng.randrange(4)
        if change == 0:
            del parts[at]
        elif change == 1:
            parts.insert(at, rng.choice(parts))
        elif change == 2:
            parts[at : at + 1] = [_babble(rng, 1)]
        else:
            other = rng.randrange(1, len(parts))
            parts[at], parts[other] = parts[other], parts[at]
        if len(parts) < 2:
            break
    return b"".join(parts)


def _babble(rng, count=None):
    """Opcodes in any order, most with an argument that fits."""
    out = b""
    for _ in range(rng.randrange(1, 40) if count is None else count):
        opcode = rng.choice(pickletools.opcodes)
        size = opcode.arg.n if opcode.arg else 0
        argument = rng.choice([b"", rng.randbytes(max(size, 0)), bytes([rng.randrange(4)]).ljust(max(size, 0), b"\0")])
        if size < -1:  # a length, then so many bytes
            length = rng.choice([0, 1, 3, 2**31 - 1, 2**32 - 1])
            width = {-2: 1, -3: 4, -4: 4, -5: 8}[size]
            argument = (length % 256**width).to_bytes(width, "little") + b"abc"[: min(length, 3)]
        one = opcode.code.encode("latin1") + (argument if size >= 0 or size < -1 else b"numpy\nndarray\n")
        out += rng.choice(_SMALL) if rng.random() < 0.1 else one
    return out


# ---------------------------------------------------------------------- outcomes


class StandIn:
    """An array, a dtype or a matrix for Python's unpickler."""

    def __init__(self, *arguments):
        self.arguments, self.state = arguments, None

    def __setstate__(self, state):
        self.state = state


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        fresh = type(name, (StandIn,), {})  # what the pickle changes is changed for it alone
        return {
            "ndarray": fresh,
            "dtype": fresh,
            "csr_matrix": fresh,
            "_reconstruct": lambda *arguments: type("array", (StandIn,), {})(),
            "defaultdict": lambda *arguments: {},
            "list": list,
            "encode": lambda text, encoding: text.encode(encoding),
            "bytes": bytes,
        }[name]


def expected(content, reader):
    """What `reader` is to find, by Python's unpickler."""
    unframed = b"".join(part for part in _opcodes(content) if part[:1] != b"\x95")  # frames are hints to both
    value = Unpickler(BytesIO(unframed), encoding="latin1").load()
    if reader is read_array:
        return [_array(value)]
    if reader is read_lists:
        return [np.array([[i, j] for i, row in value.items() for j in row], np.int64).reshape(-1, 2).T]
    parts = {k.decode() if isinstance(k, bytes) else k: v for k, v in value.state.items()}
    indptr, indices, data = (_array(parts[name]) for name in ("indptr", "indices", "data"))
    return [np.array(parts["_shape"]), indptr, indices[: indptr[-1]], data[: indptr[-1]]]


def _array(value):
    _, shape, dtype, fortran, content = value.state
    content = content.encode("latin1") if isinstance(content, str) else content
    code, order = (t.decode() if isinstance(t, bytes) else t for t in (dtype.arguments[0], dtype.state[1]))
    return np.frombuffer(content, order + code.replace("b", "u")).reshape(shape, order="F" if fortran else "C")


def check(content, undamaged=False):
    """Raises AssertionError, or what a reader raises wrongly."""
    found = 0
    for reader in READERS:
        try:
            value = reader(content)
        except ValueError:
            continue
        found += 1
        if reader is read_matrix:
            value.check_format(full_check=True)
            assert type(value) is sp.csr_matrix
            value = np.array(value.shape), value.indptr, value.indices, value.data
        value = [value] if reader is read_array else [np.stack(value)] if reader is read_lists else value
        for ours, theirs in zip(value, expected(content, reader), strict=True):
            assert ours.dtype.kind in "iuf"
            np.testing.assert_array_equal(ours, theirs)
    assert found == 1 or not undamaged, "an undamaged pickle was refused"
    return found


def _child(progress, cases, seed):
    signal.signal(signal.SIGALRM, _late)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))
    with open(progress, "w") as file:
        for index, (content, undamaged) in enumerate(_all(cases, seed)):
            file.seek(0)
            file.write(f"{index:<12}")
            file.flush()
            signal.alarm(_SECONDS)
            try:
                check(content, undamaged)
            except BaseException as error:
                print(f"{type(error).__name__}: {error}; {_shrunk(content, undamaged, type(error))!r}")
                raise
    signal.alarm(0)


def _all(cases, seed):
    yield from ((content, False) for content in FILES.values())
    yield from (case(seed, index) for index in range(cases))


def _late(*_):
    raise TimeoutError(f"a case took over {_SECONDS} s")


def _shrunk(content, undamaged, kind):
    """The pickle without what the failure does not need."""
    if undamaged or len(content) > 5000 or kind is TimeoutError:
        return content[:200]
    size = len(content) // 2
    while size:
        for at in range(0, len(content), size):
            shorter = content[:at] + content[at + size :]
            try:
                check(shorter)
            except kind:
                content = shorter
                break
            except BaseException:
                continue
        else:
            size //= 2
    return content


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--replay", help="SEED:INDEX")
    asked = parser.parse_args()
    if asked.child:
        _child(asked.child, asked.cases, asked.seed)
    elif asked.replay:
        seed, index = map(int, asked.replay.split(":"))
        content, undamaged = list(_all(max(index - len(FILES) + 1, 0), seed))[index]
        print(content[:2000])
        check(content, undamaged)
    else:
        sys.exit(main(asked.cases, asked.seed))
