"""The steps of the build; `hatch_build.py` calls them."""
