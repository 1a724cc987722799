"""Errors of staging, in one grammar: the variable and line, what was found on each side, what to do."""

from __future__ import annotations

from typing import Any, NoReturn

from paddle_lite_py.core.errors import original, user_traceback


class StagingError(TypeError):
    """Python control flow on tensors that no static program can mean the same as."""


class InnerGradientError(StagingError):
    """backward() inside a static function reaches an argument that eager code outside has computed."""

    def __init__(self, name: str, where: Any) -> None:
        self.where = where
        super().__init__(
            f"backward() at {where} reaches argument `{name}`, which was computed outside of the static function: its "
            "gradient could not go on from there. Compute it inside, detach it, or call backward() outside"
        )


class UnnotedChangeError(StagingError):
    """A trace has changed something that a run would not change again.

    Arguments:
        name: of the function.
        what: was changed.
        where: the line that does.
        splits: whether the function can be split there.
        undone: whether everything is as it was before, so that the function itself may run.
    """

    def __init__(self, name: str, what: str, where: Any, splits: bool = False, undone: bool = True) -> None:
        self.where, self.splits, self.undone = where, splits, undone
        super().__init__(
            f"`{name}` changes {what} at {where}, by code that is not converted or where nothing sees it: its program "
            "would not do that again in later calls. Change it outside of the static function, or keep it in an "
            f"attribute, list or dict that the function itself changes{_line(where)}"
        )


class HeldGradientError(Exception):
    """An argument has a gradient, which the program would have to read: the function itself is to run."""


class GraphBreak(Exception):
    """A static function that may run in parts could not be traced as a whole."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def branch_mismatch(name: str, true: str, false: str, where: Any) -> StagingError:
    """Return a variable that differs between the branches of a staged `if`."""
    return StagingError(
        f"{_quote(name)} is {true} after the first branch of the `if` at {where} and {false} after the other; "
        "both must agree, because the condition is a tensor: give it the same structure, shape and dtype in both "
        f"branches (cast or reshape one of them){_line(where)}"
    )


def replaced_and_changed(name: str, where: Any) -> StagingError:
    """A variable with a list or dict that a staged statement both changes and puts another one in the place of."""
    return StagingError(
        f"{_quote(name)} is one list or dict or another after the statement at {where}, which also changes it in "
        f"place; do only one of both{_line(where)}"
    )


def there_or_not(name: str, where: Any) -> StagingError:
    """Return an attribute or item that is there after one path of a staged statement only."""
    return StagingError(
        f"{_quote(name)} is there or not after the statement at {where}: set it before, so that it always is"
        f"{_line(where)}"
    )


def caught_perhaps(where: Any) -> StagingError:
    """Return an assertion on a tensor that a `try` may catch."""
    return StagingError(
        f"the `assert` at {where} is in a `try`, which may catch its error when the program runs: test the "
        f"condition with an `if`{_line(where)}"
    )


def caught_outside(name: str, where: Any) -> StagingError:
    """Return a `raise` under a condition on a tensor, of what a `try` around the condition catches."""
    return StagingError(
        f"the `raise` at {where} depends on a tensor, and a `try` in another function, or a `with`, sees its "
        f"{name}: put the `raise` into the `try` itself, or return what says so{_line(where)}"
    )


def ends_iterator(where: Any) -> StagingError:
    """Return a `raise StopIteration` under a condition on a tensor, which the loop over the iterator catches."""
    return StagingError(
        f"the `raise StopIteration` at {where} depends on a tensor, so the number of iterations does: use `while` in "
        f"the place of the iterator{_line(where)}"
    )


def one_of_several(where: Any) -> StagingError:
    """A statement that an earlier trace has found to leave open which tensor a variable is, or has a gradient."""
    return StagingError(
        f"after the statement at {where} a variable is one of several tensors or lists, of which one is changed in "
        "place later, or has an attribute of the program's own that is asked for, or a parameter has a gradient in one "
        "case only: change a copy (`y = x.clone()`), or change it out of place; set the attribute after the "
        f"statement; let the loss depend on all parameters in each case{_line(where)}"
    )


def loop_mismatch(name: str, before: str, after: str, where: Any) -> StagingError:
    """Return a variable whose type or shape changes from one iteration of a staged loop to the next."""
    return StagingError(
        f"{_quote(name)} is {before} before the loop at {where} and {after} after one iteration; a loop on a tensor "
        "condition needs the same structure and shape each time: start it with that shape, or write into a buffer "
        f"made before the loop (buffer[i] = value){_line(where)}"
    )


def changed_leaf(name: str, where: Any) -> StagingError:
    """Return a leaf that a staged statement changes, and makes results with that need its gradient."""
    return StagingError(
        f"the statement at {where} changes tensor '{name}' in place, and its results need the gradient of what it is "
        f"then: call backward() inside of the statement, or change a copy{_line(where)}"
    )


def too_deep(depth: int, where: Any) -> StagingError:
    """Return a recursion that a tensor should end."""
    return StagingError(
        f"the `if` at {where} is nested in more than {depth} staged statements: a recursion whose "
        f"depth depends on a tensor has no single static program; write it as a `while` loop{_line(where)}"
    )


def acts_now(name: str, why: str, where: Any) -> StagingError:
    """Return a call that acts on the world, or tells of it, which a run cannot make."""
    return StagingError(
        f"the call of `{name}` at {where} cannot be part of a static program, since Python needs {why} at once: make "
        f"it outside of the static function, and hand in what it gives{_line(where)}"
    )


def drawn_once(what: str, where: Any) -> StagingError:
    """Return random numbers of Python or NumPy that are drawn in a staged loop."""
    return StagingError(
        f"{what} at {where} would give the same numbers in each iteration, since the loop depends on a tensor: draw "
        f"with paddle (paddle.rand, paddle.randn, paddle.randint), or hand the numbers in as an argument{_line(where)}"
    )


def _quote(name: str) -> str:
    """Return the name of a variable as code; words as they are."""
    return name if " " in name else f"`{name}`"


def _line(where: Any) -> str:
    source = getattr(where, "source", "")
    return f"\n    {source}" if source else ""


def raise_for_user(error: Exception) -> NoReturn:
    """Raise what the user's code has raised, with the user's frames only."""
    found = original(error)
    raise found.with_traceback(user_traceback(found.__traceback__)) from found.__cause__
