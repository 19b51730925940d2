# What pyiceberg reads, as lines of JSON: commands come on stdin, one JSON each.
import json
import sys

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import StaticTable

url, token = sys.argv[1:3]
catalog = RestCatalog("stak", uri=f"{url}/v1/lake/iceberg", token=token)


def rows(table, snapshot=None):
    found = table.scan(snapshot_id=snapshot).to_arrow().to_pylist()
    return [{name: str(value) if value is not None else None for name, value in row.items()} for row in found]


def answer(command):
    if command["kind"] == "tables":
        return [".".join(name) for space in catalog.list_namespaces() for name in catalog.list_tables(space)]
    table = catalog.load_table(command["table"]) if "table" in command else StaticTable.from_metadata(command["path"])
    snapshots = [one.snapshot_id for one in table.metadata.snapshots]
    if command["kind"] == "all":
        return {"snapshots": snapshots, "rows": [rows(table, one) for one in snapshots]}
    operations = [str(one.summary.operation.value) for one in table.metadata.snapshots if one.summary]
    return {"snapshots": snapshots, "operations": operations, "rows": rows(table, command.get("snapshot"))}


for line in sys.stdin:
    try:
        print(json.dumps({"answer": answer(json.loads(line))}), flush=True)
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
