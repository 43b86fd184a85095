"""Icon identifiers (docs/contract.md, `loop.icon`).

Creation takes any string, an update one of these.
"""

from web.phrases import say

NAMES = {
    "shield-check": say("Shield check"),
    "shield-alt": say("Shield alt"),
    "shield-exclamation": say("Shield exclamation"),
    "lock": say("Lock"),
    "key": say("Key"),
    "document-text": say("Document text"),
    "document-check": say("Document check"),
    "file-text": say("File text"),
    "clipboard": say("Clipboard"),
    "edit": say("Edit"),
    "eye": say("Eye"),
    "search": say("Search"),
    "thumbs-up": say("Thumbs up"),
    "thumbs-down": say("Thumbs down"),
    "star": say("Star"),
    "badge-check": say("Badge check"),
    "certificate": say("Certificate"),
    "award": say("Award"),
    "beaker": say("Beaker"),
    "cog": say("Cog"),
    "chat": say("Chat"),
    "comment": say("Comment"),
    "bell": say("Bell"),
    "megaphone": say("Megaphone"),
    "mail": say("Mail"),
    "folder": say("Folder"),
    "tag": say("Tag"),
    "flag": say("Flag"),
    "bookmark": say("Bookmark"),
    "heart": say("Heart"),
}
ICONS = tuple(NAMES)

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
