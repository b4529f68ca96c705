"""Pages of HTML that need nothing beside them: what they look like, how a template is filled, how they are written."""

from __future__ import annotations

from pathlib import Path

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template

from panconv.base.files import replacing


def template(package: str, name: str) -> Template:
    """A template from the folder of a package; `common.css` and `common.js` can be included in it."""
    loader = ChoiceLoader([PackageLoader(package, "."), PackageLoader(__name__, ".")])
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def write_page(html: str, out: Path) -> Path:
    """Writes a page, whole or not at all."""
    with replacing(out) as path:
        path.write_text(html, encoding="utf-8", errors="backslashreplace")  # a path or an id may be no text
    return out
