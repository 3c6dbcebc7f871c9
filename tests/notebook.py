"""Runs a notebook, and prints how many pictures and how many tables its cells have made: tests/notebook.py NOTEBOOK FOLDER."""

import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
outputs = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
print(sum("image/png" in data for data in outputs), sum("text/html" in data for data in outputs))
