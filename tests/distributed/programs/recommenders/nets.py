"""Networks of recommenders, as programs of PaddleRec write them: each gives the probability of a click, [batch, 1]."""

import math
import os

import paddle
import paddle.nn as nn
import paddle.nn.functional as F

FIELDS, NUMBERS, DIM = 6, 3, 8
ROWS = 10000


def first(bound=0.05):
    """First values of rows; RECOMMENDER_CONSTANT: the same for all, so that programs with and without servers agree."""
    same = os.environ.get("RECOMMENDER_CONSTANT")
    return nn.initializer.Constant(bound / 2) if same else nn.initializer.Uniform(-bound, bound)


def uniform(name, size, bound=0.05):
    weight = paddle.ParamAttr(name=name, initializer=first(bound))
    return lambda ids: paddle.static.nn.sparse_embedding(ids, [ROWS, size], padding_idx=0, param_attr=weight)


def tower(sizes):
    layers = []
    for i, (inner, outer) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        weight = nn.initializer.Normal(std=1.0 / math.sqrt(inner))
        layers.append(nn.Linear(inner, outer, weight_attr=paddle.ParamAttr(initializer=weight)))
        if i + 2 < len(sizes):
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class WideDeep(nn.Layer):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(NUMBERS, 1)
        weight = paddle.ParamAttr(name="SparseFeatFactors", initializer=first())
        self.embedding = nn.Embedding(ROWS, DIM, sparse=True, weight_attr=weight)
        self.deep = tower([NUMBERS + DIM * FIELDS, 32, 16, 1])

    def forward(self, fields, dense, history, item):
        wide = self.wide(dense)
        found = [paddle.reshape(self.embedding(f), [-1, DIM]) for f in fields]
        deep = self.deep(paddle.concat([*found, dense], axis=1))
        return F.sigmoid(wide + deep)


class DeepFM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = uniform("first", 1), uniform("second", DIM)
        self.dense = nn.Linear(NUMBERS, DIM)
        self.deep = tower([DIM * (FIELDS + 1), 32, 16, 1])

    def forward(self, fields, dense, history, item):
        ids = paddle.concat(fields, axis=1)
        first = paddle.sum(self.first(ids), axis=1)
        found = paddle.concat([self.second(ids), paddle.unsqueeze(self.dense(dense), 1)], axis=1)
        summed = paddle.sum(found, axis=1)
        second = 0.5 * paddle.sum(summed * summed - paddle.sum(found * found, axis=1), axis=1, keepdim=True)
        deep = self.deep(paddle.reshape(found, [-1, DIM * (FIELDS + 1)]))
        return F.sigmoid(first + second + deep)


class DCN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = uniform("cross", DIM)
        size = NUMBERS + DIM * FIELDS
        self.weights = [self.create_parameter([size, 1]) for _ in range(2)]
        self.biases = [self.create_parameter([size], is_bias=True) for _ in range(2)]
        self.deep = tower([size, 32, 16])
        self.out = nn.Linear(size + 16, 1)

    def forward(self, fields, dense, history, item):
        found = paddle.reshape(self.embedding(paddle.concat(fields, axis=1)), [-1, DIM * FIELDS])
        start = x = paddle.concat([found, dense], axis=1)
        for weight, bias in zip(self.weights, self.biases, strict=True):
            x = start * paddle.matmul(x, weight) + bias + x
        return F.sigmoid(self.out(paddle.concat([x, self.deep(start)], axis=1)))


class DIN(nn.Layer):
    def __init__(self):
        super().__init__()
        self.items, self.fields = uniform("items", DIM), uniform("fields", DIM)
        self.attention = tower([4 * DIM, 16, 1])
        self.deep = tower([DIM * (2 + FIELDS) + NUMBERS, 32, 16, 1])

    def forward(self, fields, dense, history, item):
        seen, target = self.items(history), self.items(item)
        each = paddle.expand_as(target, seen)
        scores = self.attention(paddle.concat([seen, each, seen - each, seen * each], axis=-1))
        mask = paddle.unsqueeze(paddle.cast(history != 0, "float32"), -1)
        scores = F.softmax(scores / math.sqrt(DIM) - 1e9 * (1 - mask), axis=1)
        user = paddle.sum(scores * seen, axis=1)
        others = paddle.reshape(self.fields(paddle.concat(fields, axis=1)), [-1, DIM * FIELDS])
        return F.sigmoid(self.deep(paddle.concat([user, paddle.reshape(target, [-1, DIM]), others, dense], axis=1)))


class Recurrent(nn.Layer):
    """The state of a recurrent layer after a history of items."""

    def __init__(self):
        super().__init__()
        self.items = uniform("items", DIM, 0.5)
        self.gru = nn.GRU(DIM, DIM)

    def state(self, history):
        lengths = paddle.sum(paddle.cast(history != 0, "int64"), axis=1)
        return self.gru(self.items(history), sequence_length=lengths)[1][0]


class SSR(Recurrent):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(DIM, DIM), nn.Linear(DIM, DIM)

    def forward(self, fields, dense, history, item):
        user = self.user(self.state(history))
        near = F.cosine_similarity(user, self.item(paddle.reshape(self.items(item), [-1, DIM])), axis=1)
        return F.sigmoid(3 * paddle.unsqueeze(near, 1))


class GRU4Rec(Recurrent):
    def __init__(self):
        super().__init__()
        self.bias = uniform("popularity", 1)

    def forward(self, fields, dense, history, item):
        score = paddle.sum(self.state(history) * paddle.reshape(self.items(item), [-1, DIM]), axis=1, keepdim=True)
        return F.sigmoid(score + paddle.reshape(self.bias(item), [-1, 1]))


NETS = {"wide_deep": WideDeep, "deepfm": DeepFM, "dcn": DCN, "din": DIN, "ssr": SSR, "gru4rec": GRU4Rec}
