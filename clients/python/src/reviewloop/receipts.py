"""Verifies the receipt of an approval, without calling the service."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Union, cast

from reviewloop.errors import ConfigurationError, InvalidReceipt
from reviewloop.types import ReceiptClaims

ALGORITHM = "EdDSA"
TYPE = "approval-receipt+jwt"
LEEWAY = 60.0  # seconds by which the clocks may differ
REQUIRED = ("iss", "sub", "jti", "iat", "exp", "name", "action", "arguments_sha256")
Jwk = Mapping[str, Any]
Keys = Union[Jwk, Sequence[Jwk]]
"""The pinned public keys: a JWK, several, or the JWK Set of /.well-known/jwks.json."""


class Unchecked(Enum):
    """The value of a check that is left out. None is no such value: it is one that fits nothing."""

    ANY = "any"


ANY_ARGUMENTS = Unchecked.ANY
"""Skips the check of the arguments."""


def verify_receipt(
    token: str,
    keys: Keys,
    *,
    issuer: str,
    arguments: Mapping[str, Any] | Unchecked,
    name: str | Unchecked = Unchecked.ANY,
    loop_id: str | Unchecked = Unchecked.ANY,
    request_id: str | Unchecked = Unchecked.ANY,
    leeway: float = LEEWAY,
) -> ReceiptClaims:
    """Returns what a receipt states, if one of your pinned `keys` signed it and it is still valid.

    `issuer` is the address of the service (SITE_URL). `arguments` are those that you are about to
    run; ANY_ARGUMENTS skips their check. None, which `answer.arguments` is where nobody approved,
    fits no receipt. `name`, `loop_id` and `request_id` are those that you expect; give `name`
    wherever the program can run more than one thing. Needs `pip install reviewloop[receipts]`.

    Raises InvalidReceipt, and ConfigurationError without these packages.
    """
    claims = read_claims(token, keys, issuer, leeway)
    for claim, expected in (("name", name), ("loop_id", loop_id), ("sub", request_id)):
        if expected is not Unchecked.ANY and claims.get(claim) != expected:
            raise InvalidReceipt(f"the receipt has another {claim}: {claims.get(claim)!r}")
    if arguments is not ANY_ARGUMENTS and digest(arguments) != claims["arguments_sha256"]:
        raise InvalidReceipt("the receipt is for other arguments")
    return cast("ReceiptClaims", claims)


def read_claims(token: str, keys: Keys, issuer: str, leeway: float) -> dict[str, Any]:
    """Returns the claims of a valid receipt of the issuer, signed with one of the keys.

    Raises InvalidReceipt, ConfigurationError.
    """
    try:
        import jwt
        import rfc8785  # noqa: F401 (digest needs it)
    except ImportError as error:
        raise ConfigurationError(f"{error}: pip install 'reviewloop[receipts]'") from None
    if not isinstance(issuer, str) or not issuer:
        raise InvalidReceipt("the issuer is missing: it is the address of the service")
    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != ALGORITHM or header.get("typ") != TYPE:
            raise InvalidReceipt(f"the token is no receipt: it must be a {TYPE} with {ALGORITHM}")
        return jwt.decode(
            token,
            load_key(keys, header.get("kid")),
            algorithms=[ALGORITHM],
            issuer=issuer,
            leeway=leeway,
            options={"require": list(REQUIRED)},
        )
    except jwt.PyJWTError as error:
        raise InvalidReceipt(f"the receipt is not valid: {error}") from None


def digest(arguments: Any) -> str:
    """Computes the SHA-256 of arguments in the form of RFC 8785. Raises InvalidReceipt."""
    import rfc8785

    if not isinstance(arguments, Mapping):
        raise InvalidReceipt("there are no arguments: nobody approved, or ANY_ARGUMENTS is meant")
    try:
        return hashlib.sha256(rfc8785.dumps(dict(arguments))).hexdigest()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise InvalidReceipt(f"the arguments have no canonical form: {error}") from None


def load_key(keys: Keys, kid: str | None) -> Any:
    """Returns the pinned key with this id, ready to verify. Raises InvalidReceipt."""
    import jwt

    try:
        return jwt.PyJWK(dict(choose_key(keys, kid)), algorithm=ALGORITHM)
    except (jwt.PyJWTError, AttributeError, TypeError, ValueError) as error:
        raise InvalidReceipt(f"the pinned keys are no JWKs: {error}") from None


def choose_key(keys: Keys, kid: str | None) -> Jwk:
    """Returns the pinned key with this id. Raises InvalidReceipt."""
    pinned = keys.get("keys", [keys]) if isinstance(keys, Mapping) else keys
    for key in pinned:
        if key.get("crv") == "Ed25519" and key.get("kid", kid) == kid:
            return key
    raise InvalidReceipt("none of these keys signed the receipt")
