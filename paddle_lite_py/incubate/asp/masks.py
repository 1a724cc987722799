"""n:m patterns of zeros: which elements of a matrix they keep, and whether one has them.

A matrix is looked at in tiles: rows of m elements (1d), or squares of m by m (2d). Zeros fill it up to whole tiles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np

from ...core.memo import memo

# Combinations of rows that are looked through for the squares of a pattern; 4:8 would have 10**14 of them.
MAX_SQUARES = 1 << 20


class MaskAlgo(Enum):
    """Ways to choose what is kept.

    Examples:
        >>> MaskAlgo.MASK_1D.value
        'get_mask_1d'
    """

    MASK_1D = "get_mask_1d"
    MASK_2D_GREEDY = "get_mask_2d_greedy"
    MASK_2D_BEST = "get_mask_2d_best"


class CheckMethod(Enum):
    """Ways to look for a pattern.

    Examples:
        >>> CheckMethod.get_checking_method(MaskAlgo.MASK_2D_BEST)
        <CheckMethod.CHECK_2D: 'check_mask_2d'>
    """

    CHECK_1D = "check_mask_1d"
    CHECK_2D = "check_mask_2d"

    @staticmethod
    def get_checking_method(mask_algo: MaskAlgo) -> CheckMethod:
        """How the pattern of a mask is looked for."""
        return CheckMethod.CHECK_1D if mask_algo is MaskAlgo.MASK_1D else CheckMethod.CHECK_2D


def _tiles(mat: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the tiles of a matrix, [rows of tiles, tiles in a row, height, width]."""
    padded = np.pad(mat, [(0, -mat.shape[0] % height), (0, -mat.shape[1] % width)])
    rows, columns = padded.shape
    return padded.reshape(rows // height, height, columns // width, width).swapaxes(1, 2)


def _join_tiles(tiles: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return the matrix of a shape that tiles are of."""
    rows, columns, height, width = tiles.shape
    return tiles.swapaxes(1, 2).reshape(rows * height, columns * width)[: shape[0], : shape[1]]


def _matrix(mat: Any, n: int, m: int) -> np.ndarray:
    mat = np.atleast_2d(np.asarray(mat))
    if mat.ndim != 2:
        raise ValueError(f"mat has the shape {list(mat.shape)}; expected a matrix (create_mask takes more dimensions)")
    if not 0 <= n <= m or m < 1:
        raise ValueError(f"n is {n} and m {m}; expected counts with n at most m: n of each m elements are zero")
    return mat


def calculate_density(x: Any) -> float:
    """Return the part of the elements that is not zero.

    Examples:
        >>> calculate_density(np.array([[0, 1, 3, 0], [1, 1, 0, 1]]))
        0.625
    """
    x = np.asarray(x)
    return float(np.count_nonzero(x)) / x.size


def check_mask_1d(mat: Any, n: int, m: int) -> bool:
    """Whether n of each m elements of a row are zero.

    Examples:
        >>> check_mask_1d(np.array([[0, 1, 5, 4], [1, 0, 0, 1]]), 2, 4)
        False
    """
    kept = np.count_nonzero(_tiles(_matrix(mat, n, m), 1, m), axis=-1)
    return bool((kept <= m - n).all())


def check_mask_2d(mat: Any, n: int, m: int) -> bool:
    """Whether no square has both a row and a column with fewer than n zeros.

    Examples:
        >>> check_mask_2d(np.array([[0, 8, 9, 0], [9, 0, 0, 10], [5, 0, 0, 6], [0, 4, 6, 0]]), 2, 4)
        True
    """
    tiles = _tiles(_matrix(mat, n, m), m, m) != 0
    rows, columns = ((tiles.sum(axis) > m - n).any(-1) for axis in (-1, -2))
    return not (rows & columns).any()


def get_mask_1d(mat: Any, n: int, m: int) -> np.ndarray:
    """Ones, and zeros where the n smallest of each m elements of a row are.

    Examples:
        >>> get_mask_1d(np.array([[0, 1, 5, 4], [2, 7, 3, 6]]), 2, 4).tolist()
        [[0, 0, 1, 1], [0, 1, 0, 1]]
    """
    mat = _matrix(mat, n, m)
    tiles = _tiles(mat, 1, m)
    mask = np.ones_like(tiles)
    np.put_along_axis(mask, np.argsort(np.abs(tiles), axis=-1)[..., :n], 0, -1)
    return _join_tiles(mask, mat.shape)


def _greedy(tile: np.ndarray, n: int) -> np.ndarray:
    """Select the elements of a square: the largest first, as long as their row and column have fewer than n."""
    mask = np.zeros(tile.shape)
    for at in np.argsort(np.abs(tile), axis=None)[::-1]:
        row, column = divmod(int(at), len(tile))
        mask[row, column] = mask[row].sum() < n and mask[:, column].sum() < n
    return mask


def get_mask_2d_greedy(mat: Any, n: int, m: int) -> np.ndarray:
    """Ones for at most n elements in each row and column of the squares, the largest chosen first.

    Examples:
        >>> mat = np.array([[9, 8, 3, 7], [9, 2, 1, 10], [5, 1, 3, 6], [2, 4, 6, 1]])
        >>> get_mask_2d_greedy(mat, 2, 4).astype(int).tolist()
        [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]]
    """
    mat = _matrix(mat, n, m)
    tiles = _tiles(mat, m, m)
    masks = [_greedy(tile, n) for tile in tiles.reshape(-1, m, m)]
    return _join_tiles(np.reshape(masks, tiles.shape), mat.shape)


# Key: both sizes; pure.
@memo(64, context=False)
def _squares(n: int, m: int) -> np.ndarray:
    """Return each square of m by m with n ones in every row and column, [count, m, m]."""
    if math.comb(m, n) ** m > MAX_SQUARES:
        raise ValueError(f"there are too many {n}:{m} patterns of squares to try each; use MaskAlgo.MASK_2D_GREEDY")
    rows = [[float(i in chosen) for i in range(m)] for chosen in itertools.combinations(range(m), n)]
    squares = np.array(list(itertools.product(rows, repeat=m)))
    return squares[(squares.sum(1) == n).all(-1)]


def get_mask_2d_best(mat: Any, n: int, m: int) -> np.ndarray:
    """Ones for n elements in each row and column of the squares, so that what is kept has the largest sum of sizes.

    Raises:
        ValueError: there are too many patterns to try each.

    Examples:
        >>> mat = np.array([[2, 8, 9, 9], [9, 1, 3, 9], [5, 6, 3, 9], [2, 4, 6, 9]])
        >>> int((mat * get_mask_2d_greedy(mat, 2, 4)).sum()), int((mat * get_mask_2d_best(mat, 2, 4)).sum())
        (56, 61)
    """
    mat = _matrix(mat, n, m)
    tiles, squares = _tiles(mat, m, m), _squares(n, m)
    sums = np.abs(tiles).reshape(-1, m * m) @ squares.reshape(-1, m * m).T
    return _join_tiles(squares[sums.argmax(-1)].reshape(tiles.shape), mat.shape)


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    MaskAlgo.MASK_1D: get_mask_1d,
    MaskAlgo.MASK_2D_GREEDY: get_mask_2d_greedy,
    MaskAlgo.MASK_2D_BEST: get_mask_2d_best,
    CheckMethod.CHECK_1D: check_mask_1d,
    CheckMethod.CHECK_2D: check_mask_2d,
}


def _function(chosen: Any, kind: type[Enum]) -> Callable[..., Any]:
    if not isinstance(chosen, kind):
        raise TypeError(f"func_name is {chosen!r}; expected one of {', '.join(map(str, kind))}")
    return _FUNCTIONS[chosen]


def _rows(tensor: np.ndarray) -> np.ndarray:
    """A tensor of up to 4 dimensions as rows of what a product sums over: the third dimension of 4, else the last."""
    if not 1 <= tensor.ndim <= 4:
        raise ValueError(f"the tensor has the shape {list(tensor.shape)}; expected 1 to 4 dimensions")
    turned = tensor.swapaxes(2, 3) if tensor.ndim == 4 else tensor
    return turned.reshape(-1, turned.shape[-1])


def create_mask(tensor: Any, func_name: MaskAlgo = MaskAlgo.MASK_1D, n: int = 2, m: int = 4) -> np.ndarray:
    """Ones where an n:m pattern keeps an element of a tensor, zeros elsewhere.

    Arguments:
        tensor: an array of up to 4 dimensions; 4 are taken as height, width, inputs, outputs.
        func_name: how what is kept is chosen.
        n: how many of m elements become zero.
        m: the size of the tiles.

    Raises:
        TypeError, ValueError: `func_name` is no MaskAlgo, or the tensor has more dimensions.

    Examples:
        >>> create_mask(np.array([[2, 8, 9, 9], [9, 1, 3, 9]])).tolist()
        [[0, 0, 1, 1], [1, 0, 0, 1]]
    """
    tensor, choose = np.asarray(tensor), _function(func_name, MaskAlgo)
    mask = choose(_rows(tensor.astype(float)), n, m)
    if tensor.ndim == 4:
        height, width, inputs, outputs = tensor.shape
        return mask.reshape(height, width, outputs, inputs).swapaxes(2, 3).astype(tensor.dtype)
    return mask.reshape(tensor.shape).astype(tensor.dtype)


def check_sparsity(tensor: Any, func_name: CheckMethod = CheckMethod.CHECK_1D, n: int = 2, m: int = 4) -> bool:
    """Whether a tensor has an n:m pattern of zeros; its dimensions are those of `create_mask`.

    Raises:
        TypeError, ValueError: `func_name` is no CheckMethod, or the tensor has more dimensions.

    Examples:
        >>> check_sparsity(np.array([[0, 0, 1, 1], [1, 0, 0, 1]])), check_sparsity(np.ones([1, 4]))
        (True, False)
    """
    return bool(_function(func_name, CheckMethod)(_rows(np.asarray(tensor)), n, m))
