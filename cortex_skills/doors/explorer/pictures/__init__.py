"""Pictures: views as SVG, without input or output."""
