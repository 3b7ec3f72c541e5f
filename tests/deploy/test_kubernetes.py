"""The Kubernetes manifests: rendered by kubectl, validated against Kubernetes' own schemas, and what they promise."""

from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from deployment import DEPLOY, dev_module, dev_program, run

from haystack_integrations.crag import __version__

FOLDER = DEPLOY / "kubernetes"
OLDEST = "1.30"  # the first that can sleep before SIGTERM


@cache
def rendered() -> str:
    return run(dev_program("kubectl"), "kustomize", FOLDER)


def resources(kind: str) -> list[dict[str, Any]]:
    return [resource for resource in yaml.safe_load_all(rendered()) if resource["kind"] == kind]


def pods() -> dict[str, dict[str, Any]]:
    (deployment,), (index,) = resources("Deployment"), resources("CronJob")
    return {
        "app": deployment["spec"]["template"]["spec"],
        "index": index["spec"]["jobTemplate"]["spec"]["template"]["spec"],
    }


@pytest.mark.parametrize("version", [OLDEST, None], ids=["oldest", "newest"])
def test_kubernetes_own_schemas_accept_everything_and_know_every_field(version: str | None) -> None:
    validator = dev_module("kubernetes_validate")
    for resource in yaml.safe_load_all(rendered()):
        validator.validate(resource, version or validator.latest_version(), strict=True)


def test_nothing_in_the_folder_is_forgotten() -> None:
    listed = yaml.safe_load((FOLDER / "kustomization.yml").read_text())["resources"]
    assert sorted(listed) == sorted({file.name for file in FOLDER.glob("*.yml")} - {"kustomization.yml"})


@pytest.mark.parametrize("name", ["app", "index"])
def test_a_pod_has_no_rights_to_lose(name: str) -> None:
    pod = pods()[name]
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"]
    assert f"USER {pod['securityContext']['runAsUser']}:" in (DEPLOY / "Dockerfile").read_text()
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "/tmp" in {mount["mountPath"] for mount in container["volumeMounts"]}
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert container["image"] == f"crag-haystack:{__version__}"


def test_it_is_asked_for_life_and_readiness_where_the_app_answers() -> None:
    (app,) = pods()["app"]["containers"]
    assert app["livenessProbe"]["httpGet"] == {"path": "/health/live", "port": "http"}
    assert app["readinessProbe"]["httpGet"] == {"path": "/health/ready", "port": "http"}
    (port,) = app["ports"]
    assert app["args"] == ["serve", "--host", "0.0.0.0", "--port", str(port["containerPort"])]


def test_keys_are_named_and_never_written_down() -> None:
    """The Secret is made by whoever deploys; a changed one reaches the running app, which reads the file again."""
    assert resources("Secret") == []
    pod = pods()["app"]
    (keys,) = [volume["secret"] for volume in pod["volumes"] if "secret" in volume]
    (mount,) = [mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == "keys"]
    environment = {entry["name"]: entry for entry in pod["containers"][0]["env"]}
    assert environment["CRAG_SERVE_API_KEYS_FILE"]["value"] == f"{mount['mountPath']}/{keys['items'][0]['path']}"
    assert "subPath" not in mount
    of_model = {name for name, entry in environment.items() if name.startswith("CRAG_LLM_") and "value" not in entry}
    assert of_model == {"CRAG_LLM_BASE_URL", "CRAG_LLM_MODEL", "CRAG_LLM_API_KEY"}
    (settings,) = resources("ConfigMap")
    assert not [name for name in settings["data"] if "KEY" in name or "PASSWORD" in name]


@pytest.mark.parametrize("name", ["app", "index"])
def test_elasticsearch_may_want_a_key_which_is_in_the_secret(name: str) -> None:
    """Its security is on by default; a password in its address would stand in a ConfigMap."""
    (container,) = pods()[name]["containers"]
    (entry,) = [entry for entry in container["env"] if entry["name"] == "ELASTIC_API_KEY"]
    assert entry["valueFrom"] == {"secretKeyRef": {"name": "crag-keys", "key": "elastic-api-key", "optional": True}}


@pytest.mark.parametrize("name", ["app", "index"])
def test_an_authority_of_ones_own_has_a_place_and_need_not_be_there(name: str) -> None:
    """A certificate is no secret; a file system that cannot be written to leaves no other way to bring it."""
    pod = pods()[name]
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "authority"]
    assert volume["configMap"] == {"name": "crag-authority", "optional": True}
    (mount,) = [mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == "authority"]
    page = (DEPLOY.parent / "docs" / "deployment.md").read_text()
    assert f"ELASTICSEARCH_CA_CERTS={mount['mountPath']}/ca.crt" in page


def test_names_are_looked_up_at_the_cluster_s_server_and_at_a_cache_on_the_node() -> None:
    """The cache has an address of the node's own: no rule about pods or namespaces lets it through."""
    (policy,) = resources("NetworkPolicy")
    (names,) = [rule for rule in policy["spec"]["egress"] if {"port": 53, "protocol": "UDP"} in rule["ports"]]
    assert {"port": 53, "protocol": "TCP"} in names["ports"]
    assert {"ipBlock": {"cidr": "169.254.20.10/32"}} in names["to"]
    assert any("namespaceSelector" in place for place in names["to"])


def test_everything_that_selects_pods_selects_the_app_s() -> None:
    (deployment,), (service,) = resources("Deployment"), resources("Service")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    (budget,), (policy,) = resources("PodDisruptionBudget"), resources("NetworkPolicy")
    spread = [rule["labelSelector"]["matchLabels"] for rule in pods()["app"]["topologySpreadConstraints"]]
    for selector in (
        deployment["spec"]["selector"]["matchLabels"],
        service["spec"]["selector"],
        budget["spec"]["selector"]["matchLabels"],
        policy["spec"]["podSelector"]["matchLabels"],
        *spread,
    ):
        assert selector.items() <= labels
    (index,) = resources("CronJob")
    indexing = index["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"].items()
    assert not service["spec"]["selector"].items() <= indexing  # no request reaches a pod that indexes
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= indexing


def test_the_network_policy_lets_out_to_every_address_of_the_settings_and_by_both_ways_of_otlp() -> None:
    """What is not let out hangs, and the log says only that it could not be sent."""
    (policy,), (settings,) = resources("NetworkPolicy"), resources("ConfigMap")
    open_ports = {entry["port"] for rule in policy["spec"]["egress"] for entry in rule["ports"]}
    addresses = [urlsplit(value) for value in settings["data"].values() if "://" in value]
    assert {at.port for at in addresses} == {9200, 6379, 4318}
    assert {at.port for at in addresses} | {4317} <= open_ports


def test_two_pods_at_least_of_which_one_may_be_missing() -> None:
    (scaler,), (budget,), (deployment,) = (
        resources("HorizontalPodAutoscaler"),
        resources("PodDisruptionBudget"),
        resources("Deployment"),
    )
    assert scaler["spec"]["minReplicas"] >= 2
    assert budget["spec"]["maxUnavailable"] == 1
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert "replicas" not in deployment["spec"]  # another `apply` would undo the autoscaler's choice


def test_the_shipped_settings_are_those_of_compose() -> None:
    """One name of a setting, one meaning."""
    (settings,) = resources("ConfigMap")
    compose = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text())["services"]["app"]["environment"]
    assert settings["data"].items() <= compose.items()
