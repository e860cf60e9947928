"""Installed artifacts in WebAssembly as tools of a plugin: what a component may use, and how it is called."""
