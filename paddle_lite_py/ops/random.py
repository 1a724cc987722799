"""Random numbers. Each op takes a key that the framework advances."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core import dtypes
from ..core.interpreter import state
from ..core.jax_compat.sizes import is_known
from ..core.jax_compat.threefry import integers
from ..dispatch.define import composite, op
from ..eager.pending import payload_of
from ..eager.random import Generator
from ..eager.tensor import Tensor
from .base import constant
from .creation import float_dtype, shape_tuple
from .placement import placed_like
from .promote import numpy_dtype
from .types import DTypeLike, Shape, TensorLike

__all__ = [
    *("bernoulli", "binomial", "gaussian", "log_normal", "multinomial", "normal", "poisson", "rand", "rand_like"),
    *("randint", "randint_like", "randn", "randn_like", "randperm", "standard_gamma", "standard_normal", "uniform"),
]


@op(name="uniform", random=True)
def _uniform(key: Any, low: Any, high: Any, /, shape: Any, dtype: Any) -> Any:
    kind = numpy_dtype(dtype)
    unit = jax.random.uniform(key, shape, kind)
    return unit * (jnp.asarray(high) - jnp.asarray(low)).astype(kind) + jnp.asarray(low).astype(kind)


@op(name="gaussian", random=True)
def _gaussian(key: Any, mean: Any, std: Any, /, shape: Any, dtype: Any) -> Any:
    kind = numpy_dtype(dtype)
    if shape is None:
        shape = jnp.broadcast_shapes(jnp.shape(mean), jnp.shape(std))
    if not jnp.issubdtype(kind, jnp.complexfloating) and (jnp.iscomplexobj(mean) or jnp.iscomplexobj(std)):
        raise TypeError(f"a complex mean or std cannot give samples of {dtype}; give a complex dtype or tensor")
    unit = jax.random.normal(key, shape, kind)
    return unit * jnp.asarray(std).astype(kind) + jnp.asarray(mean).astype(kind)


def drawn_from(generator: Generator | None, draw: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Run a random op with a generator, which advances; None uses the default random stream."""
    if generator is None:
        return draw(*args, *attrs)
    out, following = state.interpreter.run(draw.__op__.bind(attrs), (generator.state, *args))
    generator.state._set_payload(following._payload)
    return out


