"""Transforms of functions, with the arguments that torch.func has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..autograd import functional, transforms
from ..autograd.mode import enable_grad
from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.creation import eye, zeros_like
from ..ops.joining import stack
from . import pytree

__all__ = [
    *("functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "stack_module_state"),
    *("vjp", "vmap"),
]


def _is_trained(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())


def _fresh(leaf: Any) -> Any:
    """Return a tensor to differentiate by, connected to where it comes from."""
    if not _is_trained(leaf):
        return leaf
    if not leaf.stop_gradient:
        return leaf.clone()
    made = leaf.detach()
    made.stop_gradient = False
    return made


def _taken(args: Sequence[Any], argnums: int | tuple[int, ...]) -> tuple[list[Any], list[Tensor], Any]:
    """Return arguments with fresh tensors at some places, these tensors, and what puts others in their place."""
    places = [argnums] if isinstance(argnums, int) else list(argnums)
    chosen = pytree.tree_map(_fresh, tuple([args[i] for i in places]))
    leaves, spec = pytree.tree_flatten(chosen)
    made = list(args)
    for i, value in zip(places, chosen, strict=True):
        made[i] = value

    def put(found: Sequence[Any]) -> Any:
        each = iter(found)
        trees = spec.unflatten([next(each) if _is_trained(leaf) else leaf for leaf in leaves])
        return trees[0] if isinstance(argnums, int) else trees

    return made, [leaf for leaf in leaves if _is_trained(leaf)], put


def _gradients(outs: Sequence[Tensor], inputs: list[Tensor], weights: Any = None) -> list[Tensor]:
    if not inputs or all(y.stop_gradient for y in outs):
        return [zeros_like(x) for x in inputs]
    found: Any = functional.grad(list(outs), inputs, weights, create_graph=True, allow_unused=True)
    return [zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)]


def grad_and_value(
    func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the gradient of another one, and its value.

    Arguments:
        func: a function whose result is a number.
        argnums: by which arguments, which may be lists and dicts of tensors, it is differentiated. Default: 0.
        has_aux: func returns the number and something else, which is given back. Default: False.

    Returns:
        A function that returns (gradient, value), or (gradient, (value, aux)).

    Raises:
        ValueError: the result is no number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.compat.func.grad_and_value(lambda x: (x * x).sum())
        >>> [t.tolist() for t in f(paddle.to_tensor([3.0]))]
        [[6.0], 9.0]
    """

    def both(*args: Any, **kwargs: Any) -> Any:
        with enable_grad():
            made, inputs, put = _taken(args, argnums)
            out = func(*made, **kwargs)
            value, *aux = out if has_aux else (out,)
            if not isinstance(value, Tensor) or value.size != 1:
                found = f"the shape {value.shape}" if isinstance(value, Tensor) else f"a {type(value).__name__}"
                raise ValueError(f"grad: the function gives {found}; expected a tensor with one element")
            found = put(_gradients([value], inputs))
        return found, (value, *aux) if has_aux else value

    return both


