import numpy as np
import paddle.fluid as fluid
from paddle.fluid.dygraph import Conv2D, Pool2D, Linear, to_variable


class LeNet(fluid.dygraph.Layer):
    """A small network."""

    def __init__(self):
        super(LeNet, self).__init__()
        one = fluid.ParamAttr(initializer=fluid.initializer.Constant(0.05))
        self.conv = Conv2D(num_channels=1, num_filters=3, filter_size=3, padding=1, act='relu', param_attr=one)
        self.pool = Pool2D(pool_size=2, pool_stride=2, pool_type='max')
        self.fc = Linear(3 * 4 * 4, 2, param_attr=one, bias_attr=fluid.ParamAttr(initializer=fluid.initializer.Constant(0.1)))

    def forward(self, x):
        x = self.pool(self.conv(x))
        x = fluid.layers.reshape(x, [-1, 3 * 4 * 4])
        return self.fc(x)


with fluid.dygraph.guard():
    model = LeNet()
    adam = fluid.optimizer.AdamOptimizer(learning_rate=0.01, parameter_list=model.parameters(),
                                         regularization=fluid.regularizer.L2Decay(1e-3))
    rng = np.random.RandomState(3)
    for step in range(4):
        x = rng.rand(6, 1, 8, 8).astype('float32')
        label = to_variable((x.mean(axis=(1, 2, 3)) > 0.5).astype('int64').reshape(-1, 1))
        logits = model(to_variable(x))
        loss = fluid.layers.softmax_with_cross_entropy(logits, label)
        avg = fluid.layers.mean(loss)
        avg.backward()
        adam.minimize(avg)
        model.clear_gradients()
        print('step %d loss %.4f' % (step, float(avg.numpy())))
