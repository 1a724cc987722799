"""Variables of static programs."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_what_a_variable_of_a_program_is_asked():
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [2, 3])
        paddle.nn.Linear(3, 1)(x)
    w = main.all_parameters()[0]
    scope = paddle.static.Scope()
    with pytest.raises(ValueError, match="run the startup program"):
        w.get_value(scope)
    paddle.static.Executor().run(startup, scope=scope)
    assert np.asarray(w.get_value(scope)).shape == (3, 1)
    assert (w.is_parameter, x.is_parameter, x.lod_level, x.grad_name) == (True, False, 0, "x@GRAD")
    assert x.to_string(True) == "var x : shape=[2, 3], dtype=float32"
    assert x.to_string(True, True).endswith("persistable=False, stop_gradient=True")
