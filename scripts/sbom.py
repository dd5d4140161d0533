#!/usr/bin/env python3
"""The bill of materials of the program, CycloneDX 1.5 JSON on standard output, from `cargo metadata` and Cargo.lock.

    scripts/sbom.py > sbom.json
"""
import json
import pathlib
import subprocess
import tomllib

root = pathlib.Path(__file__).resolve().parent.parent
command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
metadata = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)
lock = tomllib.loads((root / "Cargo.lock").read_text())
checksums = {(p["name"], p["version"]): p.get("checksum") for p in lock["package"]}
packages = {p["id"]: p for p in metadata["packages"]}
nodes = {n["id"]: n for n in metadata["resolve"]["nodes"]}

# What the program is built from: not what only its tests need.
wanted, todo = set(), [metadata["resolve"]["root"]]
while todo:
    package = todo.pop()
    if package in wanted:
        continue
    wanted.add(package)
    for dep in nodes[package]["deps"]:
        if any(kind["kind"] != "dev" for kind in dep["dep_kinds"]):
            todo.append(dep["pkg"])


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package):
    entry = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
        "licenses": [{"expression": (package["license"] or "NOASSERTION").replace("/", " OR ")}],
    }
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return entry


main = packages[metadata["resolve"]["root"]]
others = sorted((packages[p] for p in wanted if p != main["id"]), key=lambda p: (p["name"], p["version"]))
dependencies = [
    {
        "ref": purl(packages[p]),
        "dependsOn": sorted(purl(packages[d["pkg"]]) for d in nodes[p]["deps"] if d["pkg"] in wanted),
    }
    for p in sorted(wanted, key=lambda p: purl(packages[p]))
]
bom = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": {**component(main), "type": "application"}},
    "components": [component(p) for p in others],
    "dependencies": dependencies,
}
print(json.dumps(bom, indent=1))
