"""The base of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from ..core.arrays import as_array, full_on_host, is_spread, laid_over, meshes
from ..core.interpreter import UpdateRule, layer_version, no_grad, state
from ..core.no_effect import Immaterial, Refused, no_effect
from ..core.traced_number import TracedNumber, current
from ..eager.pending import payload_of, put_together
from ..eager.tensor import ZEROS, Parameter, Tensor, wrap
from ..nn import unique_name
from ..ops.placement import lay
from ..registry.text import text_or_none
from ..regularizer import L2Decay
from . import checks, own_updates, rows
from .lr import LRScheduler
from .operators import operator
from .own_state import OwnState
from .parameter_group import ParameterGroup
from .shared_numbers import Alike
from .unchanged import Unchanged
from .update import Accumulator, Numbers, Recipe, Rule, Setting, compiled

ONE_CALL = Immaterial("one compiled call updates all parameters")


class Optimizer(OwnState):
    """Base class of all optimizers.

    Arguments:
        learning_rate: the learning rate, a float or an LRScheduler.
        parameters: the parameters to train, an iterable; or a list of dicts {"params": [...], ...} of parameter groups
            with settings of their own. Required in dynamic mode.
        weight_decay: a float or L2Decay, which adds `coeff * param` to the gradient, or L1Decay, which adds `coeff *
            sign(param)`; None: no decay.
        grad_clip: ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, applied to the gradients before the decay;
            None: no clipping.
        multi_precision: keep float32 master copies of float16 and bfloat16 parameters and update those. Default: False.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        >>> opt = paddle.optimizer.SGD(0.5, [w])
        >>> isinstance(opt, paddle.optimizer.Optimizer), opt.get_lr()
        (True, 0.5)
    """

    inputs = frozenset({"_learning_rate"})
    _slots: tuple[Accumulator, ...] = ()
    _rule: Rule
    _numbers: Numbers | None = None
    # The hyperparameters that the rule takes; each is an attribute of the same name with a leading "_".
    _hyper: tuple[str, ...] = ()
    # True: the rule itself decays the parameter by its argument `weight_decay`.
    _decoupled = False
    # True: in the updates of subclasses of users, L2 decay is added after what they make of the gradient.
    _l2_in_rule = False

    def __init__(
        self,
        learning_rate: Any,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        multi_precision: bool = False,
    ) -> None:
        who = type(self).__name__
        state.interpreter.begins(f"an optimizer, {who},")
        self._learning_rate: float | LRScheduler = checks.learning_rate(who, learning_rate)
        self._grad_clip = checks.grad_clip(who, grad_clip)
        self._weight_decay = weight_decay
        self._name, self._multi_precision = name, multi_precision
        self._param_groups: list[Any] = checks.parameters(who, parameters)
        self._groups: list[ParameterGroup] = []
        self._rates: dict[float, Any] = {}
        self._zeros: dict[Any, Any] = {}
        self._auxiliary_vars: dict[str, Tensor] = {}
        self._begin_own()
        if self._param_groups and isinstance(self._param_groups[0], dict):
            for given in self._param_groups:
                self._add_group(given)
        else:
            self._make_group(self._param_groups, {})

    @property
    def regularization(self) -> Any:
        """What is added to the gradients: an L1Decay or L2Decay; None where parameters themselves decay."""
        decay = None if self._decoupled else self._weight_decay
        return L2Decay(decay) if isinstance(decay, int | float) else decay

    @regularization.setter
    def regularization(self, value: Any) -> None:
        self._weight_decay = value

    def _add_group(self, given: dict[str, Any]) -> None:
        known = "params", "learning_rate", "weight_decay", "grad_clip", *self._hyper
        checks.group(type(self).__name__, given, known)
        params = [given["params"]] if isinstance(given["params"], Tensor) else list(given["params"])
        group = self._make_group(params, {k: v for k, v in given.items() if k != "params"})
        for p in group.params:  # the group's learning rate and decay replace their own
            p.optimize_attr["learning_rate"] = group.options.get("learning_rate", 1.0)
            p.regularizer = None

    def _make_group(self, params: list[Any], options: dict[str, Any]) -> ParameterGroup:
        chosen = checks.unique_parameters(type(self).__name__, params, self._parameter_list)
        hyper = dict(self._hyper_of(options))
        slots = tuple([s._replace(fill=hyper[s.fill]) if isinstance(s.fill, str) else s for s in self._slots])
        self._groups.append(ParameterGroup(chosen, options, slots))
        put_together(self._parameter_list)
        return self._groups[-1]

    def _add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, with settings of their own."""
        self._param_groups.append(param_group)
        self._add_group(param_group)
        layer_version.number += 1

    @property
    def _parameter_list(self) -> list[Parameter]:
        return [p for group in self._groups for p in group.params]

    # -- learning rate ---------------------------------------------------------------------------------------------
    def get_lr(self) -> float:
        """Return the learning rate of the next step, a float.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> w = paddle.create_parameter([1], "float32")
            >>> paddle.optimizer.SGD(0.5, parameters=[w]).get_lr()
            0.5
        """
        rate = state.interpreter.attribute(self, "_learning_rate")
        return _number(rate()) if isinstance(rate, LRScheduler) else rate

    def set_lr(self, value: float) -> None:
        """Set the learning rate.

        Raises:
            RuntimeError: if the learning rate is an LRScheduler.
        """
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "set_lr: an LRScheduler sets the learning rate of this optimizer; change the scheduler instead"
            )
        state.interpreter.set_attribute(self, "_learning_rate", checks.learning_rate("set_lr", _number(value)))

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Set the LRScheduler that gives the learning rate."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"set_lr_scheduler: an LRScheduler is expected, got {type(scheduler).__name__}")
        state.interpreter.set_attribute(self, "_learning_rate", scheduler)

    def _trace_rate(self, builder: Any) -> Tensor:
        """Return the learning rate as an input or a value of a program."""
        held = self._learning_rate
        if isinstance(held, Tensor):  # a variable of the program
            return held.reshape([]).astype("float32")
        moves = isinstance(held, LRScheduler) and builder.has_advanced(held)
        rate = self.get_lr() if moves or builder.is_set(self, "_learning_rate") else None
        if isinstance(rate, Tensor):
            return rate.astype("float32")
        if rate is None:
            given = builder.provide(self._rate)
        else:
            given = builder.provide(lambda: self._rate(current(rate)))
        given._payload.name = unique_name.generate("learning_rate")
        return given

    def _rate(self, value: float | None = None) -> Any:
        """Return the learning rate as an array: an input of the update, so that a new one compiles nothing."""
        value = self.get_lr() if value is None else value
        found = self._rates.get(value)
        if found is None:
            self._rates.clear()
            found = self._rates[value] = full_on_host(value, (), np.float32)
        return found

    # -- stepping --------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Update every parameter that has a gradient; all others stay unchanged.

        Examples:
            >>> import paddle_lite_py as paddle
            >>> net = paddle.nn.Linear(2, 1)
            >>> opt = paddle.optimizer.Adam(learning_rate=0.1, parameters=net.parameters())
            >>> net(paddle.ones([4, 2])).mean().backward()
            >>> opt.step(); opt.clear_grad()
        """
        own = type(self)._apply_optimize is not Optimizer._apply_optimize
        for at, group in enumerate(self._groups):
            for p in group.params:
                state.interpreter.gradient_state(p)
            active = [i for i, p in enumerate(group.params) if p._grad is not None and not p.stop_gradient]
            grads = [_gradient(group.params[i], self._zeros) for i in active]
            if own:
                self._apply_own(at, group, active, grads)
            elif active:
                self._update(group, active, grads)

    def _apply_own(self, at: int, group: ParameterGroup, active: list[int], grads: list[Tensor]) -> None:
        """Call the `_apply_optimize` of a subclass."""
        if not state.interpreter.is_eager:
            builder: Any = state.interpreter
            found = (self._settings(group, active), self._clip_of(group))
            builder.assumes(Unchanged.of(self, group, active, *found)._replace(own=(self,)))
        pairs = [(group.params[i], g) for i, g in zip(active, grads, strict=True)]
        pairs = own_updates.with_options(self, group, pairs)
        with no_grad():
            if at:
                self._apply_optimize(None, None, pairs, param_group_idx=at)
            else:  # some subclasses know of no groups
                self._apply_optimize(None, None, pairs)

    def _global_learning_rate(self, program: Any = None) -> Tensor:
        """Return the learning rate as a tensor."""
        return wrap(self._rate()) if state.interpreter.is_eager else self._trace_rate(state.interpreter)

    def _apply_optimize(
        self, loss: Any, startup_program: Any, params_grads: Any, param_group_idx: int = 0
    ) -> list[Any]:
        """Update these parameters, each with its gradient; subclasses may change the pairs before."""
        return self.apply_gradients(params_grads["params"] if isinstance(params_grads, dict) else params_grads)

    def _update(self, group: ParameterGroup, active: list[int], grads: list[Tensor]) -> None:
        group.start(active, self._multi_precision)
        if own_updates.replaces(type(self), Optimizer):
            return own_updates.update_each(self, group, active, grads)
        clip = self._clip_of(group)
        if clip is not None and clip.key() is None:
            pairs = clip([(group.params[i], g) for i, g in zip(active, grads, strict=True)])
            grads = [g for _, g in pairs]
        key, settings = self._settings(group, active)
        alike = bool(group.scalars) and self._alike(group, active, settings)
        if not state.interpreter.is_eager:
            builder: Any = state.interpreter
            own = tuple([self._added_to(group.params[s.row], group.options) for s in settings if s.decay == "own"])
            builder.assumes(Unchanged.of(self, group, active, (key, settings), clip)._replace(own=own))
        if any(s.decay == "own" for s in settings):
            grads, settings = own_updates.own_decays(self, group, grads, settings, clip if key else None)
            key = None
        self._run_update(group, active, grads, key, settings, alike)

    def _append_optimize_op(self, block: Any, param_and_grad: Any) -> None:
        """Update one parameter: subclasses may replace this, or call it with another gradient or learning rate."""
        param, grad = own_updates.pair(param_and_grad)
        if not hasattr(type(self), "_rule"):
            raise NotImplementedError(f"{type(self).__name__} must define _append_optimize_op(block, param_and_grad)")
        group, i = own_updates.place_of(self, param)
        setting = self._settings(group, [i])[1][0]
        plain = setting if own_updates.in_rule(self, setting) else setting._replace(decay="", coeff=0.0)
        self._run_update(group, [i], [grad], None, (plain,), alike=bool(group.scalars))

    def _run_update(
        self, group: ParameterGroup, active: list[int], grads: list[Any], key: Any, settings: Any, alike: bool
    ) -> None:
        skip = self._auxiliary_vars.get("found_inf")
        made = type(self)
        recipe = Recipe(self.type, made._rule, group.slots, settings, key, skip is not None, made._numbers, alike)
        handles = group.handles(active)
        flags = () if skip is None else (skip,)
        # XLA chooses how results lie, and parameters keep their places.
        laid = [(t, payload_of(t).sharding) for t in handles if is_spread(payload_of(t))] if meshes else ()
        if state.interpreter.is_eager:
            bound = partial(operator, recipe)
            rule = UpdateRule(recipe.name, bound, partial(compiled, recipe, lambda: text_or_none("update", bound())))
            state.interpreter.update(rule, self._rate(), grads, handles, flags)
        else:
            builder: Any = state.interpreter
            with no_grad():
                rate = self._trace_rate(builder)
                values = [g.values if isinstance(g, rows.RowsGradient) else g for g in grads]
                held = builder.run(operator(recipe), (rate, *values, *rows.split_rows(handles, grads), *flags))
                new = rows.put(handles, grads, held)
            for handle, tensor in zip(handles, new, strict=True):
                handle._set_payload(tensor._payload)
        for t, where in laid:
            lay(t, where)

    def _clip_of(self, group: ParameterGroup) -> Any:
        return group.options.get("grad_clip", self._grad_clip)

    def _settings(self, group: ParameterGroup, active: list[int]) -> tuple[Any, tuple[Setting, ...]]:
        """Return what an update of these parameters depends on besides shapes: gradient clipping, and the rest."""
        clip, hyper = self._clip_of(group), self._hyper_of(group.options)
        return clip and clip.key(), tuple([self._setting(group, i, hyper) for i in active])

    def _alike(self, group: ParameterGroup, active: list[int], settings: tuple[Setting, ...]) -> bool:
        """Whether one number of each kind serves all these parameters."""
        group.shared.updated(active)
        fact = Alike(group.shared, tuple(active), type(self).__name__)
        return len({s.rate for s in settings}) == 1 and fact.holds() and state.interpreter.assumes(fact)

    def _set_auxiliary_var(self, key: str, value: Any) -> None:
        """Hand a tensor to the next updates: a true "found_inf" leaves everything as it is. None withdraws it."""
        if value is None:
            self._auxiliary_vars.pop(key, None)
        else:
            self._auxiliary_vars[key] = value

    def _setting(self, group: ParameterGroup, i: int, hyper: tuple[tuple[str, Any], ...]) -> Setting:
        param, options = group.params[i], group.options
        rate = self._factor(param) * param.optimize_attr["learning_rate"]
        decays, decay, coeff = self._added_to(param, options), "", 0.0
        if self._decoupled:
            hyper += (("weight_decay", self._decay_of(param, options)),)
        if decays is not None:
            decay, coeff = (decays.kind, decays.coeff) if hasattr(decays, "kind") else ("l2", float(decays))
        return Setting(i, rate, decay, coeff, param.need_clip, hyper, group.masters[i] is not None)

    def _added_to(self, param: Parameter, options: dict[str, Any]) -> Any:
        """Return the regularizer, or a coefficient, of what is added to the gradient of a parameter."""
        own = param.regularizer
        return own if own is not None or self._decoupled else options.get("weight_decay", self._weight_decay)

    def _hyper_of(self, options: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
        return tuple([(k, options[k] if k in options else getattr(self, f"_{k}")) for k in self._hyper])

    def _decay_of(self, param: Parameter, options: dict[str, Any]) -> float:
        """Return the decay that the rule itself applies to a parameter."""
        raise NotImplementedError

    def _factor(self, param: Parameter) -> float:
        """Return a factor on the learning rate of a parameter."""
        return 1.0

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Parameter, Any]]]:
        """Update the parameters, after `loss.backward()`; in static mode append backward and update operators.

        Arguments:
            loss: the loss to minimize.
            startup_program: in static mode, the program that initializes new variables; None: the default.
            parameters: in static mode, the parameters to train; None: all.
            no_grad_set: in static mode, variables that no gradient passes through.

        Returns:
            A list of the update operators (empty in dynamic mode), and the list of (parameter, gradient) pairs.
        """
        with state.interpreter.starting(startup_program):
            computed = state.interpreter.minimized(self, loss, parameters, no_grad_set)
            if computed is not None:
                return self.apply_gradients(computed), computed
        pairs = self._present()
        self.step()
        return [], pairs

    def _present(self) -> list[tuple[Parameter, Any]]:
        return [(p, p.grad) for p in self._parameter_list if p._grad is not None and not p.stop_gradient]

    @no_effect(callbacks=Refused("nothing is called while gradients are built"))
    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Parameter, Any]]:
        """Return the (parameter, gradient) pairs of a loss, for apply_gradients().

        In dynamic mode they are the results of an earlier `loss.backward()`.

        Arguments:
            loss: the loss.
            startup_program: in static mode, the program that initializes new variables; None: the default.
            parameters: in static mode, the parameters to train; None: all.
            no_grad_set: in static mode, variables that no gradient passes through.
            callbacks: no effect: nothing is called while gradients are computed.

        Returns:
            A list of (parameter, gradient) pairs.
        """
        with state.interpreter.starting(startup_program):
            computed = state.interpreter.minimized(self, loss, parameters, no_grad_set)
        return self._present() if computed is None else computed

    def apply_gradients(self, params_grads: list[tuple[Parameter, Tensor]]) -> list[Any]:
        """Update parameters with the given (parameter, gradient) pairs."""
        if not self._parameter_list:  # in static mode an optimizer may be made before its parameters are known
            self._groups.clear()
            self._make_group([p for p, g in params_grads if g is not None], {})
        given = {id(p): g for p, g in params_grads if g is not None}
        for group in self._groups:
            active = [i for i, p in enumerate(group.params) if id(p) in given]
            if active:
                self._update(group, active, [given[id(group.params[i])] for i in active])
        return []

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or with set_to_zero=False to None."""
        for group in self._groups:
            for p in group.params:
                if not p.stop_gradient:
                    p.clear_gradient(set_to_zero)
        state.interpreter.finish_update()

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or with set_to_none=False to zeros."""
        self.clear_grad(not set_to_none)

    def get_opti_var_name_list(self) -> list[str]:
        """Return the names of the accumulators."""
        return [name for group in self._groups for name in group.state_dict()]

    @property
    def _accumulators(self) -> dict[str, dict[str, Tensor]]:
        """The accumulators by their names and those of parameters, as programs look into them."""
        out = super()._accumulators
        for name, param, values in [each for group in self._groups for each in group.accumulators()]:
            out.setdefault(name, {})[param] = values
        return out

    @property
    def _master_weights(self) -> dict[str, Tensor]:
        """The float32 copies of narrow parameters, by the names of those."""
        pairs = [pair for g in self._groups for pair in zip(g.params, g.masters, strict=True)]
        return {p.name: m for p, m in pairs if m is not None}

    @_master_weights.setter
    def _master_weights(self, value: Any) -> None:
        """Do nothing: `self._master_weights = {}` of subclasses says that there are none yet."""

    # -- saving ----------------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Return the accumulators by name, the master weights, and the state of the LRScheduler.

        Returns:
            A dict, which paddle.save() can write.
        """
        out: dict[str, Any] = {}
        for group in self._groups:
            out.update(group.state_dict())
        out.update(self._own_state())
        if masters := self._master_weights:
            out["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            out["LR_Scheduler"] = self._learning_rate.state_dict()
        return out

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state_dict(); parameters are identified by their names.

        Arguments:
            state_dict: the dict that state_dict() returned.

        Raises:
            ValueError: if a shape differs; nothing is changed then.
        """
        steps: list[Callable[[], None]] = [s for g in self._groups for s in g.plan_load(state_dict)]
        steps += self._plan_own(state_dict, self._parameter_list)
        checks.loaded(type(self).__name__, state_dict, steps, self._parameter_list)
        for step in steps:
            step()
        masters = state_dict.get("master_weights", {})
        for group in self._groups:
            for i, p in enumerate(group.params):
                if p.name in masters:
                    master = as_array(masters[p.name], "float32")
                    group.masters[i] = wrap(laid_over(master, p._payload.sharding) if is_spread(p._payload) else master)
        if isinstance(self._learning_rate, LRScheduler) and "LR_Scheduler" in state_dict:
            self._learning_rate.set_state_dict(state_dict["LR_Scheduler"])

    load_state_dict = set_dict = set_state_dict

    @property
    def type(self) -> str:
        """Name of the update rule."""
        return self.__dict__.get("_type") or type(self).__name__.lower()

    @type.setter
    def type(self, value: str) -> None:
        self._type = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}(learning_rate={self.get_lr():g}, parameters={len(self._parameter_list)})"


def _number(value: Any) -> Any:
    """Return a float, or what stands for one in a program."""
    return value if type(value) is TracedNumber or isinstance(value, Tensor) else float(value)


def _gradient(param: Parameter, zeros: dict[Any, Any]) -> Tensor:
    """Return the gradient of a parameter for the current interpreter."""
    grad = param._grad
    if grad is ZEROS:
        key = (tuple(payload_of(param).shape), payload_of(param).dtype)
        if key not in zeros:
            zeros[key] = wrap(full_on_host(0, *key))
        return zeros[key]
    return grad
