"""The source of static/css/app.css and static/icons.svg, and what compiles them (`make styles`)."""
