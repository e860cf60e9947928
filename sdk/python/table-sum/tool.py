"""Adds up the numbers in a column of a table that is CSV text."""

import csv
import io
import json

from componentize_py_types import Err
from wit_world import WitWorld as World
from wit_world.imports import host_capabilities as host


class WitWorld(World):
    """`componentize-py` looks for a class with the name of the world."""

    def run(self, tool: str, input: str) -> str:
        """The rows and the sum as JSON; an error of the tool is raised as `Err`."""
        given = json.loads(input)
        rows = list(csv.DictReader(io.StringIO(given["table"])))
        column = given["column"]
        try:
            numbers = [float(row[column]) for row in rows]
        except KeyError:
            raise Err(f"there is no column {column}") from None
        except (TypeError, ValueError):
            raise Err(f"{column} has a value that is no number") from None
        host.log(host.Level.INFO, f"{len(numbers)} rows of {column}")
        return json.dumps({"rows": len(numbers), "sum": sum(numbers)})