def seeded(seed: int, draw: Any, args: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
    """Run a random op with the first key of the stream of a seed."""
    start = constant(value=(int(seed) & 0xFFFFFFFF, 0), dtype="uint32")
    return state.interpreter.run(draw.__op__.bind(attrs), (start, *args))[0]


@composite(creates=True)
def uniform(
    shape: Shape, dtype: DTypeLike = None, min: TensorLike = 0.0, max: TensorLike = 1.0, seed: int = 0
) -> Tensor:
    """Sample from the uniform distribution on [min, max).

    Arguments:
        seed: int; above 0: use a separate random stream with this seed, so that each call returns the same numbers.
            Default: 0.

    Returns:
        A tensor of shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.uniform([100], max=2.0)
        >>> bool((x >= 0).all()), bool((x < 2).all())
        (True, True)
    """
    if seed:
        return seeded(seed, _uniform, (min, max), (shape_tuple(shape), float_dtype(dtype)))
    return _uniform(min, max, shape_tuple(shape), float_dtype(dtype))


@composite(variadic="shape", creates=True)
def rand(shape: Shape, dtype: DTypeLike = None) -> Tensor:
    """Sample from the uniform distribution on [0, 1).

    Returns:
        A tensor of shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.rand([2, 3]).shape
        paddle.Size([2, 3])
    """
    return _uniform(0.0, 1.0, shape_tuple(shape), float_dtype(dtype))


@composite(variadic="shape", creates=True)
def randn(shape: Shape, dtype: DTypeLike = None) -> Tensor:
    """Sample from the standard normal distribution.

    Returns:
        A tensor of shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.randn([2, 3]).shape
        paddle.Size([2, 3])
    """
    return _gaussian(0.0, 1.0, shape_tuple(shape), float_dtype(dtype))


standard_normal = randn


@composite(creates=True)
def gaussian(
    shape: Shape, mean: TensorLike = 0.0, std: TensorLike = 1.0, seed: int = 0, dtype: DTypeLike = None
) -> Tensor:
    """Sample from the normal distribution with the given mean and standard deviation.

    Arguments:
        seed: int; above 0: use a separate random stream with this seed, so that each call returns the same numbers.
            Default: 0.

    Returns:
        A tensor of shape `shape`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.gaussian([2], mean=5.0, std=0.0).tolist()
        [5.0, 5.0]
    """
    if seed:
        return seeded(seed, _gaussian, (mean, std), (shape_tuple(shape), float_dtype(dtype)))
    return _gaussian(mean, std, shape_tuple(shape), float_dtype(dtype))


@composite(creates=True)
def normal(mean: TensorLike = 0.0, std: TensorLike = 1.0, shape: Shape | None = None) -> Tensor:
    """Sample from normal distributions; `mean` and `std` may be tensors.

    Returns:
        A tensor of shape `shape`, or of the broadcast shape of `mean` and `std`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.normal(mean=5.0, std=2.0, shape=[2, 3]).shape
        paddle.Size([2, 3])
        >>> paddle.normal(paddle.to_tensor([0.0, 9.0]), paddle.zeros([2])).tolist()
        [0.0, 9.0]
    """
    tensors = [v.dtype for v in (mean, std) if isinstance(v, Tensor)]
    if not tensors and shape is None:
        shape = [1]
    if isinstance(mean, complex):
        tensors = [dtypes.complex128 if float_dtype(None) == dtypes.float64 else dtypes.complex64]
        return _gaussian(mean, std, None if isinstance(std, Tensor) else shape_tuple(shape), tensors[0])
    return _gaussian(mean, std, None if tensors else shape_tuple(shape), (tensors or [float_dtype(None)])[0])


@composite
def log_normal(mean: TensorLike = 1.0, std: TensorLike = 2.0, shape: Shape | None = None) -> Tensor:
    """Sample from log-normal distributions: `exp(z)` with z normal.

    Returns:
        A tensor of shape `shape`, or of the broadcast shape of `mean` and `std`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.log_normal(mean=0.0, std=0.0, shape=[2]).tolist()
        [1.0, 1.0]
    """
    return normal(mean, std, shape).exp()


@op(name="randint", random=True, grad=False)
def _randint(key: Any, low: Any, high: Any, /, shape: Any, dtype: Any) -> Any:
    return integers(key, low, high, shape).astype(numpy_dtype(dtype))


def bounds(who: str, low: Any, high: Any) -> tuple[Any, Any]:
    """Resolve the bounds of a range of integers; a single bound is the upper one."""
    low, high = (0, low) if high is None else (low, high)
    if is_known(low) and is_known(high) and low >= high:
        raise ValueError(f"{who}(): the range from {low} to {high} is empty; high must exceed low")
    return low, high


@composite(creates=True)
def randint(
    low: TensorLike = 0, high: TensorLike | None = None, shape: Shape = (1,), dtype: DTypeLike = None
) -> Tensor:
    """Sample integers uniformly from [low, high); a single bound is `high`, with `low` = 0.

    Returns:
        An integer tensor of shape `shape`; int64 by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.randint(0, 10, [2, 3])
        >>> x.shape, x.dtype, bool(((x >= 0) & (x < 10)).all())
        (paddle.Size([2, 3]), paddle.int64, True)
    """
    low, high = bounds("randint", low, high)
    return _randint(low, high, shape_tuple(shape), dtypes.int64 if dtype is None else dtypes.as_dtype(dtype))


@composite(around=placed_like("x"))
def randint_like(x: Tensor, low: TensorLike = 0, high: TensorLike | None = None, dtype: DTypeLike = None) -> Tensor:
    """Sample integers uniformly from [low, high) in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.randint_like(paddle.zeros([2]), 0, 1).tolist()
        [0.0, 0.0]
    """
    return _randint(
        *bounds("randint", low, high), tuple(payload_of(x).shape), x.dtype if dtype is None else dtypes.as_dtype(dtype)
    )


@composite(creates=True, around=placed_like("input"))
def rand_like(input: Tensor, name: str | None = None, *, dtype: DTypeLike = None) -> Tensor:
    """Sample from the uniform distribution on [0, 1) in the shape of another tensor.

    Returns:
        A tensor with the shape of `input`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.rand_like(paddle.zeros([2, 3])).shape
        paddle.Size([2, 3])
    """
    return _uniform(0.0, 1.0, tuple(payload_of(input).shape), input.dtype if dtype is None else dtypes.as_dtype(dtype))


@composite(creates=True, around=placed_like("x"))
def randn_like(x: Tensor, dtype: DTypeLike = None) -> Tensor:
    """Sample from the standard normal distribution in the shape of another tensor.

    Returns:
        A tensor with the shape of `x`, and its dtype unless `dtype` is given.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.randn_like(paddle.zeros([2, 3])).shape
        paddle.Size([2, 3])
    """
    return _gaussian(0.0, 1.0, tuple(payload_of(x).shape), x.dtype if dtype is None else dtypes.as_dtype(dtype))


@op(name="randperm", random=True, grad=False)
def _randperm(key: Any, /, n: int, dtype: Any) -> Any:
    return jax.random.permutation(key, n).astype(numpy_dtype(dtype))


@composite(creates=True)
def randperm(n: int, dtype: DTypeLike = "int64") -> Tensor:
    """Return a random permutation of the integers from 0 to n - 1.

    Returns:
        A 1-D tensor of length `n`; int64 by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> sorted(paddle.randperm(4).tolist())
        [0, 1, 2, 3]
    """
    if n < 0:
        raise ValueError(f"randperm(): n is {n}; expected at least 0")
    return _randperm(n, dtypes.as_dtype(dtype))


@op(name="bernoulli", random=True, grad=False)
def _bernoulli(key: Any, x: Any, /, shape: Any = None, dtype: Any = None) -> Any:
    shape, kind = shape or x.shape, numpy_dtype(dtype) or x.dtype
    return (jax.random.uniform(key, shape, jnp.float32) < x).astype(kind)


@composite(methods=["bernoulli"])
def bernoulli(x: Tensor, p: float | None = None) -> Tensor:
    """Sample from Bernoulli distributions: 1 with probability `x` (or `p` if given), else 0.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
        [0.0, 1.0]
    """
    return _bernoulli(x) if p is None else _bernoulli(p, tuple(payload_of(x).shape), x.dtype)


@op(name="multinomial", random=True, grad=False)
def _multinomial(key: Any, x: Any, /, num_samples: int, replacement: bool) -> Any:
    logits = jnp.log(x)
    if replacement:
        draws = jax.random.categorical(key, logits, axis=-1, shape=(num_samples, *x.shape[:-1]))
        return jnp.moveaxis(draws, 0, -1).astype(jnp.int64)
    # The top k logits with Gumbel noise are a sample without replacement.
    noisy = logits + jax.random.gumbel(key, x.shape, logits.dtype)
    return jax.lax.top_k(noisy, num_samples)[1].astype(jnp.int64)


@composite(methods=["multinomial"])
def multinomial(x: Tensor, num_samples: int = 1, replacement: bool = False) -> Tensor:
    """Sample category indices with probabilities proportional to `x` along the last dimension.

    Returns:
        An int64 tensor of shape [*x.shape[:-1], num_samples].

    Raises:
        ValueError: if more samples are requested without replacement than there are categories.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> sorted(paddle.multinomial(paddle.to_tensor([0.0, 1.0, 3.0]), num_samples=2).tolist())
        [1, 2]
    """
    if num_samples < 1:
        raise ValueError(f"multinomial(): num_samples is {num_samples}; expected at least 1")
    if not replacement and num_samples > x.shape[-1]:
        raise ValueError(
            f"multinomial(): num_samples is {num_samples}, but x has {x.shape[-1]} categories; use replacement=True"
        )
    return _multinomial(x, num_samples, replacement)


@op(name="poisson", random=True, grad=False)
def _poisson(key: Any, x: Any, /) -> Any:
    # JAX samples Poisson with one of its generators only.
    return jax.random.poisson(jax.random.key(jax.random.bits(key, (), jnp.uint32), impl="threefry2x32"), x).astype(
        x.dtype
    )


@composite
def poisson(x: Tensor) -> Tensor:
    """Sample from Poisson distributions with the rates `x`.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.poisson(paddle.to_tensor([0.0])).tolist()
        [0.0]
    """
    return _poisson(x)


@op(name="binomial", random=True, grad=False)
def _binomial(key: Any, count: Any, prob: Any, /) -> Any:
    return jax.random.binomial(key, count.astype(jnp.float32), prob).astype(jnp.int64)


@composite
def binomial(count: TensorLike, prob: Tensor) -> Tensor:
    """Sample from binomial distributions: the number of successes in `count` trials of probability `prob`.

    Returns:
        An int64 tensor of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.binomial(paddle.to_tensor([3.0]), paddle.to_tensor([1.0])).tolist()
        [3]
    """
    return _binomial(count, prob)


@op(name="standard_gamma", random=True)
def _standard_gamma(key: Any, x: Any, /) -> Any:
    return jax.random.gamma(key, x, dtype=x.dtype)


@composite
def standard_gamma(x: Tensor) -> Tensor:
    """Sample from gamma distributions with the shape parameters `x` and scale 1.

    Returns:
        A tensor with the shape and dtype of `x`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.standard_gamma(paddle.to_tensor([1.0])).shape
        paddle.Size([1])
    """
    return _standard_gamma(x)
