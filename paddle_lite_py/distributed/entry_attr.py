"""Entry rules: rules for `paddle.static.nn.sparse_embedding(entry=...)`."""

from __future__ import annotations

__all__ = ["CountFilterEntry", "EntryAttr", "ProbabilityEntry", "ShowClickEntry"]


class EntryAttr:
    """A rule that says which features a table takes up; its kinds are below.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.distributed.CountFilterEntry(10), EntryAttr)
        True
    """

    def _to_attr(self) -> str:
        """Return the rule as text, in the words of the reference."""
        raise NotImplementedError(
            "EntryAttr is no rule itself; take CountFilterEntry, ProbabilityEntry, ShowClickEntry"
        )


class ProbabilityEntry(EntryAttr):
    """Create a row for a new feature with a probability.

    Arguments:
        probability: the probability, in (0, 1).

    Raises:
        ValueError: if probability is not such a number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.ProbabilityEntry(0.1)._to_attr()
        'probability_entry:0.1'
    """

    def __init__(self, probability: float) -> None:
        if not isinstance(probability, float) or not 0 < probability < 1:
            raise ValueError(f"ProbabilityEntry: probability is {probability!r}; expected a float above 0 and below 1")
        self.probability = probability

    def _to_attr(self) -> str:
        return f"probability_entry:{self.probability}"


class CountFilterEntry(EntryAttr):
    """Create a row for a feature once it has occurred count_filter times.

    Arguments:
        count_filter: the number of times, at least 0.

    Raises:
        ValueError: if count_filter is not such a number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.CountFilterEntry(10)._to_attr()
        'count_filter_entry:10'
    """

    def __init__(self, count_filter: int) -> None:
        if not isinstance(count_filter, int) or count_filter < 0:
            raise ValueError(f"CountFilterEntry: count_filter is {count_filter!r}; expected an integer of 0 or more")
        self.count_filter = count_filter

    def _to_attr(self) -> str:
        return f"count_filter_entry:{self.count_filter}"


class ShowClickEntry(EntryAttr):
    """Create and keep rows by how often a feature was shown and clicked.

    Arguments:
        show_name: name of the data with the number of impressions of each sample.
        click_name: name of the data with the number of clicks.

    Raises:
        ValueError: if an argument is not a name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.distributed.ShowClickEntry("show", "click")._to_attr()
        'show_click_entry:show:click'
    """

    def __init__(self, show_name: str, click_name: str) -> None:
        for name in (show_name, click_name):
            if not isinstance(name, str):
                raise ValueError(f"ShowClickEntry: {name!r} is no name; expected the names of two data of the program")
        self.show_name, self.click_name = show_name, click_name

    def _to_attr(self) -> str:
        return f"show_click_entry:{self.show_name}:{self.click_name}"
