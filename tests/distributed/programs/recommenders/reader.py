"""Makes slots of click logs: python reader.py < part-0; a data set runs it as its pipe_command."""

import paddle.distributed.fleet as fleet


class Clicks(fleet.MultiSlotDataGenerator):
    def generate_sample(self, line):
        def read():
            label, numbers, fields, history, item = line.rstrip("\n").split("\t")
            slots = [("label", [int(label)]), ("dense", [float(n) for n in numbers.split(",")])]
            slots += [(f"C{i + 1}", [int(c)]) for i, c in enumerate(fields.split(","))]
            yield [*slots, ("history", [int(h) + 1 for h in history.split(",")]), ("item", [int(item) + 1])]

        return read


if __name__ == "__main__":
    Clicks().run_from_stdin()
