from __future__ import annotations

import base64
import hashlib
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from orchestrator.sandbox.staged_origins import Authority


def test_the_spki_is_that_of_the_chains_last_certificate() -> None:
    authority = Authority()
    *_, last = x509.load_pem_x509_certificates(authority.leaf("en.wikipedia.org").chain)
    spki = last.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert authority.spki == base64.b64encode(hashlib.sha256(spki).digest()).decode()


def test_a_client_that_trusts_the_authority_accepts_the_host_and_no_other(tmp_path: Path) -> None:
    authority = Authority()
    leaf = authority.leaf("en.wikipedia.org")
    (tmp_path / "chain.pem").write_bytes(leaf.chain)
    (tmp_path / "key.pem").write_bytes(leaf.key)
    for host, accepted in (("en.wikipedia.org", True), ("www.wikipedia.org", False)):
        assert _accepts(authority.pem, tmp_path, host) is accepted


def _accepts(ca_pem: bytes, folder: Path, host: str) -> bool:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "chain.pem", folder / "key.pem")
    client = ssl.create_default_context(cadata=ca_pem.decode())
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=host)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (ours, theirs):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
    return ours.version() is not None
