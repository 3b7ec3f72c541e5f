"""TLS on the way to Elasticsearch: whose certificates count, and what it may mean that there is no answer."""

from collections.abc import Iterable
from typing import Any, Final

from haystack_integrations.crag.errors import ConfigurationError, unreadable_certificates
from haystack_integrations.crag.settings import configured

CA_SETTING: Final = "ELASTICSEARCH_CA_CERTS"


def tls_options(nodes: Iterable[str]) -> dict[str, Any]:
    """
    Let the client trust the authority that the environment, or `.env`, names.

    :param nodes: Addresses of the servers.
    :returns: Options of the client; none where nothing is named, or not all addresses are `https`.
    :raises ConfigurationError: When the file that is named cannot be read, or holds no certificate.
    """
    file = configured(CA_SETTING)
    if file is None or not all(node.lower().startswith("https:") for node in nodes):
        return {}
    if why := unreadable_certificates(file):
        msg = (
            f"{CA_SETTING} names {file!r}, which is no readable file of certificates ({why}); "
            "name the PEM file of the authority that signed the server's certificate, or unset it"
        )
        raise ConfigurationError(msg)
    return {"ca_certs": file}


def no_answer(error: BaseException, where: str = "") -> str:
    """
    Say that there was no answer, and what to do.

    :param error: What the client raised.
    :param where: The server, as ` at ADDRESS`, where it is known.
    :returns: The message.
    """
    kind = type(error).__name__
    if kind == "TlsError":
        way = (
            "pass the address that its certificate is for; where an authority of your own has signed that, name the "
            f"PEM file of the authority's certificate in {CA_SETTING}"
        )
    elif kind == "ConnectionTimeout":  # of a server that runs, as well: one with a full disk, or without a master
        way = "look at its load, disks and master (GET /_cluster/health), or pass the address of one that runs"
    else:
        way = "start the server, or pass the address of one that runs (https:// where it speaks TLS)"
    return f"no answer from Elasticsearch{where} ({kind}); {way}"
