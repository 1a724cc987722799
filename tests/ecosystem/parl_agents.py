"""PARL: DQN, PPO, A2C, DDPG and policy gradients from given batches; a cart balanced by DQN; actors in processes."""

import os

os.environ["PARL_BACKEND"] = "paddle"
import gymnasium
import numpy as np
import paddle
import parl
import trial
from paddle import nn
from paddle.nn import functional as F
from parl.utils import ReplayMemory

rng = np.random.RandomState(0)


def batch(*shapes):
    return [paddle.to_tensor(rng.standard_normal(shape).astype("float32")) for shape in shapes]


class Values(parl.Model):
    """A value for each action."""

    def __init__(self, observed=4, actions=2):
        super().__init__()
        self.first, self.second = nn.Linear(observed, 32), nn.Linear(32, actions)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


class Policy(Values):
    def forward(self, x):
        return F.softmax(super().forward(x), axis=-1)


class ActorCritic(parl.Model):
    def __init__(self):
        super().__init__()
        self.shared, self.actor, self.critic = nn.Linear(4, 32), nn.Linear(32, 2), nn.Linear(32, 1)

    def policy(self, x):
        return self.actor(F.tanh(self.shared(x)))

    def value(self, x):
        return self.critic(F.tanh(self.shared(x)))

    def policy_and_value(self, x):
        return self.policy(x), self.value(x)


class Critic(parl.Model):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(6, 1)

    def forward(self, x, action):
        return self.out(paddle.concat([x, action], 1))


class Actor(parl.Model):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return F.tanh(self.out(x))


class Deterministic(parl.Model):
    def __init__(self):
        super().__init__()
        self.actor_model, self.critic_model = Actor(), Critic()

    def policy(self, x):
        return self.actor_model(x)

    def value(self, x, action):
        return self.critic_model(x, action)

    def get_actor_params(self):
        return self.actor_model.parameters()

    def get_critic_params(self):
        return self.critic_model.parameters()


class Agent(parl.Agent):
    """Explores with a rate that falls, and learns from a memory."""

    def sample(self, x):
        return rng.randint(2) if rng.rand() < 0.2 else self.predict(x)

    def predict(self, x):
        return int(self.alg.predict(paddle.to_tensor(x, "float32").unsqueeze(0)).argmax())

    def learn(self, seen, action, reward, after, end):
        column = [paddle.to_tensor(x.reshape(-1, 1), "float32") for x in (reward, end)]
        action = paddle.to_tensor(action.reshape(-1, 1), "int32")
        seen, after = paddle.to_tensor(seen, "float32"), paddle.to_tensor(after, "float32")
        return self.alg.learn(seen, action, column[0], after, column[1])


def started(model, seed=0):
    trial.start_from(model, seed, gain=1.0)
    return model


agent = Agent(parl.algorithms.DQN(started(Values()), gamma=0.99, lr=1e-3))
agent.alg.sync_target()
memory = ReplayMemory(max_size=500, obs_dim=4, act_dim=1)
cart = gymnasium.make("CartPole-v1")
cart.reset(seed=7)
state = [cart.reset(seed=7)[0]]


def step():
    """Sixteen moves of the cart, and an update."""
    for _ in range(16):
        action = agent.sample(state[0])
        after, reward, ended, _, _ = cart.step(action)
        memory.append(state[0], action, reward, after, ended)
        state[0] = cart.reset(seed=len(memory))[0] if ended else after
    return agent.learn(*memory.sample_batch_by_index(rng.randint(0, len(memory), 16)))


def algorithms():
    """Losses of four updates of each."""
    found = []
    ppo = parl.algorithms.PPO(started(ActorCritic(), 1), initial_lr=1e-3, continuous_action=False)
    a2c = parl.algorithms.A2C(started(ActorCritic(), 2), vf_loss_coeff=0.5)
    pg = parl.algorithms.PolicyGradient(started(Policy(), 3), lr=1e-2)
    ddpg = parl.algorithms.DDPG(started(Deterministic(), 4), gamma=0.99, tau=0.005, actor_lr=1e-3, critic_lr=1e-3)
    ddqn = parl.algorithms.DDQN(started(Values(), 5), gamma=0.99, lr=1e-3)
    actions = paddle.to_tensor(rng.randint(0, 2, 16))
    for _ in range(4):
        x, after, value, reward, advantage = batch([16, 4], [16, 4], [16], [16], [16])
        chances = paddle.full([16], -0.7)
        found += ppo.learn(x, actions, value, reward, chances, advantage, 1e-3)
        found += a2c.learn(x, actions, advantage, value, 1e-3, -0.01)
        column, end = reward.unsqueeze(1), paddle.zeros([16, 1])
        found += [pg.learn(x, actions.unsqueeze(1), column), *ddpg.learn(x, *batch([16, 2]), column, after, end)]
        found += [ddqn.learn(x, actions.unsqueeze(1).astype("int32"), column, after, end)]
    return [float(x) for x in found]


def saved():
    agent.save("agent.ckpt")
    other = Agent(parl.algorithms.DQN(Values(), gamma=0.99, lr=1e-3))
    other.restore("agent.ckpt")
    (x,) = batch([8, 4])
    return [*trial.numbers(other.alg.predict(x)), *trial.exported(agent.alg.model, x)]


trial.report(step, more=lambda: [*algorithms(), *saved()])
