"""Machines, their devices and the links between them, as a file describes them or as they are here."""

from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass, field
from typing import Any

from ...core.no_effect import Immaterial, no_effect
from ...core.processes import world

__all__ = ["Cluster", "Device", "DeviceType", "Link", "LinkType", "Machine", "get_default_cluster"]

# GB/s of a network that no link describes, and the machines that it passes.
DEFAULT_NIC, DEFAULT_HOP = 24.0, 1


class DeviceType(enum.IntEnum):
    """Kinds of devices."""

    UNKNOWN, CPU, GPU, XPU, NPU, DCU, NIC = range(7)


class LinkType(enum.IntEnum):
    """Kinds of links between devices."""

    UNKNOWN, LOC, SYS, PHB, PIX, PIB, NVL, NVB, NET = range(9)


@dataclass
class Device:
    """A device of a machine.

    Arguments:
        global_id: its number in the cluster.
        local_id: its number in the machine.
        machine: the machine.
        type: its kind.
        model: its name.
        memory: in GB.
        sp_gflops: in single precision; dp_gflops: in double; hp_gflops: in half.
    """

    global_id: int
    local_id: int
    machine: Machine = field(repr=False)
    type: DeviceType = DeviceType.UNKNOWN
    model: str = ""
    memory: float = 0.0
    sp_gflops: float = 0.0
    dp_gflops: float = 0.0
    hp_gflops: float = 0.0


@dataclass
class Link:
    """A link from one device to another.

    Arguments:
        source: from where.
        target: to where.
        type: its kind.
        bandwidth: in GB/s.
        latency: in us.
        hop: machines that it passes.
    """

    source: Device
    target: Device
    type: LinkType = LinkType.UNKNOWN
    bandwidth: float = 0.0
    latency: float = 0.0
    hop: int = 0


@dataclass
class Machine:
    """A machine.

    Arguments:
        id: its number.
        hostname: its name; addr: its address; port: where it listens.
    """

    id: int
    hostname: str = ""
    addr: str = ""
    port: str = ""
    devices: dict[int, Device] = field(default_factory=dict, repr=False)
    links: dict[tuple[int, int], Link] = field(default_factory=dict, repr=False)

    @property
    def accelerators(self) -> dict[int, Device]:
        """The devices that compute, other than the CPU."""
        others = (DeviceType.CPU, DeviceType.NIC, DeviceType.UNKNOWN)
        return {i: d for i, d in self.devices.items() if d.type not in others}

    def get_device(self, id: int) -> Device:
        """Return a device by its number in the cluster."""
        return self.devices[id]

    def get_link(self, source_global_id: int, target_global_id: int) -> Link | None:
        """Return the link between two devices; None if they are not linked directly."""
        return self.links.get((source_global_id, target_global_id))


