"""Figures: from the rounds the programs print to medians with their range.

results.json: {"mode", "rounds", "seconds", "machine": {...}, "notes": [{"scenario", "text"}],
"figures": [{"scenario", "case": {...}, "peer", "metric", "better", "median", "min", "max",
"rounds"}]}. The unit is the end of the metric's name; `better` is less, more or none.
"""

import json
import statistics


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(run, path):
    """One figure a line, so that two runs can be told apart line by line."""
    head = {name: value for name, value in run.items() if name != "figures"}
    lines = ",\n".join("  " + json.dumps(figure) for figure in run["figures"])
    text = json.dumps(head, indent=1)[:-2] + ',\n "figures": [\n' + lines + "\n ]\n}\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _figure(key, values):
    scenario, case, peer, metric, better = key
    return {"scenario": scenario, "case": dict(case), "peer": peer, "metric": metric,
            "better": better, "median": _round(statistics.median(values)),
            "min": _round(min(values)), "max": _round(max(values)), "rounds": len(values)}


def _round(value):
    return float(f"{value:.5g}")


def collect(path):
    """(figures, notes) of a file of rounds; figures in the order they first appear."""
    rounds, notes = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            if "note" in one:
                note = {"scenario": one["scenario"], "text": one["note"]}
                if note not in notes:
                    notes.append(note)
                continue
            key = (one["scenario"], tuple(one["case"].items()), one["peer"], one["metric"],
                   one["better"])
            rounds.setdefault(key, []).append(one["value"])
    return [_figure(key, values) for key, values in rounds.items()], notes


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
EXTRAS = {"fpr": "none", "bits_item": "none", "waste": "none"}


def micro_figures(document):
    """The figures of Google Benchmark's JSON: CPU time in ns, an item's where there are items."""
    rounds = {}
    for one in document["benchmarks"]:
        if one.get("run_type", "iteration") != "iteration" or one.get("error_occurred"):
            continue
        name = one["run_name"]
        if "item" in one:
            key = ("micro", (("benchmark", name),), "seendb", "item_ns", "less")
            rounds.setdefault(key, []).append(one["item"] * 1e9)
        else:
            key = ("micro", (("benchmark", name),), "seendb", "call_ns", "less")
            rounds.setdefault(key, []).append(one["cpu_time"] * UNITS[one["time_unit"]])
        for extra, better in EXTRAS.items():
            if extra in one:
                key = ("micro", (("benchmark", name),), "seendb", extra, better)
                rounds.setdefault(key, []).append(one[extra])
    return [_figure(key, values) for key, values in rounds.items()]
