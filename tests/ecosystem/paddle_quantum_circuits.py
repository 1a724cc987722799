"""Paddle Quantum: the ground state of a molecule, the cut of a graph, a classifier of bits, and mixed states."""

import networkx
import numpy as np
import paddle
import paddle_quantum as pq
import trial
from paddle_quantum.ansatz import Circuit
from paddle_quantum.loss import ExpecVal, StateFidelity
from paddle_quantum.state import computational_basis, zero_state

pq.set_backend("state_vector")
pq.set_dtype("complex128")

# Hydrogen at 0.74 angstrom, in the order of paddle_quantum.qchem.
HYDROGEN = pq.Hamiltonian([
    [-0.0422, "I0"], [0.1779, "Z0"], [0.1779, "Z1"], [-0.2427, "Z2"], [-0.2427, "Z3"], [0.1706, "Z0,Z1"],
    [0.0447, "Y0,X1,X2,Y3"], [-0.0447, "Y0,Y1,X2,X3"], [-0.0447, "X0,X1,Y2,Y3"], [0.0447, "X0,Y1,Y2,X3"],
    [0.1229, "Z0,Z2"], [0.1677, "Z0,Z3"], [0.1677, "Z1,Z2"], [0.1229, "Z1,Z3"], [0.1762, "Z2,Z3"],
])  # fmt: skip


def layered(qubits, depth, seed):
    circuit = Circuit(qubits)
    for _ in range(depth):
        circuit.ry("full")
        circuit.rx("full")
        circuit.cnot("cycle")
    circuit.ry("full")
    trial.start_from(circuit, seed)
    return circuit


molecule = layered(4, 2, 1)
energy = ExpecVal(HYDROGEN)
optimizer = paddle.optimizer.Adam(0.1, parameters=molecule.parameters())


def step():
    loss = energy(molecule(zero_state(4)))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def cut():
    """The largest cut of a ring of four, five steps, and the chances of the outcomes."""
    edges = networkx.cycle_graph(4).edges
    cost = ExpecVal(pq.Hamiltonian([[1.0, f"Z{a},Z{b}"] for a, b in edges]))
    circuit = Circuit(4)
    circuit.superposition_layer()
    circuit.real_entangled_layer(depth=2)
    trial.start_from(circuit, 2)
    descent, losses = paddle.optimizer.Adam(0.1, parameters=circuit.parameters()), []
    for _ in range(5):
        loss = cost(circuit(zero_state(4)))
        loss.backward()
        descent.step()
        descent.clear_grad()
        losses.append(loss)
    chances = circuit(zero_state(4)).measure(shots=0)
    return [*losses, *[chances[name] for name in sorted(chances)]]


def classified():
    """A circuit and an expectation say whether the bits of a state are alike."""
    sides = paddle.to_tensor([1.0, -1.0, -1.0, 1.0], "float64")
    circuit, observed = layered(2, 1, 3), ExpecVal(pq.Hamiltonian([[1.0, "Z0"]]))
    descent, losses = paddle.optimizer.Adam(0.2, parameters=circuit.parameters()), []
    for _ in range(4):
        found = [observed(circuit(computational_basis(2, bits))).reshape([1]) for bits in range(4)]
        loss = ((paddle.concat(found) - sides) ** 2).mean()
        loss.backward()
        descent.step()
        descent.clear_grad()
        losses.append(loss)
    return losses


def mixed():
    """Density matrices: purity, fidelity, distances and partial traces."""
    pq.set_backend("density_matrix")
    circuit = layered(2, 1, 4)
    state = circuit(zero_state(2))
    fidelity = StateFidelity(computational_basis(2, 3))(state)
    fidelity.backward()
    gradients = [p.grad.abs().sum() for p in circuit.parameters() if p.grad is not None]
    part = pq.qinfo.partial_trace(state, 2, 2, 1)
    values = [fidelity, *gradients, pq.qinfo.purity(state), pq.qinfo.von_neumann_entropy(state)]
    values += [pq.qinfo.purity(part), pq.qinfo.negativity(state), pq.qinfo.trace_distance(state, zero_state(2))]
    pq.set_backend("state_vector")
    return values


def exact():
    """The lowest level that the steps approach."""
    return [np.linalg.eigvalsh(HYDROGEN.construct_h_matrix()).min()]


def saved():
    paddle.save(molecule.state_dict(), "molecule.pdparams")
    again = layered(4, 2, 9)
    again.set_state_dict(paddle.load("molecule.pdparams"))
    return [energy(again(zero_state(4)))]


trial.report(step, more=lambda: [*cut(), *classified(), *mixed(), *exact(), *saved()])
