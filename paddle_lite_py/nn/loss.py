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
    """Cross entropy of logits and labels: `-log(softmax(input)[label])` for class ids.

    With soft_label=True the labels are distributions over the classes, and the loss is `-sum(label *
    log(softmax(input)))`. The mean of losses with class weights is divided by the sum of the weights.

    Arguments:
        ignore_index: class id of samples that contribute neither to the loss nor to its mean. Default: -100.
        soft_label: labels are probabilities of the shape of the input instead of class ids. Default: False.
        axis: dimension of the classes. Default: -1.
        use_softmax: False: the input already is a probability distribution. Default: True.
        label_smoothing: share s of each label that is spread evenly: `label * (1 - s) + s / classes`. Default: 0.0.

    Shape:
        input: [N, classes], or [N, ..., classes] with the classes along `axis`.
        label: integers [N, ...] or [N, ..., 1]; with soft_label the shape of the input.
        Output: a scalar; with reduction="none" the shape of the integer labels.

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
    """Squared error: `(input - label)**2`.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 4.0])).item()
        2.0
    """

    _function, _settings = "mse_loss", {"reduction": "mean"}


class L1Loss(_Loss):
    """Absolute error: `|input - label|`.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.L1Loss()(paddle.zeros([2]), paddle.to_tensor([1.0, 3.0])).item()
        2.0
    """

    _function, _settings = "l1_loss", {"reduction": "mean"}


class SmoothL1Loss(_Loss):
    """Huber loss: quadratic for differences below delta, linear above it.

    With d = input - label: `0.5 * d**2` if |d| < delta, else `delta * (|d| - 0.5 * delta)`. With is_huber=False both
    are divided by delta.

    Arguments:
        delta: difference at which the loss becomes linear. Default: 1.0.
        is_huber: False: divide the loss by delta, so that the linear part has slope 1. Default: True.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SmoothL1Loss()(paddle.zeros([2]), paddle.to_tensor([1.0, 3.0])).item()
        1.5
    """

    _function, _settings = "smooth_l1_loss", {"reduction": "mean", "delta": 1.0, "is_huber": True}


class NLLLoss(_Loss):
    """Negative log likelihood: `-weight[label] * input[label]` for log probabilities.

    The mean is divided by the sum of the weights of the labels.

    Arguments:
        ignore_index: class id of samples that contribute nothing. Default: -100.

    Shape:
        input: log probabilities [N, classes] or [N, classes, d1, ...].
        label: integers [N] or [N, d1, ...].
        Output: a scalar; with reduction="none" the shape of the label.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.NLLLoss()(paddle.to_tensor([[-0.5, -1.0]]), paddle.to_tensor([1])).item()
        1.0
    """

    _function, _settings = "nll_loss", {"weight": None, "ignore_index": -100, "reduction": "mean"}


class BCELoss(_Loss):
    """Binary cross entropy of probabilities: `-(label * log(input) + (1 - label) * log(1 - input))`.

    For logits use BCEWithLogitsLoss, which is numerically stable.

    Arguments:
        weight: tensor that broadcasts to the input and multiplies the losses; None: all 1.

    Shape:
        input: probabilities of any shape.
        label: numbers in [0, 1], of the shape of the input.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BCELoss()(paddle.to_tensor([0.5]), paddle.to_tensor([1.0])).item().__round__(4)
        0.6931
    """

    _function, _settings = "binary_cross_entropy", {"weight": None, "reduction": "mean"}


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy of logits: `-(label * log(sigmoid(x)) + (1 - label) * log(1 - sigmoid(x)))`.

    Arguments:
        weight: tensor that broadcasts to the logits and multiplies the losses; None: all 1.
        pos_weight: tensor that broadcasts to the logits and multiplies the term of the positive label; None: all 1.

    Shape:
        logit: logits of any shape.
        label: numbers in [0, 1], of the shape of the logits.
        Output: a scalar; with reduction="none" the shape of the logits.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BCEWithLogitsLoss()(paddle.zeros([1]), paddle.ones([1])).item().__round__(4)
        0.6931
    """

    _function = "binary_cross_entropy_with_logits"
    _settings = {"weight": None, "reduction": "mean", "pos_weight": None}


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence: `label * (log(label) - input)`, with input in log space.

    Arguments:
        reduction: "mean" (average over all elements), "batchmean" (sum divided by the batch size, the mathematical
            divergence), "sum" or "none". Default: 'mean'.
        log_target: the label is in log space too; the loss is `exp(label) * (label - input)`. Default: False.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
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
    """Margin ranking loss: `max(0, -label * (input - other) + margin)`.

    Arguments:
        margin: difference up to which a correct order still counts. Default: 0.0.

    Shape:
        input, other: scores of the same shape.
        label: 1 where input should rank higher than other, -1 where lower; of the same shape.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MarginRankingLoss()(paddle.ones([1]), paddle.zeros([1]), -paddle.ones([1])).item()
        1.0
    """

    _function, _settings = "margin_ranking_loss", {"margin": 0.0, "reduction": "mean"}


