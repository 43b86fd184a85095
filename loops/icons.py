"""Icon identifiers (specification, Loop). Creation takes any string, an update one of these."""

ICONS = (
    "shield-check",
    "shield-alt",
    "shield-exclamation",
    "lock",
    "key",
    "document-text",
    "document-check",
    "file-text",
    "clipboard",
    "edit",
    "eye",
    "search",
    "thumbs-up",
    "thumbs-down",
    "star",
    "badge-check",
    "certificate",
    "award",
    "beaker",
    "cog",
    "chat",
    "comment",
    "bell",
    "megaphone",
    "mail",
    "folder",
    "tag",
    "flag",
    "bookmark",
    "heart",
)

# Icons whose symbol in static/icons.svg has another name.
_OTHER_NAMES = {
    "shield-alt": "shield-half",
    "document-text": "file-text",
    "document-check": "file-check",
    "file-text": "file-description",
    "thumbs-up": "thumb-up",
    "thumbs-down": "thumb-down",
    "badge-check": "rosette-discount-check",
    "beaker": "flask",
    "cog": "settings",
    "chat": "messages",
    "comment": "message-circle",
    "megaphone": "speakerphone",
}
NEUTRAL = "users-group"


def get_symbol(icon: str) -> str:
    """Returns the name of an icon's SVG symbol; a neutral one for an unknown icon."""
    return _OTHER_NAMES.get(icon, icon) if icon in ICONS else NEUTRAL
