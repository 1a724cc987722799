"""Losses as layers."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .base import Layer
from .function_layer import FunctionLayer

__all__ = [
    *("BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss"),
    *("HingeEmbeddingLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss"),
    *("MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss"),
    *("RNNTLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss"),
]


class _Loss(FunctionLayer):
    """Base: checks the reduction when it is made, and is called with the settings after the inputs."""

    _shown = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if getattr(self, "reduction", "none") not in ("mean", "sum", "none"):
            raise ValueError(
                f"{type(self).__name__}: reduction is {self.reduction!r}; expected 'mean', 'sum' or 'none'"
            )


class CrossEntropyLoss(_Loss):
    """Cross entropy of logits with class ids or, soft_label=True, with probabilities.

    Arguments:
        weight: factor for each class.
        ignore_index: id of samples that do not count.
        reduction: "mean", "sum" or "none".
        soft_label: the labels are probabilities.
        axis: where the classes are.
        use_softmax: False: the input is probabilities.
        label_smoothing: part of the label that is spread over all classes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> loss = paddle.nn.CrossEntropyLoss()(paddle.zeros([1, 2]), paddle.to_tensor([1]))
        >>> round(loss.item(), 4)
        0.6931
    """

    _function = "cross_entropy"
    _settings = {
        **{"weight": None, "ignore_index": -100, "reduction": "mean", "soft_label": False, "axis": -1},
        **{"use_softmax": True, "label_smoothing": 0.0},
    }


class MSELoss(_Loss):
    """Squared difference.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        2.0
    """

    _function, _settings = "mse_loss", {"reduction": "mean"}


class L1Loss(_Loss):
    """Absolute difference.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.L1Loss()(paddle.zeros([2]), paddle.to_tensor([1.0, 3.0])).item()
        2.0
    """

    _function, _settings = "l1_loss", {"reduction": "mean"}


class SmoothL1Loss(_Loss):
    """Squared difference where it is small, absolute where it exceeds delta.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SmoothL1Loss()(paddle.zeros([2]), paddle.to_tensor([1.0, 3.0])).item()
        1.5
    """

    _function, _settings = "smooth_l1_loss", {"reduction": "mean", "delta": 1.0, "is_huber": True}


class NLLLoss(_Loss):
    """Minus the log probability of the class.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.NLLLoss()(paddle.to_tensor([[-0.5, -1.0]]), paddle.to_tensor([1])).item()
        1.0
    """

    _function, _settings = "nll_loss", {"weight": None, "ignore_index": -100, "reduction": "mean"}


class BCELoss(_Loss):
    """Cross entropy of probabilities with labels between 0 and 1.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BCELoss()(paddle.to_tensor([0.5]), paddle.to_tensor([1.0])).item().__round__(4)
        0.6931
    """

    _function, _settings = "binary_cross_entropy", {"weight": None, "reduction": "mean"}


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of logits with labels between 0 and 1.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BCEWithLogitsLoss()(paddle.zeros([1]), paddle.ones([1])).item().__round__(4)
        0.6931
    """

    _function = "binary_cross_entropy_with_logits"
    _settings = {"weight": None, "reduction": "mean", "pos_weight": None}


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of a log probability from a label.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.KLDivLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([1.0])).item()
        0.0
    """

    _function, _settings = "kl_div", {"reduction": "mean", "log_target": False}

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        Layer.__init__(self)
        if reduction not in ("mean", "sum", "none", "batchmean"):
            raise ValueError(f"KLDivLoss: reduction is {reduction!r}; expected 'mean', 'batchmean', 'sum' or 'none'")
        self.reduction, self.log_target, self._name = reduction, log_target, None


class MarginRankingLoss(_Loss):
    """max(0, -label * (input - other) + margin).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MarginRankingLoss()(paddle.ones([1]), paddle.zeros([1]), -paddle.ones([1])).item()
        1.0
    """

    _function, _settings = "margin_ranking_loss", {"margin": 0.0, "reduction": "mean"}


class CosineEmbeddingLoss(_Loss):
    """1 - cosine where the label is 1, max(0, cosine - margin) where it is -1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.CosineEmbeddingLoss()(x, y, paddle.to_tensor([1])).item()
        1.0
    """

    _function, _settings = "cosine_embedding_loss", {"margin": 0, "reduction": "mean"}


class HingeEmbeddingLoss(_Loss):
    """The input where the label is 1, max(0, margin - input) where it is -1.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.HingeEmbeddingLoss()(paddle.to_tensor([0.25]), paddle.to_tensor([-1.0])).item()
        0.75
    """

    _function, _settings = "hinge_embedding_loss", {"margin": 1.0, "reduction": "mean"}


class TripletMarginLoss(_Loss):
    """max(0, distance to the positive - distance to the negative + margin).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.TripletMarginLoss()(paddle.zeros([1, 2]), paddle.zeros([1, 2]), paddle.ones([1, 2]) * 9).item()
        0.0
    """

    _function = "triplet_margin_loss"
    _settings = {"margin": 1.0, "p": 2.0, "epsilon": 1e-6, "swap": False, "reduction": "mean"}


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance of the user's.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0, 0.0]])
        >>> loss = paddle.nn.TripletMarginWithDistanceLoss(lambda a, b: (a - b).abs().sum(-1))
        >>> loss(x, x, x).item()
        1.0
    """

    _function = "triplet_margin_with_distance_loss"
    _settings = {"distance_function": None, "margin": 1.0, "swap": False, "reduction": "mean"}