class Cluster:
    """Machines with devices and links, for planning.

    Examples:
        >>> cluster = Cluster()
        >>> cluster.gen_default_config_cluster(device_count=8)
        >>> cluster.get_num_machines(), cluster.get_num_devices_per_machine(), cluster.cross_machine([0, 7])
        (1, 8, False)
    """

    def __init__(self) -> None:
        self.machines: dict[int, Machine] = {}
        self.alpha_latency: dict[str, Any] | None = None

    def build_from_file(self, json_file_path: str) -> None:
        """Read the description: {"machines": [{"devices": [...], "links": [...]}], "alpha_latency": ...}.

        Arguments:
            json_file_path: the file.

        Raises:
            ValueError: if a link names a device that there is not.
        """
        with open(json_file_path, encoding="utf-8") as file:
            self._build_from_dict(json.load(file))

    def _build_from_dict(self, info: dict[str, Any]) -> None:
        for described in info["machines"]:
            hostname, addr, port = (str(described.get(k, "")) for k in ("hostname", "addr", "port"))
            number = len(self.machines)
            machine = self.machines.setdefault(number, Machine(number, hostname, addr, port))
            for each in described["devices"]:
                numbers = {k: float(each.get(k, 0)) for k in ("memory", "sp_gflops", "dp_gflops", "hp_gflops")}
                kind, model = DeviceType[each.get("type", "UNKNOWN")], str(each.get("model", ""))
                device = Device(each["global_id"], each["local_id"], machine, kind, model, **numbers)
                machine.devices[device.global_id] = device
        for each in [link for described in info["machines"] for link in described.get("links", ())]:
            self._add_link(each)
        self.alpha_latency = info.get("alpha_latency")

    def _add_link(self, described: dict[str, Any]) -> None:
        source, target = (self.get_device(described[f"{end}_global_id"]) for end in ("source", "target"))
        hop = described.get("hop", 0 if source.machine is target.machine else DEFAULT_HOP)
        speed, latency = (float(described.get(k, 0)) for k in ("bandwidth", "latency"))
        link = Link(source, target, LinkType[described.get("type", "UNKNOWN")], speed, latency, hop)
        source.machine.links[source.global_id, target.global_id] = link

    def gen_default_config_cluster(
        self, gpu_model: str = "V100", cpu_model: str = "6271C", node_count: int = 1, device_count: int = 1,
        gpu_memory: float = 32, cpu_memory: float = 503, inter_bandwidth: float = 24, intra_bandwidth: float = 235,
        gpu_dp_gflops: float = 7800, gpu_sp_gflops: float = 15700, gpu_hp_gflops: float = 31400,
        cpu_dp_gflops: float = 75, cpu_sp_gflops: float = 150,
    ) -> None:  # fmt: skip
        """Describe machines that are all alike, each with some accelerators and a CPU.

        Arguments:
            gpu_model: name of the accelerators; gpu_memory: in GB; gpu_dp_gflops, gpu_sp_gflops, gpu_hp_gflops: speed.
            cpu_model: name of the CPUs; cpu_memory: in GB; cpu_dp_gflops, cpu_sp_gflops: speed.
            node_count: how many machines.
            device_count: accelerators in each.
            inter_bandwidth: GB/s between machines.
            intra_bandwidth: GB/s within one.
        """
        gpu = {"type": "GPU", "model": gpu_model, "memory": gpu_memory}
        gpu |= {"dp_gflops": gpu_dp_gflops, "sp_gflops": gpu_sp_gflops, "hp_gflops": gpu_hp_gflops}
        cpu = {"type": "CPU", "model": cpu_model, "memory": cpu_memory}
        cpu |= {"dp_gflops": cpu_dp_gflops, "sp_gflops": cpu_sp_gflops}
        machines, first = [], 0
        numbers = [[n * (device_count + 1) + i for i in range(device_count)] for n in range(node_count)]
        for n, own in enumerate(numbers):
            devices = [{**gpu, "global_id": g, "local_id": i} for i, g in enumerate(own)]
            devices.append({**cpu, "global_id": first + device_count, "local_id": 0})
            links = [_link(a, b, "NVL", intra_bandwidth) for a in own for b in own if a != b]
            others = [g for m, each in enumerate(numbers) if m != n for g in each]
            links += [_link(a, b, "NET", inter_bandwidth) for a in own for b in others]
            machines.append({"hostname": f"machine{n}", "devices": devices, "links": links})
            first += device_count + 1
        self._build_from_dict({"machines": machines})

    # -- what planners ask ---------------------------------------------------------------------------------------------
    def get_device(self, device_global_id: int) -> Device:
        """Return a device by its number.

        Raises:
            ValueError: if there is none.
        """
        for machine in self.machines.values():
            if device_global_id in machine.devices:
                return machine.devices[device_global_id]
        raise ValueError(f"Cluster: there is no device {device_global_id}")

    def get_all_devices(self, device_type: str) -> list[Device]:
        """Return all devices of a kind, such as "GPU"."""
        kind = DeviceType[device_type]
        return [d for m in self.machines.values() for d in m.devices.values() if d.type is kind]

    @property
    def rank_to_device_id(self) -> dict[int, int]:
        """The accelerator of each rank: one after the other, through all machines."""
        return dict(enumerate(i for m in self.machines.values() for i in m.accelerators))

    @property
    def device_id_to_rank(self) -> dict[int, int]:
        """The rank of each accelerator."""
        return {device: rank for rank, device in self.rank_to_device_id.items()}

    def convert_rank_to_device_id(self, group_ranks: list[int]) -> list[int]:
        """Return the accelerators of some ranks."""
        of = self.rank_to_device_id
        return [of[rank] for rank in group_ranks]

    def _link(self, source: int, target: int) -> Link | None:
        return self.get_device(source).machine.get_link(source, target)

    def get_beta(self, source_device_id: int, target_device_id: int) -> float:
        """Time to transfer a byte from one device to another, in us."""
        link = self._link(source_device_id, target_device_id)
        speed = DEFAULT_NIC if link is None else link.bandwidth
        return 1 / (speed * 1000) if speed else 0

    def get_hop(self, source_device_id: int, target_device_id: int) -> int:
        """Return the number of machines between two devices."""
        link = self._link(source_device_id, target_device_id)
        return DEFAULT_HOP if link is None else link.hop

    def cross_machine(self, device_ids: list[int]) -> bool:
        """Whether devices are in more than one machine."""
        return self.get_involved_machine_count(device_ids) > 1

    def get_involved_machine_count(self, device_ids: list[int]) -> int:
        """In how many machines devices are."""
        return len({self.get_device(i).machine.id for i in device_ids})

    def get_num_machines(self) -> int:
        """Return the number of machines."""
        return len(self.machines)

    def get_num_devices_per_machine(self) -> int:
        """Return the number of accelerators that the first machine has, as all should."""
        return len(self.machines[0].accelerators)


def _link(source: int, target: int, kind: str, speed: float) -> dict[str, Any]:
    return {"source_global_id": source, "target_global_id": target, "type": kind, "bandwidth": speed}


@no_effect(auto_config=Immaterial("what is not described has the speed of the defaults"))
def get_default_cluster(json_config: dict[str, Any] | None = None, auto_config: Any = None) -> Cluster:
    """Return the cluster that {"cluster": {...}} describes; by default the processes of this job, one device each.

    Arguments:
        json_config: {"cluster": {"path": a file}}, or the same with num_nodes, num_gpus, gpu_model and gpu_memory.
        auto_config: see docs/differences.md.

    Examples:
        >>> get_default_cluster().get_num_machines()
        1
    """
    cluster, given = Cluster(), (json_config or {}).get("cluster") or {}
    if "path" in given:
        cluster.build_from_file(given["path"])
    elif {"num_nodes", "num_gpus", "gpu_model", "gpu_memory"} <= given.keys():
        names = {"num_nodes": "node_count", "num_gpus": "device_count"}
        cluster.gen_default_config_cluster(**{names.get(k, k): v for k, v in given.items()})
    else:
        local = int(os.environ.get("PADDLE_LOCAL_SIZE") or 1)
        cluster.gen_default_config_cluster(node_count=max(world().size // local, 1), device_count=local)
    return cluster
