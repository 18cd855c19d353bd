"""The demo's own certificate authority: made for one run, its keys never on this machine's disk."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """What one server shows and signs with.

    Attributes:
        chain: PEM of its certificate, then the authority's.
        key: PEM of its private key.
    """

    chain: bytes
    key: bytes


class Authority:
    """Signs certificates for live host names that only a browser told to do so will trust."""

    def __init__(self) -> None:
        import trustme  # noqa: PLC0415  generates keys; needed where something is staged only

        self._authority = trustme.CA(organization_name="Arena staged live origins")

    @property
    def pem(self) -> bytes:
        """The authority's certificate, which is public."""
        return self._authority.cert_pem.bytes()

    @property
    def spki(self) -> str:
        """Base64 of the SHA-256 of its public key, as Chromium's list of trusted keys wants it.

        Chromium looks for it in the chain that the server sends, so the servers send the whole.
        """
        key = x509.load_pem_x509_certificate(self.pem).public_key()
        spki = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(spki).digest()).decode()

    def leaf(self, host: str) -> Leaf:
        """Sign a certificate for a host name."""
        issued = self._authority.issue_cert(host)
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        return Leaf(chain=chain + self.pem, key=issued.private_key_pem.bytes())