class CosineEmbeddingLoss(_Loss):
    """Cosine embedding loss: `1 - cos` if label is 1, `max(0, cos - margin)` if it is -1.

    cos is the cosine similarity of input1 and input2.

    Arguments:
        margin: cosine below which dissimilar pairs contribute nothing, in [-1, 1]. Default: 0.
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input1, input2: [N, M] or [M].
        label: [N], of 1 (similar) and -1 (dissimilar).
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
        >>> paddle.nn.CosineEmbeddingLoss()(x, y, paddle.to_tensor([1])).item()
        1.0
    """

    _function, _settings = "cosine_embedding_loss", {"margin": 0, "reduction": "mean"}


class HingeEmbeddingLoss(_Loss):
    """Hinge embedding loss: `input` if label is 1, `max(0, margin - input)` if it is -1.

    The input is usually a distance between two samples.

    Arguments:
        margin: distance beyond which dissimilar pairs contribute nothing. Default: 1.0.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.HingeEmbeddingLoss()(paddle.to_tensor([0.25]), paddle.to_tensor([-1.0])).item()
        0.75
    """

    _function, _settings = "hinge_embedding_loss", {"margin": 1.0, "reduction": "mean"}


class TripletMarginLoss(_Loss):
    """Triplet margin loss: `max(0, d(input, positive) - d(input, negative) + margin)`, with d the p-norm distance.

    Arguments:
        margin: difference of the distances that is required. Default: 1.0.
        p: order of the norm. Default: 2.0.
        epsilon: added to the differences, for numerical stability. Default: 1e-06.
        swap: use the distance from positive to negative where it is smaller than that from input to negative. Default:
            False.
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input, positive, negative: [N, D].
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.TripletMarginLoss()(paddle.zeros([1, 2]), paddle.zeros([1, 2]), paddle.ones([1, 2]) * 9).item()
        0.0
    """

    _function = "triplet_margin_loss"
    _settings = {"margin": 1.0, "p": 2.0, "epsilon": 1e-6, "swap": False, "reduction": "mean"}


