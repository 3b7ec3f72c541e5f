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
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("authority", "node")]
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    now, signed = datetime.now(UTC), []
    for key, name, extension in zip(keys, names, (x509.BasicConstraints(True, None), address), strict=True):
        unsigned = x509.CertificateBuilder().subject_name(name).issuer_name(names[0]).public_key(key.public_key())
        unsigned = unsigned.serial_number(x509.random_serial_number()).add_extension(extension, critical=False)
        dated = unsigned.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        signed.append(dated.sign(keys[0], hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "ca.crt").write_bytes(signed[0])
    (folder / "node.pem").write_bytes(keys[1].private_bytes(serialization.Encoding.PEM, *form) + signed[1])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "node.pem")
    return folder / "ca.crt", context
