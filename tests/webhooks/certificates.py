"""Certificates of receivers, made for one test."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """Signs certificates; `file` is what an operator would trust."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def file(self) -> str:
        return str(self.folder / "authority.pem")

    def serve(self, name: str, *, days: int = 1, self_signed: bool = False) -> ssl.SSLContext:
        """The server side of TLS, with a certificate of `name` that ends in `days`."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer, signer = self.certificate.subject, self.key
        if self_signed:
            issuer, signer = subject(name), key
        certificate = build(name, key, issuer, signer, days=days, authority=False)
        path = self.folder / f"{name}-{days}-{self_signed}.pem"
        path.write_bytes(pem_of_key(key) + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def new_authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = build("Authority", key, subject("Authority"), key, days=2, authority=True)
    made = Authority(folder, key, certificate)
    Path(made.file).write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return made


def build(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    signer: ec.EllipticCurvePrivateKey,
    *,
    days: int,
    authority: bool,
) -> x509.Certificate:
    end = datetime.now(UTC) + timedelta(days=days)
    return (
        x509.CertificateBuilder()
        .subject_name(subject(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(end - timedelta(days=10))
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )


def subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def pem_of_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
