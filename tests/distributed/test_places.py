"""Roles of processes in a job with servers, from the environment and from the program."""

from __future__ import annotations

import pytest

from paddle_lite_py.distributed import fleet
from paddle_lite_py.distributed.fleet.places import SERVER, WORKER, from_environment

ENV = {
    "PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1:6000,10.0.0.2:6000",
    "PADDLE_TRAINERS_NUM": "3",
    "TRAINING_ROLE": "TRAINER",
    "PADDLE_TRAINER_ID": "2",
}
SERVING = {"TRAINING_ROLE": "PSERVER", "POD_IP": "10.0.0.2", "PADDLE_PORT": "6000"}


def test_the_environment_says_what_a_process_is():
    worker, server = from_environment(ENV), from_environment({**ENV, **SERVING})
    assert (worker.role, worker.number, worker.workers, worker.endpoint) == (WORKER, 2, 3, "")
    assert (server.role, server.number, server.endpoint) == (SERVER, 1, "10.0.0.2:6000")
    assert from_environment({"PADDLE_TRAINERS_NUM": "2"}) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"PADDLE_TRAINERS_NUM": ""}, "PADDLE_TRAINERS_NUM is not set, which says how many workers there are"),
        ({"PADDLE_TRAINERS_NUM": "two"}, "PADDLE_TRAINERS_NUM is 'two'; expected a number"),
        ({"PADDLE_TRAINERS_NUM": "0"}, "there are no workers"),
        ({"TRAINING_ROLE": ""}, "TRAINING_ROLE is not set"),
        ({"TRAINING_ROLE": "SERVER"}, "TRAINING_ROLE is 'SERVER'; expected TRAINER or PSERVER"),
        ({"PADDLE_TRAINER_ID": ""}, "PADDLE_TRAINER_ID is not set"),
        ({"PADDLE_TRAINER_ID": "3"}, "this is worker 3 of 3; expected a number from 0 to 2"),
        ({**SERVING, "POD_IP": ""}, "POD_IP is not set"),
        (
            {**SERVING, "PADDLE_PORT": "6001"},
            "this server is 10.0.0.2:6001, which PADDLE_PSERVERS_IP_PORT_LIST does not",
        ),
        ({"PADDLE_PSERVERS_IP_PORT_LIST": "10.0.0.1"}, "names '10.0.0.1'; expected addresses as host:port"),
        ({"PADDLE_TRAINER_ENDPOINTS": "10.0.0.3:1"}, "there are 3 workers .*, but 1 addresses of workers"),
    ],
)
def test_what_does_not_fit_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        from_environment({**ENV, **change})


def test_a_program_says_what_a_process_is():
    role = fleet.UserDefinedRoleMaker(
        current_id=1, role=fleet.Role.SERVER, worker_num=2, server_endpoints=["127.0.0.1:6000", "127.0.0.1:6001"]
    )
    assert role.is_server() and not role.is_worker() and role.server_index() == 1 and role.server_num() == 2
    with pytest.raises(ValueError, match="role is 7; expected Role.WORKER or Role.SERVER"):
        fleet.UserDefinedRoleMaker(role=7, server_endpoints=["127.0.0.1:6000"])


def test_a_role_maker_reads_the_environment(monkeypatch):
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    role = fleet.PaddleCloudRoleMaker()
    assert (role.worker_index(), role.worker_num(), role.get_pserver_endpoints()[1]) == (2, 3, "10.0.0.2:6000")
    assert fleet.PaddleCloudRoleMaker(is_collective=True).place is None


def test_alone_there_are_no_servers():
    assert (fleet.is_server(), fleet.is_worker(), fleet.server_num()) == (False, True, 0)
    fleet.init_server()
    fleet.run_server()
    fleet.init_worker()
    fleet.stop_worker()
    assert fleet.shrink() == 0


def test_how_workers_keep_step_is_a_setting():
    strategy = fleet.DistributedStrategy()
    assert strategy.a_sync and strategy.a_sync_configs["k_steps"] == -1
    strategy.a_sync = True
    strategy.a_sync_configs = {"k_steps": 100}
    assert (strategy.a_sync_configs["k_steps"], strategy.a_sync_configs["send_queue_size"]) == (100, 16)
    with pytest.raises(ValueError, match="a_sync_configs has no setting 'k_step'; it has k_steps"):
        strategy.a_sync_configs = {"k_step": 100}


@pytest.mark.parametrize(
    ("role", "number", "text"),
    [(fleet.Role.SERVER, 1, "role: 2, current_id: 1"), (fleet.Role.WORKER, 0, "role: 1, current_id: 0")],
)
def test_a_role_in_a_line(role, number, text):
    servers, workers = ["10.0.0.1:1", "10.0.0.2:1"], ["10.0.0.3:1", "10.0.0.3:2"]
    made = fleet.UserDefinedRoleMaker(
        current_id=number, role=role, worker_num=2, server_endpoints=servers, worker_endpoints=workers
    )
    assert made.to_string() == f"{text}, worker_endpoints: {workers}, server_endpoints: {servers}"


def test_a_process_that_trains_alone_has_an_address():
    fleet.init(is_collective=True)
    assert fleet.worker_endpoints() == ["127.0.0.1:6170"] and fleet.worker_endpoints(True) == "127.0.0.1:6170"
