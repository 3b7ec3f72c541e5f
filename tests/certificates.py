"""Certificates for servers of tests."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def certified(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Make an authority, and a certificate for 127.0.0.1 signed by it: its file, and what a server needs."""
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    signs = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    of_authority = {x509.BasicConstraints(True, None): True, signs: True}
    of_node = {x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]): False}
    signed = [_signed("authority", keys[0], keys[0], of_authority), _signed("node", keys[1], keys[0], of_node)]
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "ca.crt").write_bytes(signed[0])
    (folder / "node.pem").write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, *form) + signed[1])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "node.pem")
    return folder / "ca.crt", context


def _signed(
    name: str,
    own: ec.EllipticCurvePrivateKey,
    authority: ec.EllipticCurvePrivateKey,
    extensions: dict[x509.ExtensionType, bool],
) -> bytes:
    """Sign a certificate for two days; `extensions` tells which are critical. Python 3.13 wants those of the keys."""
    subject, issuer = (x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, one)]) for one in (name, "authority"))
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(own.public_key())
    made = made.serial_number(x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    identifiers: dict[x509.ExtensionType, bool] = {
        x509.SubjectKeyIdentifier.from_public_key(own.public_key()): False,
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()): False,
    }
    for extension, is_critical in {**extensions, **identifiers}.items():
        made = made.add_extension(extension, critical=is_critical)
    return made.sign(authority, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
