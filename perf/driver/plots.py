"""SVG plots by gnuplot: medians as lines, the range of the rounds as bars."""

import os
import shutil
import subprocess

# scenario -> (metric, what runs along x, fixed other parts of the case, title, logarithmic x)
PLOTS = {
    "filter": ("latency_us", "candidates", {"seen_percent": 20},
               "Filter, 4 months x 3,300 items, 20% seen: us", True),
    "history": ("latency_us", "items_a_user", {}, "Filter by history, 5,000 candidates: us", True),
    "clients": ("answers_per_s", "clients", {}, "Answers a second by clients", False),
    "growth": ("hot_p99_us", "users", {}, "p99 of hot users by users in the database: us", True),
    "drain": ("plays_per_s", "hour", {}, "Hourly drain: plays a second", False),
}
MEMORY = ("history", "bytes_a_user", "items_a_user", "Bytes a user by history", "history-bytes")


def _points(figures, metric, axis, fixed):
    """{peer: [(x, median, min, max)]}, x ascending."""
    points = {}
    for figure in figures:
        case = figure["case"]
        if figure["metric"] != metric or axis not in case:
            continue
        if any(case.get(name) != value for name, value in fixed.items()):
            continue
        points.setdefault(figure["peer"], []).append(
            (case[axis], figure["median"], figure["min"], figure["max"]))
    return {peer: sorted(rows) for peer, rows in points.items() if len(rows) > 1}


def _script(points, title, axis, logarithmic, target):
    lines = ["set terminal svg size 860,520 font 'sans,13' background '#ffffff'",
             f"set output '{target}'", f"set title '{title}'", f"set xlabel '{axis}'",
             "set logscale y", "set grid ytics lc '#dddddd'", "set key outside right",
             "set format y '%.0s%c'", "set format x '%.0s%c'", "set xtics nomirror"]
    if logarithmic:
        lines.append("set logscale x")
    for i, (peer, rows) in enumerate(points.items()):
        lines.append(f"$d{i} << end")
        lines += [" ".join(str(v) for v in row) for row in rows] + ["end"]
    curves = []
    for i, peer in enumerate(points):
        style = f"lc {i + 1} lw 2 pt {i % 13 + 1}"
        curves.append(f"$d{i} using 1:2:3:4 with yerrorbars {style} notitle")
        curves.append(f"$d{i} using 1:2 with linespoints {style} title '{peer}'")
    lines.append("plot " + ", \\\n  ".join(curves))
    return "\n".join(lines) + "\n"


def draw(run, folder):
    """{scenario: [file names]} of the plots made; none without gnuplot."""
    program = shutil.which("gnuplot")
    drawn = {}
    if not program:
        return drawn
    wanted = [(scenario, *parts, scenario) for scenario, parts in PLOTS.items()]
    wanted.append((MEMORY[0], MEMORY[1], MEMORY[2], {}, MEMORY[3], True, MEMORY[4]))
    for scenario, metric, axis, fixed, title, logarithmic, name in wanted:
        figures = [f for f in run["figures"] if f["scenario"] == scenario]
        points = _points(figures, metric, axis, fixed)
        if not points:
            continue
        target = os.path.join(folder, name + ".svg")
        subprocess.run([program], input=_script(points, title, axis, logarithmic, target),
                       text=True, check=True, stderr=subprocess.DEVNULL)
        drawn.setdefault(scenario, []).append(name + ".svg")
    return drawn
