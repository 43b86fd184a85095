"""How the views describe themselves in the OpenAPI document."""

from drf_spectacular.openapi import AutoSchema


class ContractSchema(AutoSchema):
    """The OpenAPI description of a view."""