class MultiLabelMarginLoss(_Loss):
    """Margin loss between the labels' scores and all others.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[0.1, 0.9]]), paddle.to_tensor([[1, -1]])
        >>> paddle.nn.MultiLabelMarginLoss()(x, label).item().__round__(4)
        0.1
    """

    _function, _settings = "multi_label_margin_loss", {"reduction": "mean"}


class MultiLabelSoftMarginLoss(_Loss):
    """Mean over the classes of the cross entropy of each with its label.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MultiLabelSoftMarginLoss()(paddle.zeros([1, 2]), paddle.ones([1, 2])).item().__round__(4)
        0.6931
    """

    _function, _settings = "multi_label_soft_margin_loss", {"weight": None, "reduction": "mean"}


class MultiMarginLoss(_Loss):
    """Margin loss between the label's score and all others.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MultiMarginLoss()(paddle.to_tensor([[1.0, 0.5]]), paddle.to_tensor([0])).item()
        0.25
    """

    _function = "multi_margin_loss"
    _settings = {"p": 1, "margin": 1.0, "weight": None, "reduction": "mean"}


class SoftMarginLoss(_Loss):
    """log(1 + exp(-label * input)).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SoftMarginLoss()(paddle.zeros([1]), paddle.ones([1])).item().__round__(4)
        0.6931
    """

    _function, _settings = "soft_margin_loss", {"reduction": "mean"}


class PoissonNLLLoss(_Loss):
    """Minus the log likelihood of a Poisson distribution.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PoissonNLLLoss()(paddle.zeros([2]), paddle.ones([2])).item()
        1.0
    """

    _function = "poisson_nll_loss"
    _settings = {"log_input": True, "full": False, "epsilon": 1e-8, "reduction": "mean"}


class GaussianNLLLoss(_Loss):
    """Minus the log likelihood of normal distributions.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GaussianNLLLoss()(paddle.zeros([2]), paddle.ones([2]), paddle.ones([2])).item()
        0.5
    """

    _function, _settings = "gaussian_nll_loss", {"full": False, "epsilon": 1e-6, "reduction": "mean"}


class RNNTLoss(_Loss):
    """Negative log likelihood of label sequences under a transducer; see rnnt_loss().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, one = paddle.nn.functional.log_softmax(paddle.zeros([1, 1, 2, 2])), paddle.to_tensor([1], "int32")
        >>> round(paddle.nn.RNNTLoss()(x, one.reshape([1, 1]), one, one).item(), 4)
        1.3863
    """

    _function = "rnnt_loss"
    _settings = {"blank": 0, "fastemit_lambda": 0.001, "reduction": "mean"}


class CTCLoss(Layer):
    """Connectionist temporal classification (Graves et al., 2006).

    Arguments:
        blank: id of the blank.
        reduction: "mean", "sum" or "none".
        zero_infinity: zeros where no alignment fits.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.zeros([2, 1, 3]), paddle.to_tensor([[1]], dtype="int32")
        >>> paddle.nn.CTCLoss()(x, label, paddle.to_tensor([2]), paddle.to_tensor([1])).item().__round__(4)
        1.0986
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(
        self, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, norm_by_times: bool = False
    ) -> Any:
        """The loss of [time, batch, classes] with labels [batch, length]."""
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times=norm_by_times,
            zero_infinity=self.zero_infinity,
        )
