"""Manifests for Kubernetes, read by validators that nobody here wrote."""

from __future__ import annotations

import pytest

from paddle_lite_py.serving.kubernetes import main
from paddle_lite_py.utils.manifests import to_yaml

ARGUMENTS = ["digits", "--image", "x/y:1", "--model", "/models/digits", "--claim", "models", "--token-secret", "s"]


def written(capsys, *more):
    main([*ARGUMENTS, *more])
    return capsys.readouterr().out


def test_a_deployment_with_service_and_autoscaler(capsys):
    text = written(capsys, "--max-replicas", "4", "--max-batch", "16")
    yaml = pytest.importorskip("yaml")
    deployment, service, scaler = yaml.safe_load_all(text)
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][-4:] == ["--host", "0.0.0.0", "--max-batch", "16"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/v2/health/ready", "port": 8000}
    assert [p["port"] for p in service["spec"]["ports"]] == [8000, 8001]
    assert (scaler["kind"], scaler["spec"]["maxReplicas"]) == ("HorizontalPodAutoscaler", 4)
    validate = pytest.importorskip("kubernetes_validate").validate
    for document in (deployment, service, scaler):
        validate(document, "1.30", strict=True)


def test_an_inference_service_of_kserve(capsys):
    yaml = pytest.importorskip("yaml")
    (found,) = yaml.safe_load_all(written(capsys, "--kserve", "--gpus", "1"))
    assert (found["apiVersion"], found["kind"]) == ("serving.kserve.io/v1beta1", "InferenceService")
    predictor = found["spec"]["predictor"]
    assert predictor["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    secret = {"name": "PADDLE_SERVING_TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}
    assert secret in predictor["containers"][0]["env"]


def test_names_are_those_of_kubernetes(capsys):
    with pytest.raises(SystemExit):
        main(["My_Model", "--image", "x", "--model", "m"])
    assert "Kubernetes takes small letters" in capsys.readouterr().err


def test_strings_that_look_like_something_else():
    assert to_yaml({"a": "true", "b": ["- x", "#"], "c": []}) == 'a: "true"\nb:\n  - "- x"\n  - "#"\nc: []\n'
