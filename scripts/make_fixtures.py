"""Writes the small test files with NumPy and h5py, independently of the Rust code: python3 scripts/make_fixtures.py"""
import json
import numpy as np

OUT = "tests/fixtures/"

# Three examples of 3, 2 and 2 nodes, p = 2, K = 3; the second is unknown altogether, the third in part.
graph = {
    "features": np.arange(14, dtype=np.float32).reshape(7, 2) / 4,
    "labels": np.array([0, 1, 2, -1, -1, 2, -1], dtype=np.int32),
    "node_offsets": np.array([0, 3, 5, 7], dtype=np.int64),
    "edges": np.array([[0, 1], [1, 2], [0, 1], [0, 1]], dtype=np.int32),
    "edge_offsets": np.array([0, 2, 3, 4], dtype=np.int64),
    "num_labels": np.int64(3),
    "pairwise_weight": np.float64(0.5),
    "meta": np.array(json.dumps({"who": "numpy é"}, ensure_ascii=False)),
}
np.savez(OUT + "graph_plain.npz", **graph)
odd = {
    "features": np.asfortranarray(graph["features"].astype(">f8")),
    "labels": graph["labels"].astype(np.int8),
    "node_offsets": graph["node_offsets"].astype(np.uint32),
    "edges": np.asfortranarray(graph["edges"].astype(np.int64)),
    "edge_offsets": graph["edge_offsets"].astype(">i4"),
    "num_labels": np.array([3], dtype=np.int32),
    "pairwise_weight": np.float32(0.5),
    "meta": np.frombuffer(str(graph["meta"]).encode(), dtype=np.uint8),
}
np.savez_compressed(OUT + "graph_odd.npz", **odd)
np.savez(OUT + "graph_half.npz", **{**graph, "features": graph["features"].astype(np.float16)})

# HDSeg: three pictures in its layout, p = 5 instead of 1969; every storage the format allows for such a file.
import h5py

with h5py.File(OUT + "hdseg.h5", "w") as f:
    for n, (nodes, edges) in enumerate([(4, [[0, 1], [1, 2], [2, 1], [2, 3]]), (3, [[0, 1], [1, 2]]), (1, [])]):
        x = (np.arange(nodes * 5, dtype=np.float32).reshape(nodes, 5) + 100 * n) / 8
        e = np.array(edges, dtype=np.int32).reshape(-1, 2)
        y = np.array([0, 1, 1, -1][:nodes], dtype=[np.int32, np.uint8, np.float64][n])
        f[f"superpixel_count_{n:06}"] = np.int32(nodes)
        f[f"edge_count_{n:06}"] = np.int64(len(e))
        f[f"edge_structure_{n:06}"] = e
        if n == 1:
            f.create_dataset(f"features_{n:06}", data=x, chunks=(2, 5), compression="gzip", shuffle=True)
        else:
            f[f"features_{n:06}"] = x
        f[f"labels_{n:06}"] = y
