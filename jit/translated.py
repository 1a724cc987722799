"""jit.load: a saved program as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import flax as safetensors

from paddle_lite_py.core.arrays import as_array, stored_arrays
from paddle_lite_py.core.interpreter import no_grad
from paddle_lite_py.core.interpreter import state as mode
from paddle_lite_py.core.no_effect import Refused, no_effect, only_known
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.eager.random import default_generator
from paddle_lite_py.eager.tensor import Parameter, Tensor, wrap
from paddle_lite_py.ir.program import Program
from paddle_lite_py.nn import unique_name
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.part_texts import parts_text

from . import artifact
from .artifact import ArtifactError
from .check import alike
from .loaded_op import MEANINGLESS
from .method import Method
from .spec import InputSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from paddle_lite_py.targets import Report

_BY_PREFIX = Refused("the files are named by the prefix that was given to jit.save")


@no_effect(model_filename=_BY_PREFIX, params_filename=_BY_PREFIX)
def load(
    path: str,
    check: bool = False,
    *,
    model_filename: str | None = None,
    params_filename: str | None = None,
    **configs: Any,
) -> TranslatedLayer:
    """Load a program that jit.save() wrote; the original code is neither needed nor run.

    Model files of PaddlePaddle (path.json or path.pdmodel with path.pdiparams) are loaded as well.

    Arguments:
        path: path without extension, as given to jit.save().
        check: run the samples stored with the program and compare their results with the stored ones. Default: False.
        model_filename: no effect: path names the files.
        params_filename: no effect: path names the files.
        configs: accepted for compatibility.

    Returns:
        A TranslatedLayer, in evaluation mode.

    Raises:
        ArtifactError: if the files are missing, damaged, from another source or of a newer version, or a sample's
            result differs.

    Examples:
        >>> import tempfile, paddle_lite_py as paddle
        >>> net, x = paddle.nn.Linear(3, 2), paddle.ones([4, 3])
        >>> prefix = tempfile.mkdtemp() + "/net"
        >>> paddle.jit.save(net, prefix, input_spec=[paddle.static.InputSpec([None, 3])], samples=[(x,)])
        >>> paddle.jit.load(prefix, check=True)(x).shape
        paddle.Size([4, 2])
    """
    only_known(load, configs)
    made = load_with(path)
    if check:
        made.check_samples()
    return made


def load_with(path: str, weights: str | None = None) -> TranslatedLayer:
    """Return the same; a model file of the reference may have its weights in a file of another name."""
    try:
        manifest, blobs = artifact.read(path, weights)
    except MEANINGLESS as e:  # of a model file of the reference
        raise ArtifactError(f"the program at '{path}' is damaged: {type(e).__name__}: {e}") from None
    try:
        return TranslatedLayer(manifest, blobs, _arrays(artifact.weights_of(blobs)))
    except ArtifactError:
        raise
    except Exception as e:
        raise ArtifactError(f"the saved program at '{path}' is damaged: {type(e).__name__}: {e}") from None


def _arrays(held: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: as_array(array) if isinstance(array, np.ndarray) else array for name, array in held.items()}


class TranslatedLayer(Layer):
    """Loaded program as a Layer: call it, fine-tune its parameters, inspect it, save it again.

    It starts in evaluation mode; train() switches to the behavior of the original layer in training, if that was saved.
    Made by jit.load().

    Arguments:
        manifest: description of the programs.
        blobs: contents of the program files, by name.
        weights: parameters and buffers, by name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> spec = [paddle.static.InputSpec([None, 2], "float32", name="x")]
        >>> paddle.jit.save(paddle.nn.Linear(2, 1), folder + "/m", input_spec=spec)
        >>> loaded = paddle.jit.load(folder + "/m")
        >>> isinstance(loaded, paddle.jit.TranslatedLayer), loaded(paddle.ones([3, 2])).shape
        (True, paddle.Size([3, 1]))
    """

    _forward: tuple[Callable[..., Any], ...] = ()

    def __init__(self, manifest: dict[str, Any], blobs: dict[str, bytes], weights: dict[str, Any]) -> None:
        super().__init__(name_scope=str(manifest["name"]))
        self._manifest, self._blobs = manifest, {k: v for k, v in blobs.items() if k != artifact.WEIGHTS}
        self._handles = [self._weight(w, weights.get(w["name"])) for w in manifest["weights"]]
        self._eval_only = tuple(manifest.get("eval_only", ()))
        self._methods: dict[str, dict[str, Method]] = {}
        for name, modes in manifest["methods"].items():
            self._methods[str(name)] = {
                kind: Method(name, data, self._handles, manifest["constraints"]) for kind, data in modes.items()
            }
        if not self._methods:
            raise ArtifactError("the manifest has no methods")
        if forward := self._methods.get("forward"):
            training = self.forward if "forward" in self._eval_only else forward.get("train", forward["eval"])
            self._forward = (forward["eval"], training)  # by self.training
        self.training = False

    def _weight(self, entry: dict[str, Any], array: Any) -> Tensor:
        key, name = entry["name"].replace(".", "__"), unique_name.generate(entry["name"]).removesuffix("_0")
        if entry["kind"] == "generator":
            return default_generator.state
        if array is None:
            raise ArtifactError(f"weight '{entry['name']}' of the manifest is not in the safetensors file")
        if entry["parameter"]:
            handle: Tensor = Parameter(wrap(array), name=name, trainable=bool(entry["trainable"]))
            self.add_parameter(key, handle)  # type: ignore[arg-type]
        else:
            handle = wrap(array)
            handle.name = name
            self.register_buffer(key, handle)
        return handle

    # -- running ---------------------------------------------------------------------------------------------------
    def _method(self, name: str) -> Method:
        if name not in self._methods:
            raise AttributeError(f"the program was saved without `{name}`; it has {', '.join(self._methods)}")
        if self.training and name in self._eval_only:
            raise RuntimeError(
                f"`{name}` was saved in evaluation mode only, since it could not be traced in training mode with the "
                "arguments of its input_spec (jit.save warned of it): call eval(), or save it with all arguments that "
                "training needs"
            )
        modes = self._methods[name]
        return modes.get("train" if self.training else "eval") or modes["eval"]

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if (
            mode.interpreter is not EAGER
            or kwargs
            or self._forward_pre_hooks
            or self._forward_post_hooks
            or not self._forward
        ):
            return super().__call__(*inputs, **kwargs)
        return self._forward[self.training](*inputs)

    def forward(self, *inputs: Any) -> Any:
        """Run the program."""
        return self._method("forward")(*inputs)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_methods", ()):
            return lambda *inputs: self._method(name)(*inputs)
        return super().__getattr__(name)

    def check_samples(self) -> None:
        """Run the samples that were saved, and compare.

        Raises:
            ArtifactError: if there are none, or a result differs.
        """
        if "samples" not in self._blobs:
            raise ArtifactError("nothing to check: it was saved without samples=[...]")
        held, method = _arrays(stored_arrays(self._blobs["samples"])), self._methods["forward"]["eval"]
        for i in range(1 + max(int(k.partition(".")[0]) for k in held)):
            given = [wrap(held[f"{i}.in.{k}"]) for k in range(len(method.inputs))]
            with no_grad():
                found = method.run_flat(given)
            for k, tensor in enumerate(found):
                if not alike(held[f"{i}.out.{k}"], tensor):
                    raise ArtifactError(
                        f"result {k} of saved sample {i} is not what it was when the program was saved: this machine "
                        "or version computes it differently; save the program again"
                    )

    # -- looking inside --------------------------------------------------------------------------------------------
    def text(self, method_name: str = "forward") -> str:
        """Return the program of a method as text, with the parts in which it runs and what they have cost so far.

        Raises:
            AttributeError: if the program was saved without that method.
        """
        method = self._method(method_name)
        return f"{method.program}\n{'' if method.parts is None else parts_text(method.parts)}".rstrip("\n")

    def program(self, method_name: str = "forward") -> Program:
        """Return the program of a method in the mode that the layer is in."""
        return self._method(method_name).program

    @property
    def method_names(self) -> list[str]:
        """The methods that were saved."""
        return list(self._methods)

    @property
    def inputs(self) -> list[InputSpec]:
        """The inputs of forward."""
        return list(self._method("forward").inputs)

    @property
    def outputs(self) -> list[InputSpec]:
        """The outputs of forward."""
        return list(self._method("forward").outputs)

    def _input_spec(self, method_name: str = "forward") -> list[InputSpec]:
        """Return the input specs of a method."""
        return list(self._method(method_name).inputs)

    def _output_spec(self, method_name: str = "forward") -> list[InputSpec]:
        """Return the output specs of a method."""
        return list(self._method(method_name).outputs)

    @property
    def saved_in(self) -> str:
        """The mode that the layer was in when it was saved: "train" or "eval"."""
        return str(self._manifest.get("saved_in", "eval"))

    def compile_for(self, target: Any, *args: Any, method_name: str = "forward", size: int | None = None) -> Report:
        """Compile a method for a machine that is not here, and tell what comes of it: memory, work, errors.

        Arguments:
            target: "cpu", "h200", a TPU ("v5e") with or without its topology ("v5p:8x8x8"), or a file with the target
                configuration of a GPU.
            args: InputSpecs or tensors; what it was saved for, where none are given.
            size: that of each unknown dimension.

        Raises:
            TargetError: if nobody knows the target, or its compiler is not installed.
            ValueError: if a dimension is unknown, or the arguments do not fit.

        Examples:
            >>> import tempfile, paddle_lite_py as paddle
            >>> prefix = tempfile.mkdtemp() + "/net"
            >>> paddle.jit.save(paddle.nn.Linear(3, 2), prefix, input_spec=[paddle.static.InputSpec([None, 3])])
            >>> report = paddle.jit.load(prefix).compile_for("cpu", size=4)
            >>> report.fits, report.memory.outputs
            (True, 32)
        """
        return self._method(method_name).compile_for(target, args, size)

    # -- copies ----------------------------------------------------------------------------------------------------
    def _save(self, path: str) -> None:
        manifest = {k: v for k, v in self._manifest.items() if k not in ("files", "format", "version")}
        blobs = {k: v for k, v in self._blobs.items() if k != "samples"}
        artifact.write(path, manifest, blobs | {"safetensors": safetensors.save(self._arrays())})

    def _arrays(self) -> dict[str, Any]:
        entries = self._manifest["weights"]
        return {w["name"]: h._payload for w, h in zip(entries, self._handles, strict=True) if w["kind"] != "generator"}

    def __deepcopy__(self, memo: dict[int, Any]) -> TranslatedLayer:
        made = TranslatedLayer(self._manifest, self._blobs, self._arrays())
        made.training = self.training
        return made

    def __reduce__(self) -> Any:
        raise TypeError("a loaded program is not pickled; save it with paddle.jit.save")
