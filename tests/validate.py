"""Validates files against JSON Schemas, and prints a line for each: tests/validate.py SCHEMA FILE SCHEMA FILE..."""

import json
import sys

import jsonschema

for schema, file in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(schema) as text:
        validator = jsonschema.Draft202012Validator(json.load(text))
    validator.check_schema(validator.schema)
    with open(file) as text:
        values = map(json.loads, text) if file.endswith(".jsonl") else [json.load(text)]
        for value in values:
            error = jsonschema.exceptions.best_match(validator.iter_errors(value))
            if error is not None:
                sys.exit(f"{file}: {error.json_path}: {error.message}")
    print(schema, file)
