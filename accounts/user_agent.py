"""Names the browser and system of a User-Agent. Pure.

The name helps people to recognize their devices. It can be forged, so nothing depends on it.
"""

from web.phrases import say

# The first match counts, because browsers also name the browsers that they are based on.
BROWSERS = (
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chromium/", "Chromium"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("Linux", "Linux"),
)


def format_browser(user_agent: str, *, unknown: str = say("An unknown browser")) -> str:
    """Returns a name such as "Firefox on Windows", or `unknown` if neither part is known."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return say("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or unknown
