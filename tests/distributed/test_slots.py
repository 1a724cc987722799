"""What writes and reads slots of text: generators, pipe commands, mistakes in files."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.distributed import CountFilterEntry, ProbabilityEntry, ShowClickEntry, fleet
from paddle_lite_py.distributed.fleet.dataset.numbers import numbers
from paddle_lite_py.distributed.fleet.dataset.slots import parse

KINDS = [np.dtype("int64"), np.dtype("float32")]


class Words(fleet.MultiSlotDataGenerator):
    def generate_sample(self, line):
        def read():
            if line is None:
                yield [("words", [1, 2]), ("label", [0])]
            elif line.strip():
                label, *words = map(int, line.split())
                yield (("words", words), ("label", [label]))
            yield None

        return read


def test_a_generator_writes_slots(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1 5 6\n\n0 7\n"))
    Words().run_from_stdin()
    Words().run_from_memory()
    assert capsys.readouterr().out == "2 5 6 1 1\n1 7 1 0\n2 1 2 1 0\n"


def test_a_generator_is_given_batches(capsys):
    class Padded(Words):
        def generate_batch(self, samples):
            longest = max(len(s[0][1]) for s in samples)
            return lambda: ([("words", s[0][1] + [0] * (longest - len(s[0][1]))), s[1]] for s in samples)

        def generate_sample(self, line):
            return lambda: iter([[("words", [1] * n), ("label", [n])] for n in (1, 3, 2)])

    padded = Padded()
    padded.set_batch(2)
    padded.run_from_memory()
    assert capsys.readouterr().out == "3 1 0 0 1 1\n3 1 1 1 1 3\n2 1 1 1 2\n"


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ("text", "a sample is a str; expected a list or tuple"),
        ([("words", [])], "slot 'words' has .*; expected a name and a list of numbers that is not empty"),
        ([("words", ["a"])], "slot 'words' holds 'a'; expected int or float"),
        ([("other", [1])], r"a sample has the slots \['other'\], the first one had \['words'\]"),
    ],
)
def test_a_generator_names_what_is_wrong(sample, message):
    made = Words()
    made._gen_str([("words", [1])])
    with pytest.raises(ValueError, match=message):
        made._gen_str(sample)


def test_a_slot_of_floats_stays_one():
    made = Words()
    for values in ([1], [0.5], [2]):
        made._gen_str([("price", values)])
    assert made._proto_info == [("price", "float")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 3 1 0.5\n2 3 1 0.5\n", "line 2 of the text .*: slot 'price' has no count, .*; the line is '2 3 1 0.5'"),
        (b"1 3\n", "line 1 .*: slot 'price'"),
        (b"1 3 1 0.5 7\n", "line 1 .*: something follows after slot 'price'"),
        (b"9 3 1 0.5\n", "line 1 .*: slot 'ids'"),
    ],
)
def test_file_line_and_slot_are_named(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text, KINDS, slots=["ids", "price"])


def test_hashes_are_unsigned():
    assert numbers(b"18446744073709551615 9223372036854775808").integers.tolist() == [-1, -(1 << 63)]
    with pytest.raises(ValueError, match="'18446744073709551616' is no number of 64 bits"):
        numbers(b"18446744073709551616")


@pytest.mark.usefixtures("static_mode")
def test_a_command_that_fails_is_told(tmp_path):
    (tmp_path / "part-0").write_text("1 3\n")
    dataset = paddle.distributed.InMemoryDataset()
    ids = paddle.static.data("ids", [None, 1], "int64")
    dataset.init(use_var=[ids], pipe_command="echo no such column >&2; exit 3")
    dataset.set_filelist([str(tmp_path / "part-0")])
    with pytest.raises(RuntimeError, match=r"has failed on '.*part-0' \(exit code 3\); it said:\nno such column"):
        dataset.load_into_memory()
    dataset.init(use_var=[ids], pipe_command="sed s/3/x/")
    with pytest.raises(ValueError, match="what 'sed s/3/x/' makes of '.*part-0' holds something else than numbers"):
        dataset.load_into_memory()


@pytest.mark.usefixtures("static_mode")
def test_a_line_is_a_batch_where_that_is_told(tmp_path):
    (file := tmp_path / "part-0").write_text("1 3\n1 4\n1 5\n")
    dataset = paddle.distributed.InMemoryDataset()
    ids = paddle.static.data("ids", [None, 1], "int64")
    for kind, sizes in ((0, [2, 1]), (1, [1, 1, 1])):
        dataset.init(use_var=[ids], batch_size=2, input_type=kind)
        dataset.set_filelist([str(file)])
        dataset.load_into_memory()
        assert [len(feed["ids"]) for feed in dataset] == sizes and dataset.get_memory_data_size() == 3
    with pytest.raises(ValueError, match="input_type is 2; expected 0 or 1"):
        dataset.init(use_var=[ids], input_type=2)


WRONG = [(CountFilterEntry, (-1,)), (ProbabilityEntry, (1.0,)), (ProbabilityEntry, (1,)), (ShowClickEntry, (1, "b"))]


@pytest.mark.parametrize(("entry", "arguments"), WRONG)
def test_entries_are_checked(entry, arguments):
    with pytest.raises(ValueError, match="expected"):
        entry(*arguments)
