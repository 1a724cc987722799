# Handwritten digits with a program of Paddle 1.x.
from __future__ import print_function

import numpy as np
import paddle
import paddle.fluid as fluid


def network(img, label):
    hidden = fluid.layers.fc(input=img, size=16, act='relu',
                             param_attr=fluid.ParamAttr(name='w0', initializer=fluid.initializer.Constant(0.02)))
    hidden = fluid.layers.fc(hidden, 16, act='tanh', param_attr=fluid.ParamAttr(name='w1', initializer=fluid.initializer.Constant(0.03)))
    prediction = fluid.layers.fc(input=hidden, size=3, act='softmax', param_attr=fluid.ParamAttr(
        initializer=fluid.initializer.NumpyArrayInitializer(np.linspace(-0.5, 0.5, 48).reshape(16, 3).astype('float32'))))
    cost = fluid.layers.cross_entropy(input=prediction, label=label)  # per sample
    avg_cost = fluid.layers.mean(cost)
    acc = fluid.layers.accuracy(input=prediction, label=label)
    return prediction, avg_cost, acc


def batches():
    rng = np.random.RandomState(0)
    for _ in range(4):
        x = rng.rand(8, 12).astype('float32')
        yield x, (x.sum(axis=1, keepdims=True) > 6).astype('int64')


def main():
    img = fluid.layers.data(name='img', shape=[12], dtype='float32')
    label = fluid.layers.data(name='label', shape=[1], dtype='int64')
    prediction, avg_cost, acc = network(img, label)
    test_program = fluid.default_main_program().clone(for_test=True)
    optimizer = fluid.optimizer.Adam(learning_rate=0.05)
    optimizer.minimize(avg_cost)

    place = fluid.CUDAPlace(0) if fluid.core.is_compiled_with_cuda() else fluid.CPUPlace()
    exe = fluid.Executor(place)
    exe.run(fluid.default_startup_program())
    for epoch in range(3):
        for x, y in batches():
            loss, a = exe.run(fluid.default_main_program(), feed={'img': x, 'label': y}, fetch_list=[avg_cost, acc])
        test, = exe.run(test_program, feed={'img': x, 'label': y}, fetch_list=[avg_cost.name])
        print('epoch %d loss %.4f test %.4f' % (epoch, float(np.ravel(loss)[0]), float(np.ravel(test)[0])))


if __name__ == '__main__':
    main()
