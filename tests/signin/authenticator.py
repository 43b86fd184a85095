"""A device that keeps one passkey, made of software."""

import hashlib
import json
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
)

from accounts.models import User

FLAG = AuthenticatorData.FLAG
SITE = "http://localhost"  # the only one without HTTPS that has passkeys


class Device:
    """Answers the options of a page as a browser would."""

    def __init__(self, name: bytes = b"device") -> None:
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.flags = FLAG.UP | FLAG.UV

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        public = ES256.from_cryptography_key(self.key.public_key())  # type: ignore[no-untyped-call]
        data = AttestedCredentialData.create(Aaguid.NONE, self.name, public)
        whole = self._data(options["rp"]["id"], self.flags | FLAG.AT, data)
        return self._answer(
            options,
            "webauthn.create",
            attestationObject=bytes(AttestationObject.create("none", whole, {})),
        )

    def get(self, options: dict[str, Any], user: User, **change: Any) -> dict[str, Any]:
        data = self._data(options["rpId"], self.flags)
        asked = self._client_data(options, "webauthn.get")
        signed = bytes(data) + hashlib.sha256(asked).digest()
        return self._answer(
            options,
            "webauthn.get",
            authenticatorData=bytes(data),
            signature=self.key.sign(signed, ec.ECDSA(hashes.SHA256())),
            userHandle=change.get("handle", user.pk.encode()),
        )

    def _data(
        self, host: str, flags: Any, credential: AttestedCredentialData | None = None
    ) -> AuthenticatorData:
        digest = hashlib.sha256(host.encode()).digest()
        data: AuthenticatorData = AuthenticatorData.create(
            digest, flags, 1, bytes(credential or b"")
        )
        return data

    def _client_data(self, options: dict[str, Any], kind: str) -> bytes:
        told = {"type": kind, "challenge": options["challenge"], "origin": SITE}
        return json.dumps(told).encode()

    def _answer(self, options: dict[str, Any], kind: str, **parts: bytes) -> dict[str, Any]:
        response = {"clientDataJSON": self._client_data(options, kind), **parts}
        return {
            "id": websafe_encode(self.name),
            "rawId": websafe_encode(self.name),
            "type": "public-key",
            "response": {name: websafe_encode(part) for name, part in response.items()},
            "clientExtensionResults": {"credProps": {"rk": True}},
        }


def keep_passkey(user: User, name: str = "Phone") -> Device:
    """Gives the person a passkey without a page."""
    device = Device()
    credential = device.create({"rp": {"id": "localhost"}, "challenge": "AAAA"})
    Authenticator.objects.create(
        user=user,
        type=Authenticator.Type.WEBAUTHN,
        data={"name": name, "credential": credential},
    )
    return device
