"""Servers that hear every worker once, and workers that speak to every server, by the variables of the reference."""

import os
import socket

index, workers = os.environ.get("PADDLE_TRAINER_ID"), int(os.environ["PADDLE_TRAINERS_NUM"])
servers = [e.rsplit(":", 1) for e in os.environ["PADDLE_PSERVERS_IP_PORT_LIST"].split(",")]
if os.environ["TRAINING_ROLE"] == "PSERVER":
    here = os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])
    assert [here[0], str(here[1])] in servers, f"{here} is none of {servers}"
    heard = set()
    with socket.create_server(here) as server:
        while len(heard) < workers:
            connection, _ = server.accept()
            with connection:
                heard.add(connection.recv(16).decode())
                connection.sendall(b"well")
    print("heard", sorted(heard), flush=True)
else:
    own = os.environ["PADDLE_CURRENT_ENDPOINT"]
    assert os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")[int(index)] == own, own
    for host, port in servers:
        while True:
            try:
                with socket.create_connection((host, int(port))) as connection:
                    connection.sendall(index.encode())
                    assert connection.recv(16) == b"well"
                break
            except ConnectionRefusedError:
                continue
    print("worker", index, "of", workers, "is done", flush=True)