class TripletMarginWithDistanceLoss(_Loss):
    """Triplet margin loss with a distance function of your own.

    Arguments:
        distance_function: function of two tensors [N, D] that returns their distances [N]; None: the Euclidean
            distance.
        margin: difference of the distances that is required. Default: 1.0.
        swap: use the distance from positive to negative where it is smaller than that from input to negative. Default:
            False.
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input, positive, negative: [N, D].
        Output: a scalar; with reduction="none" [N].

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
    """Multi-label hinge loss: `sum(max(0, 1 - (x[label] - x[other]))) / classes`.

    The sum is over all pairs of a label and a class that is not a label.

    Arguments:
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input: scores [N, classes].
        label: class ids [N, classes]; those before the first -1 count.
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, label = paddle.to_tensor([[0.1, 0.9]]), paddle.to_tensor([[1, -1]])
        >>> paddle.nn.MultiLabelMarginLoss()(x, label).item().__round__(4)
        0.1
    """

    _function, _settings = "multi_label_margin_loss", {"reduction": "mean"}


class MultiLabelSoftMarginLoss(_Loss):
    """Multi-label cross entropy: the mean over the classes of the binary cross entropy of logits.

    Arguments:
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input: logits [N, classes].
        label: 0 or 1, [N, classes].
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MultiLabelSoftMarginLoss()(paddle.zeros([1, 2]), paddle.ones([1, 2])).item().__round__(4)
        0.6931
    """

    _function, _settings = "multi_label_soft_margin_loss", {"weight": None, "reduction": "mean"}


class MultiMarginLoss(_Loss):
    """Multi-class hinge loss: `sum(max(0, margin - x[label] + x[i])**p) / classes`.

    The sum is over the classes i other than the label.

    Arguments:
        p: power of the hinge terms, 1 or 2. Default: 1.
        margin: difference of the scores that is required. Default: 1.0.
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input: scores [N, classes].
        label: class ids [N].
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.MultiMarginLoss()(paddle.to_tensor([[1.0, 0.5]]), paddle.to_tensor([0])).item()
        0.25
    """

    _function = "multi_margin_loss"
    _settings = {"p": 1, "margin": 1.0, "weight": None, "reduction": "mean"}


class SoftMarginLoss(_Loss):
    """Logistic loss of labels 1 and -1: `log(1 + exp(-label * input))`.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SoftMarginLoss()(paddle.zeros([1]), paddle.ones([1])).item().__round__(4)
        0.6931
    """

    _function, _settings = "soft_margin_loss", {"reduction": "mean"}


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of a Poisson distribution: `exp(input) - label * input`, up to a constant.

    Arguments:
        log_input: the input is the logarithm of the rate; False: the rate itself, with loss `input - label * log(input
            + epsilon)`. Default: True.
        full: add the Stirling approximation of log(label!). Default: False.
        epsilon: keeps the logarithm finite when log_input is False. Default: 1e-08.

    Shape:
        input, label: tensors of the same shape, or broadcastable to one.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PoissonNLLLoss()(paddle.zeros([2]), paddle.ones([2])).item()
        1.0
    """

    _function = "poisson_nll_loss"
    _settings = {"log_input": True, "full": False, "epsilon": 1e-8, "reduction": "mean"}


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of a normal distribution: `0.5 * (log(variance) + (input - label)**2 / variance)`.

    Arguments:
        full: add the constant 0.5 * log(2 * pi). Default: False.
        epsilon: lower bound of the variance. Default: 1e-06.

    Shape:
        input, label: means and samples of the same shape, or broadcastable to one.
        variance: of the shape of the input, or with a last dimension of 1.
        Output: a scalar; with reduction="none" the shape of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GaussianNLLLoss()(paddle.zeros([2]), paddle.ones([2]), paddle.ones([2])).item()
        0.5
    """

    _function, _settings = "gaussian_nll_loss", {"full": False, "epsilon": 1e-6, "reduction": "mean"}


class RNNTLoss(_Loss):
    """Transducer loss: negative log likelihood of label sequences, summed over all alignments (Graves, 2012).

    Arguments:
        blank: class id of the blank symbol. Default: 0.
        fastemit_lambda: weight of the FastEmit regularization (Yu et al., 2021), which favors early emission. Default:
            0.001.
        reduction: "mean" (average over the batch), "sum", or "none" (one loss for each sample). Default: 'mean'.

    Shape:
        input: log probabilities [N, T, U + 1, classes]; apply log_softmax() first.
        label: [N, U]; input_lengths, label_lengths: [N].
        Output: a scalar; with reduction="none" [N].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, one = paddle.nn.functional.log_softmax(paddle.zeros([1, 1, 2, 2])), paddle.to_tensor([1], "int32")
        >>> round(paddle.nn.RNNTLoss()(x, one.reshape([1, 1]), one, one).item(), 4)
        1.3863
    """

    _function = "rnnt_loss"
    _settings = {"blank": 0, "fastemit_lambda": 0.001, "reduction": "mean"}


class CTCLoss(Layer):
    """Connectionist temporal classification loss (Graves et al., 2006).

    The negative log likelihood of a label sequence, summed over all its alignments with the input.

    Arguments:
        blank: class id of the blank symbol. Default: 0.
        reduction: "mean" (losses are divided by the label lengths, then averaged over the batch), "sum" or "none".
            Default: 'mean'.
        zero_infinity: replace infinite losses, of inputs too short for their labels, by zeros. Default: False.

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
        """Compute the loss of a batch.

        Arguments:
            log_probs: unnormalized scores [T, N, classes]; softmax is applied to them.
            labels: class ids [N, L], padded at the end.
            input_lengths: number of time steps of each sample, [N].
            label_lengths: number of labels of each sample, [N].
            norm_by_times: divide the gradient of each sample by its number of time steps. Default: False.

        Returns:
            A scalar; with reduction="none" the losses [N].
        """
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
