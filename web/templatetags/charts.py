"""The tag `{% chart chart %}` draws bars or lines as SVG, with axes, a legend and a table."""

from typing import Any

from django import template

from web.charts import Chart

register = template.Library()


@register.inclusion_tag("components/chart.html")
def chart(chart: Chart, ident: str = "chart") -> dict[str, Any]:
    """Renders a chart; each chart of a page needs its own `ident`."""
    return {"chart": chart, "ident": ident}