def grad(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives the gradient of another one.

    Arguments:
        func: a function whose result is a number.
        argnums: by which arguments, which may be lists and dicts of tensors, it is differentiated. Default: 0.
        has_aux: func returns the number and something else, which is given back. Default: False.

    Returns:
        A function that returns the gradient, or (gradient, aux).

    Raises:
        ValueError: the result is no number.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.compat.func.grad(paddle.compat.func.grad(lambda x: x * x * x))
        >>> f(paddle.to_tensor(2.0)).item()
        12.0
    """
    both = grad_and_value(func, argnums, has_aux)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of a function, and a function from vectors to products of a vector and the Jacobian.

    Arguments:
        primals: its arguments.
        has_aux: func returns its value and something else, which is given back. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y, back = paddle.compat.func.vjp(lambda x: x * x, paddle.to_tensor([3.0]))
        >>> y.tolist(), back(paddle.ones([1]))[0].tolist()
        ([9.0], [6.0])
    """
    with enable_grad():
        made, inputs, put = _taken(primals, tuple(range(len(primals))))
        out = func(*made)
    value, *aux = out if has_aux else (out,)
    leaves = pytree.tree_leaves(value)

    def back(cotangents: Any) -> Any:
        with enable_grad():
            return put(_gradients(leaves, inputs, pytree.tree_leaves(cotangents)))

    return (value, back, *aux)


def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """Return the value of a function, and the product of its Jacobian and a vector.

    Arguments:
        primals: its arguments, a tuple.
        tangents: the vector, of the shapes of the arguments.
        has_aux: False.

    Raises:
        ValueError: has_aux is True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([3.0])
        >>> [t.tolist() for t in paddle.compat.func.jvp(lambda x: x * x, (x,), (x,))]
        [[9.0], [18.0]]
    """
    if has_aux:
        raise ValueError("jvp: has_aux is True; expected False: return the value alone")
    leaves, spec = pytree.tree_flatten(tuple(primals))
    return transforms.jvp(lambda *flat: func(*spec.unflatten(flat)), leaves, pytree.tree_leaves(tuple(tangents)))


def _axes(dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """Return the batch dimension of each leaf of the arguments; a number is that of all leaves below."""

    def below(dim: Any, tree: Any) -> list[Any]:
        if dim is None or isinstance(dim, int):
            return [dim if isinstance(leaf, Tensor) else None for leaf in pytree.tree_leaves(tree)]
        pairs = [(dim[k], v) for k, v in tree.items()] if isinstance(tree, dict) else zip(dim, tree, strict=True)
        return [axis for d, part in pairs for axis in below(d, part)]

    return below(dims, args)


def vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error") -> Any:
    """Vectorize a function of one sample: return a function of a batch of samples.

    Arguments:
        func: a function from tensors, or lists and dicts of them, to such, without side effects.
        in_dims: batch dimension of each argument, or of its parts; None for one without. Default: 0.
        out_dims: batch dimension of each result. Default: 0.
        randomness: "error": a function that draws random numbers is refused.

    Raises:
        ValueError: func changes state, draws random numbers or branches on values, or randomness is something else.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.compat.func.vmap(lambda row: row.sum())(x).tolist()
        [3.0, 7.0]
    """
    if randomness != "error":
        raise ValueError(f"vmap: randomness is {randomness!r}; expected 'error': draw the random numbers before")

    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.tree_flatten(args)
        axes = _axes(tuple(in_dims) if isinstance(in_dims, list | tuple) else in_dims, args)
        tensors = [i for i, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]

        def of_one(*given: Tensor) -> Any:
            each = list(leaves)
            for i, t in zip(tensors, given, strict=True):
                each[i] = t
            return func(*spec.unflatten(each), **kwargs)

        if isinstance(out_dims, int):
            return transforms.vmap(of_one, tuple([axes[i] for i in tensors]), out_dims)(*[leaves[i] for i in tensors])
        found = transforms.vmap(of_one, tuple([axes[i] for i in tensors]))(*[leaves[i] for i in tensors])
        return tuple([t if d == 0 else t.moveaxis(0, d) for t, d in zip(found, out_dims, strict=True)])

    return batched


def _jacobian(func: Callable[..., Any], argnums: Any, forwards: bool) -> Callable[..., Any]:
    def found(*args: Any) -> Any:
        places = [argnums] if isinstance(argnums, int) else list(argnums)

        def chosen(*given: Tensor) -> Any:
            made = list(args)
            for i, value in zip(places, given, strict=True):
                made[i] = value
            out = func(*made)
            if not isinstance(out, Tensor):
                raise ValueError(f"the function gives a {type(out).__name__}; expected a tensor")
            return out

        xs = [args[i] for i in places]
        if wrong := next((x for x in xs if not isinstance(x, Tensor)), None):
            raise TypeError(f"a Jacobian by a {type(wrong).__name__}; expected a tensor: name arguments by argnums")
        parts = _forwards(chosen, xs) if forwards else _backwards(chosen, xs)
        return parts[0] if isinstance(argnums, int) else tuple(parts)

    return found


def _backwards(func: Callable[..., Any], xs: list[Tensor]) -> list[Tensor]:
    y = func(*xs)
    rows = vmap(lambda v, *x: vjp(func, *x)[1](v), (0, *[None] * len(xs)))(_basis(y), *xs)
    return [row.reshape([*y.shape, *x.shape]) for row, x in zip(rows, xs, strict=True)]


def _forwards(func: Callable[..., Any], xs: list[Tensor]) -> list[Tensor]:
    def column(i: int) -> Tensor:
        def moved(v: Tensor, *given: Tensor) -> Any:
            tangents = [v if k == i else zeros_like(x) for k, x in enumerate(given)]
            return transforms.jvp(func, list(given), tangents)[1]

        out = vmap(moved, (0, *[None] * len(xs)), -1)(_basis(xs[i]), *xs)
        return out.reshape([*out.shape[:-1], *xs[i].shape])

    return [column(i) for i in range(len(xs))]


def _basis(x: Tensor) -> Tensor:
    """Return each tensor of the shape of x that is 0 but for a 1."""
    return eye(math.prod(x.shape), dtype=x.dtype).reshape([-1, *x.shape])


def jacrev(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of another one, found row by row backwards.

    Arguments:
        func: a function from tensors to a tensor.
        argnums: by which arguments it is differentiated. Default: 0.

    Raises:
        ValueError: func gives something else, changes state, or branches on values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.func.jacrev(lambda x: x * x)(paddle.to_tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return _jacobian(func, argnums, False)


def jacfwd(func: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of another one, found column by column forwards.

    Arguments:
        func: a function from tensors to a tensor.
        argnums: by which arguments it is differentiated. Default: 0.

    Raises:
        ValueError: func gives something else, changes state, or branches on values.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.func.jacfwd(lambda x: x * x)(paddle.to_tensor([1.0, 2.0])).tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return _jacobian(func, argnums, True)


def hessian(func: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """Return a function that gives the second derivatives of another one.

    Arguments:
        func: a function from tensors to a tensor.
        argnums: by which argument it is differentiated. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.func.hessian(lambda x: (x * x * x).sum())(paddle.to_tensor([1.0, 2.0])).tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacrev(jacrev(func, argnums), argnums)


@contextmanager
def _replaced(module: Any, given: dict[str, Any]) -> Iterator[None]:
    """Put tensors in the place of parameters and buffers, also where a layer has them under another name."""
    layers = [module, *module.sublayers()]
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    if unknown := sorted({*given} - {*held}):
        raise KeyError(f"functional_call: {type(module).__name__} has no parameter or buffer {unknown[0]!r}")
    new = {id(held[name]): value for name, value in given.items()}
    changed = []
    try:
        for layer in layers:
            for table in (layer._parameters, layer._buffers):
                for name, tensor in list(table.items()):
                    if id(tensor) in new:
                        changed.append((table, name, tensor))
                        table[name] = new[id(tensor)]
        yield
    finally:
        for table, name, tensor in changed:
            table[name] = tensor


def functional_call(module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None) -> Any:
    """Call a layer with other tensors in the place of its parameters and buffers.

    Arguments:
        module: the layer.
        parameter_and_buffer_dicts: a dict of tensors by the names of parameters and buffers, or several.
        args: the argument of the layer, or a tuple of all.
        kwargs: arguments by name.

    Raises:
        KeyError: the layer has no parameter or buffer of a name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net = paddle.compat.nn.Linear(2, 1, bias=False)
        >>> paddle.compat.func.functional_call(net, {"weight": paddle.ones([1, 2])}, paddle.ones([1, 2])).item()
        2.0
    """
    dicts = parameter_and_buffer_dicts
    given: dict[str, Any] = {}
    for each in [dicts] if isinstance(dicts, dict) else dicts:
        given.update(each)
    listed = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given):
        return module(*listed, **(kwargs or {}))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of layers of one kind, stacked by name, for vmap() and functional_call().

    Arguments:
        models: the layers.

    Raises:
        ValueError: there are no layers.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> nets = [paddle.compat.nn.Linear(2, 1) for _ in range(3)]
        >>> paddle.compat.func.stack_module_state(nets)[0]["weight"].shape
        paddle.Size([3, 1, 2])
    """
    if not models:
        raise ValueError("stack_module_state: there are no layers")

    def stacked(kind: str) -> dict[str, Any]:
        each = [dict(getattr(model, f"named_{kind}")()) for model in models]
        joined: dict[str, Any] = {k: stack([found[k] for found in each]).detach() for k in each[0]}
        return joined

    params = stacked("parameters")
    for p in params.values():
        p.stop_gradient = False
    return params, stacked("buffers")


_document(globals())
