"""Compiles static/css/app.css and static/icons.svg from the sources here (`make styles`)."""
