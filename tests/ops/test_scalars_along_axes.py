"""A 0-d tensor has the axes 0 and -1, those of its one element, wherever a function goes along axes."""

import pytest

import paddle_lite_py as paddle

REDUCTIONS = "sum mean max min amax amin prod logsumexp median nanmedian nansum nanmean".split()
CUMULATIVE = "cumsum cumprod logcumsumexp squeeze".split()
PAIRS = "cummax cummin mode".split()


@pytest.fixture
def two():
    return paddle.to_tensor(2.0)


@pytest.mark.parametrize("axis", [0, -1, [0], [-1]])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(two, name, axis):
    if isinstance(axis, list) and "median" in name:
        axis = tuple(axis)
    for keepdim in (False, True):
        found = getattr(paddle, name)(two, axis, keepdim=keepdim)
        assert found.shape == [] and found.item() == 2


@pytest.mark.parametrize("axis", [0, -1])
def test_others(two, axis):
    for name in CUMULATIVE:
        assert getattr(paddle, name)(two, axis).item() == 2, name
    for name in PAIRS:
        assert [t.item() for t in getattr(paddle, name)(two, axis)] == [2, 0], name
    assert [t.item() for t in paddle.kthvalue(two, 1, axis)] == [2, 0]
    assert [t.item() for t in paddle.median(two, axis, mode="min")] == [2, 0]
    assert paddle.any(two.astype("bool"), axis).item() and paddle.all(two.astype("bool"), axis).item()
    assert paddle.count_nonzero(two, axis).item() == 1
    assert paddle.linalg.norm(two, axis=axis).item() == 2  # 0 in the reference
    assert paddle.std(two, axis, unbiased=False).item() == 0 == paddle.var(two, axis, unbiased=False).item()
    assert paddle.nn.functional.normalize(two, axis=axis).item() == 1
    assert paddle.nn.functional.gumbel_softmax(two, axis=axis).item() == 1


def test_no_other_axis(two):
    for name in [*REDUCTIONS, *CUMULATIVE]:
        with pytest.raises(ValueError, match=r"(axis|dim) is 1"):
            getattr(paddle, name)(two, 1)


def test_gradient_view_and_program(two):
    two.stop_gradient = False

    @paddle.jit.to_static
    def step(x):
        return x.squeeze(0) * x.sum(-1) + x.max(axis=0)

    step(two).backward()
    assert two.grad.item() == 5
    part = two.detach().squeeze(0)
    part.fill_(7.0)
    assert two.item() == 7
