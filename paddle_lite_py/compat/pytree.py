"""Nested lists, tuples and dicts taken apart into leaves and a structure, as torch.utils._pytree does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from ..core import structure
from ..core.argument_docs import document as _document

__all__ = [
    *("TreeSpec", "tree_any", "tree_all", "tree_flatten", "tree_leaves", "tree_map", "tree_map_only"),
    *("tree_structure", "tree_unflatten"),
]


class TreeSpec:
    """The structure of a tree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_structure([1, (2, 3)]).num_leaves
        3
    """

    def __init__(self, nest: Any, num_leaves: int) -> None:
        self._nest, self.num_leaves = nest, num_leaves

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Return a tree of this structure.

        Raises:
            ValueError: there is another number of leaves.
        """
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(f"tree_unflatten: there are {len(given)} leaves; expected {self.num_leaves}")
        return structure.unflatten(self._nest, iter(given))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self._nest == other._nest

    def __hash__(self) -> int:
        return hash(self.num_leaves)

    def __repr__(self) -> str:
        return f"TreeSpec({self._nest!r})"


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, and its structure; None is a leaf.

    Arguments:
        tree: lists, tuples, named tuples, dicts and deques of others, or of anything else.
        is_leaf: whether something is a leaf that would be a tree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> leaves, spec = paddle.compat.pytree.tree_flatten({"a": [1, None], "b": 2})
        >>> leaves, spec.unflatten("xyz")
        ([1, None, 2], {'a': ['x', 'y'], 'b': 'z'})
    """
    leaves: list[Any] = []

    def ends(value: Any) -> bool:
        return not isinstance(value, list | tuple | dict | deque) or (is_leaf is not None and is_leaf(value))

    return leaves, TreeSpec(structure.flatten(tree, ends, leaves), len(leaves))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return a tree of a structure.

    Arguments:
        leaves: what its leaves are.
        treespec: the structure, of tree_flatten().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_unflatten([1, 2], paddle.compat.pytree.tree_structure({"a": 0, "b": 0}))
        {'a': 1, 'b': 2}
    """
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a tree.

    Arguments:
        tree: lists, tuples and dicts of others.
        is_leaf: whether something is a leaf that would be a tree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_leaves([1, (2, 3)])
        [1, 2, 3]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure of a tree.

    Arguments:
        tree: lists, tuples and dicts of others.
        is_leaf: whether something is a leaf that would be a tree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_structure([1]) == paddle.compat.pytree.tree_structure([2])
        True
    """
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Any, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Return a tree of what a function gives for each leaf, and for the leaves of other trees at its place.

    Arguments:
        func: the function.
        tree: lists, tuples and dicts of others.
        rests: trees of the same structure.
        is_leaf: whether something is a leaf that would be a tree.

    Raises:
        ValueError: another tree has another structure.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_map(lambda a, b: a + b, {"x": 1}, {"x": 2})
        {'x': 3}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf) for rest in rests]
    for i, (_, other) in enumerate(others):
        if other != spec:
            raise ValueError(f"tree_map: rests[{i}] has the structure {other}; expected {spec}")
    return spec.unflatten([func(*each) for each in zip(leaves, *[found for found, _ in others], strict=True)])


def tree_map_only(type_or_types: Any, func: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Return a tree where a function was applied to the leaves of a type.

    Arguments:
        type_or_types: a type, several, or a function that chooses leaves.
        func: the function.
        tree: lists, tuples and dicts of others.
        is_leaf: whether something is a leaf that would be a tree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_map_only(int, lambda n: n + 1, [1, "a"])
        [2, 'a']
    """
    kinds = type_or_types
    chosen = (lambda leaf: isinstance(leaf, kinds)) if isinstance(kinds, type | tuple) else kinds
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Return whether a condition holds for all leaves.

    Arguments:
        pred: the condition.
        tree: lists, tuples and dicts of others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_all(lambda n: n > 0, [1, (2, 3)])
        True
    """
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Return whether a condition holds for any leaf.

    Arguments:
        pred: the condition.
        tree: lists, tuples and dicts of others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.pytree.tree_any(lambda n: n > 2, [1, (2, 3)])
        True
    """
    return any(map(pred, tree_leaves(tree)))


_document(globals())
