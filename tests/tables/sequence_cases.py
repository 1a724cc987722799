"""Gradients asked for one after another: sequences of calls, run here and in PaddlePaddle, which compute the same."""

from __future__ import annotations

from typing import Any

import numpy as np

FEED = {"x": np.array([1.0, 2.0], "float32"), "y": np.array([3.0, -1.0], "float32")}
# Statements over x, y, a parameter w, and G = static.gradients; `out` is the list of what is fetched.
CASES: dict[str, str] = {
    "one loss two calls": ("loss=(x*x*y).sum(); out = G(loss,x)+G(loss,y)"),
    "same call twice": ("loss=(x*x*y).sum(); out = G(loss,x)+G(loss,x)"),
    "inner then input": ("h=x*y; loss=(h*h).sum(); out = G(loss,h)+G(loss,x)+G(loss,h)"),
    "input then inner": ("h=x*y; loss=(h*h).sum(); out = G(loss,x)+G(loss,h)+G(loss,y)"),
    "two losses shared": ("h=x*y; a=(h*h).sum(); b=(h*x).sum(); out = G(a,x)+G(b,x)+G(b,y)+G(a,y)"),
    "second": ("loss=(x*x*x*y).sum(); (g,)=G(loss,x); out = [g]+G(g,x)+G(g,y)+G(loss,y)"),
    "second after other": ("loss=(x*x*x*y).sum(); (gy,)=G(loss,y); (g,)=G(loss,x); out = [gy,g]+G(g,x)+G(gy,x)"),
    "with starts": ("h=x*x*y; out = G(h,x,target_gradients=[y])+G(h,y,target_gradients=[x])+G(h,x)"),
    "with nograd": ("h=x*y; l=(h*x).sum(); out = G(l,x,no_grad_set={h})+G(l,y)+G(l,x)"),
    "nograd later": ("h=x*y; l=(h*x).sum(); a=G(l,x); b=G(l,x,no_grad_set={h}); out = a+b+G(l,x)"),
    "list inputs": ("l=(x*y*y).sum(); out = G(l,[x,y])+G([l,l*2],[y,x])"),
    "grads of sum of grads": ("l=(x*x*y).sum(); g=G(l,x)[0]+G(l,y)[0]; out = [g]+G((g*g).sum(),x)+G((g*g).sum(),y)"),
    "later op": ("l=(x*y).sum(); a=G(l,x); m=l*l; out = a+G(m,x)+G(m,l)+G(l,y)"),
    "branches": ("a=x*2; b=a*y; c=a*x; out = G(b.sum(),a)+G(c.sum(),a)+G((b*c).sum(),a)+G((b*c).sum(),x)"),
    "wrt loss itself": ("l=(x*y).sum(); out = G(l,x)+G(l,l)+G(l,[x,l])"),
    "multi then part": ("l=(x*y*y).sum(); a,b=G(l,[x,y]); out = [a,b]+G(a.sum(),y)+G(b.sum(),[x,y])"),
    "append twice": (
        "l=(x*w*w).sum(); p=static.append_backward(l); q=static.append_backward(l); out = [g for _,g in p+q]"
    ),
    "append then grad": ("l=(x*w*w).sum(); p=static.append_backward(l); out = [g for _,g in p]+G(l,x)+G(l,w)"),
    "grad then append": ("l=(x*w*w).sum(); a=G(l,x); p=static.append_backward(l); out = a+[g for _,g in p]"),
    "two append": (
        "h=x*w; "
        "a=(h*h).sum(); "
        "b=(h*y).sum(); "
        "p=static.append_backward(a); "
        "q=static.append_backward(b); "
        "out = [g for _,g in p+q]"
    ),
    "grad then minimize": ("l=(x*w*w).sum(); a=G(l,x); paddle.optimizer.SGD(0.1).minimize(l); out = a+[l,w]"),
    "minimize twice": (
        "h=x*w; "
        "a=(h*h).sum(); "
        "b=(h*y).sum(); "
        "paddle.optimizer.SGD(0.1).minimize(a); "
        "paddle.optimizer.SGD(0.1).minimize(b); "
        "out = [a,b,w]"
    ),
    "penalty": (
        "l=(x*w*w).sum(); (g,)=G(l,w); t=l+(g*g).sum(); p=static.append_backward(t); out = [t]+[g for _,g in p]"
    ),
    "second by an inner value": ("h=x*x; l=(h*h*h*y).sum(); (g,)=G(l,x); out = [g]+G(g.sum(),h)+G(g.sum(),x)"),
    "second by two on one way": (
        "h=x*x; k=h*y; l=(k*k*x).sum(); (g,)=G(l,x); s=(g*g).sum(); out = [g]+G(s,h)+G(s,k)+G(s,[h,k])+G(s,x)"
    ),
    "inner and outer, then inner": (
        "h=x*x; l=(h*h).sum(); g,q=G(l,[x,h]); out = [g,q]+G((g*q).sum(),h)+G((g*q).sum(),x)"
    ),
    "inner beside what made it": (
        "h=paddle.sin(x); k=paddle.exp(h); l=(k*h).sum(); (g,)=G(l,k); s=(g*g).sum(); out = [g]+G(s,h)+G(s,x)"
    ),
    "third by an inner value": (
        "h=x*x; l=(h*h*x).sum(); (g,)=G(l,x); (q,)=G(g.sum(),x); out = [g,q]+G(q.sum(),h)+G(q.sum(),x)"
    ),
    "weight after minimize": "l=(x*w).sum(); paddle.optimizer.SGD(0.1).minimize(l); out = [l]+G(l,w)+G((w*w).sum(),w)",
    "max and relu": ("h=paddle.nn.functional.relu(x)*y; l=h.max(); out = G(l,x)+G(l,h)+G(l,y)"),
    "concat split": (
        "c=paddle.concat([x,y]); a,b=paddle.split(c*c,2); out = G(a.sum(),x)+G(b.sum(),x)+G(b.sum(),y)+G((a*b).sum(),c)"
    ),
    "detached": ("d=(x*y).detach(); l=(d*x).sum(); out = G(l,x)+G(l,y)+G(l,x)"),
}


def run(paddle: Any, case: str, between: bool) -> list[Any]:
    """What a case gives, with a run of the program after each call of gradients if `between`."""
    static = paddle.static
    paddle.enable_static()
    try:
        main, start = static.Program(), static.Program()
        with static.program_guard(main, start), static.scope_guard(static.Scope()):
            x, y = (static.data(n, [2]) for n in FEED)
            x.stop_gradient = y.stop_gradient = False
            first = paddle.nn.initializer.Assign(np.array([0.5, -1.5], "float32"))
            w = static.create_parameter([2], "float32", name="w", default_initializer=first)
            exe = static.Executor(paddle.CPUPlace())

            def gradients(*args: Any, **kwargs: Any) -> Any:
                found = static.gradients(*args, **kwargs)
                if between:
                    exe.run(start)
                    exe.run(main, feed=FEED, fetch_list=[g for g in found if g is not None])
                return found

            names = {"paddle": paddle, "static": static, "G": gradients, "x": x, "y": y, "w": w}
            exec(CASES[case], names)
            exe.run(start)
            out: Any = names["out"]
            given = iter(exe.run(main, feed=FEED, fetch_list=[g for g in out if g is not None]))
            return [None if g is None else np.round(next(given).astype("float64"), 5).tolist() for g in out]
    finally:
        paddle.disable_static()


def record(paddle: Any) -> dict[str, Any]:
    """What PaddlePaddle gives."""
    return {case: run(paddle, case, between=False) for case in CASES}
