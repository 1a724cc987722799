"""PGL: nodes of a graph classified by graph convolutions, graphs pooled and classified, embeddings of random walks."""

import numpy as np
import paddle
import pgl
import trial
from paddle.nn import functional as F
from pgl.graph_kernel import skip_gram_gen_pair
from pgl.sampling import graphsage_sample, random_walk

rng = np.random.RandomState(0)
NODES = 30
edges = sorted({(int(a), int(b)) for a, b in rng.randint(0, NODES, [120, 2]) if a != b})
edges += [(b, a) for a, b in edges]
features = rng.randn(NODES, 8).astype("float32")
labels = paddle.to_tensor(rng.randint(0, 3, [NODES, 1]))
train = paddle.to_tensor(np.arange(0, NODES, 2))


def new_graph():
    return pgl.Graph(num_nodes=NODES, edges=edges, node_feat={"words": features}).tensor()


class Classifier(paddle.nn.Layer):
    """Two convolutions of one kind."""

    def __init__(self, kind, **settings):
        super().__init__()
        self.first = kind(8, 16, **settings)
        self.second = kind(16, 3, **settings)

    def forward(self, graph, x):
        return self.second(graph, F.relu(self.first(graph, x)))


ATTENTION = {"num_heads": 1, "feat_drop": 0.0, "attn_drop": 0.0}
nets = [
    Classifier(pgl.nn.GCNConv), Classifier(pgl.nn.GATConv, **ATTENTION), Classifier(pgl.nn.GATv2Conv, **ATTENTION),
    Classifier(pgl.nn.GraphSageConv, aggr_func="mean"), Classifier(pgl.nn.GINConv),
    Classifier(pgl.nn.TransformerConv, **ATTENTION), Classifier(pgl.nn.SGCConv, k_hop=2, cached=False),
    Classifier(pgl.nn.NGCFConv),
]  # fmt: skip
for seed, net in enumerate(nets):
    trial.start_from(net, seed, gain=1.0)
optimizers = [paddle.optimizer.Adam(0.01, parameters=net.parameters(), weight_decay=5e-4) for net in nets]
graph = new_graph()


def step():
    total = 0.0
    for net, optimizer in zip(nets, optimizers, strict=True):
        found = paddle.gather(net(graph, graph.node_feat["words"]), train)
        loss = F.cross_entropy(found, paddle.gather(labels, train))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        total += float(loss)
    return total


def evaluated():
    found = []
    for net in nets:
        net.eval()
        out = net(graph, graph.node_feat["words"])
        found += [*trial.numbers(out), paddle.metric.accuracy(out, labels)]
    return found


class Readout(paddle.nn.Layer):
    """One number for each graph: PaddlePaddle saves functions of tensors, and no graphs."""

    def __init__(self):
        super().__init__()
        self.hidden = paddle.nn.Linear(8, 4)

    def forward(self, nodes, graph_ids):
        return pgl.math.segment_mean(F.relu(self.hidden(nodes)), graph_ids)


def predictor(net):
    def predict(x):
        return net(graph, x)

    return predict


def exported():
    features = graph.node_feat["words"]
    found = []
    for net in nets[:3]:  # PaddlePaddle does not convert the others
        found += trial.numbers(paddle.jit.to_static(predictor(net), full_graph=True)(features))
    readout = Readout()
    trial.start_from(readout)
    return [*found, *trial.exported(readout, features, paddle.to_tensor(np.arange(NODES) // 7))]


def pooled():
    """Three graphs at once: sums, means, largest values and Set2Set of their nodes, five steps."""
    parts = [pgl.Graph(num_nodes=NODES, edges=edges, node_feat={"words": features * k}) for k in (1, 2, -1)]
    batch = pgl.Graph.disjoint(parts).tensor()
    pool, conv, out = pgl.nn.GraphPool(), pgl.nn.GINConv(8, 16), paddle.nn.Linear(48, 2)
    trial.start_from(conv, 10, gain=1.0)
    trial.start_from(out, 11, gain=1.0)
    optimizer = paddle.optimizer.Adam(0.01, parameters=[*conv.parameters(), *out.parameters()])
    losses = []
    for _ in range(5):
        nodes = conv(batch, batch.node_feat["words"])
        whole = paddle.concat([pool(batch, nodes, kind) for kind in ("sum", "mean", "max")], axis=-1)
        loss = F.cross_entropy(out(whole), paddle.to_tensor([0, 1, 0]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)
    set2set = pgl.nn.Set2Set(8, 2)
    trial.start_from(set2set, 12, gain=1.0)
    return [*losses, *trial.numbers(set2set(batch, batch.node_feat["words"]))]


def propagated():
    relations = pgl.HeterGraph(
        edges={"cites": edges, "likes": edges[:40]}, node_types=[(i, "paper") for i in range(NODES)],
        node_feat={"words": features},
    ).tensor()  # fmt: skip
    rgcn = pgl.nn.RGCNConv(8, 3, ["cites", "likes"])
    trial.start_from(rgcn, 20, gain=1.0)
    layers = [pgl.nn.APPNP(k_hop=3), pgl.nn.GCNII(8, dropout=0.0), pgl.nn.SSGCConv(8, 4, k_hop=2)]
    for layer in layers:
        trial.start_from(layer, 21, gain=1.0)
        layer.eval()
    results = [layer(graph, graph.node_feat["words"]) for layer in layers]
    segments = paddle.to_tensor(np.arange(NODES) // 7)
    kinds = (pgl.math.segment_sum, pgl.math.segment_mean, pgl.math.segment_max, pgl.math.segment_softmax)
    results += [kind(graph.node_feat["words"], segments) for kind in kinds]
    return trial.numbers([rgcn(relations, relations.node_feat["words"]), *results])


def walked():
    """Random walks differ; how many there are and a file of the graph do not. Embeddings of given pairs are trained."""
    plain = pgl.Graph(num_nodes=NODES, edges=edges, node_feat={"words": features})
    walks = random_walk(plain, np.arange(NODES), 6)
    pairs = skip_gram_gen_pair(np.arange(12), 2)
    sampled = graphsage_sample(plain, np.arange(5), [30, 30])
    plain.dump("graph")
    again = pgl.Graph.load("graph")
    nodes, context = paddle.nn.Embedding(NODES, 8), paddle.nn.Embedding(NODES, 8)
    trial.start_from(nodes, 30)
    trial.start_from(context, 31)
    optimizer = paddle.optimizer.Adam(0.05, parameters=[*nodes.parameters(), *context.parameters()])
    losses = []
    for _ in range(5):
        score = (nodes(paddle.arange(12)) * context(paddle.arange(12, 24))).sum(-1)
        loss = F.binary_cross_entropy_with_logits(score, paddle.ones_like(score))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss)
    return [len(walks), len(pairs), len(sampled), again.num_edges, again.indegree().sum(), *losses]


trial.report(step, more=lambda: [*evaluated(), *exported(), *pooled(), *propagated(), *walked()])
