"""Window functions: by name or by function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.argument_docs import document as _document
from ..core.no_effect import Immaterial, no_effect
from ..dispatch.define import composite
from ..eager.tensor import Tensor
from ..ops.convert import to_tensor

__all__ = ["bartlett_window", "blackman_window", "get_window", "hamming_window", "kaiser_window"]


def _cosines(*weights: float) -> Any:
    def window(n: int) -> np.ndarray:
        angle = np.linspace(-math.pi, math.pi, n)
        return np.asarray(sum(w * np.cos(k * angle) for k, w in enumerate(weights)))

    return window


def _bohman(n: int) -> np.ndarray:
    x = np.abs(np.linspace(-1, 1, n))
    out = (1 - x) * np.cos(math.pi * x) + np.sin(math.pi * x) / math.pi
    out[[0, -1]] = 0
    return out


def _triang(n: int) -> np.ndarray:
    k = np.arange(1, (n + 1) // 2 + 1)
    half = (2 * k - 1.0) / n if n % 2 == 0 else 2 * k / (n + 1.0)
    return np.concatenate([half, half[::-1] if n % 2 == 0 else half[-2::-1]])


def _gaussian(n: int, std: float = 7.0) -> np.ndarray:
    return np.exp(-((np.arange(n) - (n - 1) / 2) ** 2) / (2 * std * std))


def _general_gaussian(n: int, p: float, sig: float) -> np.ndarray:
    return np.exp(-0.5 * np.abs((np.arange(n) - (n - 1) / 2) / sig) ** (2 * p))


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> np.ndarray:
    return np.exp(-np.abs(np.arange(n) - ((n - 1) / 2 if center is None else center)) / tau)


def _tukey(n: int, alpha: float = 0.5) -> np.ndarray:
    if alpha <= 0:
        return np.ones(n)
    x = np.minimum(np.arange(n), np.arange(n)[::-1]) / (alpha * (n - 1) / 2)
    return np.where(x < 1, 0.5 * (1 + np.cos(math.pi * (np.minimum(x, 1) - 1))), 1.0)


def _taylor(n: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> np.ndarray:
    ratio = 10 ** (sll / 20)
    a = math.acosh(ratio) / math.pi
    sigma2, m = nbar**2 / (a**2 + (nbar - 0.5) ** 2), np.arange(1, nbar)
    signs = np.where(m % 2 == 1, 1, -1)
    tops = [np.prod(1 - i**2 / sigma2 / (a**2 + (m - 0.5) ** 2)) for i in m]
    lows = [2 * np.prod([1 - i**2 / j**2 for j in m if j != i]) for i in m]
    f = signs * np.array(tops) / np.array(lows)

    def value(x: Any) -> Any:
        return 1 + 2 * np.dot(f, np.cos(2 * math.pi * m[:, None] * (x - n / 2.0 + 0.5) / n))

    out = value(np.arange(n))
    return out / value(np.array([(n - 1) / 2])) if norm else out


def _general_cosine(n: int, weights: Sequence[float]) -> np.ndarray:
    return np.asarray(_cosines(*weights)(n))


def _general_hamming(n: int, alpha: float) -> np.ndarray:
    return np.asarray(_cosines(alpha, 1 - alpha)(n))


_WINDOWS: dict[str, Any] = {
    **{"hann": _cosines(0.5, 0.5), "hamming": _cosines(0.54, 0.46), "blackman": _cosines(0.42, 0.5, 0.08)},
    **{"nuttall": _cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), "bohman": _bohman, "triang": _triang},
    **{"cosine": lambda n: np.sin(math.pi / n * (np.arange(n) + 0.5)), "gaussian": _gaussian, "tukey": _tukey},
    **{"general_gaussian": _general_gaussian, "exponential": _exponential, "taylor": _taylor},
    **{"kaiser": lambda n, beta=12.0: np.kaiser(n, beta), "rect": np.ones, "boxcar": np.ones},
    **{"general_cosine": _general_cosine, "general_hamming": _general_hamming, "bartlett": np.bartlett},
}


def get_window(window: Any, win_length: int, fftbins: bool = True, dtype: Any = "float64") -> Tensor:
    """Return a window function by name.

    Arguments:
        window: the name, or (name, parameters...), such as "hann" or ("kaiser", 12.0).
        win_length: number of samples.
        fftbins: True: periodic, for spectral analysis; False: symmetric, for filter design. Default: True.
        dtype: dtype of the result. Default: 'float64'.

    Returns:
        A tensor [win_length].

    Raises:
        ValueError: for an unknown name, or a negative length.

    Examples:
        >>> [round(v, 2) for v in get_window("hann", 4).tolist()]
        [0.0, 0.5, 1.0, 0.5]
    """
    name, *parameters = window if isinstance(window, tuple | list) else (window,)
    return to_tensor(_window(name, win_length, fftbins, dtype, *parameters))


def _window(name: str, length: int, periodic: bool, dtype: Any, *parameters: Any) -> np.ndarray:
    if name not in _WINDOWS:
        raise ValueError(f"get_window: window is {name!r}; expected one of {', '.join(_WINDOWS)}")
    if length < 0:
        raise ValueError(f"get_window: the length is {length}; expected at least 0")
    n = length + bool(periodic)
    made = np.ones(1) if n <= 1 or length == 1 else _WINDOWS[name](n, *parameters)
    return np.asarray(made[:length]).astype((dtypes.default_dtype() if dtype is None else dtypes.as_dtype(dtype)).np)


@composite(creates=True)
@no_effect(layout=Immaterial("tensors are dense"))
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = "float32",
    layout: Any = None,
) -> Any:
    """Return the Hamming window: `alpha - beta * cos(2 * pi * n / N)`.

    Returns:
        A tensor [window_length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [round(x, 4) for x in paddle.hamming_window(4).tolist()]
        [0.08, 0.54, 1.0, 0.54]
    """
    return to_tensor(_window("general_cosine", window_length, periodic, dtype, (alpha, beta)))


@composite(creates=True)
@no_effect(layout=Immaterial("tensors are dense"))
def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = "float32", layout: Any = None) -> Any:
    """Return the Blackman window: `0.42 - 0.5 * cos(2 * pi * n / N) + 0.08 * cos(4 * pi * n / N)`.

    Returns:
        A tensor [window_length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [round(abs(x), 4) for x in paddle.blackman_window(4).tolist()]
        [0.0, 0.34, 1.0, 0.34]
    """
    return to_tensor(_window("blackman", window_length, periodic, dtype))


@composite(creates=True)
@no_effect(layout=Immaterial("tensors are dense"))
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = "float32", layout: Any = None) -> Any:
    """Return the Bartlett window, a triangle with zero ends.

    Returns:
        A tensor [window_length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bartlett_window(4).tolist()
        [0.0, 0.5, 1.0, 0.5]
    """
    return to_tensor(_window("bartlett", window_length, periodic, dtype))


@composite(creates=True)
@no_effect(layout=Immaterial("tensors are dense"))
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = "float32", layout: Any = None
) -> Any:
    """Return the Kaiser window: `I0(beta * sqrt(1 - (2 * n / N - 1)**2)) / I0(beta)`.

    Returns:
        A tensor [window_length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [round(x, 4) for x in paddle.kaiser_window(4, beta=5.0).tolist()]
        [0.0367, 0.5529, 1.0, 0.5529]
    """
    return to_tensor(_window("kaiser", window_length, periodic, dtype, beta))


_document(globals())
